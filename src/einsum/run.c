/*
 * Backward: if index i of an axis has the weight x_i, a vertex that stands for k positions carries x_i^k. The
 * sum over distinct tuples is multilinear in x, so its derivative by x_i is the sum over the tuples with i:
 *     sum over graphs and vertices: weight * k * (value of the graph with the vertex fixed to i),
 * and the value with a vertex fixed is what multiplies its weight d where it is summed over.
 */
#include "einsum/run.h"

#include "base/error.h"
#include "device/tile.h"

#include <math.h>
#include <string.h>

static double nowhere[1]; /* what a dry execution holds */

static size_t size_of(const ks_execution *x, int axis) { return x->program->size[axis]; }

/* ---- memory and work ---- */

static size_t held_bytes(size_t count) {
    return ks_size_add(ks_size(count, sizeof(double)), KS_ALIGN - 1) / KS_ALIGN * KS_ALIGN;
}

static size_t matrix_bytes(const ks_execution *x, size_t rows, size_t cols) {
    return held_bytes(x->at->room(x->run, &(ks_room){.rows = rows, .cols = cols}));
}

static void hold_bytes(ks_execution *x, size_t bytes) {
    x->live = ks_size_add(x->live, bytes);
    if (x->live > x->peak) x->peak = x->live;
}

/* A matrix that was dropped waits for the next of its shape, whose pages it has already. */
static void drop_spare(ks_execution *x, int k) {
    x->live -= matrix_bytes(x, x->spare[k].rows, x->spare[k].cols);
    if (!x->dry) x->at->drop(x->run, x->spare[k].x);
    memmove(x->spare + k, x->spare + k + 1, (size_t)(--x->spares - k) * sizeof *x->spare);
}

static ks_mat *hold(ks_execution *x, size_t rows, size_t cols) {
    ks_mat *p = NULL;
    if (x->status) return NULL;
    for (int k = x->spares; k--;)
        if (x->spare[k].rows == rows && x->spare[k].cols == cols) {
            p = x->spare[k].x;
            memmove(x->spare + k, x->spare + k + 1, (size_t)(--x->spares - k) * sizeof *x->spare);
            return p;
        }
    hold_bytes(x, matrix_bytes(x, rows, cols));
    if (x->dry) return ks_mat_of(nowhere);
    x->status = x->at->hold(x->run, rows, cols, "the estimate", &p, x->err);
    if (x->status) x->live -= matrix_bytes(x, rows, cols);
    return p;
}

static void drop(ks_execution *x, ks_mat *p, size_t rows, size_t cols) {
    if (!p) return;
    if (x->spares == KS_RUN_SPARES) drop_spare(x, 0);
    if (!x->dry && x->at->idle) x->at->idle(x->run, p);
    x->spare[x->spares++] = (ks_run_spare){p, rows, cols};
}

static double *hold_vector(ks_execution *x, size_t count) {
    if (x->status) return NULL;
    hold_bytes(x, held_bytes(count));
    double *p = x->dry ? nowhere : ks_alloc(count, sizeof *p);
    if (!p) x->status = ks_nomem(x->err, "the estimate", ks_size(count, sizeof *p));
    return p;
}

static void drop_vector(ks_execution *x, double **p, size_t count) {
    if (!*p) return;
    x->live -= held_bytes(count);
    if (!x->dry) ks_free(*p);
    *p = NULL;
}

static void room(ks_execution *x, const ks_room *of) {
    const size_t all = ks_size_add(x->live, held_bytes(x->at->room(x->run, of)));
    if (all > x->peak) x->peak = all;
}

/* Counts the work; 1 if it is to be done */
static int step(ks_execution *x, double work, ks_run *part) {
    const double before = x->work;
    if (x->status) return 0;
    x->work += work;
    if (x->dry) return 0;
    *part = ks_run_part(x->run, fmin(before / x->total, 1), fmin(x->work / x->total, 1));
    return 1;
}

static int idle(const ks_execution *x) { return x->dry || x->status; }

/* ---- elementwise ---- */

static void add_factor(ks_mat_expression *e, const ks_mat *p, int transposed, int power) {
    if (power) e->factor[e->count++] = (ks_mat_factor){p, transposed, power};
}

/* Appends the arc but for one occurrence of reference `skip` (-1: none), as seen from its first end or not */
static void add_arc(const ks_execution *x, ks_mat_expression *out, uint32_t arc, int flip, int skip) {
    const ks_program *p = x->program;
    const ks_arc *a = ks_arc_at(p, arc);
    for (int k = 0, next; k < a->count; k = next) {
        int power = 0;
        for (next = k; next < a->count && a->ref[next] == a->ref[k]; next++) power += next != skip;
        const uint32_t n = a->ref[k] / 2;
        int turned = (int)(a->ref[k] & 1) ^ flip;
        if (n >= (uint32_t)p->sources && ks_symmetric(ks_product_at(p, n - (uint32_t)p->sources))) turned = 0;
        add_factor(out, n < (uint32_t)p->sources ? x->source[n] : x->value[n - (uint32_t)p->sources], turned,
                   power);
    }
}

static void express(ks_execution *x, const ks_mat_expression *e, ks_tile_result what, ks_mat *out,
                    double *sums) {
    ks_run part;
    const int streams = e->count + (what == KS_TILE_STORE) + 2 * (what == KS_TILE_ADD);
    room(x, &(ks_room){.expression = e, .what = what});
    if (!step(x, KS_PROGRAM_ELEMENT * (double)e->m * (double)e->n * streams, &part)) return;
    x->status = x->at->expression(&part, e, what, out, sums, x->err);
}

/* sums[w] of the arc, seen from the axis u, with weights: row[u], or NULL, and one matrix T more (u by w) */
static void sum_over_first(ks_execution *x, uint32_t arc, int u, int w, double alpha, const double *row,
                           const ks_mat *T, double *sums) {
    ks_mat_expression e = {.m = size_of(x, u), .n = size_of(x, w), .alpha = alpha, .row = row};
    if (T) add_factor(&e, T, 0, 1);
    add_arc(x, &e, arc, 0, -1);
    if (!e.factor[0].transposed) {
        express(x, &e, KS_TILE_COL_SUMS, NULL, sums);
        return;
    }
    e = (ks_mat_expression){.m = size_of(x, w), .n = size_of(x, u), .alpha = alpha, .col = row};
    if (T) add_factor(&e, T, 1, 1);
    add_arc(x, &e, arc, 1, -1);
    express(x, &e, KS_TILE_ROW_SUMS, NULL, sums);
}

/* The product of the vectors but for number `skip` (-1: none); NULL where none is left */
static const double *weights(ks_execution *x, uint32_t number, int axis, int skip, double *into) {
    const ks_weights *d = ks_weights_at(x->program, number);
    const double *first = NULL;
    const size_t n = size_of(x, axis);
    for (int k = 0; k < (int)d->count; k++) {
        if (k == skip) continue;
        const double *v = x->vector[d->vector[k]];
        if (!first) {
            first = v;
            continue;
        }
        if (idle(x)) continue;
        for (size_t i = 0; i < n; i++) into[i] = (first == into ? into[i] : first[i]) * v[i];
        first = into;
    }
    return first;
}

/* ---- products ---- */

typedef struct {
    const ks_mat *x;
    int transposed;
    ks_mat *held;
    size_t rows, cols;
} operand;

/* The arc from axis u to axis w, times col[w] (NULL: ones), as BLAS takes it */
static operand operand_of(ks_execution *x, uint32_t arc, int u, int w, const double *col) {
    ks_mat_expression e = {.m = size_of(x, u), .n = size_of(x, w), .alpha = 1, .col = col};
    add_arc(x, &e, arc, 0, -1);
    if (e.count == 1 && e.factor[0].power == 1 && !col)
        return (operand){.x = e.factor[0].x, .transposed = e.factor[0].transposed};
    operand o = {.transposed = e.factor[0].transposed};
    if (o.transposed) {
        e = (ks_mat_expression){.m = size_of(x, w), .n = size_of(x, u), .alpha = 1, .row = col};
        add_arc(x, &e, arc, 1, -1);
    }
    o.rows = e.m, o.cols = e.n;
    o.x = o.held = hold(x, o.rows, o.cols);
    if (o.held) express(x, &e, KS_TILE_STORE, o.held, NULL);
    return o;
}

/* C (m x n) = L R^T, by what their first indices are: op(L) is m x k and op(R) n x k */
static void multiply(ks_execution *x, size_t m, size_t n, size_t k, const operand *L, const operand *R,
                     int symmetric, ks_mat *C) {
    ks_run part;
    const double work = (double)m * (double)n * (double)k * (symmetric ? KS_PROGRAM_SYMMETRIC : 1);
    const ks_mat_product p = {.ta = L->transposed,
                              .tb = !R->transposed,
                              .m = m,
                              .n = n,
                              .k = k,
                              .alpha = 1,
                              .A = L->x,
                              .lda = L->transposed ? m : k,
                              .B = R->x,
                              .ldb = R->transposed ? n : k,
                              .C = C,
                              .ldc = n,
                              .symmetric = symmetric};
    room(x, &(ks_room){.product = &p});
    x->products++;
    if (!step(x, work, &part)) return;
    part = ks_tile_threads(&part, work);
    x->status = x->at->product(&part, &p, x->err);
}

static ks_mat *hold_product(ks_execution *x, uint32_t k) {
    const ks_product *p = ks_product_at(x->program, k);
    return hold(x, size_of(x, p->u), size_of(x, p->v));
}

static void drop_product(ks_execution *x, uint32_t k, ks_mat **of) {
    const ks_product *p = ks_product_at(x->program, k);
    drop(x, of[k], size_of(x, p->u), size_of(x, p->v));
    of[k] = NULL;
}

/* ---- forward ---- */

static void forward_product(ks_execution *x, uint32_t k) {
    const ks_product *p = ks_product_at(x->program, k);
    const double *d = weights(x, p->d, p->w, -1, x->scratch[0]);
    operand L = operand_of(x, p->L, p->u, p->w, d);
    const int same = ks_symmetric(p) && !d;
    operand R = same ? L : operand_of(x, p->R, p->v, p->w, NULL);
    x->value[k] = hold_product(x, k);
    multiply(x, size_of(x, p->u), size_of(x, p->v), size_of(x, p->w), &L, &R, ks_symmetric(p), x->value[k]);
    if (!same) drop(x, R.held, R.rows, R.cols);
    drop(x, L.held, L.rows, L.cols);
}

static void forward_vector(ks_execution *x, uint32_t k) {
    const ks_vector *v = ks_vector_at(x->program, k);
    const size_t m = size_of(x, v->u);
    x->vector[k] = hold_vector(x, m);
    if (v->diagonal) {
        if (!idle(x)) x->status = x->at->diagonal(x->run, x->vector[k], x->source[v->E], m, x->err);
        return;
    }
    const double *d = weights(x, v->d, v->w, -1, x->scratch[0]);
    ks_mat_expression e = {.m = m, .n = size_of(x, v->w), .alpha = 1, .col = d};
    add_arc(x, &e, v->E, 0, -1);
    if (!e.factor[0].transposed) {
        express(x, &e, KS_TILE_ROW_SUMS, NULL, x->vector[k]);
        return;
    }
    e = (ks_mat_expression){.m = size_of(x, v->w), .n = m, .alpha = 1, .row = d};
    add_arc(x, &e, v->E, 1, -1);
    express(x, &e, KS_TILE_COL_SUMS, NULL, x->vector[k]);
}

/* The steps that read an arc: `at` is the last of them so far; or, drop: products not used after it go. */
static void use_arc(ks_execution *x, uint32_t arc, size_t at, int dropping) {
    const ks_arc *a = ks_arc_at(x->program, arc);
    for (int k = 0; k < a->count; k++) {
        if (a->ref[k] / 2 < (uint32_t)x->program->sources) continue;
        const uint32_t n = a->ref[k] / 2 - (uint32_t)x->program->sources;
        if (!dropping)
            x->last_use[n] = at;
        else if (x->last_use[n] == at)
            drop_product(x, n, x->value);
    }
}

static void use(ks_execution *x, size_t at, int dropping) {
    const ks_step s = x->program->step[at];
    if (s.is_vector) {
        const ks_vector *v = ks_vector_at(x->program, s.number);
        if (!v->diagonal) use_arc(x, v->E, at, dropping);
    } else {
        const ks_product *p = ks_product_at(x->program, s.number);
        use_arc(x, p->L, at, dropping);
        use_arc(x, p->R, at, dropping);
    }
}

static void begin(ks_execution *x) {
    const ks_program *p = x->program;
    if (!x->at) x->at = ks_backend_alone(x->run);
    x->value = ks_arena_zalloc(&x->arena, p->products.count, sizeof *x->value);
    x->adjoint = ks_arena_zalloc(&x->arena, p->products.count, sizeof *x->adjoint);
    x->last_use = ks_arena_zalloc(&x->arena, p->products.count, sizeof *x->last_use);
    x->vector = ks_arena_zalloc(&x->arena, p->vectors.count, sizeof *x->vector);
    x->vector_adjoint = ks_arena_zalloc(&x->arena, p->vectors.count, sizeof *x->vector_adjoint);
    x->graph = ks_arena_zalloc(&x->arena, p->graphs, sizeof *x->graph);
    if (x->arena.failed) x->status = ks_nomem(x->err, "the estimate", x->arena.failed);
    hold_bytes(x, x->arena.bytes);
    for (int k = 0; k < KS_SUM_AXES; k++)
        if (p->size[k] > x->longest) x->longest = p->size[k];
    for (int k = 0; k < 3; k++) x->scratch[k] = hold_vector(x, x->longest);
    for (int k = 0; k < p->sources && !x->status; k++) {
        x->source[k] = ks_mat_of(nowhere);
        if (x->dry) continue;
        x->source[k] = NULL;
        x->status = x->at->copy_in(x->run, x->data[k], p->size[p->axis[k][0]], p->size[p->axis[k][1]],
                                   "the estimate", &x->source[k], x->err);
    }
}

kspec_status ks_execution_forward(ks_execution *x) {
    const ks_program *p = x->program;
    begin(x);
    for (size_t i = 0; i < p->steps && !x->status; i++) use(x, i, 0);
    for (size_t i = 0; i < p->steps && !x->status; i++) {
        if (p->step[i].is_vector)
            forward_vector(x, p->step[i].number);
        else
            forward_product(x, p->step[i].number);
        if (!x->keep && !x->status) use(x, i, 1);
    }
    for (size_t g = 0; g < p->graphs && !idle(x); g++) {
        const double *d = weights(x, p->values[g].d, p->values[g].u, -1, x->scratch[0]);
        double sum = 0;
        for (size_t i = 0; i < size_of(x, p->values[g].u); i++) sum += d[i];
        x->graph[g] = sum;
    }
    return x->status;
}

/* ---- backward ---- */

/* The arc (from axis u to axis w) has the adjoint T[u,w] row[u] col[w]: hands it on to its products. */
static void hand_on(ks_execution *x, uint32_t arc, int u, int w, const ks_mat *T, const double *row,
                    const double *col) {
    const ks_program *p = x->program;
    const ks_arc *a = ks_arc_at(p, arc);
    for (int k = 0, next; k < a->count && !x->status; k = next) {
        for (next = k; next < a->count && a->ref[next] == a->ref[k]; next++) {
        }
        if (a->ref[k] / 2 < (uint32_t)p->sources) continue;
        const uint32_t n = a->ref[k] / 2 - (uint32_t)p->sources;
        const int flip = (int)(a->ref[k] & 1);
        ks_mat_expression e = {
            .m = size_of(x, flip ? w : u), .n = size_of(x, flip ? u : w), .alpha = next - k};
        e.row = flip ? col : row;
        e.col = flip ? row : col;
        if (T) add_factor(&e, T, flip, 1);
        add_arc(x, &e, arc, flip, k);
        const int first = !x->adjoint[n];
        if (first) x->adjoint[n] = hold_product(x, n);
        if (x->adjoint[n]) express(x, &e, first ? KS_TILE_STORE : KS_TILE_ADD, x->adjoint[n], NULL);
    }
}

/* q[w] multiplies the weights d of a vertex: adds positions d q to `through`, and hands it on to vectors. */
static void vertex_through(ks_execution *x, uint32_t number, int axis, int positions, const double *q,
                           double *const *through) {
    const ks_weights *d = ks_weights_at(x->program, number);
    const size_t size = size_of(x, axis);
    const double *all = weights(x, number, axis, -1, x->scratch[2]);
    for (size_t i = 0; i < size && !idle(x) && through[axis] && positions; i++)
        through[axis][i] += positions * q[i] * (all ? all[i] : 1);
    for (int k = 0; k < (int)d->count; k++) {
        double **adjoint = &x->vector_adjoint[d->vector[k]];
        const int first = !*adjoint;
        if (first) *adjoint = hold_vector(x, size);
        const double *others = weights(x, number, axis, k, x->scratch[2]);
        if (idle(x)) continue;
        for (size_t i = 0; i < size; i++)
            (*adjoint)[i] = (first ? 0 : (*adjoint)[i]) + q[i] * (others ? others[i] : 1);
    }
}

static int has_product(const ks_execution *x, uint32_t arc) {
    const ks_arc *a = ks_arc_at(x->program, arc);
    for (int k = 0; k < a->count; k++)
        if (a->ref[k] / 2 >= (uint32_t)x->program->sources) return 1;
    return 0;
}

/* T[u,w] = sum_v O'[u,v] R[v,w]: the adjoint of a product's side but for d. q[w] = sum_u L[u,w] T[u,w] */
static void backward_side(ks_execution *x, const ks_product *p, uint32_t k, int right, double *q) {
    const uint32_t mine = right ? p->R : p->L, other = right ? p->L : p->R;
    const int u = right ? p->v : p->u, v = right ? p->u : p->v;
    const size_t m = size_of(x, u), n = size_of(x, p->w);
    operand O = {.x = x->adjoint[k], .transposed = right};
    operand R = operand_of(x, other, v, p->w, NULL);
    ks_mat *T = hold(x, m, n);
    R.transposed = !R.transposed; /* the sum is over its first index here */
    if (T) multiply(x, m, n, size_of(x, v), &O, &R, 0, T);
    drop(x, R.held, R.rows, R.cols);
    if (q && T) sum_over_first(x, mine, u, p->w, ks_symmetric(p) ? 0.5 : 1, NULL, T, q);
    if (T) hand_on(x, mine, u, p->w, T, NULL, weights(x, p->d, p->w, -1, x->scratch[0]));
    drop(x, T, m, n);
}

static void backward_product(ks_execution *x, uint32_t k, double *const *through) {
    const ks_product *p = ks_product_at(x->program, k);
    const int symmetric = ks_symmetric(p), left = has_product(x, p->L), right = has_product(x, p->R);
    const double elements = (double)size_of(x, p->u) * (double)size_of(x, p->v);
    ks_run part;
    if (symmetric) {
        room(x, &(ks_room){.symmetrise = size_of(x, p->u)});
        if (step(x, 3 * KS_PROGRAM_ELEMENT * elements, &part)) /* both sides at once */
            x->status = x->at->symmetrise(&part, size_of(x, p->u), x->adjoint[k], x->err);
    }
    const int by_right = !left && right; /* q comes out of either side */
    backward_side(x, p, k, by_right, x->scratch[1]);
    vertex_through(x, p->d, p->w, p->positions, x->scratch[1], through);
    if (left && right && !symmetric) backward_side(x, p, k, 1, NULL);
    drop_product(x, k, x->adjoint);
}

static void backward_vector(ks_execution *x, uint32_t k, double *const *through) {
    const ks_vector *v = ks_vector_at(x->program, k);
    const double *o = x->vector_adjoint[k];
    if (!v->diagonal) {
        sum_over_first(x, v->E, v->u, v->w, 1, o, NULL, x->scratch[1]);
        hand_on(x, v->E, v->u, v->w, NULL, o, weights(x, v->d, v->w, -1, x->scratch[0]));
        vertex_through(x, v->d, v->w, v->positions, x->scratch[1], through);
    }
    drop_vector(x, &x->vector_adjoint[k], size_of(x, v->u));
}

kspec_status ks_execution_backward(ks_execution *x, const double *seed, double *const *through) {
    const ks_program *p = x->program;
    for (size_t g = 0; g < p->graphs && !x->status; g++) {
        for (size_t i = 0; i < size_of(x, p->values[g].u) && !idle(x); i++) x->scratch[1][i] = seed[g];
        vertex_through(x, p->values[g].d, p->values[g].u, p->values[g].positions, x->scratch[1], through);
    }
    for (size_t i = p->steps; i-- && !x->status;) {
        const ks_step s = p->step[i];
        if (s.is_vector && x->vector_adjoint[s.number]) backward_vector(x, s.number, through);
        if (!s.is_vector && x->adjoint[s.number]) backward_product(x, s.number, through);
    }
    return x->status;
}

void ks_execution_end(ks_execution *x) {
    const ks_program *p = x->program;
    for (uint32_t k = 0; k < p->products.count && !x->arena.failed; k++) {
        if (x->value) drop_product(x, k, x->value);
        if (x->adjoint) drop_product(x, k, x->adjoint);
    }
    for (uint32_t k = 0; k < p->vectors.count && !x->arena.failed; k++) {
        drop_vector(x, &x->vector[k], size_of(x, ks_vector_at(p, k)->u));
        drop_vector(x, &x->vector_adjoint[k], size_of(x, ks_vector_at(p, k)->u));
    }
    while (x->spares) drop_spare(x, 0);
    for (int k = 0; k < 3; k++) drop_vector(x, &x->scratch[k], x->longest);
    for (int k = 0; k < p->sources && !x->dry; k++)
        if (x->source[k]) x->at->release(x->run, x->source[k]);
    ks_arena_free(&x->arena);
}
