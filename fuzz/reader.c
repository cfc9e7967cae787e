/*
 * The program that fuzz_child.c puts in place of the HDF5 reader. It is linked with nothing, since a fuzzer
 * that loaded its own libraries again for each input would spend its time on that. It writes the file's bytes
 * behind HDF5's signature to the memory that it shares with the library.
 */
#include "formats/child.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first byte says how far beyond its bytes the memory goes, and whether a good head is put in place. */
int main(int argc, char **argv) {
    static unsigned char all[70000];
    FILE *f = argc == 4 ? fopen(argv[1], "rb") : NULL;
    size_t n = f ? fread(all, 1, sizeof all, f) : 0;
    if (n < 10) return 1;
    unsigned char *bytes = all + 8;
    n -= 8;
    off_t length = (off_t)n + 64 * (off_t)bytes[0];
    if (bytes[0] & 1) {
        ks_child_header h = {.magic = KS_CHILD_MAGIC, .version = KS_CHILD_VERSION, .status = bytes[1] % 5};
        if (n > 30) memcpy(&h.ndim, bytes + 2, 4), memcpy(h.shape, bytes + 6, 24);
        h.ndim %= 5;
        for (int k = 0; k < 3 && bytes[0] & 2; k++) h.shape[k] %= 20;
        if (n > 40) memcpy(h.message, bytes + 30, n - 30 < sizeof h.message ? n - 30 : sizeof h.message);
        if (ftruncate(KS_CHILD_FD, length + KS_CHILD_DATA) != 0 || pwrite(KS_CHILD_FD, &h, sizeof h, 0) < 0)
            return 1;
    } else if (ftruncate(KS_CHILD_FD, length) != 0 || pwrite(KS_CHILD_FD, bytes, n, 0) < 0) {
        return 1;
    }
    return bytes[0] & 4 ? bytes[1] : 0;
}
