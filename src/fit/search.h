/* Which families are tried: every shape whole, then with breaks and an end as long as they help. */
#pragma once

#include "base/parallel.h"
#include "fit/mode.h"

/*
 * Room: breaks at the cuts of the rough mode and at the first eigenvalues; ends there and at KS_ENDS; refined
 * ends. Modes of the shapes and the rough one, of each move of two shapes and the start of the flat one,
 * and of every shape of what the moves reached.
 */
enum {
    KS_CUTS_MAX = 6 + KS_SPIKES_MAX,
    KS_TRIES_MAX = KS_CUTS_MAX + KS_END_COUNT + KS_CUTS_MAX,
    KS_REACHED_MAX = 2 * KS_MOVES_MAX + 1,
    KS_MODES_MAX = KS_SHAPE_COUNT + 1 + KS_PIECES_MAX + KS_SPIKES_MAX +
                   KS_REACHED_MAX * (KS_TRIES_MAX + 6 + KS_SHAPE_COUNT)
};

typedef struct {
    const ks_problem *p;
    /* in the order in which they were tried */
    size_t count;
    ks_mode *modes;
    /* one for each worker */
    ks_mode_work *work;
    /* whose cuts and means show where there might be steps */
    const ks_mode *rough;
    /* for segmentations; K times no guess */
    double *scratch;
    ks_cplx *nothing;
} ks_search;

kspec_status ks_search_init(const ks_run *run, ks_search *s, const ks_problem *p, ks_arena *arena,
                            kspec_error *err);

/*
 * All modes, from theta (N) and log_c (K) as a start: of the shapes alone, or where `all` is 1 with
 * breaks and ends. The same bits at any thread count.
 */
kspec_status ks_search_run(const ks_run *run, ks_search *s, const double *theta, const ks_cplx *log_c,
                           int all, kspec_error *err);
