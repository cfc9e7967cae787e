#include "fuzz.h"

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    ks_bytes bytes = {.data = data, .size = size};
    ks_array array;
    kspec_error err;
    fuzz_use(ks_npy_parse(&bytes, "fuzz", &array, &err), &array);
    return 0;
}
