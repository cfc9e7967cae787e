/*
 * Converts complete sides and finite populations to one form, and checks that the other options fit this
 * form.
 */
#include "moments/weighted.h"

#include "base/center.h"
#include "base/error.h"
#include "moments/plan.h"

kspec_status ks_weighted_resolve(kspec_moments_opts *o, ks_exact_plan *e, kspec_error *err) {
    const uint64_t given[2] = {o->population_rows, o->population_cols};
    const size_t size[2] = {e->P, e->Q};
    int whole[2];
    for (int side = 0; side < 2; side++) {
        const char *what = side == KS_ROW ? "rows" : "columns";
        int complete = o->sampled == (side == KS_ROW ? KSPEC_SAMPLED_COLS : KSPEC_SAMPLED_ROWS);
        if (given[side] && given[side] < size[side])
            return ks_fail(err, KSPEC_E_ARG, "a population of %llu %s is smaller than the sample of %zu",
                           (unsigned long long)given[side], what, size[side]);
        if (complete && given[side] > size[side])
            return ks_fail(err, KSPEC_E_ARG, "a population of %llu %s contradicts sampled, which has all %zu",
                           (unsigned long long)given[side], what, size[side]);
        whole[side] = complete || given[side] == size[side];
        e->population[side] = whole[side] ? (double)size[side] : (double)given[side];
    }
    e->center = o->center;
    o->sampled = KSPEC_SAMPLED_BOTH;
    if (!ks_centred(o->center) && whole[KS_ROW] && !e->population[KS_COL]) o->sampled = KSPEC_SAMPLED_COLS;
    if (!ks_centred(o->center) && whole[KS_COL] && !e->population[KS_ROW]) o->sampled = KSPEC_SAMPLED_ROWS;
    e->sampled = o->sampled;
    if (o->sampled != KSPEC_SAMPLED_BOTH) e->population[0] = e->population[1] = 0;
    return KSPEC_OK;
}

kspec_status ks_weighted_check(kspec_moments_opts *o, const ks_exact_plan *e, kspec_error *err) {
    if (!ks_exact_weighted(e)) return KSPEC_OK;
    const char *of = ks_centred(e->center) ? "center" : "a finite population";
    const unsigned exact = KSPEC_ESTIMATOR_EXACT | KSPEC_ESTIMATOR_AUTO;
    for (unsigned k = KSPEC_ESTIMATOR_KV_ROW; k <= KSPEC_ESTIMATOR_PATH; k <<= 1)
        if (o->estimators & k)
            return ks_fail(err, KSPEC_E_ARG, "%s cannot be combined with %s; use exact, naive or auto",
                           ks_estimator_name((kspec_estimator)k), of);
    if (o->scheme == KSPEC_TRIALS_ASSIGNMENT)
        return ks_fail(err, KSPEC_E_ARG, "the assignment scheme cannot be combined with %s", of);
    if (o->bound) return ks_fail(err, KSPEC_E_ARG, "bound cannot be combined with %s", of);
    if (!(o->estimators & exact)) return KSPEC_OK;
    int highest = ks_exact_highest(e), asked = o->nmax > 0, n = asked ? o->nmax : 1;
    for (int side = 0; side < 2; side++) {
        size_t enough = ks_exact_enough(e, side);
        if ((size_t)n > enough) return ks_exact_too_few(e, side, n, err);
        if (enough < (size_t)highest) highest = (int)enough;
    }
    if (!asked) o->nmax = highest;
    if (asked && n > highest && !(o->estimators & ~exact))
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds %d, the highest with %s%s", n, highest, of,
                       e->center == KSPEC_CENTER_BOTH ? " on both sides" : "");
    return KSPEC_OK;
}
