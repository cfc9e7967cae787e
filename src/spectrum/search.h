/* Which families are tried: every shape whole, then with breaks and an end as long as they help. */
#ifndef KS_SPECTRUM_SEARCH_H
#define KS_SPECTRUM_SEARCH_H

#include "base/parallel.h"
#include "spectrum/mode.h"

/*
 * Room for the modes: shapes and the rough one; breaks, ends and refined ends of each move of two shapes;
 * every shape of what the moves ended with.
 */
enum {
    KS_CUTS_MAX = 9,
    KS_TRIES_MAX = KS_CUTS_MAX + KS_END_COUNT + KS_CUTS_MAX + 6,
    KS_MODES_MAX = KS_SHAPE_COUNT + 1 + 2 * KS_MOVES_MAX * (KS_TRIES_MAX + KS_SHAPE_COUNT)
};

typedef struct {
    const ks_problem *p;
    /* in the order in which they were tried */
    size_t count;
    ks_mode *modes;
    /* one for each worker */
    ks_mode_work *work;
    /* for segmentations */
    double *scratch;
} ks_search;

kspec_status ks_search_init(const ks_run *run, ks_search *s, const ks_problem *p, ks_arena *arena,
                            kspec_error *err);

/*
 * All modes, from theta (N) and log_kappa (K) as a start: of the shapes alone, or where `all` is 1 with
 * breaks and ends. The same bits at any thread count.
 */
kspec_status ks_search_run(const ks_run *run, ks_search *s, const double *theta, const ks_cplx *log_kappa,
                           int all, kspec_error *err);

#endif
