/* Decompression, by zlib with our memory. */
#pragma once

#include "formats/array.h"

/* Deflate cannot make more than 1032 bytes of one; a file that claims more is lying. */
#define KS_DEFLATE_RATIO 1032

/* A raw deflate stream that must give exactly size bytes. */
kspec_status ks_inflate(const unsigned char *in, size_t n, unsigned char *out, size_t size, const char *name,
                        kspec_error *err);

/*
 * The contents of a gzip file, of one or several members, as far as `size` bytes go. *got is how many were
 * written, also after a failure; where it is `size` there may be more, and whether the rest is sound is not
 * known.
 */
kspec_status ks_gunzip(const unsigned char *in, size_t n, unsigned char *out, size_t size, size_t *got,
                       const char *name, kspec_error *err);

int ks_gzip_match(const ks_bytes *b);

/* Puts the contents of a gzip file in the place of its bytes, which are closed. */
kspec_status ks_gunzip_bytes(ks_bytes *b, const char *name, kspec_error *err);
