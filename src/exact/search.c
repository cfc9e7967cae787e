#include "exact/search.h"

#include <math.h>
#include <string.h>

/* ---- what the search reads ---- */

/* Notes that this search has read whether product or vector k is used. */
static void note(ks_planner *p, int k, int is_vector, int used) {
    uint16_t *by = &p->read_by[2 * k + is_vector];
    if (*by == p->searches) return;
    *by = p->searches;
    if (p->nread < p->read_room) p->read[p->nread] = (uint32_t)(4 * k + 2 * is_vector + used);
    p->nread++;
}

/* What is used already costs nothing more. */
static double product_cost(ks_planner *p, int k) {
    int used = p->pl->product_uses[k] > 0;
    note(p, k, 0, used);
    return used ? 0 : p->t.product_cost[k];
}

static double vector_cost(ks_planner *p, int k) {
    int used = p->pl->vector_uses[k] > 0;
    note(p, k, 1, used);
    return used ? 0 : p->t.vector_cost[k];
}

/* ---- a graph, partly reduced ---- */

typedef struct {
    /* sets of vertices, a bit for each: those left, and those with one and with two neighbours */
    uint16_t left, one, two;
    /* the neighbours of a vertex */
    uint16_t joined[KS_EXACT_VMAX];
    uint16_t d[KS_EXACT_VMAX];
    /* e[u][v]: the edge as seen from u */
    uint16_t e[KS_EXACT_VMAX][KS_EXACT_VMAX];
} state;

static uint16_t bit(int v) { return (uint16_t)(1u << v); }
static int first_of(unsigned set) { return __builtin_ctz(set); }
static unsigned without_first(unsigned set) { return set & (set - 1); }
static int single(unsigned set) { return set && !without_first(set); }

static int kind(const ks_planner *p, int vertex) { return vertex < p->rows ? KS_ROW : KS_COL; }

static void set_neighbours(state *s, int u, unsigned set) {
    unsigned rest = without_first(set);
    s->joined[u] = (uint16_t)set;
    s->one = (uint16_t)((s->one & ~bit(u)) | (single(set) ? bit(u) : 0));
    s->two = (uint16_t)((s->two & ~bit(u)) | (single(rest) ? bit(u) : 0));
}

static void join(const ks_planner *p, state *s, int u, int v, int e) {
    s->e[u][v] = (uint16_t)e;
    s->e[v][u] = p->t.flip[e];
    set_neighbours(s, u, s->joined[u] | bit(v));
    set_neighbours(s, v, s->joined[v] | bit(u));
}

static void remove_vertex(state *s, int w) {
    for (unsigned set = s->joined[w]; set; set = without_first(set))
        set_neighbours(s, first_of(set), s->joined[first_of(set)] & ~bit(w));
    set_neighbours(s, w, 0);
    s->left &= (uint16_t)~bit(w);
}

/* The vector that removing w, whose only neighbour is u, makes at u. */
static int vector_of(ks_planner *p, const state *s, int w, int u) {
    const ks_plan *pl = p->pl;
    ks_vector x = {.ku = (uint8_t)kind(p, u), .kw = (uint8_t)kind(p, w), .E = s->e[u][w], .d = s->d[w]};
    x.degree = pl->edges[x.E].degree;
    x.positions = (uint8_t)((pl->edges[s->e[w][u]].degree + pl->weights[x.d].degree) / 2);
    return ks_vector_number(&p->t, &x);
}

/* Any order of different edges would do; this one is that of their bytes. */
static int edge_order(const ks_edge *x, const ks_edge *y) { return memcmp(x, y, offsetof(ks_edge, degree)); }

/* The product that removing w, of neighbours u < v, makes, and the reference to it as oriented (u,v). */
static int product_of(ks_planner *p, const state *s, int w, int u, int v, ks_ref *ref) {
    const ks_plan *pl = p->pl;
    ks_product x = {.ku = (uint8_t)kind(p, u),
                    .kv = (uint8_t)kind(p, v),
                    .kw = (uint8_t)kind(p, w),
                    .L = s->e[u][w],
                    .R = s->e[v][w],
                    .d = s->d[w]};
    int degree = pl->edges[s->e[w][u]].degree + pl->edges[s->e[w][v]].degree + pl->weights[x.d].degree;
    x.positions = (uint8_t)(degree / 2);
    int turn = x.ku != x.kv ? x.ku == KS_COL : x.L != x.R && edge_order(&pl->edges[x.L], &pl->edges[x.R]) > 0;
    if (turn) {
        uint16_t L = x.L;
        uint8_t ku = x.ku;
        x.L = x.R, x.R = L;
        x.ku = x.kv, x.kv = ku;
    }
    int k = ks_product_number(&p->t, &x);
    *ref = (ks_ref)(2 * k + turn);
    return k;
}

/* Removes all vertices of degree 1; returns what that costs beyond `cost`. */
static double remove_pendants(ks_planner *p, state *s, double cost) {
    for (unsigned set; (set = s->one & (unsigned)~p->root);) {
        int w = first_of(set), u = first_of(s->joined[w]), k = vector_of(p, s, w, u);
        if (s->joined[u] == bit(w) && p->root != bit(u)) { /* either may be removed */
            int other = vector_of(p, s, u, w);
            if (vector_cost(p, other) < vector_cost(p, k)) {
                int t = u;
                u = w, w = t, k = other;
            }
        }
        cost += vector_cost(p, k);
        s->d[u] = (uint16_t)ks_weights_times(&p->t, s->d[u], k);
        remove_vertex(s, w);
    }
    return cost;
}

static state state_of(ks_planner *p, const ks_graph *g) {
    state s;
    memset(&s, 0, sizeof s);
    p->rows = g->rows;
    p->root = g->root < 0 ? 0 : bit(g->root);
    s.left = (uint16_t)(bit(g->rows + g->cols) - 1);
    for (int u = 0; u < g->rows; u++)
        for (int v = g->cols ? 0 : u; v < (g->cols ? g->cols : g->rows); v++) {
            int a = g->m[u][v].a, b = g->m[u][v].b, to = g->cols ? g->rows + v : v;
            if (u != to) {
                if (a || b) join(p, &s, u, to, ks_leaf(&p->t, a, b));
                continue;
            }
            for (int k = 0; k < a; k++) { /* loops: the diagonal as a vector at u */
                int x = ks_vector_number(&p->t, &(ks_vector){.diagonal = 1, .degree = 2});
                s.d[u] = (uint16_t)ks_weights_times(&p->t, s.d[u], x);
            }
        }
    return s;
}

/* ---- the search ---- */

/* Is no edge left? Then each part of the graph has become one vertex. */
static int done(const state *s) {
    for (unsigned set = s->left; set; set = without_first(set))
        if (s->joined[first_of(set)]) return 0;
    return 1;
}

/*
 * Of a graph of several parts, the values of all but one become constant vectors at the vertex of that one.
 * Only at the end: earlier they would stand in the way of sharing.
 */
static double join_parts(ks_planner *p, state *s, double cost) {
    int u = first_of(p->root ? p->root : s->left);
    for (unsigned set = s->left & ~(unsigned)bit(u); set; set = without_first(set)) {
        int k = vector_of(p, s, first_of(set), u);
        cost += vector_cost(p, k);
        s->d[u] = (uint16_t)ks_weights_times(&p->t, s->d[u], k);
    }
    s->left = bit(u);
    return cost;
}

/* The terminal of a state of one vertex. */
static ks_terminal finish(const ks_planner *p, const state *s) {
    int u = first_of(s->left);
    const ks_weights *d = &p->pl->weights[s->d[u]];
    return (ks_terminal){.ku = (uint8_t)kind(p, u), .positions = {d->degree / 2}, .du = s->d[u]};
}

/*
 * The terminal of a state with no vertex of degree 1 or 2. With at most 10 edges around the cycle this is
 * always two rows and two columns, each joined to each: a vertex has an even number of the cycle's edges, so
 * the four edges between rows and columns hold at least 6 of them, and 2 each remain for the row-row and the
 * column-column edge.
 */
static ks_terminal finish_hard(const ks_planner *p, const state *s) {
    int v[KS_EXACT_VMAX] = {0}, n = 0;
    for (unsigned set = s->left; set; set = without_first(set)) v[n++] = first_of(set); /* rows come first */
    ks_terminal t = {.hard = 1, .E = s->e[v[0]][v[1]], .F = s->e[v[2]][v[3]]};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++) t.X[i][j] = s->e[v[i]][v[2 + j]];
    for (int i = 0; i < 4; i++) {
        int degree = 0;
        for (int j = 0; j < 4; j++) degree += i == j ? 0 : p->pl->edges[s->e[v[i]][v[j]]].degree;
        t.positions[i] = (uint8_t)(degree / 2);
    }
    return t;
}

static void arrive(ks_planner *p, double cost, ks_terminal t) {
    if (cost >= p->best) return;
    p->best = cost;
    p->terminal = t;
}

typedef struct {
    int w, u, v, product;
    ks_ref ref;
    double cost;
} move;

/* The vertices of degree 2, cheapest to remove first. */
static int list_moves(ks_planner *p, const state *s, move *out) {
    int count = 0;
    for (unsigned set = s->two & (unsigned)~p->root; set;) {
        int w = p->from_end ? 31 - __builtin_clz(set) : first_of(set);
        int u = first_of(s->joined[w]), v = first_of(without_first(s->joined[w]));
        set &= ~bit(w);
        ks_ref ref;
        int k = product_of(p, s, w, u, v, &ref);
        double cost = product_cost(p, k);
        int j = count++;
        for (; j > 0 && out[j - 1].cost > cost; j--) out[j] = out[j - 1];
        out[j].w = w, out[j].u = u, out[j].v = v, out[j].product = k, out[j].ref = ref, out[j].cost = cost;
    }
    return count;
}

/* Looks at the state *s, which it changes, and at those that follow; `cost` was spent on the way to it. */
static void search(ks_planner *p, state *s, double cost) {
    if (ks_tables_crowded(&p->t) || p->budget-- <= 0) return;
    cost = remove_pendants(p, s, cost);
    if (cost >= p->best) return;
    if (done(s)) {
        cost = join_parts(p, s, cost);
        arrive(p, cost, finish(p, s));
        return;
    }
    if (!s->two) { /* n = 5 only, where no vertex is fixed */
        arrive(p, cost + pow(p->t.cost[KS_ROW] * p->t.cost[KS_COL], 2), finish_hard(p, s));
        return;
    }
    move moves[KS_EXACT_VMAX];
    int count = list_moves(p, s, moves);
    for (int i = 0; i < count && cost + moves[i].cost < p->best; i++) {
        const move *m = &moves[i];
        state t = *s;
        remove_vertex(&t, m->w);
        join(p, &t, m->u, m->v, ks_edge_times(&p->t, t.e[m->u][m->v], m->ref));
        p->pl->product_uses[m->product]++; /* it is used on this way */
        search(p, &t, cost + m->cost);
        p->pl->product_uses[m->product]--;
    }
}

int ks_search(ks_planner *p, const ks_graph *g, int budget, ks_terminal *terminal, ks_reading *r) {
    size_t start = p->nread < p->read_room ? p->nread : p->read_room;
    p->nread = start;
    p->searches++;
    p->best = INFINITY;
    /* ties broken one way, then, unless nothing was left out, the other */
    for (p->from_end = 0, p->budget = -1; p->from_end < 2 && p->budget < 0; p->from_end++) {
        state s = state_of(p, g);
        p->budget = budget;
        search(p, &s, 0);
    }
    *r = (ks_reading){start, p->nread - start, p->nread > p->read_room};
    if (p->best == INFINITY) return 0;
    *terminal = p->terminal;
    return 1;
}

int ks_search_stands(const ks_planner *p, const ks_reading *r) {
    if (r->partly) return 0;
    for (size_t i = r->first; i < r->first + r->count; i++) {
        uint32_t k = p->read[i] >> 2;
        int uses = p->read[i] & 2 ? p->pl->vector_uses[k] : p->pl->product_uses[k];
        if ((uses > 0) != (p->read[i] & 1)) return 0;
    }
    return 1;
}
