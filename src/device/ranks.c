/*
 * Implements the backend of a team of processes. Every rank stores strips of every matrix, and the whole
 * data. Each rank computes its own rows of an elementwise expression, and all ranks receive sums. Strips
 * divide products and sums as on the CPU backend, so the bits are those of a single process.
 */
#include "device/ranks.h"

#include "base/error.h"
#include "base/memory.h"
#include "device/tile.h"
#include "linalg/linalg.h"

/* ---- matrices ---- */

static ks_range own_rows(const ks_run *run, size_t rows) {
    return ks_strip_rows(rows, KS_STRIP, ks_team_rank(run), ks_team_ranks(run));
}

static kspec_status hold(const ks_run *run, size_t rows, size_t cols, const char *what, ks_mat **out,
                         kspec_error *err) {
    const size_t count = ks_size(ks_range_size(own_rows(run, rows)), cols);
    ks_strips *x = ks_alloc(1, sizeof *x);
    double *own = ks_alloc(count, sizeof *own);
    *out = (ks_mat *)x;
    if (x && own) {
        *x = (ks_strips){rows, cols, KS_STRIP, NULL, own};
        return KSPEC_OK;
    }
    ks_free(x);
    ks_free(own);
    *out = NULL;
    return ks_nomem(err, what, ks_size(count, sizeof *own));
}

static void drop(const ks_run *run, ks_mat *p) {
    (void)run;
    if (p) ks_free(ks_strips_at(p)->own);
    ks_free(p);
}

static kspec_status copy_in(const ks_run *run, const double *host, size_t rows, size_t cols, const char *what,
                            const ks_mat **out, kspec_error *err) {
    (void)run;
    ks_strips *x = ks_alloc(1, sizeof *x);
    *out = (const ks_mat *)x;
    if (!x) return ks_nomem(err, what, sizeof *x);
    *x = (ks_strips){rows, cols, KS_STRIP, host, NULL};
    return KSPEC_OK;
}

static void release(const ks_run *run, const ks_mat *p) { drop(run, (ks_mat *)p); }

static kspec_status diagonal(const ks_run *run, double *to, const ks_mat *from, size_t n, kspec_error *err) {
    const ks_strips *x = ks_strips_at(from);
    const ks_range rows = own_rows(run, n);
    double *mine = ks_alloc(ks_range_size(rows), sizeof *mine);
    kspec_status st = mine ? KSPEC_OK : ks_nomem(err, "a diagonal", ks_size(n, sizeof *mine));
    for (size_t i = rows.from; i < rows.to && !st; i++)
        mine[i - rows.from] = x->whole ? x->whole[i * n + i] : x->own[(i - rows.from) * n + i];
    st = ks_ranks_synchronise(run->team, st, err);
    if (!st) st = ks_vector_gather(run->team, mine, n, to, err);
    ks_free(mine);
    return st;
}

/* ---- expressions ---- */

/* Contains the expression for a rank's rows, in the form of the CPU backend. */
typedef struct {
    ks_range rows;
    ks_expression e;
    /* The transposed factors. A matrix that is a factor twice occurs once. */
    ks_columns turned[KS_TILE_FACTORS];
    int of[KS_TILE_FACTORS], count;
} local;

static kspec_status local_begin(const ks_run *run, const ks_mat_expression *e, local *l, kspec_error *err) {
    *l = (local){.rows = own_rows(run, e->m)};
    l->e = (ks_expression){.m = ks_range_size(l->rows),
                           .n = e->n,
                           .alpha = e->alpha,
                           .row = e->row ? e->row + l->rows.from : NULL,
                           .col = e->col,
                           .count = e->count};
    kspec_status st = KSPEC_OK;
    for (int k = 0; k < e->count && !st; k++) {
        const ks_strips *x = ks_strips_at(e->factor[k].x);
        l->e.factor[k] = (ks_factor){x->whole ? x->whole + l->rows.from * e->n : x->own,
                                     e->factor[k].transposed, e->factor[k].power};
        l->of[k] = -1;
        if (!e->factor[k].transposed) continue;
        for (int i = 0; i < l->count; i++)
            if (l->turned[i].of == x) l->of[k] = i;
        if (l->of[k] >= 0) continue;
        l->of[k] = l->count;
        st = ks_columns_begin(run->team, x, &l->turned[l->count++], err);
    }
    return st;
}

/* Receives the transposed factors of the local expression from the other ranks. */
static kspec_status local_get(const ks_run *run, local *l, kspec_status st, kspec_error *err) {
    /* Without transposed factors, a rank needs no data from other ranks. */
    if (l->count) st = ks_ranks_synchronise(run->team, st, err);
    for (int i = 0; i < l->count && !st; i++) st = ks_columns_get(run->team, &l->turned[i], err);
    for (int k = 0; k < l->e.count && !st; k++)
        if (l->of[k] >= 0) l->e.factor[k].x = l->turned[l->of[k]].x;
    return st;
}

static void local_end(local *l) {
    for (int i = 0; i < l->count; i++) ks_columns_end(&l->turned[i]);
}

static size_t strips_of(size_t rows) { return (rows + KS_STRIP - 1) / KS_STRIP; }

static kspec_status row_sums(const ks_run *run, const ks_mat_expression *e, double *out, kspec_error *err) {
    const ks_run alone = ks_run_alone(run);
    local l;
    kspec_status st = local_begin(run, e, &l, err);
    double *mine = ks_alloc(l.e.m, sizeof *mine);
    if (!mine && !st) st = ks_nomem(err, "sums", ks_size(l.e.m, sizeof *mine));
    st = local_get(run, &l, st, err);
    if (!st) st = ks_tile_run(&alone, &l.e, KS_TILE_ROW_SUMS, mine, err);
    local_end(&l);
    st = ks_ranks_synchronise(run->team, st, err);
    if (!st) st = ks_vector_gather(run->team, mine, e->m, out, err);
    ks_free(mine);
    return st;
}

/*
 * Computes sums over columns. The sums of each strip form a row of a matrix. Each rank adds up some columns
 * of this matrix, in the order of strips.
 */
static kspec_status col_sums(const ks_run *run, const ks_mat_expression *e, double *out, kspec_error *err) {
    kspec_team *t = run->team;
    const ks_run alone = ks_run_alone(run);
    const ks_range cols = own_rows(run, e->n);
    local l;
    ks_columns parts = {0};
    kspec_status st = local_begin(run, e, &l, err);
    const size_t count = ks_size(strips_of(l.e.m), e->n);
    double *mine = ks_alloc(ks_range_size(cols), sizeof *mine);
    ks_strips sums = {strips_of(e->m), e->n, 1, NULL, ks_alloc(count, sizeof(double))};
    if (!st && !(mine && sums.own)) st = ks_nomem(err, "sums", ks_size(count, sizeof(double)));
    st = local_get(run, &l, st, err);
    if (!st) st = ks_tile_strip_sums(&alone, &l.e, sums.own, err);
    local_end(&l);
    if (!st) st = ks_columns_begin(t, &sums, &parts, err);
    st = ks_ranks_synchronise(t, st, err);
    if (!st) st = ks_columns_get(t, &parts, err);
    const size_t n = ks_range_size(cols);
    for (size_t j = 0; j < n && !st; j++) mine[j] = 0;
    for (size_t s = 0; s < sums.rows && !st; s++)
        for (size_t j = 0; j < n; j++) mine[j] += parts.x[s * n + j];
    if (!st) st = ks_vector_gather(t, mine, e->n, out, err);
    ks_columns_end(&parts);
    ks_free(sums.own);
    ks_free(mine);
    return st;
}

static kspec_status expression(const ks_run *run, const ks_mat_expression *e, ks_tile_result what,
                               ks_mat *out, double *sums, kspec_error *err) {
    if (what == KS_TILE_ROW_SUMS) return row_sums(run, e, sums, err);
    if (what == KS_TILE_COL_SUMS) return col_sums(run, e, sums, err);
    const ks_run alone = ks_run_alone(run);
    local l;
    kspec_status st = local_begin(run, e, &l, err);
    st = local_get(run, &l, st, err);
    if (!st) st = ks_tile_run(&alone, &l.e, what, ks_strips_at(out)->own, err);
    local_end(&l);
    return st;
}

static size_t expression_room(const ks_run *run, const ks_mat_expression *e, ks_tile_result what) {
    const ks_room alone = {.expression = e, .what = what};
    const int ranks = ks_team_ranks(run);
    size_t room = ks_mat_room(run, &alone);
    if (ranks <= 1) return room;
    for (int k = 0; k < e->count; k++)
        if (e->factor[k].transposed) room = ks_size_add(room, ks_columns_room(ranks, e->n, e->m));
    const size_t strips = strips_of(e->m), sums = ks_size(strips, e->n) / (size_t)ranks;
    if (what == KS_TILE_COL_SUMS) room = ks_size_add(room, ks_size_add(ks_size(3, sums), ks_size(4, e->n)));
    if (what == KS_TILE_ROW_SUMS) room = ks_size_add(room, e->m);
    return room;
}

static size_t room(const ks_run *run, const ks_room *of) {
    const int ranks = ks_team_ranks(run);
    if (of->product) return ks_ranks_product_room(ranks, of->product, of->whole);
    if (of->expression) return expression_room(run, of->expression, of->what);
    if (of->symmetrise) return ranks > 1 ? ks_columns_room(ranks, of->symmetrise, of->symmetrise) : 0;
    return ks_strips_count(ranks, of->rows, of->cols);
}

static kspec_status symmetrise(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    const ks_run alone = ks_run_alone(run);
    if (ks_team_ranks(run) == 1) return ks_tile_symmetrise(&alone, n, ks_strips_at(X)->own, err);
    /* The transposed factor is a copy, which is complete before the sum begins. */
    const ks_mat_expression e = {.m = n, .n = n, .alpha = 1, .count = 1, .factor = {{X, 1, 1}}};
    return expression(run, &e, KS_TILE_ADD, X, NULL, err);
}

static kspec_status triangle(const ks_run *run, size_t n, ks_mat *X, kspec_error *err) {
    const ks_range rows = own_rows(run, n);
    double *own = ks_strips_at(X)->own;
    (void)err;
    for (size_t i = rows.from; i < rows.to; i++, own += n)
        for (size_t j = 0; j < n; j++) own[j] = i < j;
    return KSPEC_OK;
}

double ks_ranks_least = 1e8;

static int suits(const ks_run *run, ks_holding how, double work) {
    return how == KS_HOLD_SHARED && run->team && !run->device && work >= ks_ranks_least;
}

const ks_backend ks_ranks_backend = {.suits = suits,
                                     .room = room,
                                     .hold = hold,
                                     .drop = drop,
                                     .copy_in = copy_in,
                                     .release = release,
                                     .diagonal = diagonal,
                                     .product = ks_ranks_product,
                                     .expression = expression,
                                     .symmetrise = symmetrise,
                                     .triangle = triangle};
