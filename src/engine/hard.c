/*
 * Computes the graphs of order 5 that elimination of vertices of degree 1 or 2 cannot reduce. Such a graph
 * has the value
 *
 *     sum over r0, r1, c0, c1 of E[r0,r1] F[c0,c1] X00[r0,c0] X01[r0,c1] X10[r1,c0] X11[r1,c1].
 *
 * With r0 fixed, the edges at r0 are weights of the other vertices, and one P x Q x Q product remains:
 *
 *     U[r1,c1] = X01[r0,c1] X11[r1,c1],  Z = U F^T,  t[r1] = sum_c0 Z[r1,c0] X10[r1,c0] X00[r0,c0],
 *     value = sum_r0,r1 E[r0,r1] t[r1].
 *
 * The backward pass has E~[r0,r1] = t[r1] and F~ = sum_r0 V^T U with V[r1,c0] = E[r0,r1] X10[r1,c0]
 * X00[r0,c0]. All other derivatives follow from these two, because every term contains both edges. For
 * example, the value with r0 fixed to i is the sum over r1 of E[i,r1] E~[i,r1]. If exchanging r0 with r1 and
 * c0 with c1 changes nothing, the terms with r1 <= r0 suffice.
 */
#include "device/tile.h"
#include "linalg/linalg.h"
#include "engine/run.h"
#include "team/team.h"

#include <string.h>

/* The sums have SLOTS accumulators. Slice r0 adds to accumulator r0 mod SLOTS. */
enum { SLOTS = 16 };

typedef struct {
    size_t P, Q;
    /* If mirror is 1, the terms with r1 <= r0 suffice. */
    int mirror;
    /* E is P x P, F is Q x Q, and the matrices X are P x Q. */
    const ks_mat *E, *F, *X[2][2];
    /* Each worker has scratch of 2 x P x Q numbers. */
    ks_mat *work;
    /* E_adj is P x P. F_adj contains slots_of() matrices of Q x Q, or is NULL. */
    ks_mat *E_adj, *F_adj;
} slices;

/* Describes slices in host memory. A round computes the slices r0 ... r1-1. */
typedef struct {
    size_t P, Q, r0, r1;
    int mirror;
    const double *E, *F, *X[2][2];
    double *work, *E_adj, *F_adj;
} host_slices;

/*
 * Returns how many slices run at once. On the CPU, each thread computes one. Other backends compute one at a
 * time.
 */
static size_t workers_of(const ks_exec_state *x) {
    const size_t P = x->plan->size[KS_ROW];
    return x->at->host ? (size_t)ks_workers(x->run, P < SLOTS ? P : SLOTS) : 1;
}

static size_t slots_of(const ks_exec_state *x) { return x->at->host ? SLOTS : 1; }

static void slice(const host_slices *s, size_t slot, size_t worker, size_t r0) {
    size_t P = s->P, Q = s->Q, rows = s->mirror ? r0 + 1 : P;
    double *U = s->work + worker * 2 * P * Q, *Z = U + P * Q, *t = s->E_adj + r0 * P;
    const double *x00 = s->X[0][0] + r0 * Q, *x01 = s->X[0][1] + r0 * Q, *e = s->E + r0 * P;
    for (size_t i = 0; i < rows; i++)
        for (size_t c = 0; c < Q; c++) U[i * Q + c] = x01[c] * s->X[1][1][i * Q + c];
    ks_gemm(0, 1, rows, Q, Q, 1, U, Q, s->F, Q, 0, Z, Q);
    for (size_t i = 0; i < rows; i++) {
        double sum = 0, twice = s->mirror && i < r0 ? 2 : 1;
        for (size_t c = 0; c < Q; c++) {
            double v = s->X[1][0][i * Q + c] * x00[c];
            sum += Z[i * Q + c] * v;
            Z[i * Q + c] = twice * e[i] * v;
        }
        t[i] = twice * sum;
    }
    for (size_t i = rows; i < P; i++) t[i] = 0;
    if (s->F_adj) ks_gemm(1, 0, Q, Q, rows, 1, Z, Q, U, Q, 1, s->F_adj + slot * Q * Q, Q);
}

/*
 * Computes the slices of one slot in a fixed order, so that the sums have the same bits for any number of
 * threads and ranks.
 */
static kspec_status slot_slices(void *ctx, size_t slot, const ks_worker *worker) {
    const host_slices *s = ctx;
    for (size_t r0 = s->r0 + slot; r0 < s->r1; r0 += SLOTS) slice(s, slot, (size_t)worker->index, r0);
    return KSPEC_OK;
}

static int is_leaf(const ks_edge *e) { return !e->nref && e->nleaf == 1; }

/* Does exchanging r0 with r1 and c0 with c1 change nothing? */
static int mirrored(const ks_plan *pl, const ks_terminal *t) {
    return ks_product_symmetric(&pl->products[pl->edges[t->E].ref[0] / 2]) &&
           ks_product_symmetric(&pl->products[pl->edges[t->F].ref[0] / 2]) && t->X[0][0] == t->X[1][1] &&
           t->X[0][1] == t->X[1][0];
}

/*
 * Returns the number of slices in a round, a multiple of the number of slots. A team exchanges the sums of
 * all slots after each round, so its rounds last about a second.
 */
static size_t round_size(const ks_exec_state *x, const host_slices *s) {
    const double one = (double)s->P * (double)s->Q * (double)s->Q * (s->F_adj ? 2 : 1), rounds = 2e10 / one;
    return x->run->team && rounds > 1 ? SLOTS * (rounds < 1e6 ? (size_t)rounds : 1000000) : SLOTS;
}

/*
 * Runs a round of slices. The team divides the round among its ranks if computing takes longer than the
 * messages.
 */
static kspec_status round_of_slices(const ks_run *run, host_slices *s, double work, kspec_error *err) {
    const size_t P = s->P, Q = s->Q, count = s->r1 - s->r0;
    const ks_share made[] = {{.to = s->E_adj + s->r0 * P, .each = P * sizeof(double), .count = count},
                             {.to = s->F_adj, .each = Q * Q * sizeof(double), .count = SLOTS, .per = 1}};
    const ks_run part = work < 1e8 ? ks_run_alone(run) : *run;
    return ks_team_for(&part, "slices", count < SLOTS ? count : SLOTS, slot_slices, s, made, s->F_adj ? 2 : 1,
                       err);
}

static void cpu_slices(ks_exec_state *x, const slices *of) {
    double *(*host)(const ks_mat *) = x->at->host;
    host_slices all = {.P = of->P,
                       .Q = of->Q,
                       .mirror = of->mirror,
                       .E = host(of->E),
                       .F = host(of->F),
                       .work = host(of->work),
                       .E_adj = host(of->E_adj),
                       .F_adj = host(of->F_adj)},
                *s = &all;
    for (int k = 0; k < 4; k++) all.X[k / 2][k % 2] = host(of->X[k / 2][k % 2]);
    size_t P = s->P, Q = s->Q, size = round_size(x, s);
    if (s->F_adj && !x->dry && !x->status) memset(s->F_adj, 0, SLOTS * Q * Q * sizeof *s->F_adj);
    for (s->r0 = 0; s->r0 < P && !x->status; s->r0 = s->r1) {
        s->r1 = P - s->r0 < size ? P : s->r0 + size;
        double count = (double)(s->r1 - s->r0),
               rows = s->mirror ? (double)s->r0 + (count + 1) / 2 : (double)P;
        double work = count * rows * (double)Q * (double)Q * (s->F_adj ? 2 : 1);
        ks_run part;
        if (!ks_exec_step(x, work, &part)) continue;
        part = ks_tile_threads(&part, work);
        x->status = round_of_slices(&part, s, work, x->err);
    }
    if (s->F_adj && !x->dry && !x->status)
        for (size_t k = 1; k < SLOTS; k++)
            for (size_t i = 0; i < Q * Q; i++) s->F_adj[i] += s->F_adj[k * Q * Q + i];
}

/*
 * Computes the rows from ... from+count-1 of slice r0. The function computes t and replaces Z by V. The
 * vectors x00 and e are in the backend's memory.
 */
static void backend_lines(ks_exec_state *x, const slices *s, const ks_run *part, size_t r0, size_t from,
                          size_t count, double twice, ks_mat *Z) {
    const ks_backend *at = x->at;
    const size_t P = s->P, Q = s->Q;
    ks_mat *V = at->view(Z, from * Q);
    ks_mat_expression e = {.m = count,
                           .n = Q,
                           .alpha = twice,
                           .col_held = at->view(s->X[0][0], r0 * Q),
                           .count = 2,
                           .factor = {{at->view(s->X[1][0], from * Q), 0, 1}, {V, 0, 1}}};
    if (count == 0 || x->status) return;
    x->status = at->expression(part, &e, KS_TILE_ROW_SUMS, at->view(s->E_adj, r0 * P + from), NULL, x->err);
    if (!s->F_adj || x->status) return;
    e.count = 1, e.row_held = at->view(s->E, r0 * P + from);
    x->status = at->expression(part, &e, KS_TILE_STORE, V, NULL, x->err);
}

/* Computes one slice after another with a few operations of the backend for each. */
static void backend_slices(ks_exec_state *x, const slices *s) {
    const ks_backend *at = x->at;
    const size_t P = s->P, Q = s->Q;
    ks_mat *U = s->work, *Z = at->view(U, P * Q);
    const ks_mat_expression zero = {.m = P, .n = P, .alpha = 0, .count = 1, .factor = {{s->E, 0, 1}}};
    if (!x->dry && !x->status)
        x->status = at->expression(x->run, &zero, KS_TILE_STORE, s->E_adj, NULL, x->err);
    for (size_t r0 = 0; r0 < P && !x->status; r0++) {
        const size_t rows = s->mirror ? r0 + 1 : P;
        ks_run part;
        if (!ks_exec_step(x, (double)rows * (double)Q * (double)Q * (s->F_adj ? 2 : 1), &part)) continue;
        const ks_mat_expression u = {.m = rows,
                                     .n = Q,
                                     .alpha = 1,
                                     .col_held = at->view(s->X[0][1], r0 * Q),
                                     .count = 1,
                                     .factor = {{s->X[1][1], 0, 1}}};
        const ks_mat_product z = {.tb = 1,
                                  .m = rows,
                                  .n = Q,
                                  .k = Q,
                                  .alpha = 1,
                                  .A = U,
                                  .lda = Q,
                                  .B = s->F,
                                  .ldb = Q,
                                  .C = Z,
                                  .ldc = Q};
        const ks_mat_product f = {.ta = 1,
                                  .m = Q,
                                  .n = Q,
                                  .k = rows,
                                  .alpha = 1,
                                  .A = Z,
                                  .lda = Q,
                                  .B = U,
                                  .ldb = Q,
                                  .beta = r0 > 0,
                                  .C = s->F_adj,
                                  .ldc = Q};
        x->status = at->expression(&part, &u, KS_TILE_STORE, U, NULL, x->err);
        if (!x->status) x->status = at->product(&part, &z, x->err);
        backend_lines(x, s, &part, r0, 0, s->mirror ? r0 : P, s->mirror ? 2 : 1, Z);
        if (s->mirror) backend_lines(x, s, &part, r0, r0, 1, 1, Z);
        if (s->F_adj && !x->status) x->status = at->product(&part, &f, x->err);
    }
}

/*
 * Computes all slices from E (P x P) and F (Q x Q). E_adj receives E~. If F_adj is given, its first Q x Q
 * numbers receive F~.
 */
static void all_slices(ks_exec_state *x, const ks_terminal *t, ks_mat *E, ks_mat *F, ks_mat *E_adj,
                       ks_mat *F_adj) {
    const ks_plan *pl = x->plan;
    size_t P = pl->size[KS_ROW], Q = pl->size[KS_COL], lines = workers_of(x) * 2 * P;
    slices s = {.P = P, .Q = Q, .E = E, .F = F, .E_adj = E_adj, .F_adj = F_adj, .mirror = mirrored(pl, t)};
    ks_mat *held[4] = {0};
    for (int k = 0; k < 4; k++) {
        const uint32_t edge = t->X[k / 2][k % 2];
        const ks_edge *e = &pl->edges[edge];
        if (!is_leaf(e)) {
            held[k] = ks_exec_hold(x, P, Q);
            ks_exec_edge(x, edge, KS_ROW, KS_COL, held[k]);
        }
        s.X[k / 2][k % 2] = held[k] ? held[k] : x->source[e->leaf[0] / 2];
    }
    s.work = ks_exec_hold(x, lines, Q);
    ks_exec_edge(x, t->E, KS_ROW, KS_ROW, E);
    ks_exec_edge(x, t->F, KS_COL, KS_COL, F);
    if (x->at->host)
        cpu_slices(x, &s);
    else
        backend_slices(x, &s);
    ks_exec_drop(x, s.work, lines, Q);
    for (int k = 0; k < 4; k++) ks_exec_drop(x, held[k], P, Q);
}

/*
 * Adds the sum over j of first X[i,j] + second X[j,i] to through[i], where X is the elementwise product of E
 * and E~.
 */
static void edge_through(ks_exec_state *x, size_t n, const ks_mat *edge, const ks_mat *adjoint, double first,
                         double second, double *through) {
    if (!x->at->host) {
        const ks_mat_expression e = {
            .m = n, .n = n, .alpha = 1, .count = 2, .factor = {{edge, 0, 1}, {adjoint, 0, 1}}};
        for (int k = 0; k < 2 && !x->status; k++) {
            double *sums = x->scratch[k];
            x->status =
                x->at->expression(x->run, &e, k ? KS_TILE_COL_SUMS : KS_TILE_ROW_SUMS, NULL, sums, x->err);
            for (size_t i = 0; i < n && !x->status; i++) through[i] += (k ? second : first) * sums[i];
        }
        return;
    }
    const double *E = x->at->host(edge), *E_adj = x->at->host(adjoint);
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            double v = E[i * n + j] * E_adj[i * n + j];
            through[i] += first * v;
            through[j] += second * v;
        }
}

static double value_of(ks_exec_state *x, size_t P, const ks_mat *edge, const ks_mat *adjoint) {
    const ks_mat_expression e = {
        .m = P, .n = P, .alpha = 1, .count = 2, .factor = {{edge, 0, 1}, {adjoint, 0, 1}}};
    double value = 0, *sums = x->scratch[0];
    if (x->at->host) {
        const double *E = x->at->host(edge), *E_adj = x->at->host(adjoint);
        for (size_t i = 0; i < P; i++) value += ks_dot(P, E + i * P, E_adj + i * P);
        return value;
    }
    x->status = x->at->expression(x->run, &e, KS_TILE_ROW_SUMS, NULL, sums, x->err);
    for (size_t i = 0; i < P && !x->status; i++) value += sums[i];
    return value;
}

double ks_hard(ks_exec_state *x, const ks_terminal *t, double seed, int backward) {
    size_t P = x->plan->size[KS_ROW], Q = x->plan->size[KS_COL];
    ks_mat *E = ks_exec_hold(x, P, P), *E_adj = ks_exec_hold(x, P, P), *F = ks_exec_hold(x, Q, Q);
    double value = 0;
    ks_mat *F_adj = backward ? ks_exec_hold(x, slots_of(x) * Q, Q) : NULL;
    if (!x->status) all_slices(x, t, E, F, E_adj, F_adj);
    if (!x->dry && !x->status) value = value_of(x, P, E, E_adj);
    if (backward && !x->dry && !x->status) {
        edge_through(x, P, E, E_adj, seed * t->positions[0], seed * t->positions[1], x->through[KS_ROW]);
        edge_through(x, Q, F, F_adj, seed * t->positions[2], seed * t->positions[3], x->through[KS_COL]);
    }
    if (backward) {
        ks_exec_hand_on(x, t->E, KS_ROW, KS_ROW, seed, E_adj, NULL, NULL);
        ks_exec_hand_on(x, t->F, KS_COL, KS_COL, seed, F_adj, NULL, NULL);
    }
    ks_exec_drop(x, F_adj, slots_of(x) * Q, Q);
    ks_exec_drop(x, F, Q, Q);
    ks_exec_drop(x, E_adj, P, P);
    ks_exec_drop(x, E, P, P);
    return value;
}
