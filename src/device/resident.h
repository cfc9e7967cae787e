/*
 * Manages the matrices of a computation that do not fit on a device together (ks_device.streamed). Each
 * matrix has space in host memory, and as many as fit are on the device. An operation copies its matrices to
 * the device, in place of the least recently used ones. If its own matrices are too many, the CPU runs the
 * operation, or a product goes through the device in tiles (device/streamed.h). The choice between device and
 * CPU depends only on the shapes and on the memory, and moving changes no number. So every run gives the same
 * bits.
 */
#pragma once

#include "device/backend.h"

enum { KS_ON_HOST = 1, KS_ON_DEVICE = 2 };

typedef struct ks_resident {
    struct ks_resident *next;
    /*
     * `host` is memory on the host. The system provides its pages only when the matrix is copied from the
     * device.
     */
    double *host;
    size_t count;
    /* NULL: host only */
    double *on_device;
    /* The valid copies: KS_ON_HOST, KS_ON_DEVICE, both, or none before the first write. */
    int valid;
    /* If borrowed is 1, the matrix belongs to the caller, and the library only reads it. */
    int borrowed;
    int copies;
    /* number of the last operation */
    size_t used;
} ks_resident;

/*
 * Matrices of at least ks_resident_lock_least bytes (1 MB) are page-locked when they are copied again. Tests
 * use fewer bytes.
 */
extern size_t ks_resident_lock_least;
