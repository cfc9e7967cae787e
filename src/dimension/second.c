#include "dimension/second.h"

#include "base/error.h"
#include "dimension/sums.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

kspec_status ks_measured_open(ks_measured *m, const kspec_matrix *phi, size_t ntrials,
                              const size_t *row_trials, int center, const char *what, ks_arena *arena,
                              kspec_error *err) {
    kspec_status st = ks_check_pointer(err, phi, what);
    if (st) return st;
    if (ntrials == 0) return ks_fail(err, KSPEC_E_ARG, "%s: number of trials 0 is below 1", what);
    size_t P = phi[0].rows, Q = phi[0].cols, least = center ? 5 : 3;
    if (P < least || Q < 3)
        return ks_fail(err, KSPEC_E_ARG, "%s: %zu rows and %zu columns are fewer than %zu and 3%s", what, P,
                       Q, least, center ? " (3 rows where not centred)" : "");
    if (ntrials == 1 && row_trials)
        return ks_fail(err, KSPEC_E_ARG, "%s: ragged trials need at least 2 trials, not 1", what);
    m->trials =
        (ks_trials){.phi = phi, .count = ntrials, .P = P, .Q = Q, .row_trials = row_trials, .center = center};
    st = ks_trials_init(&m->trials, err);
    if (!st) st = ks_trials_scale(&m->trials, 2, err);
    if (!st) st = ks_trials_alloc(&m->trials, arena, &m->halves, err);
    return st;
}

double *ks_measured_mean(ks_measured *m, ks_arena *arena) {
    const ks_trials *t = &m->trials;
    double *X = ks_arena_alloc(arena, ks_size(t->P, t->Q), sizeof *X);
    if (X) ks_trials_mean(t, m->halves.mean, X);
    return X;
}

/* Split r of the trials */
static ks_pair split(ks_measured *m, uint64_t seed, size_t r) {
    const ks_trials *t = &m->trials;
    ks_pair p;
    ks_trials_split(t, seed, r, &m->halves, &p);
    return p;
}

/* (sum of eigenvalues)^2 / sum of squares, from the smaller of X X^T and X^T X */
static kspec_status naive_ratio(const ks_run *run, const double *X, size_t P, size_t Q, double *ratio,
                                kspec_error *err) {
    int rows = P <= Q;
    size_t N = rows ? P : Q, M = rows ? Q : P;
    ks_arena arena = {0};
    double *G = ks_arena_alloc(&arena, ks_size(N, N), sizeof *G), trace = 0, square = 0;
    kspec_status st = G ? KSPEC_OK : ks_nomem(err, "the Gram matrix", arena.failed);
    if (!st) st = ks_gemm_symmetric_tiled(run, !rows, rows, N, M, 1, X, Q, X, Q, G, N, err);
    for (size_t i = 0; i < N && !st; i++) {
        trace += G[i * N + i];
        square += ks_dot(N, G + i * N, G + i * N);
    }
    ks_arena_free(&arena);
    *ratio = square > 0 ? trace * trace / square : NAN;
    return st;
}

/* Adds the estimates of one split, each weighted by 1/splits, to the lists. */
static void add(const ks_two *t, const ks_sums *sums, double weight, ks_second *s) {
    size_t P = t->P, Q = t->Q, at = 0;
    double pairs = (double)Q * ((double)Q - 1), fewer = ((double)Q - 1) * ((double)Q - 2);
    for (size_t k = 0; k < 1 + P + Q; k++, at++) {
        const ks_quad *q = k == 0 ? &sums->all : k <= P ? &sums->row[k - 1] : &sums->col[k - 1 - P];
        size_t rows = k >= 1 && k <= P ? P - 1 : P, cols = k > P ? Q - 1 : Q;
        double n = k > P ? fewer : pairs;
        s->trace[at] += weight * ks_sums_trace(q, t->centered, rows, cols);
        s->square[at] += weight * ks_sums_traces(q, t->centered, rows, n);
        s->moment[at] += weight * ks_sums_cross(q, t->centered, rows, n);
    }
}

kspec_status ks_second_make(const ks_run *run, ks_measured *m, int splits, uint64_t seed, ks_second *s,
                            ks_arena *arena, kspec_error *err) {
    const ks_trials *t = &m->trials;
    size_t count = 1 + t->P + t->Q, repeats = ks_trials_splits(t, splits);
    *s = (ks_second){.P = t->P, .Q = t->Q, .exponent = t->exponent};
    s->trace = ks_arena_zalloc(arena, count, sizeof(double));
    s->square = ks_arena_zalloc(arena, count, sizeof(double));
    s->moment = ks_arena_zalloc(arena, count, sizeof(double));
    ks_arena scratch = {0};
    double *mean = ks_measured_mean(m, &scratch);
    kspec_status st = KSPEC_OK;
    if (arena->failed || scratch.failed)
        st = ks_nomem(err, "leave-one-out estimates", arena->failed ? arena->failed : scratch.failed);
    ks_run first = ks_run_part(run, 0, 0.2);
    if (!st) st = naive_ratio(&first, mean, t->P, t->Q, &s->naive, err);
    ks_arena_free(&scratch);
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_pair p = split(m, seed, r);
        ks_sums sums;
        ks_run part = ks_run_part(run, 0.2 + 0.8 * (double)r / (double)repeats,
                                  0.2 + 0.8 * (double)(r + 1) / (double)repeats);
        const ks_two two = {.X = p.A,
                            .Z = p.B,
                            .Y = p.B,
                            .W = p.A,
                            .P = t->P,
                            .Q = t->Q,
                            .R = t->Q,
                            .same = 1,
                            .centered = t->center};
        st = ks_sums_make(&part, &two, &sums, &scratch, err);
        if (!st) add(&two, &sums, 1 / (double)repeats, s);
        ks_arena_free(&scratch);
    }
    return st;
}

kspec_status ks_cross_make(const ks_run *run, ks_measured *first, ks_measured *second, int splits,
                           uint64_t seed, double **cross, ks_arena *arena, kspec_error *err) {
    const ks_trials *t = &first->trials, *u = &second->trials;
    size_t P = t->P, Q = t->Q, R = u->Q, count = 1 + P + Q + R;
    size_t a = ks_trials_splits(t, splits), b = ks_trials_splits(u, splits), repeats = a > b ? a : b;
    *cross = ks_arena_zalloc(arena, count, sizeof **cross);
    if (!*cross) return ks_nomem(err, "leave-one-out estimates", arena->failed);
    kspec_status st = KSPEC_OK;
    for (size_t r = 0; r < repeats && !st; r++) {
        ks_pair p = split(first, seed, r), q = split(second, seed, r);
        ks_sums sums;
        ks_arena scratch = {0};
        ks_run part = ks_run_part(run, (double)r / (double)repeats, (double)(r + 1) / (double)repeats);
        const ks_two two = {
            .X = p.A, .Z = p.B, .Y = q.B, .W = q.A, .P = P, .Q = Q, .R = R, .centered = t->center};
        st = ks_sums_make(&part, &two, &sums, &scratch, err);
        for (size_t k = 0; k < count && !st; k++) {
            const ks_quad *x = k == 0       ? &sums.all
                               : k <= P     ? &sums.row[k - 1]
                               : k <= P + Q ? &sums.col[k - 1 - P]
                                            : &sums.other[k - 1 - P - Q];
            double pairs = (double)(k > P && k <= P + Q ? Q - 1 : Q) * (double)(k > P + Q ? R - 1 : R);
            (*cross)[k] +=
                ks_sums_cross(x, two.centered, k >= 1 && k <= P ? P - 1 : P, pairs) / (double)repeats;
        }
        ks_arena_free(&scratch);
    }
    return st;
}

double ks_jackknife_side(const double *x, size_t N) {
    double mean = 0, sum = 0;
    for (size_t i = 0; i < N; i++) mean += x[i] / (double)N;
    for (size_t i = 0; i < N; i++) sum += (x[i] - mean) * (x[i] - mean);
    return sum * (double)(N - 1) / (double)N;
}

double ks_ratio(double square, double moment) { return square > 0 && moment > 0 ? square / moment : NAN; }

void ks_log_ratios(const ks_second *s, double *out) {
    size_t count = 1 + s->P + s->Q;
    int positive = 1;
    for (size_t k = 0; k < count; k++) positive &= s->square[k] > 0 && s->moment[k] > 0;
    double log_all = log(ks_ratio(s->square[0], s->moment[0]));
    for (size_t k = 0; k < count; k++)
        out[k] = positive ? log(s->square[k]) - log(s->moment[k])
                          : log_all + s->square[k] / s->square[0] - s->moment[k] / s->moment[0];
}
