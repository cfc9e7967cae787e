/*
 * Shared by the fuzz targets: a parsed array is read in full, so that a sanitizer sees a view that is too
 * large. A small file may stand for gigabytes (a sparse matrix, a compressed text), which take their time and
 * teach nothing: more than FUZZ_MEMORY bytes at a time are not to be had. fuzz_done(): nothing is left.
 */
#ifndef KSPEC_FUZZ_H
#define KSPEC_FUZZ_H

#include "formats/array.h"
#include "kspec/base.h"
#include "kspec/host.h"

#include <stdatomic.h>
#include <stdlib.h>

enum { FUZZ_MEMORY = 4 << 20 };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static atomic_long fuzz_live;

static inline void *fuzz_alloc(void *ctx, size_t size, size_t align) {
    (void)ctx;
    void *p = size > FUZZ_MEMORY ? NULL : aligned_alloc(align, (size + align - 1) / align * align);
    if (p) atomic_fetch_add(&fuzz_live, 1);
    return p;
}

static inline void fuzz_release(void *ctx, void *p) {
    (void)ctx;
    atomic_fetch_sub(&fuzz_live, 1);
    free(p);
}

static inline void fuzz_limit_memory(void) {
    static const kspec_allocator limited = {fuzz_alloc, fuzz_release, NULL};
    kspec_set_allocator(&limited);
}

static inline void fuzz_done(void) {
    if (atomic_load(&fuzz_live) != 0) __builtin_trap();
}

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
