#include "exact/tables.h"

#include <string.h>

/* ---- numbers ---- */

/* Where the key stands, or would. */
static size_t slot_of(const ks_numbers *n, uint64_t key) {
    size_t at = (size_t)((key * 0x9e3779b97f4a7c15u) >> 40) & (n->slots - 1);
    while (n->slot[at] && n->key[n->slot[at] - 1] != key) at = (at + 1) & (n->slots - 1);
    return at;
}

static void more_slots(ks_numbers *n) {
    n->slots *= 2;
    memset(n->slot, 0, n->slots * sizeof *n->slot);
    for (size_t k = 0; k < n->count; k++) n->slot[slot_of(n, n->key[k])] = (uint16_t)(k + 1);
}

/* The key's number; *new: it has just got it. */
static int number(ks_numbers *n, uint64_t key, int *new) {
    size_t at = slot_of(n, key);
    *new = !n->slot[at];
    if (!*new) return n->slot[at] - 1;
    n->key[n->count++] = key;
    n->slot[at] = (uint16_t)n->count;
    if (2 * n->count > n->slots) more_slots(n);
    return (int)n->count - 1;
}

static int crowded(const ks_numbers *n) { return n->count > n->room / 4 * 3; }

int ks_tables_crowded(const ks_tables *t) {
    return crowded(&t->products) || crowded(&t->vectors) || crowded(&t->edges) || crowded(&t->weights);
}

/* The key of a list: what comes before its last entry, and that entry. 0: the empty list. */
static uint64_t list_key(int rest, int last) {
    return (uint64_t)1 << 32 | (uint64_t)rest << 16 | (uint64_t)last;
}

/* ---- edges and weights ---- */

int ks_leaf(ks_tables *t, int a, int b) {
    int new, e = number(&t->edges, (uint64_t)(a << 8 | b), &new);
    if (!new) return e;
    t->pl->edges[e] = (ks_edge){.a = (uint8_t)a, .b = (uint8_t)b, .degree = (uint8_t)(a + b)};
    /* one-sided, with two trials, it is not symmetric */
    int turns = t->pl->form.one_sided && t->pl->form.two_trials && a != b;
    t->flip[e] = (uint16_t)(turns ? ks_leaf(t, b, a) : e);
    return e;
}

/* How many of the cycle's edges end at the first vertex of a product's matrix. */
static int ref_degree(const ks_plan *pl, ks_ref r) {
    const ks_product *x = &pl->products[r / 2];
    return pl->edges[r & 1 ? x->R : x->L].degree;
}

static ks_ref flip_ref(const ks_plan *pl, ks_ref r) {
    return ks_product_symmetric(&pl->products[r / 2]) ? r : r ^ 1;
}

/* The edge `rest` times a matrix that comes after those in it. */
static int append(ks_tables *t, int rest, ks_ref r) {
    int new, e = number(&t->edges, list_key(rest, r), &new);
    if (!new) return e;
    ks_edge x = t->pl->edges[rest];
    x.ref[x.nref++] = r;
    x.degree = (uint8_t)(x.degree + ref_degree(t->pl, r));
    x.rest = (uint16_t)rest;
    t->pl->edges[e] = x;
    t->flip[e] = (uint16_t)ks_edge_times(t, t->flip[rest], flip_ref(t->pl, r));
    return e;
}

int ks_edge_times(ks_tables *t, int e, ks_ref r) {
    const ks_edge *x = &t->pl->edges[e];
    if (!x->nref || x->ref[x->nref - 1] <= r) return append(t, e, r);
    return append(t, ks_edge_times(t, x->rest, r), x->ref[x->nref - 1]);
}

int ks_weights_times(ks_tables *t, int d, int vec) {
    ks_weights x = t->pl->weights[d];
    if (x.nvec && x.vec[x.nvec - 1] > vec)
        return ks_weights_times(t, ks_weights_times(t, x.rest, vec), x.vec[x.nvec - 1]);
    int new, k = number(&t->weights, list_key(d, vec), &new);
    if (!new) return k;
    x.vec[x.nvec++] = (uint16_t)vec;
    x.degree = (uint8_t)(x.degree + t->pl->vectors[vec].degree);
    x.rest = (uint16_t)d;
    t->pl->weights[k] = x;
    return k;
}

void ks_tables_begin(ks_tables *t) {
    int new;
    t->pl->weights[number(&t->weights, 0, &new)] = (ks_weights){.nvec = 0};
    ks_leaf(t, 0, 0);
}

/* ---- products and vectors ---- */

/* How many matrices an edge reads. */
static int streams(const ks_edge *e) {
    int count = !!e->a + !!e->b;
    for (int k = 0; k < e->nref; k++) count += k == 0 || e->ref[k] != e->ref[k - 1];
    return count;
}

/* Is the edge a matrix that exists already, rather than an elementwise product to be made? */
static int direct(const ks_edge *e, int weighted) { return e->a + e->b + e->nref == 1 && !weighted; }

static double product_cost(const ks_tables *t, const ks_product *x) {
    const ks_edge *L = &t->pl->edges[x->L], *R = &t->pl->edges[x->R];
    double u = t->cost[x->ku], v = t->cost[x->kv], w = t->cost[x->kw];
    double made =
        (direct(L, x->d != 0) ? 0 : u * w * (1 + streams(L))) + (direct(R, 0) ? 0 : v * w * (1 + streams(R)));
    return u * v * w * (ks_product_symmetric(x) ? KS_SYMMETRIC_COST : 1) + KS_ELEMENT_COST * (made + u * v);
}

int ks_product_number(ks_tables *t, const ks_product *x) {
    uint64_t kinds = (uint64_t)(x->ku | x->kv << 1 | x->kw << 2);
    int new, k = number(&t->products, kinds << 48 | (uint64_t)x->d << 32 | (uint64_t)x->R << 16 | x->L, &new);
    if (!new) return k;
    t->pl->products[k] = *x;
    t->pl->product_uses[k] = 0;
    t->product_cost[k] = product_cost(t, x);
    return k;
}

int ks_vector_number(ks_tables *t, const ks_vector *x) {
    uint64_t kinds = (uint64_t)(x->ku | x->kw << 1 | x->diagonal << 2);
    int new, k = number(&t->vectors, kinds << 32 | (uint64_t)x->d << 16 | x->E, &new);
    if (!new) return k;
    t->pl->vectors[k] = *x;
    t->pl->vector_uses[k] = 0;
    t->vector_cost[k] = KS_ELEMENT_COST * t->cost[x->ku] * t->cost[x->kw] * streams(&t->pl->edges[x->E]);
    return k;
}
