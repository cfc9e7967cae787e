/* kspec_borrow(), kspec_borrow_device(): arrays of the caller's that are read as files are. */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/names.h"
#include "kspec/host.h"

#include <string.h>

/* Each thread's own, so that calls at the same time do not see each other's. */
static _Thread_local const kspec_array *borrowed;
static _Thread_local size_t lent_count;
/* those of them that are on a GPU; NULL: none is */
static _Thread_local const kspec_device_array *borrowed_on_device;

void kspec_borrow_device(const kspec_array *arrays, size_t count, const kspec_device_array *on_device) {
    borrowed = count ? arrays : NULL;
    lent_count = arrays ? count : 0;
    borrowed_on_device = on_device;
}

void kspec_borrow(const kspec_array *arrays, size_t count) { kspec_borrow_device(arrays, count, NULL); }

static const kspec_array *find(const char *input) {
    for (size_t k = 0; k < lent_count; k++)
        if (borrowed[k].name && strcmp(borrowed[k].name, input) == 0) return &borrowed[k];
    return NULL;
}

int ks_is_borrowed(const char *input) { return find(input) != NULL; }

int ks_is_on_device(const char *input) {
    const kspec_array *a = find(input);
    return a && borrowed_on_device && borrowed_on_device->is[a - borrowed];
}

/* In the host's memory, where it is not already */
static kspec_status copy(const kspec_array **a, kspec_array *host, const char *name, kspec_error *err) {
    const size_t k = (size_t)(*a - borrowed);
    *host = **a;
    if (borrowed_on_device->copy(borrowed_on_device->ctx, k, host))
        return ks_fail(err, KSPEC_E_DATA, "%s is in the memory of a GPU and cannot be brought to the host",
                       name);
    *a = host;
    return KSPEC_OK;
}

kspec_status ks_borrowed_read(const char *input, const char *name, int stay, ks_array *out,
                              kspec_error *err) {
    const kspec_array *a = find(input);
    kspec_array host;
    *out = (ks_array){0};
    if (!stay && ks_is_on_device(input)) {
        kspec_status st = copy(&a, &host, name, err);
        if (st) return st;
    }
    if (a->ndim < 1 || a->ndim > 3)
        return ks_fail(err, KSPEC_E_ARG, "%s has %d axes; 1 to 3 are expected", name, a->ndim);
    ks_array array = {.ndim = a->ndim, .shape = {1, 1, 1}, .data = a->data, .is_lent = 1};
    for (int k = 0; k < a->ndim; k++) {
        array.shape[k] = a->shape[k];
        array.stride[k] = a->stride[k];
        if (!a->shape[k])
            return ks_fail(err, KSPEC_E_IO, "%s: the array is empty: axis %d has length 0", name, k);
    }
    if (!a->data) return ks_fail(err, KSPEC_E_ARG, "%s has no data", name);
    kspec_status st = KSPEC_OK;
    if (a->col_names && a->ndim == 2)
        st = ks_names_copy(a->col_names, NULL, a->shape[1], name, &array.col_names, err);
    if (!st) *out = array;
    return st;
}
