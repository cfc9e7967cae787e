/* Computes estimates from the state of groups of rows, from all data and without each group of a sample. */
#include "base/error.h"
#include "pairs/grouped_job.h"
#include "pairs/sums.h"

#include <math.h>
#include <string.h>

enum { PARTS = 16 };

/* Returns the product of row k of M with row k of L, over the columns of matrix b. */
static double row_dot(const ks_grouped *g, ks_grouped_matrix M, ks_grouped_matrix L, size_t k, int b) {
    const size_t at = k * g->all + ks_group_start(g, b);
    return M.factor * L.factor * ks_dot(g->cols[b], M.M + at, L.M + at);
}

/* Adds the products of matrices in row k of block (a, b). The means are 0, so p_1 = 0. */
static void add_row(const ks_grouped *g, size_t k, int b, ks_forms *f) {
    static const int WW[4][2] = {{0, 0}, {0, 1}, {0, 2}, {1, 1}},
                     WE[5][2] = {{0, 1}, {1, 1}, {2, 1}, {0, 2}, {1, 2}}, EE[3][2] = {{1, 1}, {1, 2}, {2, 2}};
    /* If all groups have one size, only the first product of each kind is needed. */
    const int one = g->E[1] == NULL;
    ks_grouped_matrix W[3], E[3];
    for (int i = 0; i < 3; i++) W[i] = ks_grouped_w(g, i);
    for (int i = 0; i < 4; i++) f->WW[i] += !i || !one ? row_dot(g, W[WW[i][0]], W[WW[i][1]], k, b) : 0;
    if (!g->centered) return;
    for (int i = 1; i < 3; i++) E[i] = ks_grouped_e(g, i);
    for (int i = 0; i < 5; i++) f->WE[i] += !i || !one ? row_dot(g, W[WE[i][0]], E[WE[i][1]], k, b) : 0;
    for (int i = 0; i < 3; i++) f->EE[i] += !i || !one ? row_dot(g, E[EE[i][0]], E[EE[i][1]], k, b) : 0;
}

/*
 * If all groups have the same size n, the other products of matrices are multiples of the first product of
 * each kind.
 */
static void complete(const ks_grouped *g, ks_forms *f) {
    const double n = g->size;
    if (!g->centered || g->E[1]) return;
    f->WW[1] = n * f->WW[0], f->WW[2] = f->WW[3] = n * n * f->WW[0];
    f->WE[1] = f->WE[3] = n * f->WE[0], f->WE[2] = f->WE[4] = n * n * f->WE[0];
    f->EE[1] = n * f->EE[0], f->EE[2] = n * n * f->EE[0];
}

static void set_numbers(const ks_grouped *g, int w, ks_forms *f) {
    const int a = ks_grouped_first[w], b = ks_grouped_second[w];
    const double *q = g->vector[KS_G_P2];
    for (int k = 0; k < 3; k++) f->own[k] = g->number[KS_G_W2 + 3 * w + k];
    if (!g->centered) return;
    for (int k = 0; k < 2; k++) f->Z[k] = g->number[KS_G_Z + 2 * w + k];
    f->q = g->number[KS_G_Q + w];
    f->qU = ks_group_dot(g, q, g->vector[KS_G_U1 + b], a) + ks_group_dot(g, q, g->vector[KS_G_U1 + a], b);
    f->vq = ks_group_dot(g, g->vector[KS_G_V + a], q, b) + ks_group_dot(g, g->vector[KS_G_V + b], q, a);
}

/* Sets the numbers that determine products of traces of matrix a. */
static void set_trace(ks_group_job *j, int a) {
    const ks_grouped *g = j->g;
    ks_group_line *l = &j->trace[a];
    const double *q = g->vector[KS_G_P2];
    for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a]; k++) {
        for (int i = 0; i < 3; i++)
            if (!i || g->centered) l->t[i] += ks_group_diagonal(ks_grouped_w(g, i), g->all, k);
        for (int i = 0; i < 2 && g->centered; i++)
            l->e[i] += ks_group_diagonal(ks_grouped_e(g, i + 1), g->all, k);
    }
    for (int i = 0; i < 3; i++) l->own[i] = g->number[KS_G_TT + 3 * a + i];
    if (!g->centered) return;
    for (int i = 0; i < 2; i++) l->Z[i] = g->number[KS_G_TR + 2 * a + i];
    l->qT = ks_group_dot(g, q, g->vector[KS_G_T1], a);
    l->EE = j->block[a].EE[2], l->q = j->block[a].q, l->vq = ks_group_dot(g, g->vector[KS_G_V + a], q, a);
}

static double column_value(const ks_grouped *g, const ks_group_sizes *z, size_t k, double n, double u,
                           double d) {
    const ks_group_line l = ks_group_column(g, k, n, u, d);
    const ks_forms f = ks_forms_of_traces(&l);
    return ks_forms_value(z, &f);
}

/* ---- all data ---- */

static kspec_status product_rows(void *ctx, size_t chunk, const ks_worker *worker) {
    (void)worker;
    const ks_group_job *j = ctx;
    const ks_grouped *g = j->g;
    const int a = chunk >= g->cols[0];
    for (int b = 0; b < ks_group_matrices(g); b++) {
        ks_forms f = {0};
        add_row(g, chunk, b, &f);
        complete(g, &f);
        j->exact[b != a][chunk] = f;
    }
    return KSPEC_OK;
}

/* Adds the products of two matrices from one set of numbers to another. */
static void add_forms(const ks_forms *from, ks_forms *to) {
    for (int i = 0; i < 4; i++) to->WW[i] += from->WW[i];
    for (int i = 0; i < 5; i++) to->WE[i] += from->WE[i];
    for (int i = 0; i < 3; i++) to->EE[i] += from->EE[i];
}

static void set_all(ks_group_job *j) {
    const ks_grouped *g = j->g;
    for (int w = 0; w < ks_group_blocks(g); w++) {
        const int a = ks_grouped_first[w], other = w == 2;
        for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a]; k++)
            add_forms(&j->exact[other][k], &j->block[w]);
        set_numbers(g, w, &j->block[w]);
    }
    for (int a = 0; a < ks_group_matrices(g); a++) set_trace(j, a);
    for (int w = 0; w < ks_group_blocks(g) && g->centered; w++)
        j->block[w].QQ = j->trace[ks_grouped_first[w]].e[1] * j->trace[ks_grouped_second[w]].e[1];
    for (int w = 0; w < ks_group_blocks(g); w++)
        j->out->whole[w] = j->block[w].WW[0] + 2 * j->block[w].WE[0] + j->block[w].EE[0];
    for (int a = 0; a < ks_group_matrices(g); a++) j->out->spread[a] = j->trace[a].t[0] + j->trace[a].e[0];
}

/* Sets estimate k of all lists. alone[a] is the sum over single columns of matrix a. */
static void set_estimates(const ks_group_job *j, size_t k, const ks_group_sizes *z, const ks_forms *block,
                          const ks_group_line *trace, const double alone[2]) {
    const ks_grouped *g = j->g;
    const double count = ks_group_tuples(z);
    for (int a = 0; a < ks_group_matrices(g); a++) {
        const ks_forms f = ks_forms_of_traces(&trace[a]);
        j->out->trace[a][k] = ks_group_trace(z, &trace[a]) / (double)g->cols[a];
        j->out->square[a][k] = (ks_forms_value(z, &f) - j->own[a] * alone[a]) / count / j->pairs[a];
        j->out->moment[a][k] = (ks_forms_value(z, &block[a]) - j->own[a] * alone[a]) / count / j->pairs[a];
    }
    if (ks_group_blocks(g) > 1)
        j->out->cross[k] = ks_forms_value(z, &block[2]) / count / ((double)g->cols[0] * (double)g->cols[1]);
}

/* ---- leave-one-out ---- */

static ks_group_sizes without(const ks_group_sizes *all, double n) {
    ks_group_sizes z = *all;
    double power = 1;
    for (int k = 0; k < 4; k++) z.S[k] -= power *= n;
    return z;
}

/*
 * One group of n rows. y lists the rows minus their mean, and u is the mean about the centre. For each
 * matrix, uq is u.p_2, and the fields with T and v are products of u with T_1, T_2 and v.
 */
typedef struct {
    size_t n;
    const double *y, *u;
    double *d, *Wu[2], *Wq[2]; /* d is the diagonal of W, Wu[b] is W u_b, and Wq[b] is W p_2b. */
    double r[2], t[2], uq[2], uT[2][2], uv[2];
    /*
     * The lists contain products of the group's matrix W and mean u with the state, for each block. WW is
     * <W_k, W>, EW is <E_k, W>, uWu is u W_k u, uEu is u E_k u, own is |W|^2, z is u W u, qWu is p_2 W_0 u,
     * qEu is p_2 E_1 u, and qwu is p_2 W u. The last three products add both orders of the matrices.
     */
    double WW[3][3], EW[3][2], uWu[3][3], uEu[3][2], own[3], z[3], qWu[3], qEu[3], qwu[3];
    /* uU is u U_k, and vu is v u. uU and vu add both orders of the matrices. */
    double uU[3][2], vu[3];
} group;

/* Computes T = x M from the columns of matrix a on. x and T have `lines` rows. */
static void multiply(const ks_grouped *g, const double *x, size_t lines, const double *M, int a, double *T) {
    const size_t at = ks_group_start(g, a), width = g->all - at;
    ks_gemm(0, 0, lines, width, g->cols[a], 1, x + at, g->all, M + at * g->all + at, g->all, 0, T + at,
            g->all);
}

/*
 * Computes products of a group with the matrix M, for each block. rows receives the sum of x M x over the
 * group's rows, and mean receives u M u. The rows end with u as an additional line.
 */
static void forms_of(const ks_group_job *j, const group *p, ks_grouped_matrix M, double *T, double rows[3],
                     double mean[3]) {
    const ks_grouped *g = j->g;
    for (int w = 0; w < 3; w++) rows[w] = mean[w] = 0;
    for (int a = 0; a < ks_group_matrices(g); a++) {
        multiply(g, p->y, p->n + 1, M.M, a, T);
        for (int w = 0; w < ks_group_blocks(g); w++) {
            if (ks_grouped_first[w] != a) continue;
            const int b = ks_grouped_second[w];
            for (size_t i = 0; i < p->n; i++)
                rows[w] += M.factor * ks_group_dot(g, T + i * g->all, p->y + i * g->all, b);
            mean[w] = M.factor * ks_group_dot(g, T + p->n * g->all, p->u, b);
        }
    }
}

static void measure_matrices(const ks_group_job *j, group *p, double *T) {
    const ks_grouped *g = j->g;
    double rows[3], mean[3];
    for (int k = 0; k < (g->centered ? 3 : 1); k++) {
        const ks_grouped_matrix W = ks_grouped_w(g, k), first = ks_grouped_w(g, 0);
        if (!k || W.M != first.M) forms_of(j, p, W, T, rows, mean);
        const double f = k && W.M == first.M ? W.factor : 1;
        for (int w = 0; w < 3; w++)
            p->WW[w][k] = f == 1 ? rows[w] : f * p->WW[w][0],
            p->uWu[w][k] = f == 1 ? mean[w] : f * p->uWu[w][0];
    }
    for (int k = 0; k < 2 && g->centered; k++) {
        const ks_grouped_matrix E = ks_grouped_e(g, k + 1), first = ks_grouped_e(g, 1);
        if (!k || E.M != first.M) forms_of(j, p, E, T, rows, mean);
        const double f = k && E.M == first.M ? E.factor : 1;
        for (int w = 0; w < 3; w++)
            p->EW[w][k] = f == 1 ? rows[w] : f * p->EW[w][0],
            p->uEu[w][k] = f == 1 ? mean[w] : f * p->uEu[w][0];
    }
}

/*
 * Computes products of the group's rows with one another. The function uses the n x n matrix of each block,
 * or W if W is smaller, in the scratch `room`.
 */
static void measure_squares(const ks_group_job *j, group *p, double *room) {
    const ks_grouped *g = j->g;
    const size_t n = p->n, all = g->all;
    if (n > all) ks_gemm(1, 0, all, all, n, 1, p->y, all, p->y, all, 0, room, all);
    for (int a = 0; a < ks_group_matrices(g) && n <= all; a++)
        ks_gemm(0, 1, n, n, g->cols[a], 1, p->y + ks_group_start(g, a), all, p->y + ks_group_start(g, a), all,
                0, room + (size_t)a * n * n, n);
    for (int w = 0; w < ks_group_blocks(g); w++) {
        const int a = ks_grouped_first[w], b = ks_grouped_second[w];
        p->own[w] = n <= all ? ks_dot(n * n, room + (size_t)a * n * n, room + (size_t)b * n * n) : 0;
        for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a] && n > all; k++)
            p->own[w] += ks_group_dot(g, room + k * all, room + k * all, b);
    }
}

static void measure_vectors(const ks_group_job *j, group *p) {
    const ks_grouped *g = j->g;
    double *const *v = g->vector, *const q = v[KS_G_P2];
    memset(p->d, 0, g->all * sizeof *p->d);
    for (int a = 0; a < ks_group_matrices(g); a++) {
        memset(p->Wu[a], 0, g->all * sizeof(double));
        memset(p->Wq[a], 0, g->all * sizeof(double));
    }
    for (size_t i = 0; i < p->n; i++) {
        const double *y = p->y + i * g->all;
        for (size_t k = 0; k < g->all; k++) p->d[k] += y[k] * y[k];
        for (int a = 0; a < ks_group_matrices(g) && g->centered; a++) {
            const double along = ks_group_dot(g, y, p->u, a), of_q = ks_group_dot(g, y, q, a);
            for (size_t k = 0; k < g->all; k++) p->Wu[a][k] += along * y[k], p->Wq[a][k] += of_q * y[k];
        }
    }
    for (int a = 0; a < ks_group_matrices(g); a++) {
        p->t[a] = 0;
        for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a]; k++) p->t[a] += p->d[k];
        p->r[a] = ks_group_dot(g, p->u, p->u, a), p->uq[a] = ks_group_dot(g, p->u, q, a);
        p->uT[a][0] = ks_group_dot(g, p->u, v[KS_G_T1], a),
        p->uT[a][1] = ks_group_dot(g, p->u, v[KS_G_T2], a);
        p->uv[a] = ks_group_dot(g, p->u, v[KS_G_V + a], a);
    }
    for (int w = 0; w < ks_group_blocks(g) && g->centered; w++) {
        const int a = ks_grouped_first[w], b = ks_grouped_second[w];
        p->z[w] = ks_group_dot(g, p->u, p->Wu[b], a);
        p->qwu[w] = ks_group_dot(g, q, p->Wu[b], a) + ks_group_dot(g, q, p->Wu[a], b);
        p->qWu[w] = ks_group_dot(g, p->u, j->W0p[a], b) + ks_group_dot(g, p->u, j->W0p[b], a);
        p->qEu[w] = ks_group_dot(g, p->u, j->E1p[a], b) + ks_group_dot(g, p->u, j->E1p[b], a);
        for (int k = 0; k < 2; k++) {
            const int U = k ? KS_G_U2 : KS_G_U1;
            p->uU[w][k] = ks_group_dot(g, p->u, v[U + b], a) + ks_group_dot(g, p->u, v[U + a], b);
        }
        p->vu[w] = ks_group_dot(g, p->u, v[KS_G_V + a], b) + ks_group_dot(g, p->u, v[KS_G_V + b], a);
    }
}

/* Returns the block's numbers without the group. Leaving the group out changes p_1 from 0 to -n u. */
static ks_forms without_group(const ks_group_job *j, const group *p, int w) {
    const int a = ks_grouped_first[w], b = ks_grouped_second[w];
    const ks_forms *f = &j->block[w];
    const double n = (double)p->n, n2 = n * n, n3 = n2 * n, n4 = n2 * n2, rr = p->r[a] * p->r[b], z = p->z[w],
                 own = p->own[w], *WW = p->WW[w], *EW = p->EW[w], *uWu = p->uWu[w], *uEu = p->uEu[w];
    const double q[2] = {j->trace[a].e[1] - n2 * p->r[a], j->trace[b].e[1] - n2 * p->r[b]},
                 ruq = p->r[a] * p->uq[b] + p->r[b] * p->uq[a];
    return (ks_forms){
        .WW = {f->WW[0] - 2 * WW[0] + own, f->WW[1] - n * WW[0] - WW[1] + n * own,
               f->WW[2] - n2 * WW[0] - WW[2] + n2 * own, f->WW[3] - 2 * n * WW[1] + n2 * own},
        .own = {f->own[0] - own, f->own[1] - n * own, f->own[2] - n2 * own},
        .WE = {f->WE[0] - EW[0] - n * uWu[0] + n * z, f->WE[1] - n * EW[0] - n * uWu[1] + n2 * z,
               f->WE[2] - n2 * EW[0] - n * uWu[2] + n3 * z, f->WE[3] - EW[1] - n2 * uWu[0] + n2 * z,
               f->WE[4] - n * EW[1] - n2 * uWu[1] + n3 * z},
        .Z = {f->Z[0] - n * z, f->Z[1] - n2 * z},
        .pWp = {n2 * (uWu[0] - z), n2 * (uWu[1] - n * z)},
        .pWq = -n * (p->qWu[w] - p->qwu[w] - 2 * n2 * (uWu[0] - z)),
        .pU = {-n * (p->uU[w][0] - 2 * n * z), -n * (p->uU[w][1] - 2 * n2 * z)},
        .qU = f->qU - n * p->qwu[w] - n2 * (p->uU[w][0] - 2 * n * z),
        .EE = {f->EE[0] - 2 * n * uEu[0] + n2 * rr, f->EE[1] - n2 * uEu[0] - n * uEu[1] + n3 * rr,
               f->EE[2] - 2 * n2 * uEu[1] + n4 * rr},
        .QQ = q[0] * q[1],
        .q = f->q - n2 * rr,
        .pEp = {n2 * (uEu[0] - n * rr), n2 * (uEu[1] - n2 * rr)},
        .qEp = -n * (p->qEu[w] - n * ruq - 2 * n2 * (uEu[0] - n * rr)),
        .pp = n4 * rr,
        .qp = n2 * (q[0] * p->r[b] + q[1] * p->r[a]),
        .vp = -n * (p->vu[w] - 2 * n2 * rr),
        .vq = f->vq - n2 * p->vu[w] - n2 * ruq + 2 * n4 * rr};
}

static ks_group_line without_trace(const ks_group_job *j, const group *p, int a, const ks_forms *block) {
    const ks_group_line *l = &j->trace[a];
    const double n = (double)p->n, n2 = n * n, r = p->r[a], t = p->t[a];
    return (ks_group_line){.t = {l->t[0] - t, l->t[1] - n * t, l->t[2] - n2 * t},
                           .own = {l->own[0] - t * t, l->own[1] - n * t * t, l->own[2] - n2 * t * t},
                           .e = {l->e[0] - n * r, l->e[1] - n2 * r},
                           .Z = {l->Z[0] - n * t * r, l->Z[1] - n2 * t * r},
                           .pp = n2 * r,
                           .pq = -n * (p->uq[a] - n2 * r),
                           .pT = {-n * (p->uT[a][0] - n * t * r), -n * (p->uT[a][1] - n2 * t * r)},
                           .qT = l->qT - n * t * p->uq[a] - n2 * p->uT[a][0] + n2 * n * t * r,
                           .EE = block->EE[2],
                           .q = block->q,
                           .pEp = block->pEp[1],
                           .vp = -n * (p->uv[a] - n2 * r * r),
                           .vq = l->vq - n2 * p->uv[a] - n2 * r * p->uq[a] + n2 * n2 * r * r};
}

/*
 * The state stores some numbers only as sums over columns. The function adds one group's contribution to
 * these numbers for each column k of matrix a, in block (a, b).
 */
static void add_sample(const ks_group_job *j, const group *p, int a, int b, const double *square, double *T,
                       ks_group_part *to) {
    const ks_grouped *g = j->g;
    const size_t n = p->n, all = g->all;
    const double m = (double)n;
    if (n <= all)
        ks_gemm(0, 0, n, g->cols[a], n, 1, square + (size_t)b * n * n, n, p->y + ks_group_start(g, a), all, 0,
                T, g->cols[a]);
    for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a]; k++) {
        double own = 0;
        for (size_t i = 0; i < n && n <= all; i++)
            own += p->y[i * all + k] * T[i * g->cols[a] + k - ks_group_start(g, a)];
        if (n > all) own = ks_group_dot(g, square + k * all, square + k * all, b);
        ks_group_part *f = &to[k];
        const double u = p->u[k], weights[3] = {1, m, m * m};
        for (int i = 0; i < 3; i++) f->own[i] += weights[i] * own;
        if (!g->centered) continue;
        for (int i = 0; i < 2; i++) f->Z[i] += weights[i + 1] * u * p->Wu[b][k];
        f->qU += m * u * p->Wq[b][k];
        f->q += m * m * u * u * p->r[b], f->vq += m * m * u * u * p->uq[b];
    }
}

static void add_sample_trace(const ks_group_job *j, const group *p, int a, ks_group_part *to) {
    const ks_grouped *g = j->g;
    const double m = (double)p->n, t = p->t[a], r = p->r[a];
    for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a]; k++) {
        ks_group_part *f = &to[k];
        const double u = p->u[k], d = p->d[k], weights[3] = {1, m, m * m};
        for (int i = 0; i < 3; i++) f->own[i] += weights[i] * d * t;
        if (!g->centered) continue;
        for (int i = 0; i < 2; i++) f->Z[i] += weights[i + 1] * (d * r + t * u * u) / 2;
        f->qU += m * d * p->uq[a];
        f->q += m * m * u * u * r, f->vq += m * m * u * u * p->uq[a];
    }
}

static size_t square_room(const ks_group_job *j) {
    const size_t all = j->g->all, n = j->longest < all ? j->longest : all;
    return 2 * n * n;
}

/*
 * Computes the estimates without group i of the sample. to[...] receives the group's contributions to the
 * columns.
 */
static void one_group(const ks_group_job *j, size_t i, double *room, ks_group_part *const to[3]) {
    const ks_grouped *g = j->g;
    const size_t all = g->all;
    const ks_kept_group *kept = &j->sample->kept[i];
    const double unit = ldexp(1, -g->exponent);
    double *y = room, *T = y + (j->longest + 1) * all, *square = T + (j->longest + 1) * all,
           *lists = square + square_room(j), *u = y + kept->rows * all;
    group p = {.n = kept->rows, .y = y, .u = u, .d = lists};
    for (int a = 0; a < 2; a++)
        p.Wu[a] = lists + (size_t)(1 + a) * all, p.Wq[a] = lists + (size_t)(3 + a) * all;
    ks_group_sample_rows(j->sample, kept, y);
    for (size_t k = 0; k < p.n * all; k++) y[k] *= unit;
    ks_group_centre(g, p.n, y, u);
    measure_vectors(j, &p);
    measure_matrices(j, &p, T);
    measure_squares(j, &p, square);
    const ks_group_sizes z = without(&j->all, (double)p.n);
    ks_forms block[3];
    ks_group_line trace[2];
    double alone[2] = {0};
    for (int w = 0; w < ks_group_blocks(g); w++) block[w] = without_group(j, &p, w);
    for (int a = 0; a < ks_group_matrices(g); a++) {
        trace[a] = without_trace(j, &p, a, &block[a]);
        for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a] && j->own[a] > 0; k++)
            alone[a] += column_value(g, &z, k, (double)p.n, u[k], p.d[k]);
    }
    set_estimates(j, 1 + i, &z, block, trace, alone);
    for (int a = 0; a < ks_group_matrices(g); a++) {
        if (j->fewer[a] == 0) continue;
        for (int b = 0; b < ks_group_matrices(g); b++) add_sample(j, &p, a, b, square, T, to[b != a]);
        add_sample_trace(j, &p, a, to[2]);
    }
}

static kspec_status some_groups(void *ctx, size_t chunk, const ks_worker *worker) {
    const ks_group_job *j = ctx;
    const size_t n = j->sample->count, all = j->g->all;
    ks_group_part *const to[3] = {j->parts[0] + chunk * all, j->parts[1] + chunk * all,
                                  j->parts[2] + chunk * all};
    for (size_t i = chunk * n / j->count; i < (chunk + 1) * n / j->count; i++)
        one_group(j, i, j->room[worker->index], to);
    return KSPEC_OK;
}

/* ---- estimates ---- */

static kspec_status open_job(int threads, ks_group_job *j, ks_arena *arena, kspec_error *err) {
    const ks_grouped *g = j->g;
    const size_t all = g->all, n = j->sample->count;
    j->count = n < PARTS ? n : PARTS;
    for (size_t i = 0; i < n; i++)
        if (j->sample->kept[i].rows > j->longest) j->longest = j->sample->kept[i].rows;
    const ks_run run = {.threads = threads, .to = 1};
    const size_t workers = (size_t)ks_workers(&run, j->count),
                 room = ks_size_add(ks_size_add(ks_size(2 * (j->longest + 1), all), square_room(j)), 5 * all);
    for (int k = 0; k < 2; k++) {
        j->exact[k] = ks_arena_zalloc(arena, all, sizeof **j->exact);
        j->W0p[k] = ks_arena_zalloc(arena, all, sizeof(double));
        j->E1p[k] = ks_arena_zalloc(arena, all, sizeof(double));
    }
    for (int k = 0; k < 3; k++)
        j->parts[k] = ks_arena_zalloc(arena, ks_size(j->count, all), sizeof **j->parts);
    j->room = ks_arena_alloc(arena, workers, sizeof *j->room);
    for (size_t k = 0; k < workers && j->room; k++) j->room[k] = ks_arena_alloc(arena, room, sizeof(double));
    return arena->failed ? ks_nomem(err, "groups left out", arena->failed) : KSPEC_OK;
}

/* Copies the upper triangle of each matrix to its lower triangle. */
static void mirror(const ks_grouped *g) {
    double *const M[5] = {g->W[0], g->W[1], g->W[2], g->E[0], g->E[1]};
    for (int i = 0; i < 5; i++)
        for (size_t k = 0; k < g->all && M[i]; k++)
            for (size_t l = 0; l < k; l++) M[i][k * g->all + l] = M[i][l * g->all + k];
}

static void times_p2(const ks_group_job *j) {
    const ks_grouped *g = j->g;
    for (int a = 0; a < ks_group_matrices(g) && g->centered; a++)
        for (size_t k = 0; k < g->all; k++) {
            j->W0p[a][k] = ks_group_dot(g, g->W[0] + k * g->all, g->vector[KS_G_P2], a);
            j->E1p[a][k] = ks_group_dot(g, g->E[0] + k * g->all, g->vector[KS_G_P2], a);
        }
}

kspec_status ks_grouped_estimates(int threads, const ks_grouped *g, const ks_group_sample *sample,
                                  ks_grouped_out *out, kspec_error *err) {
    ks_arena arena = {0};
    const ks_run run = {.threads = threads, .to = 1};
    ks_group_job j = {.g = g, .sample = sample, .out = out, .all = {.centered = g->centered}};
    memcpy(j.all.S, g->S, sizeof g->S);
    for (int a = 0; a < ks_group_matrices(g); a++) {
        const size_t Q = g->cols[a];
        const double M = out->columns[a] > 0 ? out->columns[a] : INFINITY;
        j.own[a] = ks_sums_own_share(Q, M), j.pairs[a] = ks_sums_pairs(Q, M);
        j.own_less[a] = ks_sums_own_share(Q - 1, M), j.fewer[a] = M > (double)Q ? ks_sums_pairs(Q - 1, M) : 0;
    }
    double *room = ks_arena_alloc(&arena, ks_size(2, g->all), sizeof *room);
    kspec_status st = open_job(threads, &j, &arena, err);
    if (!st) {
        mirror(g);
        times_p2(&j);
        st = ks_parallel_for(&run, g->all, product_rows, &j, err);
    }
    if (!st) {
        set_all(&j);
        for (int a = 0; a < ks_group_matrices(g); a++)
            for (size_t k = ks_group_start(g, a); k < ks_group_start(g, a) + g->cols[a]; k++)
                j.alone[a] += column_value(g, &j.all, k, 0, 0, 0);
        set_estimates(&j, 0, &j.all, j.block, j.trace, j.alone);
        st = ks_parallel_for(&run, j.count, some_groups, &j, err);
    }
    if (!st) ks_group_leave_out_columns(&j, room);
    ks_arena_free(&arena);
    return st;
}
