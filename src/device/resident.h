/*
 * Matrices of a computation that do not fit a device together (ks_device.streamed). Each has room in the
 * host's memory, and as many as fit are on the device. An operation has its matrices copied to it; those
 * that were used longest ago make room. Where its own are too many, it is the processor's, or, for a product,
 * goes through the device in tiles (device/streamed.h). That depends on the shapes and the room alone, and
 * moving changes no number: so the same bits come each time.
 */
#pragma once

#include "device/backend.h"

enum { KS_ON_HOST = 1, KS_ON_DEVICE = 2 };

typedef struct ks_resident {
    struct ks_resident *next;
    /* its room in the host's memory; without pages until it is moved out of the device */
    double *host;
    size_t count;
    /* on the device, or NULL */
    double *on_device;
    /* where its entries are: KS_ON_HOST, KS_ON_DEVICE, both, or nowhere before it is written */
    int valid;
    /* the caller's: only read */
    int borrowed;
    int copies;
    /* which operation used it last, by number */
    size_t used;
} ks_resident;

/* Bytes of a matrix from which on it is page-locked when it is copied again (1 MB); tests take fewer. */
extern size_t ks_resident_lock_least;
