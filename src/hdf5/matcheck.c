/*
 * Checks that a MATLAB file of version 5 to 7 is complete. matio fills the missing end of a truncated file
 * with zeros and does not verify the checksum of compressed variables. So this check runs first.
 *
 * After 128 bytes of header the file is a list of elements: type and length (4 bytes each, in the byte order
 * given by the last two bytes of the header), then as many bytes as the length says. A compressed element is
 * a zlib stream.
 */
#include "hdf5/reader.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

enum { COMPRESSED = 15, PIECE = 1 << 16 };

/* Inflates the next `length` bytes of f, to verify the checksum at the end. */
static int stream_is_sound(FILE *f, uint32_t length) {
    static unsigned char in[PIECE], out[PIECE];
    z_stream z = {0};
    int r = inflateInit(&z);
    while (r == Z_OK) {
        if (z.avail_in == 0) {
            size_t want = length < PIECE ? length : PIECE;
            if (want == 0 || fread(in, 1, want, f) != want) break;
            length -= (uint32_t)want;
            z.next_in = in;
            z.avail_in = (uInt)want;
        }
        z.next_out = out;
        z.avail_out = PIECE;
        r = inflate(&z, Z_NO_FLUSH);
    }
    inflateEnd(&z);
    return r == Z_STREAM_END;
}

void check_mat5(FILE *f) {
    unsigned char b[8];
    if (fseeko(f, 0, SEEK_END) != 0) refuse("cannot be opened");
    off_t size = ftello(f), at = 128;
    if (fseeko(f, 126, SEEK_SET) != 0 || fread(b, 1, 2, f) != 2)
        refuse("is cut short after %lld bytes", (long long)size);
    int little = b[0] == 'I';
    while (at < size) {
        if (fseeko(f, at, SEEK_SET) != 0 || fread(b, 1, 8, f) != 8)
            refuse("is cut short after %lld bytes", (long long)size);
        uint32_t word[2];
        for (int w = 0; w < 2; w++) {
            const unsigned char *p = b + 4 * w;
            word[w] = little ? (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0]
                             : (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
        }
        if ((off_t)word[1] > size - at - 8)
            refuse("is cut short after %lld bytes: an array at byte %lld needs %lld more", (long long)size,
                   (long long)at, (long long)((off_t)word[1] - (size - at - 8)));
        if (word[0] == COMPRESSED && !stream_is_sound(f, word[1]))
            refuse("is damaged: the compressed array at byte %lld does not inflate to its checksum",
                   (long long)at);
        at += 8 + (off_t)word[1];
    }
}
