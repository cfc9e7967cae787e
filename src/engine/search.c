#include "engine/search.h"

#include <math.h>
#include <string.h>

/* ---- costs ---- */

/*
 * Returns the additional cost of product or vector k, which is 0 if another graph uses it already. Records
 * that the search read this entry.
 */
static double cost_of(ks_planner *p, uint32_t k, int is_vector) {
    ks_note *x = &(is_vector ? &p->t.vectors : &p->t.products)->note[k];
    const int used = x->uses > 0;
    if (x->other != p->searches) {
        x->other = p->searches;
        if (p->nread < p->read_room) p->read[p->nread] = 4 * k + 2u * (unsigned)is_vector + (unsigned)used;
        p->nread++;
    }
    return used ? 0 : x->cost;
}

/* ---- states ---- */

enum { V = KS_PLAN_VERTICES };
typedef struct {
    /*
     * Sets of vertices with a bit for each vertex: the remaining vertices, the vertices with one neighbour,
     * and those with two.
     */
    unsigned left, one, two;
    uint16_t joined[V];
    uint32_t d[V];
    /* e[u][v] is the edge between u and v, as seen from u. */
    uint32_t e[V][V];
} state;

static unsigned bit(int v) { return 1u << v; }
static int first_of(unsigned set) { return __builtin_ctz(set); }
static unsigned without_first(unsigned set) { return set & (set - 1); }
static int single(unsigned set) { return set && !without_first(set); }

static uint8_t axis(const ks_planner *p, int vertex) { return p->net->vertex[vertex].axis; }

static void set_neighbours(state *s, int u, unsigned set) {
    unsigned rest = without_first(set);
    s->joined[u] = (uint16_t)set;
    s->one = (s->one & ~bit(u)) | (single(set) ? bit(u) : 0);
    s->two = (s->two & ~bit(u)) | (single(rest) ? bit(u) : 0);
}

/* Adds an edge between u and v, given by its entry as seen from u. */
static void join(ks_planner *p, state *s, int u, int v, uint32_t entry) {
    const uint32_t e = ks_edge_times(&p->t, s->e[u][v], entry);
    s->e[u][v] = e;
    s->e[v][u] = ks_edge_flip(&p->t, e);
    set_neighbours(s, u, s->joined[u] | bit(v));
    set_neighbours(s, v, s->joined[v] | bit(u));
}

static void remove_vertex(state *s, int w) {
    for (unsigned set = s->joined[w]; set; set = without_first(set))
        set_neighbours(s, first_of(set), s->joined[first_of(set)] & ~bit(w));
    set_neighbours(s, w, 0);
    s->left &= ~bit(w);
}

/* Returns the vector at u that results from removing w, whose only neighbour is u. */
static uint32_t vector_of(ks_planner *p, const state *s, int w, int u) {
    return ks_vector_number(&p->t, &(ks_vector){.ku = axis(p, u),
                                                .kw = axis(p, w),
                                                .positions = p->net->vertex[w].positions,
                                                .E = s->e[u][w],
                                                .d = s->d[w]});
}

/* Orders edges by their bytes, which do not depend on the numbering. Any fixed order would serve. */
static int edge_order(const ks_edge *x, const ks_edge *y) {
    const int by_products = memcmp(x, y, offsetof(ks_edge, nleaf));
    return by_products ? by_products : memcmp(y->leaf, x->leaf, sizeof x->leaf);
}

/*
 * Returns the product that results from removing w, whose neighbours are u < v. *entry receives the entry of
 * the edge as seen from u.
 */
static uint32_t product_of(ks_planner *p, const state *s, int w, int u, int v, uint32_t *entry) {
    const ks_edge *edges = p->pl->edges;
    ks_product x = {.ku = axis(p, u),
                    .kv = axis(p, v),
                    .kw = axis(p, w),
                    .positions = p->net->vertex[w].positions,
                    .L = s->e[u][w],
                    .R = s->e[v][w],
                    .d = s->d[w]};
    const unsigned turn = x.ku != x.kv ? x.ku > x.kv : x.L != x.R && edge_order(&edges[x.L], &edges[x.R]) > 0;
    if (turn) {
        const uint32_t L = x.L;
        const uint8_t ku = x.ku;
        x.L = x.R, x.R = L;
        x.ku = x.kv, x.kv = ku;
    }
    const uint32_t k = ks_product_number(&p->t, &x);
    *entry = KS_ENTRY_PRODUCT + 2 * k + turn;
    return k;
}

/* Removes all vertices of degree 1. Returns the cost in addition to `cost`. */
static double remove_pendants(ks_planner *p, state *s, double cost) {
    for (unsigned set; (set = s->one & ~p->root);) {
        int w = first_of(set), u = first_of(s->joined[w]);
        uint32_t k = vector_of(p, s, w, u);
        if (s->joined[u] == bit(w) && p->root != bit(u)) { /* either vertex may go first */
            const uint32_t other = vector_of(p, s, u, w);
            if (cost_of(p, other, 1) < cost_of(p, k, 1)) {
                int t = u;
                u = w, w = t, k = other;
            }
        }
        cost += cost_of(p, k, 1);
        s->d[u] = ks_weights_times(&p->t, s->d[u], k);
        remove_vertex(s, w);
    }
    return cost;
}

static void state_of(ks_planner *p, state *s) {
    memset(s, 0, sizeof *s);
    s->left = bit(p->net->n) - 1;
    for (int k = 0; k < p->net->links; k++) {
        const ks_link *l = &p->net->link[k];
        if (l->u != l->v) {
            join(p, s, l->u, l->v, 2u * l->matrix);
            continue;
        }
        const uint8_t a = axis(p, l->u); /* A loop at u becomes a vector at u, the diagonal of the matrix. */
        const ks_vector x = {.ku = a, .kw = a, .diagonal = 1, .E = l->matrix};
        s->d[l->u] = ks_weights_times(&p->t, s->d[l->u], ks_vector_number(&p->t, &x));
    }
}

/* ---- search ---- */

/* Is no edge left? If so, each part of the graph is a single vertex. */
static int done(const state *s) {
    for (unsigned set = s->left; set; set = without_first(set))
        if (s->joined[first_of(set)]) return 0;
    return 1;
}

/*
 * Joins the parts of a graph. The values of all parts but one become constant vectors at the last vertex of
 * the remaining part. The search joins parts only at the end, because earlier constants would prevent graphs
 * from sharing operations.
 */
static double join_parts(ks_planner *p, state *s, double cost) {
    int u = first_of(p->root ? p->root : s->left);
    for (unsigned set = s->left & ~bit(u); set; set = without_first(set)) {
        const uint32_t k = vector_of(p, s, first_of(set), u);
        cost += cost_of(p, k, 1);
        s->d[u] = ks_weights_times(&p->t, s->d[u], k);
    }
    s->left = bit(u);
    return cost;
}

/* Returns the terminal of a state with one vertex. */
static ks_terminal finish(const ks_planner *p, const state *s) {
    const int u = first_of(s->left);
    return (ks_terminal){.ku = axis(p, u), .positions = {p->net->vertex[u].positions}, .du = s->d[u]};
}

/*
 * Do two rows and two columns remain, each joined to all others, without weights? At order 5 no larger graph
 * remains.
 */
static int is_hard(const ks_planner *p, const state *s, int v[4]) {
    int n = 0;
    for (unsigned set = s->left; set; set = without_first(set)) {
        const int u = first_of(set);
        if (n == 4 || s->joined[u] != (s->left & ~bit(u)) || s->d[u] || axis(p, u) != (n > 1)) return 0;
        v[n++] = u; /* rows come first */
    }
    return p->pl->may_be_hard && n == 4 && !p->root;
}

static ks_terminal finish_hard(const ks_planner *p, const state *s, const int v[4]) {
    ks_terminal t = {.hard = 1, .E = s->e[v[0]][v[1]], .F = s->e[v[2]][v[3]]};
    for (int i = 0; i < 4; i++) t.X[i / 2][i % 2] = s->e[v[i / 2]][v[2 + i % 2]];
    for (int i = 0; i < 4; i++) t.positions[i] = p->net->vertex[v[i]].positions;
    return t;
}

static void arrive(ks_planner *p, double cost, ks_terminal t) {
    if (cost >= p->best) return;
    p->best = cost;
    p->terminal = t;
}

typedef struct {
    int w, u, v;
    uint32_t product, entry;
    double cost;
} move;

/* Lists the vertices of degree 2, with the cheapest to remove first. */
static int list_moves(ks_planner *p, const state *s, move *out) {
    int count = 0;
    for (unsigned set = s->two & ~p->root; set;) {
        move m = {.w = p->from_end ? 31 - __builtin_clz(set) : first_of(set)};
        m.u = first_of(s->joined[m.w]), m.v = first_of(without_first(s->joined[m.w]));
        set &= ~bit(m.w);
        m.product = product_of(p, s, m.w, m.u, m.v, &m.entry);
        m.cost = cost_of(p, m.product, 0);
        int j = count++;
        for (; j > 0 && out[j - 1].cost > m.cost; j--) out[j] = out[j - 1];
        out[j] = m;
    }
    return count;
}

/*
 * Searches from the state *s, which the function changes. `cost` is the cost so far. The first path of the
 * search always reaches its end. If the path gets stuck, the search ends, because no other order reduces such
 * a graph.
 */
static void search(ks_planner *p, state *s, double cost) {
    if (p->stuck || !ks_tables_ready(&p->t) || (p->budget-- <= 0 && p->best < INFINITY)) return;
    cost = remove_pendants(p, s, cost);
    if (cost >= p->best) return;
    if (done(s)) {
        cost = join_parts(p, s, cost);
        arrive(p, cost, finish(p, s));
        return;
    }
    if (!(s->two & ~p->root)) {
        int v[4];
        if (is_hard(p, s, v))
            arrive(p, cost + pow(p->t.cost[KS_ROW] * p->t.cost[KS_COL], 2), finish_hard(p, s, v));
        else
            p->stuck = s->left;
        return;
    }
    move moves[V];
    int count = list_moves(p, s, moves);
    for (int i = 0; i < count && cost + moves[i].cost < p->best; i++) {
        const move *m = &moves[i];
        state t = *s;
        remove_vertex(&t, m->w);
        join(p, &t, m->u, m->v, m->entry);
        p->t.products.note[m->product].uses++; /* this path uses the product */
        search(p, &t, cost + m->cost);
        p->t.products.note[m->product].uses--;
    }
}

int ks_search(ks_planner *p, const ks_plan_graph *g, ks_terminal *terminal, ks_reading *r) {
    size_t start = p->nread < p->read_room ? p->nread : p->read_room;
    p->nread = start;
    p->searches++;
    p->best = INFINITY;
    p->stuck = 0;
    p->net = g->net;
    p->root = g->root < 0 ? 0 : bit(g->root);
    /* If the budget runs out, search a second time and break ties the other way. */
    for (p->from_end = 0, p->budget = -1; p->from_end < 2 && p->budget < 0; p->from_end++) {
        state s;
        if (!ks_tables_ready(&p->t)) return 0;
        state_of(p, &s);
        p->budget = g->budget;
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
        const uint32_t k = p->read[i] >> 2;
        const int uses = (p->read[i] & 2 ? &p->t.vectors : &p->t.products)->note[k].uses;
        if ((uses > 0) != (int)(p->read[i] & 1)) return 0;
    }
    return 1;
}
