#include "fuzz.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    const char *const keys[] = {NULL, "x", "b.npy"};
    for (int i = 0; i < 3; i++) {
        ks_bytes bytes = {.data = data, .size = size};
        ks_array array;
        kspec_error err;
        fuzz_use(ks_npz_parse(&bytes, keys[i], "fuzz", &array, &err), &array);
    }
    return 0;
}
