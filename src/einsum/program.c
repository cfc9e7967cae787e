#include "einsum/program.h"

#include "base/error.h"
#include "device/plugin.h"

#include <math.h>
#include <string.h>

enum { V = KS_NET_LINKS + 1, PASSES = 3, STATES = 20000, STATES_MOST = 300, STATES_LEAST = 5 };

typedef struct {
    ks_program *p;
    size_t failed;
    /* states that the search may still look at */
    int budget;
    /* whether it takes the last of equally good vertices first */
    int from_end;
    /* the cheapest way found and its end; INFINITY: none */
    double best;
    ks_value end;
    unsigned stuck;
} planner;

/* ---- records ---- */

static uint32_t arc_number(planner *a, const ks_arc *x) {
    return ks_table_number(&a->p->arcs, x, NULL, &a->failed);
}

static const ks_product *product_of_ref(const planner *a, uint32_t ref) {
    return ref / 2 < (uint32_t)a->p->sources ? NULL : ks_product_at(a->p, ref / 2 - (uint32_t)a->p->sources);
}

/* x into a list of `count` numbers in increasing order */
static void insert(uint32_t *list, unsigned count, uint32_t x) {
    unsigned k = count;
    for (; k && list[k - 1] > x; k--) list[k] = list[k - 1];
    list[k] = x;
}

/* The arc times a reference as seen from its first end; arc 0xffffffff: none yet */
static const uint32_t NONE = UINT32_MAX;
static uint32_t arc_times(planner *a, uint32_t arc, uint8_t from, uint8_t to, uint32_t ref) {
    ks_arc x = {.from = from, .to = to};
    if (arc != NONE) x = *ks_arc_at(a->p, arc);
    insert(x.ref, x.count++, ref);
    return arc_number(a, &x);
}

static uint32_t flipped(planner *a, uint32_t arc) {
    const ks_arc old = *ks_arc_at(a->p, arc);
    ks_arc x = {.from = old.to, .to = old.from};
    for (int k = 0; k < old.count; k++) {
        const ks_product *made = product_of_ref(a, old.ref[k]);
        insert(x.ref, x.count++, made && ks_symmetric(made) ? old.ref[k] : old.ref[k] ^ 1);
    }
    return arc_number(a, &x);
}

static uint32_t weights_times(planner *a, uint32_t d, uint32_t vector) {
    ks_weights x = *ks_weights_at(a->p, d);
    insert(x.vector, x.count++, vector);
    return ks_table_number(&a->p->weights, &x, NULL, &a->failed);
}

/* Is it a matrix as it stands? Otherwise an elementwise product is made first. */
static int plain(const planner *a, uint32_t arc) { return ks_arc_at(a->p, arc)->count == 1; }

static double size_of(const planner *a, int axis) { return (double)a->p->size[axis]; }

static uint32_t product_number(planner *a, const ks_product *x) {
    int fresh;
    uint32_t k = ks_table_number(&a->p->products, x, &fresh, &a->failed);
    if (!fresh) return k;
    const double u = size_of(a, x->u), v = size_of(a, x->v), w = size_of(a, x->w);
    const int symmetric = ks_symmetric(x), left = !plain(a, x->L) || x->d,
              right = !plain(a, x->R) && !(symmetric && !x->d);
    a->p->products.cost[k] = u * v * w * (symmetric ? KS_PROGRAM_SYMMETRIC : 1) +
                             KS_PROGRAM_ELEMENT * (left * u * w + right * v * w + u * v);
    return k;
}

static uint32_t vector_number(planner *a, const ks_vector *x) {
    int fresh;
    uint32_t k = ks_table_number(&a->p->vectors, x, &fresh, &a->failed);
    if (fresh) a->p->vectors.cost[k] = KS_PROGRAM_ELEMENT * size_of(a, x->u) * size_of(a, x->w);
    return k;
}

/* What is used already costs nothing more. */
static double product_cost(const planner *a, uint32_t k) {
    return a->failed || a->p->products.uses[k] ? 0 : a->p->products.cost[k];
}
static double vector_cost(const planner *a, uint32_t k) {
    return a->failed || a->p->vectors.uses[k] ? 0 : a->p->vectors.cost[k];
}

/* ---- a graph, partly reduced ---- */

typedef struct {
    int n;
    ks_vertex vertex[V];
    /* sets of vertices: those left, and the neighbours of each */
    unsigned left, joined[V];
    uint32_t d[V], e[V][V]; /* e[u][v]: the arc as seen from u */
} state;

static unsigned bit(int v) { return 1u << v; }
static int first_of(unsigned set) { return __builtin_ctz(set); }
static int degree(const state *s, int v) { return __builtin_popcount(s->joined[v]); }

static void join(planner *a, state *s, int u, int v, uint32_t ref) {
    const int old = s->joined[u] >> v & 1;
    s->e[u][v] = arc_times(a, old ? s->e[u][v] : NONE, s->vertex[u].axis, s->vertex[v].axis, ref);
    if (!a->failed) s->e[v][u] = flipped(a, s->e[u][v]);
    s->joined[u] |= bit(v);
    s->joined[v] |= bit(u);
}

static void remove_vertex(state *s, int w) {
    for (unsigned set = s->joined[w]; set; set &= set - 1) s->joined[first_of(set)] &= ~bit(w);
    s->joined[w] = 0;
    s->left &= ~bit(w);
}

/* The vector that removing w, whose only neighbour is u, makes at u */
static uint32_t vector_of(planner *a, const state *s, int w, int u) {
    ks_vector x;
    memset(&x, 0, sizeof x);
    x.u = s->vertex[u].axis, x.w = s->vertex[w].axis, x.positions = s->vertex[w].positions;
    x.E = s->e[u][w], x.d = s->d[w];
    return vector_number(a, &x);
}

/* The product that removing w makes between its neighbours u and v, and the reference as seen from u */
static uint32_t product_of(planner *a, const state *s, int w, int u, int v, uint32_t *ref) {
    ks_product x;
    memset(&x, 0, sizeof x);
    x.w = s->vertex[w].axis, x.positions = s->vertex[w].positions, x.d = s->d[w];
    const int ku = s->vertex[u].axis, kv = s->vertex[v].axis;
    const uint32_t L = s->e[u][w], R = s->e[v][w];
    const int turn = ku != kv ? ku > kv : L > R;
    x.u = (uint8_t)(turn ? kv : ku), x.v = (uint8_t)(turn ? ku : kv);
    x.L = turn ? R : L, x.R = turn ? L : R;
    uint32_t k = product_number(a, &x);
    *ref = 2 * (k + (uint32_t)a->p->sources) + (unsigned)turn;
    return k;
}

static double remove_pendants(planner *a, state *s, double cost) {
    for (int again = 1; again && !a->failed;) {
        again = 0;
        for (unsigned set = s->left; set && !a->failed; set &= set - 1) {
            int w = first_of(set);
            if (degree(s, w) != 1) continue;
            int u = first_of(s->joined[w]);
            uint32_t k = vector_of(a, s, w, u);
            if (degree(s, u) == 1) { /* either may be removed */
                uint32_t other = vector_of(a, s, u, w);
                if (vector_cost(a, other) < vector_cost(a, k)) {
                    int t = u;
                    u = w, w = t, k = other;
                }
            }
            if (a->failed) break;
            cost += vector_cost(a, k);
            s->d[u] = weights_times(a, s->d[u], k);
            remove_vertex(s, w);
            again = 1;
            break;
        }
    }
    return cost;
}

static state state_of(planner *a, const ks_net *g) {
    state s;
    memset(&s, 0, sizeof s);
    s.n = g->n;
    s.left = bit(g->n) - 1;
    memcpy(s.vertex, g->vertex, sizeof s.vertex);
    for (int k = 0; k < g->links && !a->failed; k++) {
        const ks_link *l = &g->link[k];
        if (l->u != l->v) {
            join(a, &s, l->u, l->v, 2u * l->matrix);
            continue;
        }
        ks_vector x;
        memset(&x, 0, sizeof x);
        x.u = x.w = g->vertex[l->u].axis, x.diagonal = 1, x.E = l->matrix;
        s.d[l->u] = weights_times(a, s.d[l->u], vector_number(a, &x));
    }
    return s;
}

/* ---- the search ---- */

typedef struct {
    int w, u, v;
    uint32_t product, ref;
    double cost;
} move;

/* The vertices with two neighbours, cheapest to remove first */
static int list_moves(planner *a, const state *s, move *out) {
    int count = 0;
    for (unsigned set = s->left; set && !a->failed; set &= set - 1) {
        int w = first_of(set);
        if (degree(s, w) != 2) continue;
        move m = {.w = w, .u = first_of(s->joined[w])};
        m.v = first_of(s->joined[w] & (s->joined[w] - 1));
        m.product = product_of(a, s, w, m.u, m.v, &m.ref);
        m.cost = product_cost(a, m.product);
        int k = count++;
        for (; k && (a->from_end ? out[k - 1].cost >= m.cost : out[k - 1].cost > m.cost); k--)
            out[k] = out[k - 1];
        out[k] = m;
    }
    return count;
}

static void look(planner *a, state *s, double cost) {
    /* the first way is gone to its end; what cannot be reduced one way cannot be in any */
    if (a->failed || a->stuck || (isfinite(a->best) && a->budget-- <= 0)) return;
    cost = remove_pendants(a, s, cost);
    if (a->failed || cost >= a->best) return;
    if (!(s->left & (s->left - 1))) {
        int u = first_of(s->left);
        a->best = cost;
        a->end = (ks_value){s->vertex[u].axis, s->vertex[u].positions, s->d[u]};
        return;
    }
    move moves[V];
    const int count = list_moves(a, s, moves);
    if (!count) a->stuck = s->left;
    for (int i = 0; i < count && cost + moves[i].cost < a->best && !a->failed; i++) {
        const move *m = &moves[i];
        state t = *s;
        remove_vertex(&t, m->w);
        join(a, &t, m->u, m->v, m->ref);
        if (a->failed) return;
        a->p->products.uses[m->product]++; /* it is used on this way */
        look(a, &t, cost + m->cost);
        a->p->products.uses[m->product]--;
    }
}

/* ---- what a graph needs ---- */

typedef struct {
    const ks_program *p;
    /* visited? */
    uint8_t *product, *vector;
    ks_step *step;
    size_t steps;
} closure;

static void need_weights(closure *c, uint32_t d);

static void need_arc(closure *c, uint32_t arc) {
    const ks_arc *x = ks_arc_at(c->p, arc);
    for (int k = 0; k < x->count; k++) {
        if (x->ref[k] / 2 < (uint32_t)c->p->sources) continue;
        const uint32_t n = x->ref[k] / 2 - (uint32_t)c->p->sources;
        const ks_product *y = ks_product_at(c->p, n);
        if (c->product[n]) continue;
        c->product[n] = 1;
        need_arc(c, y->L);
        need_arc(c, y->R);
        need_weights(c, y->d);
        c->step[c->steps++] = (ks_step){0, n};
    }
}

static void need_weights(closure *c, uint32_t d) {
    const ks_weights *x = ks_weights_at(c->p, d);
    for (uint32_t k = 0; k < x->count; k++) {
        const ks_vector *y = ks_vector_at(c->p, x->vector[k]);
        if (c->vector[x->vector[k]]) continue;
        c->vector[x->vector[k]] = 1;
        if (!y->diagonal) {
            need_arc(c, y->E);
            need_weights(c, y->d);
        }
        c->step[c->steps++] = (ks_step){1, x->vector[k]};
    }
}

static int closure_make(closure *c, ks_program *p, size_t *failed) {
    const size_t most = p->products.count + p->vectors.count;
    *c = (closure){.p = p};
    c->product = ks_zalloc(p->products.count + 1, 1);
    c->vector = ks_zalloc(p->vectors.count + 1, 1);
    c->step = ks_alloc(most + 1, sizeof *c->step);
    if (!c->product || !c->vector || !c->step) *failed = ks_size(most + 1, sizeof *c->step);
    return !*failed;
}

static void closure_free(closure *c) {
    ks_free(c->product);
    ks_free(c->vector);
    ks_free(c->step);
}

/* Adds `by` to the uses of all that the graph with this value needs. */
static void count_uses(planner *a, const ks_value *value, int by) {
    closure c;
    if (a->failed) return;
    if (closure_make(&c, a->p, &a->failed)) {
        need_weights(&c, value->d);
        for (size_t k = 0; k < c.steps; k++)
            (c.step[k].is_vector ? a->p->vectors.uses : a->p->products.uses)[c.step[k].number] += by;
    }
    closure_free(&c);
}

/* ---- all ---- */

static int search(planner *a, const ks_net *g, int budget, ks_value *out) {
    a->best = INFINITY;
    a->stuck = 0;
    for (a->from_end = 0, a->budget = -1; a->from_end < 2 && a->budget < 0 && !a->failed; a->from_end++) {
        state s = state_of(a, g);
        a->budget = budget;
        look(a, &s, 0);
    }
    if (!isfinite(a->best)) return 0;
    *out = a->end;
    return 1;
}

/* How many different matrices an arc multiplies */
static int different(const ks_arc *x) {
    int count = 0;
    for (int k = 0; k < x->count; k++) count += !k || x->ref[k] != x->ref[k - 1];
    return count;
}

static kspec_status set_steps(planner *a, kspec_error *err) {
    ks_program *p = a->p;
    closure c;
    for (size_t k = 0; k < p->arcs.count; k++) /* one factor is an adjoint's */
        if (different(ks_arc_at(p, (uint32_t)k)) >= KS_TILE_FACTORS)
            return ks_fail(err, KSPEC_E_ARG, "more than %d matrices have entries at the same two indices",
                           KS_TILE_FACTORS - 1);
    if (closure_make(&c, p, &a->failed)) {
        for (size_t g = 0; g < p->graphs; g++) need_weights(&c, p->values[g].d);
        p->steps = c.steps;
        p->step = ks_arena_alloc(&p->arena, c.steps, sizeof *p->step);
        if (p->step) memcpy(p->step, c.step, c.steps * sizeof *p->step);
        a->failed = p->arena.failed;
    }
    closure_free(&c);
    return a->failed ? ks_nomem(err, "the plan", a->failed) : KSPEC_OK;
}

kspec_status ks_program_make(ks_program *p, const ks_names *names, const ks_nets *nets, const uint32_t *graph,
                             size_t graphs, ks_stuck *stuck, kspec_error *err) {
    planner a = {.p = p};
    *p = (ks_program){.sources = names->sources,
                      .arcs.size = sizeof(ks_arc),
                      .weights.size = sizeof(ks_weights),
                      .products.size = sizeof(ks_product),
                      .vectors.size = sizeof(ks_vector),
                      .graphs = graphs};
    *stuck = (ks_stuck){0, 0};
    for (int k = 0; k < names->axes; k++) p->size[k] = names->axis[k].size;
    for (int k = 0; k < names->sources; k++)
        for (int s = 0; s < 2; s++) p->axis[k][s] = (uint8_t)names->source[k].axis[s];
    const ks_weights empty = {0};
    ks_table_number(&p->weights, &empty, NULL, &a.failed);
    p->values = ks_arena_zalloc(&p->arena, graphs, sizeof *p->values);
    if (p->arena.failed) a.failed = p->arena.failed;
    const size_t share = STATES / (graphs + 1);
    const int budget = share > STATES_MOST ? STATES_MOST : share < STATES_LEAST ? STATES_LEAST : (int)share;
    for (int pass = 0; pass < (graphs > 2000 ? 1 : PASSES) && !a.failed; pass++)
        for (size_t g = 0; g < graphs && !a.failed; g++) {
            if (pass) count_uses(&a, &p->values[g], -1);
            if (!search(&a, ks_nets_at(nets, graph[g]), budget, &p->values[g]) && !a.failed) {
                *stuck = (ks_stuck){graph[g], a.stuck};
                return KSPEC_OK;
            }
            count_uses(&a, &p->values[g], 1);
        }
    return a.failed ? ks_nomem(err, "the plan", a.failed) : set_steps(&a, err);
}

void ks_program_free(ks_program *p) {
    ks_table_free(&p->arcs);
    ks_table_free(&p->weights);
    ks_table_free(&p->products);
    ks_table_free(&p->vectors);
    ks_arena_free(&p->arena);
    *p = (ks_program){0};
}
