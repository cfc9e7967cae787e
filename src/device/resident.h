/*
 * The matrices of a computation that do not fit on a device together (ks_device.streamed). Each matrix has
 * room in host memory, and as many as fit are on the device. An operation copies its matrices to the device,
 * in place of the least recently used ones. If its own matrices are too many, the CPU runs the operation, or
 * a product goes through the device in tiles (device/streamed.h). This depends on the shapes and the room
 * alone, and moving changes no number, so every run gives the same bits.
 */
#pragma once

#include "device/backend.h"

enum { KS_ON_HOST = 1, KS_ON_DEVICE = 2 };

typedef struct ks_resident {
    struct ks_resident *next;
    /* memory on the host, which has no pages until the matrix is copied from the device */
    double *host;
    size_t count;
    /* the address on the device, or NULL */
    double *on_device;
    /* the valid copies: KS_ON_HOST, KS_ON_DEVICE, both, or none before the first write */
    int valid;
    /* 1 for a matrix of the caller, which is only read */
    int borrowed;
    int copies;
    /* the number of the last operation that used the matrix */
    size_t used;
} ks_resident;

/* Matrices of at least this many bytes (1 MB) are page-locked when copied again; tests use fewer. */
extern size_t ks_resident_lock_least;
