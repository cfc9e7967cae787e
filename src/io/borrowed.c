/* kspec_borrow(): arrays of the caller that the library reads like files. */
#include "formats/array.h"

#include "base/error.h"
#include "base/memory.h"
#include "io/names.h"
#include "kspec/host.h"

#include <string.h>

/* Each thread has a list, so that simultaneous calls do not see each other's arrays. */
static _Thread_local kspec_borrowed borrowed;

kspec_borrowed kspec_borrow(const kspec_borrowed *now) {
    const kspec_borrowed before = borrowed;
    borrowed = now ? *now : (kspec_borrowed){0};
    if (!borrowed.arrays) borrowed.count = 0;
    ks_bytes_host(borrowed.copies, borrowed.waiting);
    return before;
}

/* Finds a borrowed array by the address of its name, so that no file of the same name is mistaken for the
 * array. */
static const kspec_array *find(const char *input) {
    for (size_t k = 0; k < borrowed.count; k++)
        if (borrowed.arrays[k].name == input && input) return &borrowed.arrays[k];
    return NULL;
}

int ks_is_borrowed(const char *input) { return find(input) != NULL; }

int ks_is_on_device(const char *input) {
    const kspec_array *a = find(input);
    return a && borrowed.on_device && borrowed.on_device->is[a - borrowed.arrays];
}

/* Copies the array to host memory, unless the array is already in host memory. */
static kspec_status copy(const kspec_array **a, kspec_array *host, const char *name, kspec_error *err) {
    const size_t k = (size_t)(*a - borrowed.arrays);
    *host = **a;
    if (borrowed.on_device->copy(borrowed.on_device->ctx, k, host))
        return ks_fail(err, KSPEC_E_DATA, "%s is in the memory of a GPU and cannot be brought to the host",
                       name);
    *a = host;
    return KSPEC_OK;
}

/* Describes an array in host memory, without a change of its layout. */
static kspec_status take(const kspec_array *a, const char *name, ks_array *out, kspec_error *err) {
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

kspec_status ks_borrowed_read(const char *input, const char *name, int stay, ks_array *out,
                              kspec_error *err) {
    const kspec_array *a = find(input);
    kspec_array host;
    *out = (ks_array){0};
    if (!stay && ks_is_on_device(input)) {
        kspec_status st = copy(&a, &host, name, err);
        if (st) return st;
    }
    return take(a, name, out, err);
}

int ks_host_reads_hdf5(void) { return borrowed.hdf5 != NULL; }

kspec_status ks_host_hdf5(const char *path, const char *key, const char *name, ks_array *out,
                          kspec_error *err) {
    kspec_array array = {.name = name};
    kspec_error why = {.code = KSPEC_OK};
    *out = (ks_array){0};
    if (borrowed.hdf5->read(borrowed.hdf5->ctx, path, key, &array, &why))
        return ks_fail(err, KSPEC_E_IO, "%s: %.300s", name, why.msg);
    return take(&array, name, out, err);
}
