/*
 * Shared by the fuzz targets: a parsed array is read in full, so that a sanitizer sees a view that is too
 * large.
 */
#ifndef KSPEC_FUZZ_H
#define KSPEC_FUZZ_H

#include "io/array.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static inline void fuzz_use(kspec_status status, ks_array *a) {
    if (status == KSPEC_OK) {
        volatile double sum = 0;
        size_t n[3] = {1, 1, 1};
        for (int d = 0; d < a->ndim; d++) n[d] = a->shape[d];
        for (size_t i = 0; i < n[0]; i++)
            for (size_t j = 0; j < n[1]; j++)
                for (size_t k = 0; k < n[2]; k++)
                    sum += a->data[(ptrdiff_t)i * a->stride[0] + (ptrdiff_t)j * a->stride[1] +
                                   (ptrdiff_t)k * a->stride[2]];
        (void)sum;
    } else if (a->ndim || a->data || a->storage.heap)
        __builtin_trap(); /* a failure leaves nothing behind */
    ks_array_free(a);
}

#endif
