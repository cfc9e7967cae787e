/* What the tests of the binary readers share: fixtures, their values, and ways to spoil a file. */
#ifndef KSPEC_IO_HELP_H
#define KSPEC_IO_HELP_H

#include "help/failing_alloc.h"
#include "formats/array.h"
#include "test.h"

/* Entry k, in C order, of every array that make_binary.py writes. */
static inline double formula(char kind, size_t k) {
    double v = (double)(k * 37 % 101);
    return kind == 'b' ? k % 3 == 0 : kind == 'u' ? v : kind == 'i' ? v - 50 : (v - 50) / 8;
}

/* Its shape for ndim axes: 12, 3 x 4, 2 x 3 x 2. */
static const size_t fixture_shape[4][3] = {{0}, {12, 1, 1}, {3, 4, 1}, {2, 3, 2}};

static inline double entry(const ks_array *a, size_t k) {
    ptrdiff_t at = 0;
    for (int d = a->ndim - 1; d >= 0; d--) {
        at += (ptrdiff_t)(k % a->shape[d]) * a->stride[d];
        k /= a->shape[d];
    }
    return a->data[at];
}

static inline void check_array(const ks_array *a, char kind, int ndim, const size_t *shape,
                               const char *what) {
    CHECK_MSG(a->ndim == ndim, "%s: %d axes", what, a->ndim);
    if (a->ndim != ndim) return;
    size_t count = 1;
    for (int d = 0; d < ndim; d++) {
        CHECK_MSG(a->shape[d] == shape[d], "%s: axis %d is %zu", what, d, a->shape[d]);
        count *= a->shape[d];
    }
    for (size_t k = 0; k < count; k++)
        CHECK_MSG(entry(a, k) == formula(kind, k), "%s: entry %zu is %g", what, k, entry(a, k));
}

static inline ks_bytes fixture(const char *name) {
    char path[1024];
    kspec_error err = {0};
    ks_bytes b;
    snprintf(path, sizeof path, "%s/tests/fixtures/binary/%s", TEST_SOURCE_DIR, name);
    CHECK_MSG(ks_bytes_open(&b, path, &err) == KSPEC_OK, "%s", err.msg);
    return b;
}

typedef kspec_status (*parser)(ks_bytes *bytes, const char *name, ks_array *out, kspec_error *err);

/*
 * Parses a copy of n bytes that ends where its memory ends, so that a sanitizer sees a read past it. Whatever
 * the bytes, the parser succeeds with entries that can all be read, or fails with one line and nothing left.
 */
static inline kspec_status survive(parser parse, const unsigned char *data, size_t n, kspec_error *err) {
    unsigned char *copy = malloc(n ? n : 1);
    memcpy(copy, data, n);
    ks_bytes b = {.data = copy, .size = n};
    ks_array a;
    memset(err, 0, sizeof *err);
    kspec_status status = parse(&b, "spoilt", &a, err);
    if (status == KSPEC_OK) {
        size_t count = 1;
        for (int d = 0; d < a.ndim; d++) count *= a.shape[d];
        volatile double sum = 0;
        for (size_t k = 0; k < count; k++) sum += entry(&a, k);
        (void)sum;
        CHECK(a.ndim >= 1 && a.ndim <= 3 && count > 0);
    } else {
        CHECK_MSG(status == KSPEC_E_IO || status == KSPEC_E_NOMEM, "status %d", (int)status);
        CHECK_MSG(err->code == status && err->msg[0] && !strchr(err->msg, '\n'), "message: %s", err->msg);
        CHECK(a.ndim == 0 && !a.data && !a.storage.heap && b.data == copy);
    }
    ks_array_free(&a);
    free(copy);
    return status;
}

/* Every beginning of the file fails. */
static inline void check_truncations(parser parse, const ks_bytes *b) {
    kspec_error err;
    for (size_t n = 0; n < b->size; n++)
        CHECK_MSG(survive(parse, b->data, n, &err) != KSPEC_OK, "%zu of %zu bytes are accepted", n, b->size);
    CHECK_MSG(survive(parse, b->data, b->size, &err) == KSPEC_OK, "%s", err.msg);
}

/* Every file that differs in one bit, or one byte that is 0 or 255, is survived; returns how many are
 * accepted. */
static inline size_t check_flips(parser parse, const ks_bytes *b) {
    kspec_error err;
    size_t accepted = 0;
    unsigned char *spoilt = malloc(b->size);
    memcpy(spoilt, b->data, b->size);
    for (size_t i = 0; i < b->size; i++) {
        for (int bit = 0; bit < 10; bit++) {
            spoilt[i] = bit == 8 ? 0 : bit == 9 ? 255 : (unsigned char)(b->data[i] ^ 1u << bit);
            accepted += survive(parse, spoilt, b->size, &err) == KSPEC_OK;
        }
        spoilt[i] = b->data[i];
    }
    free(spoilt);
    return accepted;
}

/* With every number of allocations before memory runs out, the parser fails cleanly; and in the end succeeds.
 */
static inline void check_allocations(parser parse, const ks_bytes *b, long least) {
    failing_alloc_install();
    long k = 0;
    for (; k < 100; k++) {
        kspec_error err = {0};
        ks_bytes borrowed = {.data = b->data, .size = b->size};
        ks_array a;
        failing_alloc_arm(k);
        kspec_status status = parse(&borrowed, "x", &a, &err);
        if (status == KSPEC_OK) ks_array_free(&a);
        CHECK_MSG(failing_alloc_live() == 0, "%ld leaked at %ld", failing_alloc_live(), k);
        if (status == KSPEC_OK) break;
        CHECK_MSG(status == KSPEC_E_NOMEM && strstr(err.msg, "memory"), "status %d: %s", (int)status,
                  err.msg);
    }
    CHECK_MSG(k >= least && k < 100, "succeeds after %ld allocations", k);
    failing_alloc_uninstall();
}

#endif
