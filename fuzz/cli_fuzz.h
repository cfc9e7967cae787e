/* Shared by the fuzz targets of the tool. */
#ifndef KSPEC_CLI_FUZZ_H
#define KSPEC_CLI_FUZZ_H

#include "core/cli.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

/* Messages go nowhere: there are millions of them. fuzz/run.sh closes the files; stdio should not mind. */
static inline void fuzz_quiet(void) {
    clearerr(stderr);
    clearerr(stdout);
}

/* A text of the input, for free(); bytes after a zero are lost */
static inline char *fuzz_text(const unsigned char *data, size_t size) {
    char *text = malloc(size + 1);
    memcpy(text, data, size);
    text[size] = 0;
    return text;
}

/* The input as a file, whose name this is */
static inline const char *fuzz_file(const unsigned char *data, size_t size) {
    static char name[64];
    snprintf(name, sizeof name, "/dev/shm/kspec-fuzz-%ld", (long)getpid());
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
    return name;
}

#endif
