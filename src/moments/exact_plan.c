/*
 * Series-parallel reduction. A graph's vertices are removed one by one: one of degree 1 becomes a vector at
 * its neighbour, one of degree 2 a matrix product between its neighbours, and parallel edges merge into
 * elementwise products, until one vertex is left. Equal operations are interned, so graphs (of all orders)
 * share them. Which vertex of degree 2 goes first is free; a bounded search looks for the order that adds the
 * least work to what the other graphs need anyway.
 */
#include "moments/exact_plan.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { PASSES = 3 }; /* over all graphs: later ones know what the others have chosen */

typedef struct {
    ks_plan *pl;
    int *product_slot, *vector_slot; /* hash tables: index + 1, or 0 */
    size_t mask;                     /* their length - 1 */
    size_t product_room, vector_room;
    double cost[2];       /* the sizes of both sides, as far as costs go */
    int budget;           /* states the search may still look at */
    int from_end;         /* whether it takes the last of equally good vertices first */
    double best;          /* cost of the cheapest way found for the graph at hand */
    ks_terminal terminal; /* where that way ends */
} planner;

typedef struct {
    int count; /* vertices alive */
    uint8_t alive[KS_EXACT_VMAX], kind[KS_EXACT_VMAX], size;
    uint16_t joined[KS_EXACT_VMAX];          /* bit v of joined[u]: there is an edge between u and v */
    ks_edge e[KS_EXACT_VMAX][KS_EXACT_VMAX]; /* oriented (u,v), kept for u < v */
    ks_weights d[KS_EXACT_VMAX];
} state;

/* ---------------------------------------------------------------------------------- edges and weights */

static void sort_refs(uint16_t *x, int n) {
    for (int i = 1; i < n; i++)
        for (int j = i; j > 0 && x[j] < x[j - 1]; j--) {
            uint16_t t = x[j];
            x[j] = x[j - 1], x[j - 1] = t;
        }
}

ks_edge ks_edge_flip(const ks_plan *pl, const ks_edge *e) {
    ks_edge f = *e;
    if (pl->form.one_sided && pl->form.two_trials) f.a = e->b, f.b = e->a; /* the leaf is not symmetric */
    for (int k = 0; k < e->nref; k++)
        if (!ks_product_symmetric(&pl->products[e->ref[k] / 2])) f.ref[k] = e->ref[k] ^ 1;
    sort_refs(f.ref, f.nref);
    return f;
}

static ks_edge edge_between(const ks_plan *pl, const state *s, int u, int v) {
    return u < v ? s->e[u][v] : ks_edge_flip(pl, &s->e[v][u]);
}

/* How many of the cycle's edges end at the edge's first vertex. */
static int edge_degree(const ks_plan *pl, const ks_edge *e) {
    int deg = e->a + e->b;
    for (int k = 0; k < e->nref; k++) deg += pl->degree[e->ref[k] / 2][e->ref[k] & 1];
    return deg;
}

static int weights_degree(const ks_plan *pl, const ks_weights *d) {
    int deg = 0;
    for (int k = 0; k < d->nvec; k++) deg += pl->vector_degree[d->vec[k]];
    return deg;
}

static void add_weight(ks_weights *d, int vec) {
    d->vec[d->nvec++] = (uint16_t)vec;
    sort_refs(d->vec, d->nvec);
}

/* ------------------------------------------------------------------------------------------- interning */

static size_t hash(const void *data, size_t n) {
    uint64_t h = 1469598103934665603u;
    for (const unsigned char *p = data; n--; p++) h = (h ^ *p) * 1099511628211u;
    return (size_t)(h ^ h >> 29);
}

/* Finds or adds the product; -1 when there is no room. */
static int intern_product(planner *p, const ks_product *x) {
    ks_plan *pl = p->pl;
    size_t h = hash(x, sizeof *x) & p->mask;
    for (int k; (k = p->product_slot[h]); h = (h + 1) & p->mask)
        if (!memcmp(&pl->products[k - 1], x, sizeof *x)) return k - 1;
    if (pl->nproducts == p->product_room) return -1;
    int k = (int)pl->nproducts++;
    p->product_slot[h] = k + 1;
    pl->products[k] = *x;
    ks_edge wu = ks_edge_flip(pl, &x->L), wv = ks_edge_flip(pl, &x->R);
    pl->degree[k][0] = (uint8_t)edge_degree(pl, &x->L);
    pl->degree[k][1] = (uint8_t)edge_degree(pl, &x->R);
    pl->positions[k] =
        (uint8_t)((edge_degree(pl, &wu) + edge_degree(pl, &wv) + weights_degree(pl, &x->d)) / 2);
    return k;
}

static int intern_vector(planner *p, const ks_vector *x) {
    ks_plan *pl = p->pl;
    size_t h = hash(x, sizeof *x) & p->mask;
    for (int k; (k = p->vector_slot[h]); h = (h + 1) & p->mask)
        if (!memcmp(&pl->vectors[k - 1], x, sizeof *x)) return k - 1;
    if (pl->nvectors == p->vector_room) return -1;
    int k = (int)pl->nvectors++;
    p->vector_slot[h] = k + 1;
    pl->vectors[k] = *x;
    ks_edge w = ks_edge_flip(pl, &x->E);
    pl->vector_degree[k] = (uint8_t)(x->diagonal ? 2 : edge_degree(pl, &x->E));
    pl->vector_positions[k] = (uint8_t)((edge_degree(pl, &w) + weights_degree(pl, &x->d)) / 2);
    return k;
}

/* ------------------------------------------------------------------------------------------- reduction */

/* If w has just `want` neighbours (1 or 2), writes them in increasing order and returns 1. */
static int has_neighbours(const state *s, int w, int want, int *out) {
    unsigned set = s->joined[w];
    if (!s->alive[w] || __builtin_popcount(set) != want) return 0;
    for (; set; set &= set - 1) *out++ = __builtin_ctz(set);
    return 1;
}

static void remove_vertex(state *s, int w) {
    s->alive[w] = 0;
    s->count--;
    for (int v = 0; v < s->size; v++) s->joined[v] &= (uint16_t) ~(1u << w);
}

/* The product that removing w, of neighbours u < v, makes, and the reference to it as oriented (u,v). */
static int product_of(planner *p, const state *s, int w, int u, int v, ks_ref *ref) {
    ks_product x;
    memset(&x, 0, sizeof x);
    x.ku = s->kind[u], x.kv = s->kind[v], x.kw = s->kind[w];
    x.L = edge_between(p->pl, s, u, w);
    x.R = edge_between(p->pl, s, v, w);
    x.d = s->d[w];
    int turn = x.ku == x.kv ? memcmp(&x.L, &x.R, sizeof x.L) > 0 : x.ku == KS_COL;
    if (turn) {
        ks_edge L = x.L;
        x.L = x.R, x.R = L;
        x.ku = s->kind[v], x.kv = s->kind[u];
    }
    int k = intern_product(p, &x);
    *ref = (ks_ref)(2 * k + turn);
    return k;
}

static void merge(state *s, int u, int v, ks_ref ref) {
    ks_edge *e = &s->e[u][v];
    e->ref[e->nref++] = ref;
    sort_refs(e->ref, e->nref);
    s->joined[u] |= (uint16_t)(1u << v);
    s->joined[v] |= (uint16_t)(1u << u);
}

/* The vector that removing w, whose only neighbour is u, makes at u; -1 when there is no room. */
static int vector_of(planner *p, const state *s, int w, int u) {
    ks_vector x;
    memset(&x, 0, sizeof x);
    x.ku = s->kind[u], x.kw = s->kind[w];
    x.E = edge_between(p->pl, s, u, w);
    x.d = s->d[w];
    return intern_vector(p, &x);
}

/* How many matrices an edge reads. */
static int streams(const ks_edge *e) {
    int count = !!e->a + !!e->b;
    for (int k = 0; k < e->nref; k++) count += k == 0 || e->ref[k] != e->ref[k - 1];
    return count;
}

static double vector_cost(const planner *p, int k) {
    const ks_vector *x = &p->pl->vectors[k];
    if (p->pl->vector_uses[k]) return 0;
    return KS_ELEMENT_COST * p->cost[x->ku] * p->cost[x->kw] * streams(&x->E);
}

/* Removes all vertices of degree 1, adding to the cost; 0 when there was no room for a vector. */
static int remove_pendants(planner *p, state *s, double *cost) {
    for (int w = 0; w < s->size && s->count > 1; w++) {
        int u[1];
        if (!has_neighbours(s, w, 1, u)) continue;
        int k = vector_of(p, s, w, u[0]), end = u[0];
        if (k < 0) return 0;
        if (s->count == 2) { /* either may be removed */
            int other = vector_of(p, s, u[0], w);
            if (other < 0) return 0;
            if (vector_cost(p, other) < vector_cost(p, k)) k = other, end = w, w = u[0];
        }
        *cost += vector_cost(p, k);
        add_weight(&s->d[end], k);
        remove_vertex(s, w);
        w = -1; /* its neighbour may have become one */
    }
    return 1;
}

/* The terminal of a state of one vertex. */
static ks_terminal finish(const ks_plan *pl, const state *s) {
    ks_terminal t;
    memset(&t, 0, sizeof t);
    int u = 0;
    while (!s->alive[u]) u++;
    t.ku = s->kind[u];
    t.du = s->d[u];
    t.positions[0] = (uint8_t)(weights_degree(pl, &t.du) / 2);
    return t;
}

/*
 * The terminal of a state with no vertex of degree 1 or 2. With at most 10 edges around the cycle this is
 * always two rows and two columns, each joined to each: a vertex has an even number of the cycle's edges, so
 * the four edges between rows and columns hold at least 6 of them, and 2 each remain for the row-row and the
 * column-column edge.
 */
static ks_terminal finish_hard(const ks_plan *pl, const state *s) {
    ks_terminal t;
    memset(&t, 0, sizeof t);
    int v[KS_EXACT_VMAX] = {0}, n = 0;
    for (int w = 0; w < s->size; w++) /* rows come first */
        if (s->alive[w]) v[n++] = w;
    t.hard = 1;
    t.E = s->e[v[0]][v[1]];
    t.F = s->e[v[2]][v[3]];
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) t.X[i][j] = s->e[v[i]][v[2 + j]];
    for (int i = 0; i < 4; i++) {
        int deg = 0;
        for (int j = 0; j < 4; j++) {
            ks_edge e = edge_between(pl, s, v[i], v[j]);
            if (i != j) deg += edge_degree(pl, &e);
        }
        t.positions[i] = (uint8_t)(deg / 2);
    }
    return t;
}

/* ---------------------------------------------------------------------------------------------- search */

/* Is the edge a matrix that exists already, rather than an elementwise product to be made? */
static int direct(const ks_edge *e, const ks_weights *d) { return e->a + e->b + e->nref == 1 && !d->nvec; }

static double product_cost(const planner *p, int k) {
    const ks_product *x = &p->pl->products[k];
    if (p->pl->product_uses[k]) return 0;
    double u = p->cost[x->ku], v = p->cost[x->kv], w = p->cost[x->kw];
    const ks_weights none = {0};
    double made = (direct(&x->L, &x->d) ? 0 : u * w * (1 + streams(&x->L))) +
                  (direct(&x->R, &none) ? 0 : v * w * (1 + streams(&x->R)));
    return u * v * w * (ks_product_symmetric(x) ? KS_SYMMETRIC_COST : 1) + KS_ELEMENT_COST * (made + u * v);
}

static void search(planner *p, const state *from, double cost) {
    ks_plan *pl = p->pl;
    state s = *from;
    /* once a way is known, leave room in the tables for the other graphs' */
    int crowded = pl->nproducts > p->product_room / 4 * 3 || pl->nvectors > p->vector_room / 4 * 3;
    if (crowded && p->best < INFINITY) return;
    if (p->budget-- <= 0 || !remove_pendants(p, &s, &cost) || cost >= p->best) return;
    if (s.count == 1) {
        p->best = cost;
        p->terminal = finish(pl, &s);
        return;
    }
    struct {
        int w, u, v, k;
        ks_ref ref;
        double cost;
    } move[KS_EXACT_VMAX];
    int moves = 0, left = 0;
    for (int i = 0; i < s.size; i++) {
        int nb[2], w = p->from_end ? s.size - 1 - i : i;
        if (!has_neighbours(&s, w, 2, nb)) continue;
        left = 1;
        ks_ref ref;
        int k = product_of(p, &s, w, nb[0], nb[1], &ref);
        if (k < 0) continue;
        double c = product_cost(p, k);
        int j = moves++;
        for (; j > 0 && move[j - 1].cost > c; j--) move[j] = move[j - 1]; /* cheapest first */
        move[j].w = w, move[j].u = nb[0], move[j].v = nb[1], move[j].k = k, move[j].ref = ref,
        move[j].cost = c;
    }
    if (!left) {
        cost += pow(p->cost[KS_ROW] * p->cost[KS_COL], 2);
        if (cost >= p->best) return;
        p->best = cost;
        p->terminal = finish_hard(pl, &s);
        return;
    }
    for (int i = 0; i < moves && cost + move[i].cost < p->best; i++) {
        state t = s;
        remove_vertex(&t, move[i].w);
        merge(&t, move[i].u, move[i].v, move[i].ref);
        pl->product_uses[move[i].k]++; /* on this way it need not be paid for again */
        search(p, &t, cost + move[i].cost);
        pl->product_uses[move[i].k]--;
    }
}

static state state_of(planner *p, const ks_graph *g) {
    state s;
    memset(&s, 0, sizeof s);
    s.size = (uint8_t)(g->rows + g->cols);
    s.count = s.size;
    for (int u = 0; u < s.size; u++) s.alive[u] = 1, s.kind[u] = u < g->rows ? KS_ROW : KS_COL;
    for (int u = 0; u < g->rows; u++)
        for (int v = g->cols ? 0 : u; v < (g->cols ? g->cols : g->rows); v++) {
            if (!g->cols && u == v) { /* loops: the diagonal as a vector at u */
                ks_vector x;
                memset(&x, 0, sizeof x);
                x.diagonal = 1;
                for (int k = 0; k < g->m[u][u].a; k++) add_weight(&s.d[u], intern_vector(p, &x));
                continue;
            }
            int to = g->cols ? g->rows + v : v;
            s.e[u][to].a = g->m[u][v].a, s.e[u][to].b = g->m[u][v].b;
            if (!g->m[u][v].a && !g->m[u][v].b) continue;
            s.joined[u] |= (uint16_t)(1u << to);
            s.joined[to] |= (uint16_t)(1u << u);
        }
    return s;
}

/* -------------------------------------------------------------------- what a graph needs, recursively */

typedef struct {
    uint8_t *product, *vector; /* visited? */
    ks_op *ops;                /* appended to, operands first */
    size_t nops;
} closure;

static void need_product(const ks_plan *pl, closure *c, int k);

static void need_edge(const ks_plan *pl, closure *c, const ks_edge *e) {
    for (int k = 0; k < e->nref; k++) need_product(pl, c, e->ref[k] / 2);
}

static void need_weights(const ks_plan *pl, closure *c, const ks_weights *d) {
    for (int k = 0; k < d->nvec; k++) {
        const ks_vector *x = &pl->vectors[d->vec[k]];
        if (c->vector[d->vec[k]]) continue;
        c->vector[d->vec[k]] = 1;
        need_edge(pl, c, &x->E);
        need_weights(pl, c, &x->d);
        c->ops[c->nops++] = (ks_op){KS_OP_VECTOR, d->vec[k]};
    }
}

static void need_product(const ks_plan *pl, closure *c, int k) {
    const ks_product *x = &pl->products[k];
    if (c->product[k]) return;
    c->product[k] = 1;
    need_edge(pl, c, &x->L);
    need_edge(pl, c, &x->R);
    need_weights(pl, c, &x->d);
    c->ops[c->nops++] = (ks_op){KS_OP_PRODUCT, k};
}

static void need_terminal(const ks_plan *pl, closure *c, const ks_terminal *t) {
    need_edge(pl, c, &t->E);
    need_edge(pl, c, &t->F);
    need_weights(pl, c, &t->du);
}

/* Adds `by` to the uses of everything that graph g needs. */
static void count_uses(ks_plan *pl, closure *c, size_t g, int by) {
    c->nops = 0;
    need_terminal(pl, c, &pl->terminals[g]);
    for (size_t i = 0; i < c->nops; i++) {
        int k = c->ops[i].index;
        if (c->ops[i].kind == KS_OP_PRODUCT)
            pl->product_uses[k] += by, c->product[k] = 0;
        else
            pl->vector_uses[k] += by, c->vector[k] = 0;
    }
}

static double bytes_new(const ks_plan *pl, closure *c, size_t g) {
    size_t start = c->nops;
    double sum = 0;
    need_terminal(pl, c, &pl->terminals[g]);
    for (size_t i = start; i < c->nops; i++) {
        int k = c->ops[i].index;
        if (c->ops[i].kind == KS_OP_PRODUCT) {
            sum += (double)pl->size[pl->products[k].ku] * (double)pl->size[pl->products[k].kv];
            c->product[k] = 0;
        } else {
            c->vector[k] = 0;
        }
    }
    c->nops = start;
    return sum;
}

/* Orders the graphs so that few matrices are alive at a time: always the one that needs least new memory. */
static void schedule(ks_plan *pl, closure *c, uint8_t *done) {
    c->nops = 0;
    for (size_t turn = 0; turn < pl->ngraphs; turn++) {
        size_t pick = 0;
        double least = INFINITY;
        for (size_t g = 0; g < pl->ngraphs && least > 0; g++) {
            double b = done[g] ? INFINITY : bytes_new(pl, c, g);
            if (b < least) least = b, pick = g;
        }
        need_terminal(pl, c, &pl->terminals[pick]);
        c->ops[c->nops++] = (ks_op){KS_OP_TERMINAL, (int)pick};
        done[pick] = 1;
    }
    pl->nops = c->nops;
}

/* ------------------------------------------------------------------------------------------------ plan */

static void *take(ks_plan *pl, size_t count, size_t size) {
    pl->bytes += ks_size(count, size) + 2 * KS_ALIGN;
    return ks_arena_zalloc(&pl->arena, count, size);
}

kspec_status ks_plan_make(ks_plan *pl, ks_exact_form form, size_t rows, size_t cols, int nmax,
                          kspec_error *err) {
    static const size_t room[KS_EXACT_NMAX + 1] = {0, 64, 64, 256, 1024, 8192};
    static const int budget[KS_EXACT_NMAX + 1] = {0, 1, 10, 100, 400, 100};
    *pl = (ks_plan){.form = form, .size = {rows, cols}, .nmax = nmax, .bytes = 0};
    planner p = {.pl = pl, .mask = 2 * room[nmax] - 1, .product_room = room[nmax], .vector_room = room[nmax]};
    for (int k = 0; k < 2; k++) p.cost[k] = fmax((double)pl->size[k], 50); /* below, overheads rule */
    closure c;

    pl->graphs = take(pl, 2 * KS_GRAPHS_MAX, sizeof *pl->graphs);
    pl->terminals = take(pl, 2 * KS_GRAPHS_MAX, sizeof *pl->terminals);
    pl->products = take(pl, room[nmax], sizeof *pl->products);
    pl->vectors = take(pl, room[nmax], sizeof *pl->vectors);
    pl->product_uses = take(pl, room[nmax], sizeof *pl->product_uses);
    pl->vector_uses = take(pl, room[nmax], sizeof *pl->vector_uses);
    pl->positions = take(pl, room[nmax], 1);
    pl->degree = take(pl, room[nmax], sizeof *pl->degree);
    pl->vector_positions = take(pl, room[nmax], 1);
    pl->vector_degree = take(pl, room[nmax], 1);
    pl->ops = take(pl, 2 * room[nmax] + 2 * KS_GRAPHS_MAX, sizeof *pl->ops);
    p.product_slot = take(pl, 2 * room[nmax], sizeof *p.product_slot);
    p.vector_slot = take(pl, 2 * room[nmax], sizeof *p.vector_slot);
    c = (closure){take(pl, room[nmax], 1), take(pl, room[nmax], 1), pl->ops, 0};
    uint8_t *done = take(pl, 2 * KS_GRAPHS_MAX, 1);
    if (pl->arena.failed) {
        size_t want = pl->arena.failed;
        ks_plan_free(pl);
        return ks_nomem(err, "the plan of the exact estimator", want);
    }
    for (int n = 1; n <= nmax; n++) pl->ngraphs += ks_graphs(form, n, pl->graphs + pl->ngraphs);
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t g = 0; g < pl->ngraphs; g++) {
            if (pass) count_uses(pl, &c, g, -1);
            p.best = INFINITY;
            state s = state_of(&p, &pl->graphs[g]);
            for (p.from_end = 0; p.from_end < 2; p.from_end++) { /* ties broken one way, then the other */
                p.budget = budget[pl->graphs[g].n];
                search(&p, &s, 0);
            }
            if (p.best < INFINITY) {
                pl->terminals[g] = p.terminal;
            } else if (!pass) { /* later, what the first pass found stays */
                ks_plan_free(pl);
                return ks_fail(err, KSPEC_E_NUMERIC, "the plan of order %d exceeds %zu operations", nmax,
                               room[nmax]);
            }
            count_uses(pl, &c, g, +1);
        }
    schedule(pl, &c, done);
    return KSPEC_OK;
}

void ks_plan_free(ks_plan *pl) {
    ks_arena_free(&pl->arena);
    memset(pl, 0, sizeof *pl);
}
