/*
 * The recursion of path.c for rows and columns in groups. All rows of a group read the sums A from before the
 * group, and all columns of a group the sums R from before it (simd/path.h). The cycles of a start row begin
 * after its group.
 *
 * Leave-one-out: a cycle takes at most one row of a group, so leaving the group out removes the cycles
 * through each of its rows. As in path_loo.c, the cycles through row a and column b are a prefix A[k][b]
 * (rows of groups before the group of a) times the step times the suffix T_a[j], which a backward walk
 * computes. The suffixes grow by adding rows, so they lose no digits. This order requires computing the
 * prefixes twice: the first walk goes through all rows and keeps A at the beginning of every stretch of
 * groups. When the backward walk reaches a stretch, a second walk through it keeps A before each of its
 * groups.
 */
#include "path/groups.h"

#include "base/error.h"
#include "path/path.h"
#include "team/team.h"

#include <math.h>
#include <stdatomic.h>
#include <string.h>

enum {
    /* blocks are divided into at most so many chunks, whose results are added up in a fixed order */
    MAX_CHUNKS = 64,
    BAND_BYTES = 384 * 1024,
};

/* Holds the scratch of one worker; L stands for plan.lanes, n for nmax. */
typedef struct {
    double *A, *C, *V;     /* Q x n x L */
    double *old;           /* tile x n x L: A before the group */
    double *R;             /* rows of a stretch x (n-1) x L: the sums R */
    double *S;             /* (n-1) x L */
    double *W;             /* P x (n-1) x L */
    double *kept;          /* stretches x Q x n x L: A at the beginning of each stretch */
    double *before;        /* (groups of a stretch + 1) x Q x n x L: A before each group of the stretch */
    double *start, *close; /* Q x L */
    double *sum;           /* n x L */
} scratch;

typedef struct {
    const ks_run *run;
    const ks_pair *p;
    ks_blocks rows, cols;
    ks_path_plan plan;
    int with_loo;
    /*
     * The row groups are cut into stretches, and the columns into tiles. Both end with a group. stretch[] and
     * tile[] hold the bounds: stretches+1 and tiles+1 entries.
     */
    size_t *stretch, stretches, *tile, tiles;
    /* the largest number of rows and of groups in a stretch, and of columns in a tile */
    size_t most_rows, most_groups, most_cols;
    /* the group of each row; for each column, is it the last of its group, and is it the first */
    size_t *group;
    unsigned char *last, *first;
    scratch *workers;
    size_t chunks;
    /* sums: chunks x n. The cycles through each row group and each column group: chunks x n x groups */
    double *sums, *through_rows, *through_cols;
    atomic_size_t done;
    atomic_bool cancelled;
} job;

static size_t larger(size_t a, size_t b) { return a > b ? a : b; }

/* ---- cutting up ---- */

/*
 * Joins consecutive groups, as long as together they have at most `most_members` members. A larger group
 * stays alone.
 */
static size_t cut(ks_blocks b, size_t most_members, size_t most_groups, size_t *ends) {
    size_t pieces = 0;
    ends[0] = 0;
    for (size_t k = 0, begin = 0; k < b.count; k++) {
        if (k > begin && (b.first[k + 1] - b.first[begin] > most_members || k - begin >= most_groups))
            ends[++pieces] = begin = k;
    }
    ends[++pieces] = b.count;
    return pieces;
}

static kspec_status cut_up(job *j, ks_arena *arena, kspec_error *err) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, n = (size_t)plan->nmax, vector = plan->lanes * sizeof(double);
    j->stretch = ks_arena_alloc(arena, j->rows.count + 1, sizeof *j->stretch);
    j->tile = ks_arena_alloc(arena, j->cols.count + 1, sizeof *j->tile);
    j->group = ks_arena_alloc(arena, P, sizeof *j->group);
    j->last = ks_arena_zalloc(arena, Q, 1);
    j->first = ks_arena_zalloc(arena, Q, 1);
    if (arena->failed) return ks_nomem(err, "path with groups", arena->failed);
    for (size_t g = 0; g < j->rows.count; g++)
        for (size_t i = j->rows.first[g]; i < j->rows.first[g + 1]; i++) j->group[i] = g;
    for (size_t c = 0; c < j->cols.count; c++)
        j->first[j->cols.first[c]] = 1, j->last[j->cols.first[c + 1] - 1] = 1;

    /*
     * The sums of a tile fit into the first-level cache, and the rows of a stretch into the second-level
     * cache.
     */
    size_t tile = larger(8, KS_PATH_L1 / ((j->with_loo ? 4 : 2) * n * vector));
    size_t band = larger(32, BAND_BYTES / (2 * n * vector));
    size_t groups = j->with_loo ? (size_t)ceil(sqrt((double)j->rows.count)) : SIZE_MAX;
    j->tiles = cut(j->cols, tile, SIZE_MAX, j->tile);
    j->stretches = cut(j->rows, j->with_loo ? SIZE_MAX : band, groups, j->stretch);
    for (size_t s = 0; s < j->stretches; s++) {
        j->most_groups = larger(j->most_groups, j->stretch[s + 1] - j->stretch[s]);
        j->most_rows = larger(j->most_rows, j->rows.first[j->stretch[s + 1]] - j->rows.first[j->stretch[s]]);
    }
    for (size_t t = 0; t < j->tiles; t++)
        j->most_cols = larger(j->most_cols, j->cols.first[j->tile[t + 1]] - j->cols.first[j->tile[t]]);
    return KSPEC_OK;
}

/* ---- one block of start rows ---- */

/*
 * Computes the steps of group g in tile t. `old` begins at the first column of the tile, and R at the first
 * row of the group. Then the start rows of the group begin their cycles.
 */
static void walk(const job *j, scratch *w, size_t h0, size_t g, size_t t, const double *old, double *A,
                 double *R) {
    const ks_path_plan *plan = &j->plan;
    const size_t L = plan->lanes, n = (size_t)plan->nmax, Q = plan->Q;
    const size_t a0 = j->rows.first[g], a1 = j->rows.first[g + 1];
    const size_t b0 = j->cols.first[j->tile[t]], cols = j->cols.first[j->tile[t + 1]] - b0;
    for (size_t a = a0; a < a1 && g > j->group[h0] && n > 1; a++)
        plan->k->path_group_row(&(ks_path_group_row){.x = j->p->A + a * Q + b0,
                                                     .y = j->p->B + a * Q + b0,
                                                     .ends = j->last + b0,
                                                     .cols = cols,
                                                     .dir = 1,
                                                     .nmax = plan->nmax,
                                                     .scale = plan->scale,
                                                     .old = old,
                                                     .A = A + b0 * n * L,
                                                     .R = R + (a - a0) * (n - 1) * L,
                                                     .S = w->S});
    for (size_t a = larger(a0, h0); a < a1 && a < h0 + L; a++)
        ks_path_start(plan, w->start, a - h0, b0, cols, A);
}

/* Returns tile t of A before group g: a copy, or A itself if the group has just one row */
static const double *old_sums(const job *j, scratch *w, size_t g, size_t t, const double *A) {
    const size_t record = (size_t)j->plan.nmax * j->plan.lanes;
    const size_t b0 = j->cols.first[j->tile[t]], cols = j->cols.first[j->tile[t + 1]] - b0;
    if (j->rows.first[g + 1] - j->rows.first[g] == 1) return A + b0 * record;
    memcpy(w->old, A + b0 * record, cols * record * sizeof *A);
    return w->old;
}

/*
 * Walks through the rows of stretch s. If `before` is given, it receives the sums before each group of the
 * stretch.
 */
static void stretch_forward(const job *j, scratch *w, size_t h0, size_t s, double *before) {
    const ks_path_plan *plan = &j->plan;
    const size_t n = (size_t)plan->nmax, carry = (n - 1) * plan->lanes, record = n * plan->lanes;
    const size_t g0 = j->stretch[s], a0 = j->rows.first[g0], all = plan->Q * record;
    memset(w->R, 0, (j->rows.first[j->stretch[s + 1]] - a0) * carry * sizeof(double));
    for (size_t t = 0; t < j->tiles; t++) {
        const size_t b0 = j->cols.first[j->tile[t]], cols = j->cols.first[j->tile[t + 1]] - b0;
        for (size_t g = g0; g < j->stretch[s + 1]; g++) {
            double *R = w->R + (j->rows.first[g] - a0) * carry;
            if (before) {
                double *from = before + (g - g0) * all, *to = from + all;
                memcpy(to + b0 * record, from + b0 * record, cols * record * sizeof *to);
                walk(j, w, h0, g, t, from + b0 * record, to, R);
            } else {
                walk(j, w, h0, g, t, old_sums(j, w, g, t, w->A), w->A, R);
            }
        }
    }
}

/*
 * Computes the suffixes through stretch s, last group first, and adds up the cycles through each row and
 * column.
 */
static void stretch_back(const job *j, scratch *w, size_t h0, size_t s) {
    const ks_path_plan *plan = &j->plan;
    const size_t n = (size_t)plan->nmax, carry = (n - 1) * plan->lanes, record = n * plan->lanes;
    const size_t Q = plan->Q, g0 = j->stretch[s], r0 = j->rows.first[g0];
    memset(w->R, 0, (j->rows.first[j->stretch[s + 1]] - r0) * carry * sizeof(double));
    for (size_t t = j->tiles; t-- > 0;) {
        const size_t b0 = j->cols.first[j->tile[t]], b1 = j->cols.first[j->tile[t + 1]], end = b1 - 1;
        for (size_t g = j->stretch[s + 1]; g-- > g0 && g > j->group[h0];) {
            const double *old = old_sums(j, w, g, t, w->C);
            for (size_t a = j->rows.first[g]; a < j->rows.first[g + 1]; a++)
                plan->k->path_group_row(
                    &(ks_path_group_row){.x = j->p->B + a * Q + end,
                                         .y = j->p->A + a * Q + end,
                                         .ends = j->first + end,
                                         .cols = b1 - b0,
                                         .dir = -1,
                                         .nmax = plan->nmax,
                                         .scale = plan->scale,
                                         .old = old + (end - b0) * record,
                                         .A = w->C + end * record,
                                         .R = w->R + (a - r0) * carry,
                                         .S = w->S,
                                         .prefix = w->before + (g - g0) * Q * record + end * record,
                                         .V = w->V + end * record,
                                         .W = w->W + a * carry});
        }
    }
}

/*
 * Adds the cycles of one block to S. With leave-one-out, also adds each cycle to the sums of its rows and
 * columns.
 */
static void block(const job *j, scratch *w, size_t index, double *sums, double *through) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax, h0 = index * L;
    const size_t all = Q * n * L;
    size_t s0 = 0;
    while (j->stretch[s0 + 1] <= j->group[h0]) s0++;
    ks_path_panel(plan, j->p->A, h0, w->start);
    ks_path_panel(plan, j->p->B, h0, w->close);
    memset(w->A, 0, all * sizeof(double));
    for (size_t s = s0; s < j->stretches; s++) {
        if (j->with_loo) memcpy(w->kept + s * all, w->A, all * sizeof(double));
        stretch_forward(j, w, h0, s, NULL);
    }
    memset(w->sum, 0, n * L * sizeof(double));
    plan->k->path_close(Q, plan->nmax, plan->nmax, w->A, w->close, w->sum);
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < L; l++) sums[i] += w->sum[i * L + l];
    if (!j->with_loo) return;

    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < L && h0 + l < P; l++)
            through[i * j->rows.count + j->group[h0 + l]] += w->sum[i * L + l];
    memset(w->C, 0, all * sizeof(double));
    for (size_t b = 0; b < Q; b++) { /* This closes each cycle at its last column. */
        memcpy(w->C + b * n * L, w->close + b * L, L * sizeof(double));
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < L; l++)
                w->V[(b * n + i) * L + l] += w->A[(b * n + i) * L + l] * w->close[b * L + l];
    }
    for (size_t s = j->stretches; s-- > s0 && n > 1;) {
        memcpy(w->before, w->kept + s * all, all * sizeof(double));
        stretch_forward(j, w, h0, s, w->before);
        stretch_back(j, w, h0, s);
    }
}

/* Chunk c: blocks c, c + chunks, ..., so that all chunks take about the same time. */
static kspec_status chunk(void *ctx, size_t c, const ks_worker *worker) {
    job *j = ctx;
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, L = plan->lanes, n = (size_t)plan->nmax, K = n - 1;
    scratch *w = &j->workers[worker->index];
    double *sums = j->sums + c * n, *rows = NULL, *cols = NULL;
    memset(sums, 0, n * sizeof *sums);
    if (j->with_loo) {
        rows = j->through_rows + c * n * j->rows.count;
        cols = j->through_cols + c * n * j->cols.count;
        memset(rows, 0, n * j->rows.count * sizeof *rows);
        memset(cols, 0, n * j->cols.count * sizeof *cols);
        memset(w->V, 0, Q * n * L * sizeof(double));
        memset(w->W, 0, P * K * L * sizeof(double));
    }
    for (size_t i = c; i < plan->blocks; i += j->chunks) {
        if (atomic_load(&j->cancelled)) return KSPEC_E_CANCELLED;
        block(j, w, i, sums, rows);
        size_t done = atomic_fetch_add(&j->done, 1) + 1;
        if (worker->index == 0 &&
            ks_run_report(j->run, fmin(1, (double)done / (double)plan->blocks * ks_team_ranks(j->run)))) {
            atomic_store(&j->cancelled, 1);
            return KSPEC_E_CANCELLED;
        }
    }
    if (!j->with_loo) return KSPEC_OK;
    for (size_t k = 0; k < j->cols.count; k++)
        for (size_t b = j->cols.first[k]; b < j->cols.first[k + 1]; b++)
            for (size_t i = 0; i < n; i++)
                for (size_t l = 0; l < L; l++) cols[i * j->cols.count + k] += w->V[(b * n + i) * L + l];
    for (size_t a = 0; a < P; a++)
        for (size_t i = 0; i < K; i++)
            for (size_t l = 0; l < L; l++)
                rows[(i + 1) * j->rows.count + j->group[a]] += w->W[(a * K + i) * L + l];
    return KSPEC_OK;
}

/* ---- results ---- */

static double total(const double *x, size_t chunks, size_t stride) {
    double sum = 0;
    for (size_t c = 0; c < chunks; c++) sum += x[c * stride];
    return sum;
}

/* Turns the sum over `count` scaled cycles of order n into their mean; NaN if count is 0 */
static double mean_of(const ks_path_plan *plan, double sum, int n, ks_wide count) {
    return count.f == 0 ? NAN : ldexp(sum / count.f, -count.e - 2 * n * plan->log2_scale);
}

/*
 * Computes the estimates without each group of one side. `other` holds the counts of the other side, and
 * `room` is scratch of the same length.
 */
static void leave_out(const job *j, ks_blocks b, const double *S, const double *through, const ks_wide *other,
                      ks_wide *room, double *out) {
    const size_t n = (size_t)j->plan.nmax;
    /* Without any one of several groups of equal size, the counts are equal. */
    for (size_t k = 0; k < b.count; k++) {
        size_t l = 0, own = b.first[k + 1] - b.first[k], seen = 0;
        for (; l < k && !seen; l++) seen = b.first[l + 1] - b.first[l] == own;
        if (seen) continue;
        ks_group_counts(b.first, b.count, k, (int)n, room);
        for (l = k; l < b.count; l++)
            for (size_t i = 0; i < n && b.first[l + 1] - b.first[l] == own; i++) {
                double gone = total(through + i * b.count + l, j->chunks, n * b.count);
                out[i * b.count + l] =
                    mean_of(&j->plan, S[i] - gone, (int)i + 1, ks_wide_times(room[i + 1], other[i + 1]));
            }
    }
}

/* counts: three lists of n+1 entries, for rows, for columns, and for scratch */
static void results(const job *j, ks_wide *counts, double *S, const ks_moments_out *out) {
    const size_t n = (size_t)j->plan.nmax;
    const ks_wide *rows = counts, *cols = counts + n + 1;
    for (size_t i = 0; i < n; i++) {
        S[i] = total(j->sums + i, j->chunks, n);
        out->m[i] = mean_of(&j->plan, S[i], (int)i + 1, ks_wide_times(rows[i + 1], cols[i + 1]));
    }
    if (!j->with_loo) return;
    leave_out(j, j->rows, S, j->through_rows, cols, counts + 2 * (n + 1), out->rows);
    leave_out(j, j->cols, S, j->through_cols, rows, counts + 2 * (n + 1), out->cols);
}

/* ---- all blocks ---- */

static kspec_status allocate(job *j, ks_arena *arena, kspec_error *err) {
    const ks_path_plan *plan = &j->plan;
    const size_t P = plan->P, Q = plan->Q, n = (size_t)plan->nmax, vector = plan->lanes * sizeof(double);
    const size_t workers = (size_t)ks_workers(j->run, j->chunks), loo = (size_t)j->with_loo;
    j->sums = ks_arena_alloc(arena, ks_size(j->chunks, n), sizeof(double));
    j->through_rows = ks_arena_alloc(arena, loo * ks_size(j->chunks * n, j->rows.count), sizeof(double));
    j->through_cols = ks_arena_alloc(arena, loo * ks_size(j->chunks * n, j->cols.count), sizeof(double));
    j->workers = ks_arena_zalloc(arena, workers, sizeof(scratch));
    for (size_t i = 0; i < workers && !arena->failed; i++)
        j->workers[i] = (scratch){
            .A = ks_arena_alloc(arena, ks_size(Q, n), vector),
            .C = ks_arena_alloc(arena, loo * ks_size(Q, n), vector),
            .V = ks_arena_alloc(arena, loo * ks_size(Q, n), vector),
            .old = ks_arena_alloc(arena, ks_size(j->most_cols, n), vector),
            .R = ks_arena_alloc(arena, ks_size(j->most_rows, n), vector),
            .S = ks_arena_alloc(arena, n, vector),
            .W = ks_arena_alloc(arena, loo * ks_size(P, n), vector),
            .kept = ks_arena_alloc(arena, loo * ks_size(ks_size(j->stretches, n), Q), vector),
            .before = ks_arena_alloc(arena, loo * ks_size(ks_size(j->most_groups + 1, n), Q), vector),
            .start = ks_arena_alloc(arena, Q, vector),
            .close = ks_arena_alloc(arena, Q, vector),
            .sum = ks_arena_alloc(arena, n, vector)};
    return arena->failed ? ks_nomem(err, "path with groups", arena->failed) : KSPEC_OK;
}

kspec_status ks_path_groups(const ks_run *run, const ks_pair *p, ks_blocks rows, ks_blocks cols,
                            const ks_moments_out *out, kspec_error *err) {
    job j = {.run = run, .p = p, .rows = rows, .cols = cols, .with_loo = out->rows != NULL};
    const size_t n = (size_t)p->nmax;
    ks_arena arena = {0};
    atomic_init(&j.done, 0);
    atomic_init(&j.cancelled, 0);
    ks_wide *counts = ks_arena_alloc(&arena, 3 * (n + 1), sizeof *counts);
    double *S = ks_arena_alloc(&arena, n, sizeof *S);
    kspec_status st = arena.failed ? ks_nomem(err, "path with groups", arena.failed) : KSPEC_OK;
    if (!st) {
        ks_group_counts(rows.first, rows.count, SIZE_MAX, p->nmax, counts);
        ks_group_counts(cols.first, cols.count, SIZE_MAX, p->nmax, counts + n + 1);
        for (size_t i = 0; i <= n; i++) counts[2 * (n + 1) + i] = ks_wide_times(counts[i], counts[n + 1 + i]);
        st = ks_path_plan_count(&j.plan, p->P, p->Q, p->nmax, counts + 2 * (n + 1), run, err);
    }
    if (!st) st = cut_up(&j, &arena, err);
    j.chunks = j.plan.blocks < MAX_CHUNKS ? j.plan.blocks : MAX_CHUNKS;
    if (!st) st = allocate(&j, &arena, err);
    ks_run silent = *run; /* Blocks report the progress, so the loop over chunks does not. */
    silent.progress.report = NULL;
    const size_t loo = (size_t)j.with_loo * n * sizeof(double);
    const ks_share shares[] = {{j.sums, n * sizeof(double), j.chunks, 1},
                               {j.through_rows, loo * rows.count, j.chunks, 1},
                               {j.through_cols, loo * cols.count, j.chunks, 1}};
    if (!st) st = ks_team_for_falling(&silent, "pathgroups", j.chunks, chunk, &j, shares, 3, err);
    if (!st) results(&j, counts, S, out);
    ks_arena_free(&arena);
    return st;
}
