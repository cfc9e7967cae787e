/*
 * Reads the part of the zip format that .npz files use: the central directory, with zip64, and the members'
 * bytes.
 */
#pragma once

#include "formats/array.h"

typedef struct {
    const unsigned char *data; /* the whole file */
    size_t size;
    size_t begin, end; /* the central directory */
    const char *name;  /* the input's name */
} ks_zip;

typedef struct {
    const char *name; /* not terminated */
    size_t name_length;
    unsigned flags, method;
    uint32_t crc;
    uint64_t packed, size; /* packed is the size in the file, and size is the unpacked size. */
    uint64_t offset;       /* local header */
} ks_zip_member;

/* Finds the directory. */
kspec_status ks_zip_open(ks_zip *z, const ks_bytes *bytes, const char *name, kspec_error *err);

/*
 * Reads the entry at *at, which starts as z->begin, and moves *at to the next entry. The directory ends when
 * *at == z->end.
 */
kspec_status ks_zip_next(const ks_zip *z, size_t *at, ks_zip_member *m, kspec_error *err);

/*
 * Extracts the bytes of a member and checks their CRC. For a stored member *data points into the file, and
 * *unpacked stays empty. For a deflated member *data points to the inflated bytes, which *unpacked owns.
 */
kspec_status ks_zip_extract(const ks_zip *z, const ks_zip_member *m, const unsigned char **data, size_t *size,
                            ks_bytes *unpacked, kspec_error *err);
