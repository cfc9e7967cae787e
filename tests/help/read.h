/* What the tests of kspec_read() share: a folder, files made in it, and checks of what is read from them. */
#ifndef KSPEC_READ_HELP_H
#define KSPEC_READ_HELP_H

#include "kspec.h"
#include "test.h"

static kspec_error err;
static char folder[] = "/tmp/kspec-test-read-XXXXXX";

/* The path of a file in the test's folder; good for the next 31 calls. */
static inline const char *path(const char *name) {
    static char room[32][256];
    static int next;
    char *p = room[next++ % 32];
    snprintf(p, sizeof room[0], "%s/%s", folder, name);
    return p;
}

static inline const char *fixture(const char *name) {
    static char p[4096];
    snprintf(p, sizeof p, "%s/tests/fixtures/%s", TEST_SOURCE_DIR, name);
    return p;
}

static inline const char *put_bytes(const char *name, const void *head, size_t head_size, const void *body,
                                    size_t size) {
    FILE *f = fopen(path(name), "wb");
    fwrite(head, 1, head_size, f);
    fwrite(body, 1, size, f);
    fclose(f);
    return path(name);
}

static inline const char *put_text(const char *name, const char *text) {
    return put_bytes(name, text, strlen(text), "", 0);
}

static inline const char *put_npy(const char *name, int ndim, const size_t *shape, int fortran,
                                  const double *x) {
    char head[128], dims[64] = "";
    size_t count = 1;
    for (int d = 0; d < ndim; d++) {
        sprintf(dims + strlen(dims), "%zu,", shape[d]);
        count *= shape[d];
    }
    memset(head, ' ', sizeof head);
    memcpy(head, "\x93NUMPY\1\0\x76\0", 10);
    int n = sprintf(head + 10, "{'descr': '<f8', 'fortran_order': %s, 'shape': (%s), }",
                    fortran ? "True" : "False", dims);
    head[10 + n] = ' ';
    head[127] = '\n';
    return put_bytes(name, head, sizeof head, x, count * sizeof *x);
}

/* An array of 0, 1, 2, ... */
static inline const char *put_counting(const char *name, int ndim, size_t a, size_t b, size_t c) {
    static double x[10000];
    for (int i = 0; i < 10000; i++) x[i] = i;
    return put_npy(name, ndim, (size_t[]){a, b, c}, 0, x);
}

static inline kspec_status read_one(const char *input, const kspec_read_opts *opts, kspec_dataset **d) {
    err.msg[0] = 0;
    kspec_status st = kspec_read(&input, 1, opts, d, &err);
    CHECK_MSG((st == KSPEC_OK) == (*d != NULL), "a failure leaves no data set");
    return st;
}

#define OPTS(...) (&(kspec_read_opts){.size = sizeof(kspec_read_opts), __VA_ARGS__})
#define REFUSES(input, opts, code, text)                               \
    do {                                                               \
        kspec_dataset *refused;                                        \
        CHECK_FAILS(read_one(input, opts, &refused), code, err, text); \
    } while (0)

static inline void check_data(int line, const kspec_dataset *d, size_t trials, size_t rows, size_t cols,
                              const double *want) {
    CHECK_MSG(d->trials == trials && d->rows == rows && d->cols == cols, "line %d: %zu x %zu x %zu", line,
              d->trials, d->rows, d->cols);
    if (d->trials != trials || d->rows != rows || d->cols != cols) return;
    for (size_t k = 0; k < trials * rows * cols; k++)
        CHECK_MSG(d->data[k] == want[k] || (isnan(d->data[k]) && isnan(want[k])),
                  "line %d: entry %zu is %g, not %g", line, k, d->data[k], want[k]);
}

static inline void check_reads(int line, const char *input, const kspec_read_opts *opts, size_t trials,
                               size_t rows, size_t cols, const double *want) {
    kspec_dataset *d;
    kspec_status st = read_one(input, opts, &d);
    CHECK_MSG(st == KSPEC_OK && err.code == KSPEC_OK, "line %d: %s", line, err.msg);
    if (!st) check_data(line, d, trials, rows, cols, want);
    kspec_free(d);
}

#define READS(input, opts, t, r, c, ...) \
    check_reads(__LINE__, input, opts, t, r, c, (const double[]){__VA_ARGS__})

static inline void make_folder(void) {
    if (!mkdtemp(folder)) exit(1);
}

static inline void remove_folder(void) {
    char command[100];
    snprintf(command, sizeof command, "rm -r %s", folder);
    if (system(command)) exit(1);
}

#endif
