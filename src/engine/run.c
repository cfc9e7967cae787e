/* Executes a plan. The forward pass executes each operation of the plan once. The forward pass releases a
 * matrix after its last use, unless a backward pass follows. The backward pass computes derivatives with
 * respect to weights of indices. The value of each graph enters the sum S with a factor, the graph's
 * seed. If index i of an axis has the weight x_i, a vertex that stands for k positions carries x_i^k. A
 * sum over distinct tuples is multilinear in x, so its derivative by x_i is the sum over the tuples that
 * contain i. So dS/dx_i is the sum over graphs and their vertices u of seed * k_u * (value of the graph
 * with u fixed to i). The value with u fixed is the factor of u's weight when u is eliminated. So the
 * backward pass needs no adjoint of the data. */
#include "engine/run.h"

#include "base/error.h"
#include "device/tile.h"

#include <math.h>
#include <string.h>

static size_t size_of(const ks_exec_state *x, int axis) { return x->plan->size[axis]; }
static int idle(const ks_exec_state *x) { return x->dry || x->status; }

/* ---- expressions ---- */

static void add_factor(ks_mat_expression *e, const ks_mat *p, int transposed, int power) {
    if (power) e->factor[e->count++] = (ks_mat_factor){p, transposed, power};
}

/*
 * Appends the factors of an edge as seen from the first vertex, or from the second if flip is 1. The function
 * omits one occurrence of product number `skip`, unless skip is -1.
 */
static void add_edge(const ks_exec_state *x, ks_mat_expression *out, uint32_t edge, int flip, int skip) {
    const ks_plan *pl = x->plan;
    const ks_edge *e = &pl->edges[edge];
    for (int k = 0, next; k < e->nleaf; k = next) {
        for (next = k; next < e->nleaf && e->leaf[next] == e->leaf[k]; next++) {
        }
        const int id = e->leaf[k] / 2;
        add_factor(out, x->source[id], !pl->source[id].symmetric && ((e->leaf[k] & 1) ^ flip), next - k);
    }
    for (int k = 0, next; k < e->nref; k = next) {
        int power = 0;
        for (next = k; next < e->nref && e->ref[next] == e->ref[k]; next++) power += next != skip;
        const uint32_t id = e->ref[k] / 2;
        int turned = !ks_product_symmetric(&pl->products[id]) && ((int)(e->ref[k] & 1) ^ flip);
        add_factor(out, x->value[id], turned, power);
    }
}

/* Evaluates an expression and writes it to the matrix out, or its row or column sums to `sums`. */
static void run_expression(ks_exec_state *x, const ks_mat_expression *e, ks_tile_result what, ks_mat *out,
                           double *sums) {
    ks_run part;
    int streams = e->count + (what == KS_TILE_STORE) + 2 * (what == KS_TILE_ADD);
    ks_exec_room(x, &(ks_room){.expression = e, .what = what});
    if (!ks_exec_step(x, KS_ELEMENT_COST * (double)e->m * (double)e->n * streams, &part)) return;
    x->status = x->at->expression(&part, e, what, out, sums, x->err);
}

void ks_exec_edge(ks_exec_state *x, uint32_t edge, int u, int w, ks_mat *out) {
    ks_mat_expression ex = {.m = size_of(x, u), .n = size_of(x, w), .alpha = 1};
    add_edge(x, &ex, edge, 0, -1);
    run_expression(x, &ex, KS_TILE_STORE, out, NULL);
}

/*
 * Returns the product of the weights without one occurrence of number `skip`, or of all weights if skip is
 * -1. Returns NULL if no weight remains.
 */
static const double *weights(ks_exec_state *x, uint32_t number, int axis, int skip, double *room) {
    const ks_weights *d = &x->plan->weights[number];
    const double *first = NULL;
    size_t n = size_of(x, axis);
    for (int k = 0; k < d->nvec; k++) {
        if (k == skip) continue;
        const double *v = x->vector[d->vec[k]];
        if (!first) {
            first = v;
            continue;
        }
        if (idle(x)) continue;
        for (size_t i = 0; i < n; i++) room[i] = (first == room ? room[i] : first[i]) * v[i];
        first = room;
    }
    return first;
}

/* ---- products ---- */

/* Describes an operand of BLAS. If transposed is 1, the matrix has the second index as its rows. */
typedef struct {
    const ks_mat *x;
    int transposed;
    /* to be dropped */
    ks_mat *held;
    size_t rows, cols;
} operand;

/*
 * Returns the edge times col[w], where NULL means ones. An edge that is a single matrix gives this matrix,
 * and other edges give an elementwise product.
 */
static operand operand_of(ks_exec_state *x, uint32_t edge, int u, int w, const double *col) {
    ks_mat_expression ex = {.m = size_of(x, u), .n = size_of(x, w), .alpha = 1, .col = col};
    add_edge(x, &ex, edge, 0, -1);
    if (ex.count == 1 && ex.factor[0].power == 1 && !col)
        return (operand){.x = ex.factor[0].x, .transposed = ex.factor[0].transposed};
    operand o = {.transposed = ex.factor[0].transposed};
    if (o.transposed) {
        ex = (ks_mat_expression){.m = size_of(x, w), .n = size_of(x, u), .alpha = 1, .row = col};
        add_edge(x, &ex, edge, 1, -1);
    }
    o.rows = ex.m, o.cols = ex.n;
    o.x = o.held = ks_exec_hold(x, o.rows, o.cols);
    if (o.held) run_expression(x, &ex, KS_TILE_STORE, o.held, NULL);
    return o;
}

static void drop_operand(ks_exec_state *x, operand *o) { ks_exec_drop(x, o->held, o->rows, o->cols); }

/* Is p one of the given matrices, which every rank stores as a whole? */
static int is_whole(const ks_exec_state *x, const ks_mat *p) {
    int given = 0;
    for (int k = 0; k < x->plan->sources; k++) given |= p == x->source[k];
    return x->whole && given;
}

/* Computes the m x n matrix C = op(L) op(R), where op(L) is m x k and op(R) is k x n. */
static void multiply(ks_exec_state *x, size_t m, size_t n, size_t k, const operand *L, const operand *R,
                     int symmetric, ks_mat *C) {
    ks_run part;
    double work = (double)m * (double)n * (double)k * (symmetric ? KS_SYMMETRIC_COST : 1);
    size_t lda = L->transposed ? m : k, ldb = R->transposed ? n : k;
    const ks_mat_product p = {.ta = L->transposed,
                              .tb = !R->transposed,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = 1,
                              .A = L->x,
                              .lda = lda,
                              .B = R->x,
                              .ldb = ldb,
                              .C = C,
                              .ldc = n,
                              .symmetric = symmetric};
    ks_exec_room(
        x, &(ks_room){.product = &p,
                      .whole = (is_whole(x, p.A) ? KS_WHOLE_A : 0) | (is_whole(x, p.B) ? KS_WHOLE_B : 0)});
    x->products++;
    if (!ks_exec_step(x, work, &part)) return;
    part = ks_tile_threads(&part, work);
    x->status = x->at->product(&part, &p, x->err);
}

/* ---- forward ---- */

static double product_size(const ks_exec_state *x, uint32_t k) {
    const ks_product *p = &x->plan->products[k];
    return (double)size_of(x, p->ku) * (double)size_of(x, p->kv);
}

static ks_mat *hold_product(ks_exec_state *x, uint32_t k) {
    const ks_product *p = &x->plan->products[k];
    return ks_exec_hold(x, size_of(x, p->ku), size_of(x, p->kv));
}

/* Releases product k of x->value or x->adjoint. */
static void drop_product(ks_exec_state *x, uint32_t k, ks_mat **of) {
    if (!of[k]) return;
    const ks_product *p = &x->plan->products[k];
    ks_exec_drop(x, of[k], size_of(x, p->ku), size_of(x, p->kv));
    of[k] = NULL;
}

static void forward_product(ks_exec_state *x, uint32_t k) {
    const ks_product *p = &x->plan->products[k];
    const double *d = weights(x, p->d, p->kw, -1, x->scratch[0]);
    const int same = ks_product_symmetric(p) && !d;
    operand L = operand_of(x, p->L, p->ku, p->kw, d);
    operand R = same ? L : operand_of(x, p->R, p->kv, p->kw, NULL);
    x->value[k] = hold_product(x, k);
    multiply(x, size_of(x, p->ku), size_of(x, p->kv), size_of(x, p->kw), &L, &R, ks_product_symmetric(p),
             x->value[k]);
    if (!same) drop_operand(x, &R);
    drop_operand(x, &L);
}

/*
 * Sums an edge over u with weights and an additional factor T[u,w], and writes the sums to sums[w]. If row is
 * NULL, all weights are 1.
 */
static void sum_over_first(ks_exec_state *x, uint32_t edge, int u, int w, double alpha, const double *row,
                           const ks_mat *T, double *sums) {
    ks_mat_expression e = {.m = size_of(x, u), .n = size_of(x, w), .alpha = alpha, .row = row};
    if (T) add_factor(&e, T, 0, 1);
    add_edge(x, &e, edge, 0, -1);
    if (e.factor[0].transposed) {
        e = (ks_mat_expression){.m = size_of(x, w), .n = size_of(x, u), .alpha = alpha, .col = row};
        add_edge(x, &e, edge, 1, -1);
        run_expression(x, &e, KS_TILE_ROW_SUMS, NULL, sums);
    } else {
        run_expression(x, &e, KS_TILE_COL_SUMS, NULL, sums);
    }
}

static void forward_vector(ks_exec_state *x, uint32_t k) {
    const ks_vector *v = &x->plan->vectors[k];
    size_t m = size_of(x, v->ku);
    x->vector[k] = ks_exec_hold_vector(x, m);
    if (v->diagonal) {
        if (!idle(x)) x->status = x->at->diagonal(x->run, x->vector[k], x->source[v->E], m, x->err);
        return;
    }
    const double *d = weights(x, v->d, v->kw, -1, x->scratch[0]);
    if (v->E == 0) { /* A separate part of the graph is a constant factor. */
        double sum = 0;
        for (size_t i = 0; i < size_of(x, v->kw) && !idle(x); i++) sum += d[i];
        for (size_t i = 0; i < m && !idle(x); i++) x->vector[k][i] = sum;
        return;
    }
    ks_mat_expression e = {.m = m, .n = size_of(x, v->kw), .alpha = 1, .col = d};
    add_edge(x, &e, v->E, 0, -1);
    if (e.factor[0].transposed) {
        e = (ks_mat_expression){.m = size_of(x, v->kw), .n = m, .alpha = 1, .row = d};
        add_edge(x, &e, v->E, 1, -1);
        run_expression(x, &e, KS_TILE_COL_SUMS, NULL, x->vector[k]);
    } else {
        run_expression(x, &e, KS_TILE_ROW_SUMS, NULL, x->vector[k]);
    }
}

static void forward_terminal(ks_exec_state *x, uint32_t g) {
    const ks_terminal *t = &x->plan->terminals[g];
    if (t->hard && !x->keep) x->graph[g] = ks_hard(x, t, 0, 0);
    if (t->hard || t->stuck) return;
    const double *d = weights(x, t->du, t->ku, -1, x->scratch[0]);
    double value = 0;
    for (size_t i = 0; i < size_of(x, t->ku) && !idle(x); i++) value += d[i];
    x->graph[g] = value;
    if (x->watch && !idle(x)) x->watch(x->ctx, g, t->ku, value, d);
}

/* ---- backward ---- */

void ks_exec_hand_on(ks_exec_state *x, uint32_t edge, int u, int w, double alpha, const ks_mat *T,
                     const double *row, const double *col) {
    const ks_edge *e = &x->plan->edges[edge];
    for (int k = 0, next; k < e->nref && !x->status; k = next) {
        for (next = k; next < e->nref && e->ref[next] == e->ref[k]; next++) {
        }
        const uint32_t id = e->ref[k] / 2;
        /* Is the reference transposed relative to the matrix of the product? */
        const int flip = e->ref[k] & 1;
        ks_mat_expression ex = {
            .m = size_of(x, flip ? w : u), .n = size_of(x, flip ? u : w), .alpha = alpha * (next - k)};
        ex.row = flip ? col : row;
        ex.col = flip ? row : col;
        if (T) add_factor(&ex, T, flip, 1);
        add_edge(x, &ex, edge, flip, k);
        int first = !x->adjoint[id];
        if (first) x->adjoint[id] = hold_product(x, id);
        if (x->adjoint[id]) run_expression(x, &ex, first ? KS_TILE_STORE : KS_TILE_ADD, x->adjoint[id], NULL);
    }
}

/*
 * Vertex w stands for `positions` positions, and q[w] is the factor of its weights d. The function adds
 * positions d q to `through`, and passes the adjoint to the vectors whose product is d.
 */
static void vertex_through(ks_exec_state *x, uint32_t number, int axis, int positions, const double *q) {
    const ks_weights *d = &x->plan->weights[number];
    size_t size = size_of(x, axis);
    const double *all = weights(x, number, axis, -1, x->scratch[2]);
    double *through = idle(x) ? NULL : x->through[axis];
    for (size_t i = 0; i < size && through && positions; i++)
        through[i] += positions * q[i] * (all ? all[i] : 1);
    for (int k = 0; k < d->nvec; k++) {
        double **adj = &x->vector_adjoint[d->vec[k]];
        int first = !*adj;
        if (first) *adj = ks_exec_hold_vector(x, size);
        const double *others = weights(x, number, axis, k, x->scratch[2]);
        if (idle(x)) continue;
        for (size_t i = 0; i < size; i++)
            (*adj)[i] = (first ? 0 : (*adj)[i]) + q[i] * (others ? others[i] : 1);
    }
}

/*
 * Runs the backward step of one of the two edges of a product. T[u,w] = sum_v O'[u,v] R[v,w] is the adjoint
 * of the edge without the factor d. If q is given, it receives the sum over u of L[u,w] T[u,w], or half of
 * it.
 */
static void backward_side(ks_exec_state *x, const ks_product *p, uint32_t k, int right, double *q) {
    const uint32_t mine = right ? p->R : p->L, other = right ? p->L : p->R;
    int u = right ? p->kv : p->ku, v = right ? p->ku : p->kv;
    size_t m = size_of(x, u), n = size_of(x, p->kw);
    operand O = {.x = x->adjoint[k], .transposed = right};
    operand R = operand_of(x, other, v, p->kw, NULL);
    ks_mat *T = ks_exec_hold(x, m, n);
    R.transposed = !R.transposed;
    if (T) multiply(x, m, n, size_of(x, v), &O, &R, 0, T);
    drop_operand(x, &R);
    if (q && T) sum_over_first(x, mine, u, p->kw, ks_product_symmetric(p) ? 0.5 : 1, NULL, T, q);
    if (T) ks_exec_hand_on(x, mine, u, p->kw, 1, T, NULL, weights(x, p->d, p->kw, -1, x->scratch[0]));
    ks_exec_drop(x, T, m, n);
}

static void backward_product(ks_exec_state *x, uint32_t k) {
    const ks_product *p = &x->plan->products[k];
    int symmetric = ks_product_symmetric(p), left = x->plan->edges[p->L].nref > 0,
        right = x->plan->edges[p->R].nref > 0;
    ks_run part;
    if (symmetric) ks_exec_room(x, &(ks_room){.symmetrise = size_of(x, p->ku)});
    if (symmetric && ks_exec_step(x, 3 * KS_ELEMENT_COST * product_size(x, k), &part))
        x->status = x->at->symmetrise(&part, size_of(x, p->ku), x->adjoint[k], x->err);
    /*
     * Both sides of the product give the same q. A side that consists only of given matrices has no adjoint
     * to pass on.
     */
    backward_side(x, p, k, !left && right, x->scratch[1]);
    vertex_through(x, p->d, p->kw, p->positions, x->scratch[1]);
    if (left && right && !symmetric) backward_side(x, p, k, 1, NULL);
    drop_product(x, k, x->adjoint);
}

static void backward_vector(ks_exec_state *x, uint32_t k) {
    const ks_vector *v = &x->plan->vectors[k];
    const double *o = x->vector_adjoint[k];
    if (!v->diagonal) {
        sum_over_first(x, v->E, v->ku, v->kw, 1, o, NULL, x->scratch[1]);
        ks_exec_hand_on(x, v->E, v->ku, v->kw, 1, NULL, o, weights(x, v->d, v->kw, -1, x->scratch[0]));
        vertex_through(x, v->d, v->kw, v->positions, x->scratch[1]);
    }
    ks_exec_drop_vector(x, x->vector_adjoint[k], size_of(x, v->ku));
    x->vector_adjoint[k] = NULL;
}

static void backward_terminal(ks_exec_state *x, uint32_t g, double seed) {
    const ks_terminal *t = &x->plan->terminals[g];
    if (t->hard) x->graph[g] = ks_hard(x, t, seed, 1);
    if (t->hard || t->stuck) return;
    for (size_t i = 0; i < size_of(x, t->ku) && !idle(x); i++) x->scratch[1][i] = seed;
    vertex_through(x, t->du, t->ku, t->positions[0], x->scratch[1]);
}

void ks_exec_backward(ks_exec_state *x, double *const *through) {
    x->through = through;
    for (size_t i = x->plan->nops; i-- && !x->status;) {
        const ks_op op = x->plan->ops[i];
        switch (op.kind) { /* Operations without an adjoint need no backward step. */
        case KS_OP_TERMINAL:
            if (x->seed[op.index] != 0) backward_terminal(x, op.index, x->seed[op.index]);
            break;
        case KS_OP_VECTOR:
            if (x->vector_adjoint[op.index]) backward_vector(x, op.index);
            break;
        case KS_OP_PRODUCT:
            if (x->adjoint[op.index]) backward_product(x, op.index);
            break;
        }
    }
}

/* ---- passes ---- */

static void drop_vector(ks_exec_state *x, uint32_t k) {
    ks_exec_drop_vector(x, x->vector[k], size_of(x, x->plan->vectors[k].ku));
    x->vector[k] = NULL;
}

/*
 * Operation number `op` reads an edge. If drop is 0, the function notes that `op` is the last user of the
 * edge's matrices so far. If drop is 1, it releases the matrices whose last user is `op`.
 */
static void use_edge(ks_exec_state *x, uint32_t edge, int op, int drop) {
    const ks_edge *e = &x->plan->edges[edge];
    for (int k = 0; k < e->nref; k++) {
        const uint32_t id = e->ref[k] / 2;
        if (!drop)
            x->last_use[id] = op;
        else if (x->last_use[id] == op && x->value[id])
            drop_product(x, id, x->value);
    }
}

static void use_weights(ks_exec_state *x, uint32_t number, int op, int drop) {
    const ks_weights *d = &x->plan->weights[number];
    for (int k = 0; k < d->nvec; k++) {
        const uint32_t id = d->vec[k];
        if (!drop)
            x->vector_last_use[id] = op;
        else if (x->vector_last_use[id] == op && x->vector[id])
            drop_vector(x, id);
    }
}

static void use_operands(ks_exec_state *x, int op, int drop) {
    const ks_plan *pl = x->plan;
    const uint32_t k = pl->ops[op].index;
    switch (pl->ops[op].kind) {
    case KS_OP_PRODUCT:
        use_edge(x, pl->products[k].L, op, drop);
        use_edge(x, pl->products[k].R, op, drop);
        use_weights(x, pl->products[k].d, op, drop);
        break;
    case KS_OP_VECTOR:
        if (!pl->vectors[k].diagonal) use_edge(x, pl->vectors[k].E, op, drop);
        use_weights(x, pl->vectors[k].d, op, drop);
        break;
    case KS_OP_TERMINAL:
        use_edge(x, pl->terminals[k].E, op, drop);
        use_edge(x, pl->terminals[k].F, op, drop);
        use_weights(x, pl->terminals[k].du, op, drop);
        break;
    }
}

const ks_mat *ks_exec_copy_in(ks_exec_state *x, const double *host, size_t rows, size_t cols) {
    const ks_mat *made = NULL;
    if (x->dry) return ks_mat_of(host);
    if (!x->status) x->status = x->at->copy_in(x->run, host, rows, cols, x->what, &made, x->err);
    return made;
}

void ks_exec_source(ks_exec_state *x, int k, const double *host) {
    const uint8_t *axis = x->plan->source[k].axis;
    x->source[k] = ks_exec_copy_in(x, host, size_of(x, axis[0]), size_of(x, axis[1]));
    x->copied |= (uint64_t)(x->source[k] != NULL) << k;
}

void ks_exec_begin(ks_exec_state *x) {
    const ks_plan *pl = x->plan;
    for (int k = 0; k < KS_AXES; k++)
        if (pl->size[k] > x->longest) x->longest = pl->size[k];
    if (!x->at) x->at = ks_backend_alone(x->run);
    x->value = ks_arena_zalloc(&x->arena, pl->nproducts, sizeof *x->value);
    x->adjoint = ks_arena_zalloc(&x->arena, pl->nproducts, sizeof *x->adjoint);
    x->vector = ks_arena_zalloc(&x->arena, pl->nvectors, sizeof *x->vector);
    x->vector_adjoint = ks_arena_zalloc(&x->arena, pl->nvectors, sizeof *x->vector_adjoint);
    x->last_use = ks_arena_zalloc(&x->arena, pl->nproducts, sizeof *x->last_use);
    x->vector_last_use = ks_arena_zalloc(&x->arena, pl->nvectors, sizeof *x->vector_last_use);
    x->graph = ks_arena_zalloc(&x->arena, pl->ngraphs, sizeof *x->graph);
    x->seed = ks_arena_zalloc(&x->arena, pl->ngraphs, sizeof *x->seed);
    x->live += x->arena.bytes;
    if (x->live > x->peak) x->peak = x->live;
    if (x->arena.failed) x->status = ks_nomem(x->err, x->what, x->arena.failed);
    for (int k = 0; k < 3; k++) x->scratch[k] = ks_exec_hold_vector(x, x->longest);
}

void ks_exec_forward(ks_exec_state *x) {
    for (size_t i = 0; i < x->plan->nops && !x->status; i++) use_operands(x, (int)i, 0);
    for (size_t i = 0; i < x->plan->nops && !x->status; i++) {
        const ks_op op = x->plan->ops[i];
        switch (op.kind) {
        case KS_OP_PRODUCT: forward_product(x, op.index); break;
        case KS_OP_VECTOR: forward_vector(x, op.index); break;
        case KS_OP_TERMINAL: forward_terminal(x, op.index); break;
        }
        if (!x->keep) use_operands(x, (int)i, 1);
    }
}

void ks_exec_end(ks_exec_state *x) {
    const ks_plan *pl = x->plan;
    for (uint32_t k = 0; k < pl->nproducts && !x->arena.failed; k++) {
        drop_product(x, k, x->value);
        drop_product(x, k, x->adjoint);
    }
    for (uint32_t k = 0; k < pl->nvectors && !x->arena.failed; k++) {
        if (x->vector[k]) drop_vector(x, k);
        ks_exec_drop_vector(x, x->vector_adjoint[k], size_of(x, pl->vectors[k].ku));
    }
    for (int k = 0; k < 3; k++) ks_exec_drop_vector(x, x->scratch[k], x->longest);
    ks_exec_end_spares(x);
    for (int k = 0; k < pl->sources; k++)
        if (x->copied >> k & 1 && !x->dry) x->at->release(x->run, x->source[k]);
    x->live -= x->arena.bytes;
    ks_arena_free(&x->arena);
}
