/*
 * Where the matrices of a computation do not fit a device: they are in the host's memory, whose elementwise
 * expressions are the processor's, which passes through them faster than they can be copied. Products are the
 * device's, tile by tile (ks_device.streamed).
 */
#ifndef KS_DEVICE_STREAMED_H
#define KS_DEVICE_STREAMED_H

#include "device/backend.h"

/*
 * Doubles that a product takes on a device with so many bytes: a power of two, so that a little less memory
 * changes no bits
 */
size_t ks_streamed_room(size_t bytes);

kspec_status ks_streamed_product(const ks_run *run, const ks_matmul *p, kspec_error *err);

/* What the device has comes as a copy, of two matrices at most at once; what is the host's stays. */
kspec_status ks_streamed_bring(const ks_run *run, const double *from, size_t rows, size_t cols,
                               const char *what, const double **out, kspec_error *err);
void ks_streamed_leave(const ks_run *run, const double *p);

#endif
