/* Decompresses data by zlib with the library's memory allocation. */
#pragma once

#include "formats/array.h"

/*
 * The deflate format expands one byte to at most 1032 bytes. A file that claims more is damaged or malicious.
 */
#define KS_DEFLATE_RATIO 1032

/* Inflates a raw deflate stream, which must give exactly `size` bytes. */
kspec_status ks_inflate(const unsigned char *in, size_t n, unsigned char *out, size_t size, const char *name,
                        kspec_error *err);

/*
 * Inflates the first `size` bytes of a gzip file of one or several members. *got is the number of bytes
 * written, also after a failure. If *got equals `size`, the file may contain more, which the function does
 * not check.
 */
kspec_status ks_gunzip(const unsigned char *in, size_t n, unsigned char *out, size_t size, size_t *got,
                       const char *name, kspec_error *err);

int ks_gzip_match(const ks_bytes *b);

/* Replaces the bytes of a gzip file by its contents, and closes the packed bytes. */
kspec_status ks_gunzip_bytes(ks_bytes *b, const char *name, kspec_error *err);
