/* Decompression, by zlib with our memory. */
#ifndef KS_IO_INFLATE_H
#define KS_IO_INFLATE_H

#include "io/array.h"

/* Deflate cannot make more than 1032 bytes of one; a file that claims more is lying. */
#define KS_DEFLATE_RATIO 1032

/* A raw deflate stream that must give exactly size bytes. */
kspec_status ks_inflate(const unsigned char *in, size_t n, unsigned char *out, size_t size, const char *name,
                        kspec_error *err);

/* The contents of a gzip file, of one or several members, in fresh memory. */
kspec_status ks_gunzip(const unsigned char *in, size_t n, ks_bytes *out, const char *name, kspec_error *err);

/* The first `size` bytes of a gzip file's contents; returns how many there are, 0 if it is no gzip file,
 * SIZE_MAX if there is no memory to tell. */
size_t ks_gunzip_start(const unsigned char *in, size_t n, unsigned char *out, size_t size);

#endif
