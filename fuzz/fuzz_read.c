/*
 * kspec_read(): the first four lines of the input are the axes, the rows, the columns and a digit (what to do
 * with missing values, and from 5 on with the file twice); the rest is the file, which a 'z' behind the digit
 * has compressed first: a changed gzip file is hardly ever one.
 */
#define ZLIB_CONST /* what is compressed stays as it is */
#include "fuzz.h"
#include "kspec/files.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

static size_t gzip(const unsigned char *data, size_t size, unsigned char *to, size_t room) {
    z_stream z = {.next_in = data, .avail_in = (uInt)size, .next_out = to, .avail_out = (uInt)room};
    if (deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 1, Z_DEFAULT_STRATEGY) != Z_OK) abort();
    size_t n = deflate(&z, Z_FINISH) == Z_STREAM_END ? room - z.avail_out : 0;
    deflateEnd(&z);
    return n;
}

static void check(const kspec_dataset *d, const kspec_read_opts *o) {
    size_t missing = 0;
    for (size_t t = 0; t < d->trials; t++) {
        kspec_matrix m = kspec_dataset_trial(d, t);
        for (size_t i = 0; i < m.rows; i++)
            for (size_t j = 0; j < m.cols; j++)
                missing += isnan(m.data[(ptrdiff_t)i * m.row_stride + (ptrdiff_t)j * m.col_stride]) != 0;
    }
    if (missing && o->nan != KSPEC_NAN_KEEP && o->nan != KSPEC_NAN_RAGGED_TRIALS) __builtin_trap();
    if (o->nan == KSPEC_NAN_KEEP && missing != d->missing) __builtin_trap();
    for (size_t j = 0; j < d->cols && d->col_names; j++)
        if (strlen(d->col_names[j]) > 100000) __builtin_trap();
    for (size_t i = 0; i < d->rows && d->row_trials; i++)
        if (d->row_trials[i] < 2 || d->row_trials[i] > d->trials) __builtin_trap();
}

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    fuzz_limit_memory();
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    char line[4][100];
    for (int k = 0; k < 4; k++) {
        const unsigned char *end = memchr(data, '\n', size);
        if (!end || end - data >= 100) return 0;
        size_t n = (size_t)(end - data);
        memcpy(line[k], data, n);
        line[k][n] = 0;
        data += n + 1, size -= n + 1;
    }
    unsigned char packed[8192];
    if (line[3][0] && line[3][1] == 'z' && size <= 4096)
        size = gzip(data, size, packed, sizeof packed), data = packed;
    char name[64];
    snprintf(name, sizeof name, "/dev/shm/kspec-fuzz-%ld", (long)getpid());
    FILE *f = fopen(name, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
    int how = (unsigned char)line[3][0] % 10;
    const char *const inputs[2] = {name, name};
    kspec_read_opts o = {.size = sizeof o,
                         .axes = line[0][0] ? line[0] : NULL,
                         .select_rows = line[1][0] ? line[1] : NULL,
                         .select_cols = line[2][0] ? line[2] : NULL,
                         .nan = (kspec_nan)(how % 5)};
    kspec_dataset *d;
    kspec_error err;
    kspec_status st = kspec_read(inputs, how >= 5 ? 2 : 1, &o, &d, &err);
    if (st ? d || !err.msg[0] || strchr(err.msg, '\n') : !d || err.msg[0]) __builtin_trap();
    if (!st) check(d, &o);
    kspec_free(d);
    fuzz_done();
    return 0;
}
