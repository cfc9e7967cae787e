/*
 * Computes leave-one-out estimates of `path`. The sum S over cycles is linear in the weight of each row
 * and column, so leaving row i out gives S minus the cycles through row i. A cycle from start row h that
 * enters row a from column b is
 *
 *     a prefix A_a[k][b]: k rows before a, the last column b (the recursion of path.c before row a)
 *     times the step B[a,b]
 *     times a suffix T_a[j](b) = sum_{b' > b} A[a,b'] C_a[j][b'], where C_a[j][b'] sums over all ways to
 *         continue after column b': j more rows after a, a column for each, and the closing edge back to h.
 *
 * The cycle counts once for row a and once for column b. C and T obey the recursion of A and R, walked
 * from the last row and column to the first with the two matrices exchanged, so the same sweep computes
 * them. Then the forward walk removes rows and columns from them again, one by one, so that it stores only
 * the present state.
 *
 * Subtraction loses digits: the remainder has the rounding error of the larger value before. So the sweep
 * keeps C after every stretch of rows and T after every stretch of columns, and the walk restarts from
 * these. With s rows in a stretch, a suffix has up to s rows too many until the walk removes
 * them. The error relative to S then grows like C(P+s,n)/C(P,n). Without stretches it would grow like
 * C(2P,n)/C(P,n). The rounding error of a low order
 * also passes into the higher ones. This error is harmless while the higher sums are larger than the lower
 * ones. Past half of min(P,Q) they are smaller. Then P or Q is below 2 nmax, and the code simply computes
 * the estimate again without each row and column.
 */
#include "path/path.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/gpu.h"
#include "device/pair_device.h"
#include "team/team.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    /* blocks are divided into at most so many groups, whose results are added up in a fixed order */
    MAX_GROUPS = 64,
    /* log2 of the largest allowed ratio of a lower order's sums to the sums of order nmax */
    BULGE = 12,
    /* the allowed loss of digits in a stretch: five bits for rows, five for columns */
    LOSS = 32,
    BAND_BYTES = 384 * 1024,
};

/* Scratch of one worker; L stands for plan.lanes, n for nmax. */
typedef struct {
    double *A, *V;         /* Q x n x L */
    double *R;             /* R: band x (n-1) x L */
    double *W;             /* P x (n-1) x L */
    double *C;             /* C: row stretches x Q x n x L */
    double *T;             /* T: column stretches x P x (n-1) x L */
    double *start, *close; /* Q x L */
    double *sum;           /* n x L */
} scratch;

typedef struct {
    const ks_run *run;
    const ks_pair *p;
    ks_path_plan plan;
    /* the number of groups, and the lengths of a row stretch in bands and of a column stretch in tiles */
    size_t groups, row_stretch, col_stretch;
    scratch *workers;
    /* blocks x n */
    double *sums;
    /* the cycles through each row (groups x n x P) and through each column (groups x n x Q) */
    double *rows, *cols;
    /* blocks */
    atomic_size_t done;
    atomic_bool cancelled;
} job;

static size_t ceil_div(size_t a, size_t b) { return (a + b - 1) / b; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

/* Returns the longest stretch s <= P with C(P+s,n) <= LOSS C(P,n), at least 1. */
static size_t stretch_length(size_t P, size_t n) {
    double growth = 1;
    size_t s = 0;
    while (s < P && (growth *= (double)(P + s + 1) / (double)(P + s + 1 - n)) <= LOSS) s++;
    return s ? s : 1;
}

/*
 * Computes C and T for all rows after h0. (A lane whose start row comes later has A = 0 for these rows, so
 * its C does not matter.)
 */
static void backward(const job *j, scratch *w, size_t h0) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax, K = n - 1;
    const size_t bands = ceil_div(P - h0, plan->band), tiles = ceil_div(Q, plan->tile);
    const size_t size_C = Q * n * L, size_T = P * K * L;
    for (size_t i = bands; i-- > 0;) {
        double *C = w->C + i / j->row_stretch * size_C;
        if (i == bands - 1) {
            memset(C, 0, size_C * sizeof *C);
            for (size_t l = 0; l < L; l++) ks_path_start(plan, w->close, l, 0, Q, C);
        } else if ((i + 1) % j->row_stretch == 0)
            memcpy(C, C + size_C, size_C * sizeof *C);
        const size_t a0 = i ? h0 + i * plan->band : h0 + 1, a1 = smaller(P, h0 + (i + 1) * plan->band);
        for (size_t t = tiles; t-- > 0 && a0 < a1;) {
            double *T = w->T + t / j->col_stretch * size_T + a0 * K * L;
            if (t == tiles - 1)
                memset(T, 0, (a1 - a0) * K * L * sizeof *T);
            else if ((t + 1) % j->col_stretch == 0)
                memcpy(T, T + size_T, (a1 - a0) * K * L * sizeof *T);
            const size_t b0 = t * plan->tile, b1 = smaller(Q, b0 + plan->tile), at = (a1 - 1) * Q + b1 - 1;
            ks_path_cell cell = {.x = j->p->B + at,
                                 .y = j->p->A + at,
                                 .ld = Q,
                                 .rows = a1 - a0,
                                 .cols = b1 - b0,
                                 .dir = -1,
                                 .nmax = plan->nmax,
                                 .scale = plan->scale,
                                 .A = C + (b1 - 1) * n * L,
                                 .R = T + (a1 - 1 - a0) * K * L};
            plan->k->path_sweep(&cell);
        }
    }
}

/* Rows a ... a+rows-1 of the band that begins at a0, tile t. */
static void walk(const job *j, scratch *w, size_t h0, size_t a0, size_t a, size_t rows, size_t t) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax, K = n - 1;
    const size_t b0 = t * plan->tile, cols = smaller(Q - b0, plan->tile), at = a * Q + b0;
    const size_t stretch = (a0 - h0) / plan->band / j->row_stretch;
    ks_path_loo_cell cell = {
        .cell = {.x = j->p->A + at,
                 .y = j->p->B + at,
                 .ld = Q,
                 .rows = rows,
                 .cols = cols,
                 .dir = 1,
                 .nmax = plan->nmax,
                 .scale = plan->scale,
                 .A = w->A + b0 * n * L,
                 .R = w->R + (a - a0) * K * L},
        .C = w->C + (stretch * Q + b0) * n * L,
        .V = w->V + b0 * n * L,
        .T = w->T + (t / j->col_stretch * P + a) * K * L,
        .W = w->W + a * K * L,
    };
    plan->k->path_loo(&cell);
}

static void forward(const job *j, scratch *w, size_t h0) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax;
    const size_t tiles = ceil_div(Q, plan->tile);
    memset(w->A, 0, Q * n * L * sizeof(double));
    for (size_t a0 = h0; a0 < P; a0 += plan->band) {
        const size_t a1 = smaller(P, a0 + plan->band);
        memset(w->R, 0, plan->band * (n - 1) * L * sizeof(double));
        for (size_t t = 0; t < tiles; t++) {
            const size_t b0 = t * plan->tile, cols = smaller(Q - b0, plan->tile);
            size_t a = a0;
            for (; a < a1 && a < h0 + L; a++) { /* As in path.c, lane l begins after row h0+l. */
                if (a > h0 && n > 1) walk(j, w, h0, a0, a, 1, t);
                ks_path_start(plan, w->start, a - h0, b0, cols, w->A);
            }
            if (a < a1 && n > 1) walk(j, w, h0, a0, a, a1 - a, t);
        }
    }
}

/*
 * Adds the cycles of one block to S and to their start rows, and through V and W to the other rows and
 * columns.
 */
static void block(const job *j, scratch *w, size_t index, double *rows) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax, h0 = index * L;
    ks_path_panel(plan, j->p->A, h0, w->start);
    ks_path_panel(plan, j->p->B, h0, w->close);
    if (n > 1) backward(j, w, h0);
    forward(j, w, h0);

    memset(w->sum, 0, n * L * sizeof(double));
    plan->k->path_close(Q, plan->nmax, plan->nmax, w->A, w->close, w->sum);
    ks_path_lane_sums(plan, w->sum, j->sums + index * n);
    /* closes each cycle at its last column, from which the walk returns to h */
    for (size_t b = 0; b < Q; b++)
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < L; l++)
                w->V[(b * n + i) * L + l] += w->A[(b * n + i) * L + l] * w->close[b * L + l];
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < L && h0 + l < P; l++) rows[i * P + h0 + l] += w->sum[i * L + l];
}

/* Group g: blocks g, g + groups, ..., so that all groups take about the same time. */
static kspec_status group(void *ctx, size_t g, const ks_worker *worker) {
    job *j = ctx;
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax, K = n - 1;
    scratch *w = &j->workers[worker->index];
    double *rows = j->rows + g * n * P, *cols = j->cols + g * n * Q;
    memset(rows, 0, n * P * sizeof *rows);
    memset(w->V, 0, Q * n * L * sizeof(double));
    memset(w->W, 0, P * K * L * sizeof(double));
    for (size_t i = g; i < plan->blocks; i += j->groups) {
        if (atomic_load(&j->cancelled)) return KSPEC_E_CANCELLED;
        block(j, w, i, rows);
        size_t done = atomic_fetch_add(&j->done, 1) + 1;
        if (worker->index == 0 &&
            ks_run_report(j->run, fmin(1, (double)done / (double)plan->blocks * ks_team_ranks(j->run)))) {
            atomic_store(&j->cancelled, 1);
            return KSPEC_E_CANCELLED;
        }
    }
    for (size_t b = 0; b < Q; b++)
        for (size_t i = 0; i < n; i++) {
            double v = 0;
            for (size_t l = 0; l < L; l++) v += w->V[(b * n + i) * L + l];
            cols[i * Q + b] = v;
        }
    for (size_t a = 0; a < P; a++)
        for (size_t i = 0; i < K; i++) {
            double v = 0;
            for (size_t l = 0; l < L; l++) v += w->W[(a * K + i) * L + l];
            rows[(i + 1) * P + a] += v;
        }
    return KSPEC_OK;
}

/* Sets out[i] to the mean over the cycles that avoid i, or to NaN if no such cycle exists. */
static void leave_out(const job *j, double S, const double *through, size_t stride, size_t count,
                      ks_path_factor mean, int empty, double *out) {
    for (size_t i = 0; i < count; i++) {
        double sum = 0;
        for (size_t g = 0; g < j->groups; g++) sum += through[g * stride + i];
        out[i] = empty ? NAN : ldexp((S - sum) * mean.f, mean.e);
    }
}

static void results(const job *j, const ks_moments_out *out) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, n = (size_t)plan->nmax;
    for (size_t i = 0; i < n; i++) {
        const int order = (int)i + 1;
        double S = 0;
        for (size_t c = 0; c < plan->blocks; c++) S += j->sums[c * n + i];
        ks_path_factor mean = ks_path_mean(plan, P, Q, order);
        out->m[i] = ldexp(S * mean.f, mean.e);
        mean = ks_path_mean(plan, P - 1, Q, order);
        leave_out(j, S, j->rows + i * P, n * P, P, mean, i + 1 == P, out->rows + i * P);
        mean = ks_path_mean(plan, P, Q - 1, order);
        leave_out(j, S, j->cols + i * Q, n * Q, Q, mean, i + 1 == Q, out->cols + i * Q);
    }
}

/*
 * Returns the estimate without row `row` or column `col` (SIZE_MAX for none), computed from the smaller
 * matrix.
 */
static kspec_status again(const ks_run *run, const ks_pair *p, size_t row, size_t col, double *copies,
                          double *m, kspec_error *err) {
    const size_t rows = p->P - (row < p->P), cols = p->Q - (col < p->Q), size = rows * cols;
    double *a = copies, *b = p->A == p->B ? copies : copies + size;
    for (size_t i = 0, at = 0; i < p->P; i++)
        for (size_t k = 0; k < p->Q && i != row; k++)
            if (k != col) {
                b[at] = p->B[i * p->Q + k];
                a[at++] = p->A[i * p->Q + k];
            }
    const size_t most = smaller(smaller(rows, cols), (size_t)p->nmax);
    for (size_t n = most; n < (size_t)p->nmax; n++) m[n] = NAN;
    return most ? ks_path(run, &(ks_pair){a, b, rows, cols, (int)most}, &(ks_moments_out){m, NULL, NULL}, err)
                : KSPEC_OK;
}

static kspec_status every_one_again(const ks_run *run, const ks_pair *p, const ks_moments_out *out,
                                    kspec_error *err) {
    const size_t P = p->P, Q = p->Q, n = (size_t)p->nmax;
    ks_arena arena = {0};
    double *copies = ks_arena_alloc(&arena, ks_size(2 * P, Q), sizeof(double));
    double *m = ks_arena_alloc(&arena, n, sizeof(double));
    ks_moved host = {0}; /* the matrices in host memory, for estimates without a row or column */
    kspec_status st =
        arena.failed ? ks_nomem(err, "path with error bars", arena.failed) : ks_to_host(run, p, &host, err);
    const double steps = (double)(P + Q + 1);
    ks_run part = ks_run_part(run, 0, 1 / steps);
    if (!st) st = ks_path(&part, p, &(ks_moments_out){out->m, NULL, NULL}, err);
    for (size_t i = 0; i < P + Q && !st; i++) {
        part = ks_run_part(run, (double)(i + 1) / steps, (double)(i + 2) / steps);
        st = i < P ? again(&part, &host.p, i, SIZE_MAX, copies, m, err)
                   : again(&part, &host.p, SIZE_MAX, i - P, copies, m, err);
        for (size_t k = 0; k < n && !st; k++)
            *(i < P ? &out->rows[k * P + i] : &out->cols[k * Q + i - P]) = m[k];
    }
    ks_moved_end(run, &host);
    ks_arena_free(&arena);
    return st;
}

/* On a GPU each block has one start row, and a group is what the GPU computes in one call. */
static kspec_status on_device(job *j, const ks_moments_out *out, kspec_error *err) {
    ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, n = (size_t)plan->nmax;
    ks_arena arena = {0};
    double bars; /* its address only says that the caller wants error bars */
    ks_path_job device_job = {.A = j->p->A,
                              .B = j->p->B,
                              .P = P,
                              .Q = Q,
                              .nmax = plan->nmax,
                              .scale = plan->scale,
                              .rows = &bars,
                              .row_stretch = stretch_length(P, n),
                              .col_stretch = stretch_length(Q, n)};
    plan->blocks = P;
    j->groups = device_job.part.parts = ks_device_path_parts(j->run, &device_job);
    device_job.sums = j->sums = ks_arena_alloc(&arena, ks_size(P, n), sizeof(double));
    device_job.rows = j->rows = ks_arena_alloc(&arena, ks_size(ks_size(j->groups, P), n), sizeof(double));
    device_job.cols = j->cols = ks_arena_alloc(&arena, ks_size(ks_size(j->groups, Q), n), sizeof(double));
    kspec_status st = arena.failed ? ks_nomem(err, "path with error bars", arena.failed) : KSPEC_OK;
    if (!st) st = ks_device_path(j->run, &device_job, err);
    if (!st) results(j, out);
    ks_arena_free(&arena);
    return st;
}

kspec_status ks_path_loo(const ks_run *run, const ks_pair *p, const ks_moments_out *out, kspec_error *err) {
    job j = {.run = run, .p = p};
    ks_path_plan *plan = &j.plan;
    kspec_status st = ks_path_plan_make(plan, p->P, p->Q, p->nmax, run, err);
    if (st) return st;
    /* C(P,i) C(Q,i), which rises to its peak and then falls */
    const int end = ks_path_mean(plan, p->P, p->Q, p->nmax).e;
    for (int i = 1; i < p->nmax; i++)
        if (end - ks_path_mean(plan, p->P, p->Q, i).e + 2 * (p->nmax - i) * plan->log2_scale > BULGE)
            return every_one_again(run, p, out, err);
    if (ks_device_has_path(run, p->nmax, 1)) return on_device(&j, out, err);
    const size_t P = p->P, Q = p->Q, n = (size_t)p->nmax, vector = plan->lanes * sizeof(double);
    size_t tile = KS_PATH_L1 * 3 / 2 /
                  /* A column has three sums per order. The additional arithmetic hides cache misses. */
                  (3 * n * vector);
    const size_t most_rows = stretch_length(P, n), most_cols = stretch_length(Q, n);
    plan->tile = smaller(tile < 8 ? 8 : smaller(tile, KS_PATH_COLS), most_cols);
    plan->band = BAND_BYTES / (3 * n * vector);
    plan->band = smaller(plan->band < 32 ? 32 : plan->band, most_rows);
    j.row_stretch = most_rows / plan->band;
    j.col_stretch = most_cols / plan->tile;
    const size_t row_stretches = ceil_div(P, plan->band * j.row_stretch);
    const size_t col_stretches = ceil_div(Q, plan->tile * j.col_stretch);
    j.groups = smaller(plan->blocks, MAX_GROUPS);
    atomic_init(&j.done, 0);
    atomic_init(&j.cancelled, 0);

    ks_arena arena = {0};
    const size_t workers = (size_t)ks_workers(run, j.groups);
    j.sums = ks_arena_alloc(&arena, ks_size(plan->blocks, n), sizeof(double));
    j.rows = ks_arena_alloc(&arena, ks_size(j.groups * n, P), sizeof(double));
    j.cols = ks_arena_alloc(&arena, ks_size(j.groups * n, Q), sizeof(double));
    j.workers = ks_arena_zalloc(&arena, workers, sizeof(scratch));
    for (size_t i = 0; i < workers && !arena.failed; i++)
        j.workers[i] = (scratch){.A = ks_arena_alloc(&arena, ks_size(Q, n), vector),
                                 .V = ks_arena_alloc(&arena, ks_size(Q, n), vector),
                                 .R = ks_arena_alloc(&arena, ks_size(plan->band, n), vector),
                                 .W = ks_arena_alloc(&arena, ks_size(P, n), vector),
                                 .C = ks_arena_alloc(&arena, ks_size(ks_size(row_stretches, n), Q), vector),
                                 .T = ks_arena_alloc(&arena, ks_size(ks_size(col_stretches, n), P), vector),
                                 .start = ks_arena_alloc(&arena, Q, vector),
                                 .close = ks_arena_alloc(&arena, Q, vector),
                                 .sum = ks_arena_alloc(&arena, n, vector)};
    if (arena.failed) st = ks_nomem(err, "path with error bars", arena.failed);

    ks_run silent = *run; /* Blocks report the progress, so the loop over groups does not. */
    silent.progress.report = NULL;
    const ks_share shares[] = {{j.sums, n * sizeof(double), plan->blocks, 0},
                               {j.rows, n * P * sizeof(double), j.groups, 1},
                               {j.cols, n * Q * sizeof(double), j.groups, 1}};
    if (!st) st = ks_team_for_falling(&silent, "pathbars", j.groups, group, &j, shares, 3, err);
    if (!st) results(&j, out);
    ks_arena_free(&arena);
    return st;
}
