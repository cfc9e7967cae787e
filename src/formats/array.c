/* Allocates and frees the arrays that parsers return. */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"

void ks_array_free(ks_array *a) {
    ks_free(a->col_names);
    ks_free(a->col_index);
    ks_bytes_close(&a->storage);
    *a = (ks_array){0};
}

kspec_status ks_array_new(ks_array *a, int ndim, const size_t *shape, double **data, const char *name,
                          kspec_error *err) {
    *a = (ks_array){.ndim = ndim, .shape = {1, 1, 1}};
    size_t count = 1;
    for (int d = ndim - 1; d >= 0; d--) {
        a->shape[d] = shape[d];
        a->stride[d] = (ptrdiff_t)count;
        count = ks_size(count, shape[d]);
    }
    size_t bytes = ks_size(count, sizeof **data);
    *data = ks_alloc(bytes, 1);
    if (!*data) {
        *a = (ks_array){0};
        return ks_nomem(err, name, bytes);
    }
    a->data = *data;
    a->storage = (ks_bytes){.data = (const unsigned char *)*data, .size = bytes, .heap = *data};
    return KSPEC_OK;
}
