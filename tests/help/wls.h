/* One point in one line: the expected or measured errors at one p, and the choices of p and weight. */
#ifndef WLS_HELP_H
#define WLS_HELP_H

#include "kspec.h"
#include "test.h"

/* The only point of a result, which is freed; a failure must leave none. */
static inline kspec_status take_point(kspec_status st, kspec_wls_result *r, kspec_wls_point *q) {
    memset(q, 0, sizeof *q);
    CHECK((st == KSPEC_OK) == (r != NULL));
    if (r) {
        CHECK(r->count == 1);
        *q = *r->points[0];
    }
    kspec_free(r);
    return st;
}

static inline kspec_status expect_at(size_t N, size_t p, const kspec_wls_opts *o, kspec_wls_point *q,
                                     kspec_error *e) {
    kspec_wls_result *r = (kspec_wls_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_theory(N, &p, 1, o, &r, e);
    return take_point(st, r, q);
}

static inline kspec_status measure_at(size_t N, size_t p, size_t draws, const kspec_wls_opts *o,
                                      kspec_wls_point *q, kspec_error *e) {
    kspec_wls_result *r = (kspec_wls_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_empirical(N, &p, 1, draws, o, &r, e);
    return take_point(st, r, q);
}

static inline kspec_status best_p(size_t N, const size_t *p, size_t count, const kspec_wls_opts *o,
                                  kspec_wls_point *q, kspec_error *e) {
    kspec_wls_result *r = (kspec_wls_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_best_p(N, p, count, o, &r, e);
    return take_point(st, r, q);
}

static inline kspec_status best_weight(size_t N, size_t p, double low, double high, const kspec_wls_opts *o,
                                       kspec_wls_point *q, kspec_error *e) {
    kspec_wls_result *r = (kspec_wls_result *)(uintptr_t)1;
    kspec_status st = kspec_wls_best_weight(N, p, low, high, o, &r, e);
    return take_point(st, r, q);
}

#endif
