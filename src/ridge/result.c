#include "ridge/result.h"

#include "base/error.h"

/* A result, and the memory of everything in it. */
typedef struct {
    kspec_ridge_result out;
    ks_arena memory;
} holder;

typedef struct {
    kspec_ridge_empirical_result out;
    ks_arena memory;
} empirical_holder;

kspec_status ks_ridge_result(const kspec_ridge *r, size_t count, kspec_ridge_result **out, kspec_error *err) {
    *out = NULL;
    holder *h = ks_zalloc(1, sizeof *h);
    if (!h) return ks_nomem(err, "the points", sizeof *h);
    size_t m = r->m;
    kspec_ridge_point *points = ks_arena_zalloc(&h->memory, count, sizeof *points);
    double *columns = ks_arena_zalloc(&h->memory, ks_size(count, 2 * m), sizeof *columns);
    h->out = (kspec_ridge_result){.count = count, .targets = m};
    h->out.points = ks_arena_alloc(&h->memory, count, sizeof *h->out.points);
    if (h->memory.failed) {
        kspec_status st = ks_nomem(err, "the points", h->memory.failed);
        kspec_ridge_free(&h->out);
        return st;
    }
    for (size_t k = 0; k < count; k++) {
        points[k].train_columns = columns + 2 * k * m;
        points[k].test_columns = points[k].train_columns + m;
        h->out.points[k] = &points[k];
    }
    *out = &h->out;
    return KSPEC_OK;
}

kspec_status ks_ridge_empirical_result(size_t count, kspec_ridge_empirical_result **out, kspec_error *err) {
    *out = NULL;
    empirical_holder *h = ks_zalloc(1, sizeof *h);
    if (!h) return ks_nomem(err, "the points", sizeof *h);
    kspec_ridge_measured *points = ks_arena_zalloc(&h->memory, count, sizeof *points);
    h->out.count = count;
    h->out.points = ks_arena_alloc(&h->memory, count, sizeof *h->out.points);
    if (h->memory.failed) {
        kspec_status st = ks_nomem(err, "the points", h->memory.failed);
        kspec_ridge_empirical_free(&h->out);
        return st;
    }
    for (size_t k = 0; k < count; k++) h->out.points[k] = &points[k];
    *out = &h->out;
    return KSPEC_OK;
}

void kspec_ridge_free(kspec_ridge_result *result) {
    if (!result) return;
    ks_arena_free(&((holder *)result)->memory);
    ks_free(result);
}

void kspec_ridge_empirical_free(kspec_ridge_empirical_result *result) {
    if (!result) return;
    ks_arena_free(&((empirical_holder *)result)->memory);
    ks_free(result);
}
