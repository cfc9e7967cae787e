/* Multiplies host matrices on a device, tile by tile (ks_device.streamed). */
#pragma once

#include "device/backend.h"

/*
 * Returns the number of doubles that a product takes on a device with `bytes` free bytes. The number is a
 * power of two, so that slightly less memory changes no bits.
 */
size_t ks_streamed_room(size_t bytes);

kspec_status ks_streamed_product(const ks_run *run, const ks_matmul *p, kspec_error *err);
