/*
 * Searches the families of spectra. The search first tries every shape, and then adds breaks and an end while
 * they improve the fit.
 */
#pragma once

#include "base/parallel.h"
#include "fit/mode.h"

/*
 * The numbers are upper bounds for the search. KS_CUTS_MAX counts breaks at the cuts of the rough mode and at
 * the first eigenvalues. KS_TRIES_MAX counts the families of one move, which are breaks, and ends at the cuts
 * and at KS_ENDS. KS_MODES_MAX counts the modes of all shapes, the rough mode, the first flat families, and
 * for each mode that moves reach its tries, 6 refined ends and all shapes.
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
    /* modes lists the modes in the order in which the search tried them. */
    size_t count;
    ks_mode *modes;
    /* per worker */
    ks_mode_work *work;
    /* The search takes its candidates for breaks from the mode `rough`. */
    const ks_mode *rough;
    /* scratch serves segmentations. nothing contains K times NaN, which stands for a missing guess. */
    double *scratch;
    ks_cplx *nothing;
} ks_search;

kspec_status ks_search_init(const ks_run *run, ks_search *s, const ks_problem *p, ks_arena *arena,
                            kspec_error *err);

/*
 * Finds all modes, starting from theta, N numbers, and from the K guesses log_c. If `all` is 0, the search
 * tries shapes alone, and otherwise also breaks and ends. The result has the same bits at any thread count.
 */
kspec_status ks_search_run(const ks_run *run, ks_search *s, const double *theta, const ks_cplx *log_c,
                           int all, kspec_error *err);
