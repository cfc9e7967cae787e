/* Reads a NumPy array in memory, which is a .npy file or a member of an .npz archive. */
#pragma once

#include "formats/array.h"
#include "formats/element.h"

/* Contains the header of an array, as the file states it. */
typedef struct {
    ks_element element;
    int fortran;
    int ndim;
    size_t shape[3];
    size_t data_offset;
    /*
     * If is_complex is 1, the array is a vector of n complex numbers. Its shape is then (n,2), with real and
     * imaginary parts.
     */
    int is_complex;
} ks_npy_header;

kspec_status ks_npy_header_parse(const unsigned char *data, size_t size, const char *name, ks_npy_header *h,
                                 kspec_error *err);

/*
 * Parses the array in the `size` bytes at `data`, which are part of *owner. If the numbers can be used in
 * place, *owner moves into out->storage and is cleared. Otherwise *owner is unchanged.
 */
kspec_status ks_npy_decode(const unsigned char *data, size_t size, ks_bytes *owner, const char *name,
                           ks_array *out, kspec_error *err);
