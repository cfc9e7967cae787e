#include "engine/tables.h"

#include <math.h>
#include <string.h>

/* ---- numbers ---- */

/*
 * ks_tables_ready() makes space for STATE records. A search step may change 20 weights and 20 edges, each in
 * up to 10 steps, twice.
 */
enum { STATE = 500, FIRST = 2 * STATE };

static size_t slot_of(const ks_numbers *n, const uint64_t *key) {
    const uint64_t h = (key[0] * 0x9e3779b97f4a7c15u ^ key[1]) * 0x9e3779b97f4a7c15u;
    size_t at = (size_t)(h >> 32) & (n->slots - 1);
    while (n->slot[at] && memcmp(n->note[n->slot[at] - 1].key, key, sizeof n->note->key) != 0)
        at = (at + 1) & (n->slots - 1);
    return at;
}

static size_t bytes_of(const ks_numbers *n) {
    return n->room * (n->size + sizeof *n->note) + n->slots * sizeof *n->slot;
}

static void numbers_free(ks_tables *t, ks_numbers *n) {
    t->bytes -= bytes_of(n);
    ks_free(n->record);
    ks_free(n->note);
    ks_free(n->slot);
}

static int ready(ks_tables *t, ks_numbers *n) {
    if (n->room - n->count >= STATE) return 1;
    ks_numbers to = {.size = n->size, .count = n->count, .room = n->room ? 2 * n->room : FIRST};
    for (to.slots = 64; to.slots < 2 * to.room;) to.slots *= 2;
    to.record = ks_alloc(to.room, to.size);
    to.note = ks_alloc(to.room, sizeof *to.note);
    to.slot = ks_zalloc(to.slots, sizeof *to.slot);
    t->bytes += bytes_of(&to);
    if (t->bytes > t->peak) t->peak = t->bytes;
    if (!to.record || !to.note || !to.slot || to.room >= UINT32_MAX / 8) {
        t->failed = bytes_of(&to);
        numbers_free(t, &to);
        return 0;
    }
    if (n->count) memcpy(to.record, n->record, n->count * n->size);
    if (n->count) memcpy(to.note, n->note, n->count * sizeof *n->note);
    for (size_t k = 0; k < to.count; k++) to.slot[slot_of(&to, to.note[k].key)] = (uint32_t)k + 1;
    numbers_free(t, n);
    *n = to;
    return 1;
}

/* Returns the record with this key. *fresh is 1 for a new record, whose bytes the caller must write. */
static uint32_t number(ks_numbers *n, uint64_t first, uint64_t second, int *fresh) {
    const uint64_t key[2] = {first, second};
    size_t at = slot_of(n, key);
    *fresh = !n->slot[at];
    if (!*fresh) return n->slot[at] - 1;
    n->note[n->count] = (ks_note){.key = {first, second}};
    n->slot[at] = (uint32_t)++n->count;
    return (uint32_t)n->count - 1;
}

int ks_tables_ready(ks_tables *t) {
    if (!ready(t, &t->edges) || !ready(t, &t->weights) || !ready(t, &t->products) || !ready(t, &t->vectors))
        return 0;
    t->pl->edges = (ks_edge *)(void *)t->edges.record;
    t->pl->weights = (ks_weights *)(void *)t->weights.record;
    t->pl->products = (ks_product *)(void *)t->products.record;
    t->pl->vectors = (ks_vector *)(void *)t->vectors.record;
    return 1;
}

int ks_tables_begin(ks_tables *t, ks_plan *pl) {
    int fresh;
    *t = (ks_tables){.pl = pl,
                     .edges.size = sizeof(ks_edge),
                     .weights.size = sizeof(ks_weights),
                     .products.size = sizeof(ks_product),
                     .vectors.size = sizeof(ks_vector)};
    /* overheads dominate */
    for (int k = 0; k < KS_AXES; k++) t->cost[k] = fmax((double)pl->size[k], 50);
    if (!ks_tables_ready(t)) return 0;
    number(&t->weights, UINT64_MAX, 0, &fresh);
    number(&t->edges, UINT64_MAX, 0, &fresh);
    pl->weights[0] = (ks_weights){.nvec = 0};
    pl->edges[0] = (ks_edge){.nref = 0};
    memset(pl->edges->leaf, 255, sizeof pl->edges->leaf);
    return 1;
}

void ks_tables_end(ks_tables *t, int keep) {
    ks_numbers *all[] = {&t->edges, &t->weights, &t->products, &t->vectors};
    t->pl->nproducts = t->products.count;
    t->pl->nvectors = t->vectors.count;
    for (int k = 0; k < 4; k++) {
        if (keep) t->pl->bytes += all[k]->room * all[k]->size, all[k]->record = NULL;
        numbers_free(t, all[k]);
    }
    if (!keep) t->pl->edges = NULL, t->pl->weights = NULL, t->pl->products = NULL, t->pl->vectors = NULL;
}

/* ---- edges and weights ---- */

static uint32_t flip_entry(const ks_plan *pl, uint32_t x) {
    int symmetric;
    if (x >= KS_ENTRY_PRODUCT)
        symmetric = ks_product_symmetric(&pl->products[(x - KS_ENTRY_PRODUCT) / 2]);
    else
        // cppcheck-suppress arrayIndexOutOfBoundsCond ; an entry below KS_ENTRY_PRODUCT is one of the sources
        symmetric = pl->source[x / 2].symmetric;
    return symmetric ? x : x ^ 1;
}

/* Returns the edge `rest` times an entry that follows the last entry of `rest`. */
static uint32_t append(ks_tables *t, uint32_t rest, uint32_t entry) {
    int fresh;
    const uint32_t e = number(&t->edges, rest, entry, &fresh);
    if (!fresh) return e;
    ks_edge x = t->pl->edges[rest];
    if (entry < KS_ENTRY_PRODUCT)
        x.leaf[x.nleaf++] = (uint8_t)entry;
    else
        x.ref[x.nref++] = entry - KS_ENTRY_PRODUCT;
    x.rest = rest;
    t->pl->edges[e] = x;
    const uint32_t other = ks_edge_times(t, ks_edge_flip(t, rest), flip_entry(t->pl, entry));
    t->edges.note[e].other = other;
    return e;
}

uint32_t ks_edge_times(ks_tables *t, uint32_t e, uint32_t entry) {
    const ks_edge *x = &t->pl->edges[e];
    if (!x->nref && !x->nleaf) return append(t, e, entry);
    const uint32_t last = x->nref ? KS_ENTRY_PRODUCT + x->ref[x->nref - 1] : x->leaf[x->nleaf - 1];
    if (last <= entry) return append(t, e, entry);
    return append(t, ks_edge_times(t, x->rest, entry), last);
}

uint32_t ks_weights_times(ks_tables *t, uint32_t d, uint32_t vec) {
    ks_weights x = t->pl->weights[d];
    if (x.nvec && x.vec[x.nvec - 1] > vec)
        return ks_weights_times(t, ks_weights_times(t, x.rest, vec), x.vec[x.nvec - 1]);
    int fresh;
    const uint32_t k = number(&t->weights, d, vec, &fresh);
    if (!fresh) return k;
    x.vec[x.nvec++] = vec;
    x.rest = d;
    t->pl->weights[k] = x;
    return k;
}

/* ---- products and vectors ---- */

int ks_edge_streams(const ks_edge *e) {
    int count = 0;
    for (int k = 0; k < e->nleaf; k++) count += k == 0 || e->leaf[k] != e->leaf[k - 1];
    for (int k = 0; k < e->nref; k++) count += k == 0 || e->ref[k] != e->ref[k - 1];
    return count;
}

/* Is the edge a matrix that exists already? Other edges are elementwise products. */
static int direct(const ks_edge *e, int weighted) { return e->nleaf + e->nref == 1 && !weighted; }

static double product_cost(const ks_tables *t, const ks_product *x) {
    const ks_edge *L = &t->pl->edges[x->L], *R = &t->pl->edges[x->R];
    double u = t->cost[x->ku], v = t->cost[x->kv], w = t->cost[x->kw];
    double made = (direct(L, x->d != 0) ? 0 : u * w * (1 + ks_edge_streams(L))) +
                  (direct(R, 0) ? 0 : v * w * (1 + ks_edge_streams(R)));
    return u * v * w * (ks_product_symmetric(x) ? KS_SYMMETRIC_COST : 1) + KS_ELEMENT_COST * (made + u * v);
}

uint32_t ks_product_number(ks_tables *t, const ks_product *x) {
    const uint64_t kinds = (uint64_t)(x->ku | x->kv << 8 | x->kw << 16) | (uint64_t)x->positions << 24;
    int fresh;
    const uint32_t k = number(&t->products, kinds << 32 | x->d, (uint64_t)x->L << 32 | x->R, &fresh);
    if (!fresh) return k;
    t->pl->products[k] = *x;
    t->products.note[k].cost = product_cost(t, x);
    return k;
}

uint32_t ks_vector_number(ks_tables *t, const ks_vector *x) {
    const uint64_t kinds = (uint64_t)(x->ku | x->kw << 8 | x->diagonal << 16) | (uint64_t)x->positions << 24;
    int fresh;
    const uint32_t k = number(&t->vectors, kinds << 32 | x->d, x->E, &fresh);
    if (!fresh) return k;
    const int read = x->diagonal ? 0 : ks_edge_streams(&t->pl->edges[x->E]);
    t->pl->vectors[k] = *x;
    t->vectors.note[k].cost = KS_ELEMENT_COST * t->cost[x->ku] * t->cost[x->kw] * read;
    return k;
}
