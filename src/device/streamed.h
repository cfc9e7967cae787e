/* Products on a device of matrices in host memory, tile by tile (ks_device.streamed). */
#pragma once

#include "device/backend.h"

/*
 * Doubles that a product takes on a device with this many bytes: a power of two, so that slightly less memory
 * changes no bits.
 */
size_t ks_streamed_room(size_t bytes);

kspec_status ks_streamed_product(const ks_run *run, const ks_matmul *p, kspec_error *err);
