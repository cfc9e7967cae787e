/*
 * Reads NumPy's array format, which consists of "\x93NUMPY", version, header length, a Python dict literal
 * padded with blanks, and then the numbers, in C or Fortran order.
 */
#include "formats/npy.h"

#include "base/error.h"
#include "base/memory.h"

#include <string.h>

int ks_npy_match(const ks_bytes *b) { return b->size >= 6 && memcmp(b->data, "\x93NUMPY", 6) == 0; }

kspec_status ks_npy_decode(const unsigned char *data, size_t size, ks_bytes *owner, const char *name,
                           ks_array *out, kspec_error *err) {
    *out = (ks_array){0};
    ks_npy_header h;
    kspec_status status = ks_npy_header_parse(data, size, name, &h, err);
    if (status) return status;

    size_t count = 1;
    for (int d = 0; d < h.ndim; d++) count = ks_size(count, h.shape[d]);
    size_t need = ks_size(count, h.element.size), have = size - h.data_offset;
    if (need == SIZE_MAX)
        return ks_fail(err, KSPEC_E_IO, "%s: the shape in the header is impossibly large", name);
    if (need > have)
        return ks_fail(err, KSPEC_E_IO, "%s: needs %zu bytes of data, has %zu", name, need, have);

    const unsigned char *numbers = data + h.data_offset;
    if (ks_element_is_double(h.element) && (uintptr_t)numbers % _Alignof(double) == 0) {
        *out = (ks_array){.ndim = h.ndim, .shape = {1, 1, 1}};
        out->data = (const double *)(const void *)numbers;
        out->storage = *owner;
        *owner = (ks_bytes){0};
    } else {
        double *fresh;
        status = ks_array_new(out, h.ndim, h.shape, &fresh, name, err);
        if (status) return status;
        ks_element_convert(h.element, numbers, count, fresh);
    }
    out->is_complex = h.is_complex;
    /* The numbers stay in the order of the file, and the strides describe this order. */
    ptrdiff_t stride = 1;
    for (int k = 0; k < h.ndim; k++) {
        int d = h.fortran ? k : h.ndim - 1 - k;
        out->shape[d] = h.shape[d];
        out->stride[d] = stride;
        stride *= (ptrdiff_t)h.shape[d];
    }
    return KSPEC_OK;
}

kspec_status ks_npy_parse(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err) {
    return ks_npy_decode(bytes->data, bytes->size, bytes, name, out, err);
}
