/*
 * Turns the state of a stream into sums over pairs of columns, from all data and without each column or row.
 */
#include "base/error.h"
#include "linalg/linalg.h"
#include "pairs/stream.h"

#include <math.h>
#include <string.h>

enum { BAND = 256, STRIP = 8 };

/* Sum w belongs to the matrices FIRST[w] and SECOND[w]: 00, 11 or 01. N4[OF_N4[w]] is its sum of r_a r_b. */
static const int FIRST[3] = {0, 1, 0}, SECOND[3] = {0, 1, 1}, OF_N4[3] = {0, 2, 1};

typedef struct {
    const ks_stream *s;
    int centered;
    double n;
    size_t count;
    ks_stream_part p;
    double *mean;        /* 0 if centred */
    double *x, *r[2];    /* x contains the scaled rows, which are centred if requested. r[a] is |x_a|^2. */
    double *form[3];     /* form[w][i] is x_a' G_ab x_b for row i. */
    double **T;          /* per worker */
    double *weighted[2]; /* weighted[a] is the sum of r_a x^2 over rows, for each column. */
} job;

static size_t start(const ks_stream *s, int a) { return a ? s->cols[0] : 0; }

static double dot_of(const ks_stream *s, const double *x, const double *y, int a) {
    return ks_dot(s->cols[a], x + start(s, a), y + start(s, a));
}

/* ---- rows ---- */

static kspec_status row_band(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    const ks_stream *s = j->s;
    const size_t all = s->all, from = chunk * BAND, m = j->count - from < BAND ? j->count - from : BAND;
    double *T = j->T[worker->index];
    for (int a = 0; a < 2 && s->cols[a]; a++) {
        const size_t at = start(s, a), Q = s->cols[a], R = a == 0 ? s->cols[1] : 0;
        const double *x = j->x + from * all + at, *G = s->G + at * all + at;
        ks_add_forms(1, m, Q, Q, x, all, G, all, x, all, T, j->form[a] + from);
        ks_add_forms(0, m, Q, R, x, all, G + Q, all, x + Q, all, T, j->form[2] + from);
        for (size_t i = 0; i < m; i++) j->r[a][from + i] = ks_dot(Q, x + i * all, x + i * all);
    }
    return KSPEC_OK;
}

/*
 * Sums about 0 need G plus n times the product mean mean'. The function adds this part to each row's forms.
 */
static void forms_about_zero(job *j) {
    for (size_t i = 0; i < j->count; i++) {
        const double *x = j->x + i * j->s->all,
                     along[2] = {dot_of(j->s, x, j->mean, 0), dot_of(j->s, x, j->mean, 1)};
        for (int w = 0; w < 3; w++) j->form[w][i] += j->n * along[FIRST[w]] * along[SECOND[w]];
    }
}

/*
 * The state has no sum of r y^2 for a column, so the sample of rows must provide this sum. The state has the
 * sums of y^2, y^4, r and r^2. The sample estimates these four with similar errors, and regression on them
 * removes most of the error.
 */
enum { KNOWN = 4 };

/* Solves the normal equations by elimination; a variable that the others explain keeps the coefficient 0. */
static void solve_known(double A[KNOWN][KNOWN + 1], double b[KNOWN]) {
    int used[KNOWN] = {0};
    double whole[KNOWN];
    for (int k = 0; k < KNOWN; k++) whole[k] = A[k][k], b[k] = 0;
    for (int step = 0; step < KNOWN; step++) {
        int at = -1;
        for (int k = 0; k < KNOWN; k++)
            if (!used[k] && A[k][k] > 1e-6 * whole[k] &&
                (at < 0 || A[k][k] * whole[at] > A[at][at] * whole[k]))
                at = k;
        if (at < 0) break;
        used[at] = 1;
        for (int i = 0; i < KNOWN; i++) {
            const double f = A[i][at] / A[at][at];
            for (int k = 0; k <= KNOWN && i != at; k++) A[i][k] -= f * A[at][k];
        }
    }
    for (int k = 0; k < KNOWN; k++)
        if (used[k]) b[k] = A[k][KNOWN] / A[k][k];
}

static double variance(const job *j, size_t k) { return j->p.diagonal[k] + j->n * j->mean[k] * j->mean[k]; }

/* Sets weighted[] for each column of a strip. */
static kspec_status weigh_strip(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const job *j = ctx;
    const ks_stream *s = j->s;
    const size_t from = chunk * STRIP, width = s->all - from < STRIP ? s->all - from : STRIP, m = j->count;
    for (int b = 0; b < (s->cols[1] ? 2 : 1); b++) {
        double mean[STRIP][KNOWN + 1] = {{0}}, A[STRIP][KNOWN][KNOWN + 1] = {{{0}}};
        for (int pass = 0; pass < (m < s->n ? 2 : 1); pass++)
            for (size_t i = 0; i < m; i++)
                for (size_t k = 0; k < width; k++) {
                    const double y = j->x[i * s->all + from + k], u = y * y, r = j->r[b][i];
                    const double v[KNOWN + 1] = {u, u * u, r, r * r, r * u};
                    for (int c = 0; c <= KNOWN && !pass; c++) mean[k][c] += v[c] / (double)m;
                    for (int c = 0; c < KNOWN && pass; c++)
                        for (int e = 0; e <= KNOWN; e++)
                            A[k][c][e] += (v[c] - mean[k][c]) * (v[e] - mean[k][e]);
                }
        for (size_t k = 0; k < width; k++) {
            const size_t at = from + k;
            const double total[KNOWN] = {variance(j, at), j->p.S4[at], j->p.N2[b], j->p.N4[b ? 2 : 0]};
            double slope[KNOWN] = {0}, sum = j->n * mean[k][KNOWN];
            if (m < s->n) solve_known(A[k], slope);
            for (int c = 0; c < KNOWN && m < s->n; c++) sum += slope[c] * (total[c] - j->n * mean[k][c]);
            j->weighted[b][at] = fmax(sum, 0);
        }
    }
    return KSPEC_OK;
}

static kspec_status open_job(int threads, const ks_stream_of *of, ks_stream_room *room, job *j,
                             ks_arena *arena, kspec_error *err) {
    ks_stream *s = of->s;
    const size_t all = s->all, count = of->count, chunks = (count + BAND - 1) / BAND;
    const double unit = ldexp(1, -s->exponent);
    *j = (job){.s = s, .centered = of->centered, .n = (double)s->n, .count = count};
    const ks_run run = {.threads = threads, .to = 1};
    const size_t workers = (size_t)ks_workers(&run, chunks);
    kspec_status st = ks_stream_part_open(&j->p, all, arena, err);
    j->mean = ks_arena_zalloc(arena, all, sizeof(double));
    j->x = ks_arena_alloc(arena, ks_size(all, count), sizeof(double));
    double *rows = ks_arena_zalloc(arena, ks_size(5, count), sizeof *rows);
    for (int a = 0; a < 2; a++) j->weighted[a] = ks_arena_zalloc(arena, all, sizeof(double));
    j->T = ks_arena_alloc(arena, workers, sizeof *j->T);
    for (size_t k = 0; k < workers && j->T; k++)
        j->T[k] = ks_arena_alloc(arena, BAND * KS_FORM_BLOCK, sizeof(double));
    if (st || arena->failed) return st ? st : ks_nomem(err, "rows left out", arena->failed);
    for (int a = 0; a < 2; a++) j->r[a] = rows + (size_t)a * count;
    for (int w = 0; w < 3; w++) j->form[w] = rows + (size_t)(2 + w) * count;
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < all; k++) {
            const double x = of->rows[i * all + k] * unit;
            j->x[i * all + k] = j->centered ? (x - s->mean[k]) - s->low[k] : x;
        }
    for (size_t k = 0; k < all && !j->centered; k++) j->mean[k] = s->mean[k] + s->low[k];
    ks_stream_part_set(&j->p, s, s->exponent);
    if (!j->centered) {
        ks_stream_times(threads, s, j->mean, 1, j->p.g, room->partial);
        ks_stream_move(s, &j->p, -1, j->mean);
    }
    ks_stream_mirror(s);
    st = ks_parallel_for(&run, chunks, row_band, j, err);
    if (!st && !j->centered) forms_about_zero(j);
    return st ? st : ks_parallel_for(&run, (all + STRIP - 1) / STRIP, weigh_strip, j, err);
}

/* ---- sums ---- */

/* Returns the sum of squares of the row of G_ab that belongs to column k of matrix a. */
static double row_squares(const job *j, size_t k, int b) {
    const ks_stream *s = j->s;
    const double *row = s->G + k * s->all + start(s, b), u = j->mean[k];
    double sum = ks_dot(s->cols[b], row, row);
    if (!j->centered) sum += j->n * u * (2 * j->p.g[b][k] + j->n * u * dot_of(s, j->mean, j->mean, b));
    return sum;
}

/*
 * Computes the sums of r_b y^2 for the columns of a, from the sample and scaled to N4. If b is a, subtracts
 * `own` times S4. The caller subtracts the result from d.
 */
static void fourth(const job *j, int a, int b, double N4, double own, double *out) {
    const ks_stream *s = j->s;
    const double *weighted = j->weighted[b] + start(s, a);
    double sum = 0;
    for (size_t k = 0; k < s->cols[a]; k++) sum += weighted[k];
    const double scale = j->count < s->n && sum > 0 ? N4 / sum : 1;
    for (size_t k = 0; k < s->cols[a]; k++) out[k] = scale * weighted[k] - own * j->p.S4[start(s, a) + k];
}

/* Computes the sums without row i. without_row() in sums.c explains the formula, here for one trial. */
static ks_quad without_row(const job *j, int w, double own, const ks_quad *all, size_t i) {
    const ks_stream *s = j->s;
    const ks_stream_part *p = &j->p;
    const int a = FIRST[w], b = SECOND[w], same = a == b;
    const double n = j->n, f = j->centered ? n / (n - 1) : 1, e = j->centered ? 1 / (n - 1) : 0;
    const double *x = j->x + i * s->all;
    double r = j->r[a][i], u = j->r[b][i], uu = r * u, qa = 2 * j->form[w][i],
           qb = p->N2[a] * u + p->N2[b] * r, third = 0;
    if (j->centered) third = 2 * (dot_of(s, p->V[a], x, b) + dot_of(s, p->V[b], x, a));
    for (size_t k = start(s, a); k < start(s, a) + s->cols[a] && same && own > 0; k++) {
        const double square = x[k] * x[k], v = 2 * own * (variance(j, k) * square);
        uu -= own * (square * square);
        qa -= v, qb -= v;
        third -= own * (4 * p->S3[k] * x[k]);
    }
    if (!j->centered) third = 0;
    const double d = all->d + e * third + e * e * (2 * qa + qb) + (n * pow(e, 4) - pow(1 + e, 4)) * uu;
    return (ks_quad){all->a - f * qa + f * f * uu, all->b - f * qb + f * f * uu, all->c - f * qa + f * f * uu,
                     d, all->t - f * r};
}

/* Computes the sums from all data, as all_of() in sums.c does. */
static ks_quad all_of(const job *j, int w, double own, double whole) {
    const ks_stream *s = j->s;
    const int a = FIRST[w], b = SECOND[w];
    ks_quad q = {whole, j->p.N2[a] * j->p.N2[b], whole, j->p.N4[OF_N4[w]], j->p.N2[a]};
    for (size_t k = start(s, a); k < start(s, a) + s->cols[a] && a == b && own > 0; k++) {
        const double v = variance(j, k);
        q.a -= own * (v * v), q.b -= own * (v * v), q.c -= own * (v * v), q.d -= own * j->p.S4[k];
    }
    return q;
}

/*
 * Computes the sums without each column of one matrix, as without_columns() in sums.c does. own_part is the
 * weight of pairs of a column with itself.
 */
static void without_columns(const job *j, int w, int second, double own_part, const ks_quad *all,
                            double *room, ks_quad *out) {
    const int a = second ? SECOND[w] : FIRST[w], b = second ? FIRST[w] : SECOND[w];
    const double times = a == b ? 2 : 1, own = a == b ? own_part : 0;
    fourth(j, a, b, j->p.N4[OF_N4[w]], own, room);
    for (size_t k = 0; k < j->s->cols[a]; k++) {
        const double v = variance(j, start(j->s, a) + k),
                     c = row_squares(j, start(j->s, a) + k, b) - own * v * v;
        out[k] = (ks_quad){all->a - times * c, all->b - times * (v * j->p.N2[b] - own * v * v),
                           all->c - times * c, all->d - times * room[k], second ? all->t : all->t - v};
    }
}

static kspec_status make(const job *j, int w, double columns, ks_sums *out, ks_arena *arena,
                         kspec_error *err) {
    const ks_stream *s = j->s;
    const int a = FIRST[w], b = SECOND[w];
    const double M = columns > 0 ? columns : INFINITY, own = a == b ? ks_sums_own_share(s->cols[a], M) : 0,
                 own_less = a == b ? ks_sums_own_share(s->cols[a] - 1, M) : 0;
    *out = (ks_sums){.size = j->p.N2[a],
                     .other_size = j->p.N2[b],
                     .row = ks_arena_alloc(arena, j->count, sizeof *out->row),
                     .col = ks_arena_alloc(arena, s->cols[a], sizeof *out->col),
                     .other = a == b ? NULL : ks_arena_alloc(arena, s->cols[b], sizeof *out->other)};
    double *room = ks_arena_alloc(arena, s->all, sizeof *room);
    if (arena->failed) return ks_nomem(err, "leave-one-out sums", arena->failed);
    for (size_t k = start(s, a); k < start(s, a) + s->cols[a]; k++) out->whole += row_squares(j, k, b);
    out->all = all_of(j, w, own, out->whole);
    for (size_t i = 0; i < j->count; i++) out->row[i] = without_row(j, w, own, &out->all, i);
    ks_quad less = all_of(j, w, own_less, out->whole);
    without_columns(j, w, 0, (1 + own_less) / 2, &less, room, out->col);
    if (a != b) without_columns(j, w, 1, 0, &less, room, out->other);
    return KSPEC_OK;
}

kspec_status ks_stream_sums(int threads, const ks_stream_of *of, const double columns[2],
                            ks_stream_room *room, ks_sums out[3], ks_arena *arena, kspec_error *err) {
    ks_arena scratch = {0};
    job j;
    kspec_status st = open_job(threads, of, room, &j, &scratch, err);
    for (int w = 0; w < 3 && !st; w++)
        if (of->s->cols[FIRST[w]] && of->s->cols[SECOND[w]])
            st = make(&j, w, columns[FIRST[w]], &out[w], arena, err);
    ks_arena_free(&scratch);
    return st;
}
