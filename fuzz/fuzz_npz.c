/*
 * NumPy's archives. Behind a '!' the checksums of members that are stored are put right first: otherwise
 * hardly any change would get past them, into the arrays and the sparse matrices that are made of several.
 */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

static size_t number(const unsigned char *at, int bytes) {
    size_t n = 0;
    while (bytes-- > 0) n = n << 8 | at[bytes];
    return n;
}

/* A record of the directory: 10 method, 16 checksum, 20 size, 42 place; before a member: 14, 26, 28 names */
static void mend(unsigned char *zip, size_t size) {
    for (size_t at = 0; at + 46 <= size; at++) {
        unsigned char *record = zip + at;
        if (memcmp(record, "PK\1\2", 4) != 0 || number(record + 10, 2) != 0) continue;
        size_t length = number(record + 20, 4), place = number(record + 42, 4);
        if (place + 30 > size) continue;
        size_t begin = place + 30 + number(zip + place + 26, 2) + number(zip + place + 28, 2);
        if (begin > size || length > size - begin) continue;
        unsigned long sum = crc32(0, zip + begin, (uInt)length);
        for (int k = 0; k < 4; k++)
            record[16 + k] = zip[place + 14 + (size_t)k] = (unsigned char)(sum >> 8 * k);
    }
}

static void parse(const unsigned char *data, size_t size, const char *key) {
    ks_bytes bytes = {.data = data, .size = size};
    ks_array array;
    kspec_error err;
    fuzz_use(ks_npz_parse(&bytes, key, "fuzz", &array, &err), &array);
    fuzz_done();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    fuzz_limit_memory();
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (size && data[0] == '!') {
        unsigned char *copy = malloc(size);
        memcpy(copy, data + 1, size - 1);
        mend(copy, size - 1);
        parse(copy, size - 1, NULL);
        free(copy);
        return 0;
    }
    const char *const keys[] = {NULL, "x", "b.npy"};
    for (int i = 0; i < 3; i++) parse(data, size, keys[i]);
    return 0;
}
