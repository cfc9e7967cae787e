/* Allocates and frees the results of predictions. */
#include "ridge/result.h"

#include "base/error.h"
#include "base/result.h"

kspec_status ks_ridge_result(const kspec_ridge *r, size_t count, kspec_ridge_result **out, kspec_error *err) {
    *out = NULL;
    kspec_ridge_result *result = ks_result_new(sizeof *result);
    if (!result) return ks_nomem(err, "the points", sizeof *result);
    ks_arena *memory = ks_result_arena(result);
    size_t m = r->m;
    double *columns = ks_arena_zalloc(memory, ks_size(count, 2 * m), sizeof *columns);
    result->count = count;
    result->targets = m;
    result->points = ks_arena_list(memory, count, sizeof **result->points);
    if (memory->failed) {
        kspec_status st = ks_nomem(err, "the points", memory->failed);
        kspec_free(result);
        return st;
    }
    ks_ridge_own_columns(result, columns);
    *out = result;
    return KSPEC_OK;
}

void ks_ridge_own_columns(kspec_ridge_result *result, double *columns) {
    const size_t m = result->targets;
    for (size_t k = 0; k < result->count; k++) {
        result->points[k]->train_columns = columns + 2 * k * m;
        result->points[k]->test_columns = columns + (2 * k + 1) * m;
    }
}

kspec_status ks_ridge_empirical_result(size_t count, kspec_ridge_empirical_result **out, kspec_error *err) {
    *out = NULL;
    kspec_ridge_empirical_result *result = ks_result_new(sizeof *result);
    if (!result) return ks_nomem(err, "the points", sizeof *result);
    ks_arena *memory = ks_result_arena(result);
    result->count = count;
    result->points = ks_arena_list(memory, count, sizeof **result->points);
    if (memory->failed) {
        kspec_status st = ks_nomem(err, "the points", memory->failed);
        kspec_free(result);
        return st;
    }
    *out = result;
    return KSPEC_OK;
}
