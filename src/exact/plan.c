/*
 * The plan of all graphs of all orders together. Each graph is searched for with what the others need counted
 * as free: three times over, since the first search knows nothing of the graphs after it. Then the graphs are
 * put in order.
 */
#include "exact/plan.h"

#include "base/error.h"
#include "exact/search.h"
#include "exact/terms.h"

#include <math.h>
#include <string.h>

enum { PASSES = 3 };

/* ---- what a graph needs, recursively ---- */

typedef struct {
    const ks_plan *pl;
    /* visited? */
    uint8_t *product, *vector;
    /* appended to, operands first */
    ks_op *ops;
    size_t nops;
} closure;

static void need_product(closure *c, int k);

static void need_edge(closure *c, int e) {
    const ks_edge *x = &c->pl->edges[e];
    for (int k = 0; k < x->nref; k++) need_product(c, x->ref[k] / 2);
}

static void need_weights(closure *c, int d) {
    const ks_weights *x = &c->pl->weights[d];
    for (int k = 0; k < x->nvec; k++) {
        int v = x->vec[k];
        if (c->vector[v]) continue;
        c->vector[v] = 1;
        need_edge(c, c->pl->vectors[v].E);
        need_weights(c, c->pl->vectors[v].d);
        c->ops[c->nops++] = (ks_op){KS_OP_VECTOR, v};
    }
}

static void need_product(closure *c, int k) {
    const ks_product *x = &c->pl->products[k];
    if (c->product[k]) return;
    c->product[k] = 1;
    need_edge(c, x->L);
    need_edge(c, x->R);
    need_weights(c, x->d);
    c->ops[c->nops++] = (ks_op){KS_OP_PRODUCT, k};
}

static void need_terminal(closure *c, const ks_terminal *t) {
    need_edge(c, t->E);
    need_edge(c, t->F);
    need_weights(c, t->du);
}

/* All that graph g needs, as the list of c->ops, whatever else has been visited. */
static void need_graph(closure *c, size_t g) {
    c->nops = 0;
    need_terminal(c, &c->pl->terminals[g]);
    for (size_t i = 0; i < c->nops; i++)
        *(c->ops[i].kind == KS_OP_PRODUCT ? &c->product[c->ops[i].index] : &c->vector[c->ops[i].index]) = 0;
}

/* Adds `by` to the uses of everything that graph g needs. */
static void count_uses(ks_plan *pl, closure *c, size_t g, int by) {
    need_graph(c, g);
    for (size_t i = 0; i < c->nops; i++)
        *(c->ops[i].kind == KS_OP_PRODUCT ? &pl->product_uses[c->ops[i].index]
                                          : &pl->vector_uses[c->ops[i].index]) += by;
}

/* ---- the choice of operations ---- */

/* Searches for all graphs, PASSES times; 0 where the tables are full. */
static int choose(ks_planner *p, closure *c, ks_reading *reading) {
    static const int budget[KS_EXACT_NMAX + 1] = {0, 1, 10, 100, 400, 100}, weighted = 30;
    ks_plan *pl = p->pl;
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t g = 0; g < pl->ngraphs; g++) {
            int found = 1;
            if (pass) count_uses(pl, c, g, -1);
            if (!pass || !ks_search_stands(p, &reading[g]))
                found = ks_search(p, &pl->graphs[g], pl->form.weighted ? weighted : budget[pl->graphs[g].n],
                                  &pl->terminals[g], &reading[g]);
            if (!pass && !found) return 0; /* later, what the first pass found stays */
            count_uses(pl, c, g, +1);
        }
    return 1;
}

/* ---- the order of operations ---- */

/*
 * Orders the graphs so that few matrices are held at a time: next is always the one that needs least new
 * memory. needs[g] is what graph g still needs, in doubles; users[start[k]] ... are the graphs that use
 * product k.
 */
typedef struct {
    double *needs;
    uint8_t *done;
    uint16_t *users;
    int *start;
} order;

static double product_size(const ks_plan *pl, int k) {
    return (double)pl->size[pl->products[k].ku] * (double)pl->size[pl->products[k].kv];
}

static void list_users(const ks_plan *pl, closure *c, order *o) {
    int total = 0;
    for (size_t k = 0; k < pl->nproducts; k++) o->start[k] = total += pl->product_uses[k];
    for (size_t g = 0; g < pl->ngraphs; g++) {
        need_graph(c, g);
        o->needs[g] = 0;
        for (size_t i = 0; i < c->nops; i++) {
            if (c->ops[i].kind != KS_OP_PRODUCT) continue;
            o->needs[g] += product_size(pl, c->ops[i].index);
            o->users[--o->start[c->ops[i].index]] = (uint16_t)g;
        }
    }
}

static void schedule(ks_plan *pl, closure *c, order *o) {
    list_users(pl, c, o);
    c->nops = 0;
    for (size_t turn = 0; turn < pl->ngraphs; turn++) {
        size_t pick = 0, before = c->nops;
        double least = INFINITY;
        for (size_t g = 0; g < pl->ngraphs && least > 0; g++)
            if (!o->done[g] && o->needs[g] < least) least = o->needs[g], pick = g;
        need_terminal(c, &pl->terminals[pick]);
        for (size_t i = before; i < c->nops; i++) {
            int k = c->ops[i].index;
            if (c->ops[i].kind != KS_OP_PRODUCT) continue;
            for (int u = 0; u < pl->product_uses[k]; u++)
                o->needs[o->users[o->start[k] + u]] -= product_size(pl, k);
        }
        c->ops[c->nops++] = (ks_op){KS_OP_TERMINAL, (int)pick};
        o->done[pick] = 1;
    }
    pl->nops = c->nops;
}

/* ---- all of it ---- */

typedef struct {
    ks_planner p;
    closure c;
    order o;
    ks_reading *reading;
    /* what is needed while the plan is made */
    ks_arena arena;
} maker;

static ks_numbers numbers(maker *m, size_t room) {
    ks_numbers t = {.key = ks_arena_alloc(&m->arena, room, sizeof *t.key),
                    .room = room,
                    .slot = ks_arena_alloc(&m->arena, 2 * room, sizeof *t.slot),
                    .slots = 64};
    if (t.slot) memset(t.slot, 0, t.slots * sizeof *t.slot);
    return t;
}

/* The graphs of all orders; 0 when there is not enough memory. */
static int list_graphs(ks_plan *pl) {
    enum { MOST = 2 * KS_GRAPHS_MAX };
    if (!pl->form.weighted) {
        pl->graphs = ks_arena_alloc(&pl->arena, MOST, sizeof *pl->graphs);
        for (int n = 1; n <= pl->nmax && pl->graphs; n++)
            pl->ngraphs += ks_graphs(pl->form, n, pl->graphs + pl->ngraphs);
        return pl->graphs != NULL;
    }
    ks_graph *list[KS_WEIGHTED_NMAX + 1] = {0};
    size_t count[KS_WEIGHTED_NMAX + 1] = {0};
    ks_arena arena = {0};
    for (int n = 1; n <= pl->nmax && !arena.failed; n++) {
        size_t room;
        list[n] = ks_terms(&pl->form, pl->size, n, &count[n], &arena, &room);
        pl->ngraphs += count[n];
        if (arena.bytes + room > pl->bytes_making) pl->bytes_making = arena.bytes + room;
    }
    if (!arena.failed) pl->graphs = ks_arena_alloc(&pl->arena, pl->ngraphs, sizeof *pl->graphs);
    for (int n = 1, at = 0; n <= pl->nmax && pl->graphs; at += (int)count[n++])
        memcpy(pl->graphs + at, list[n], count[n] * sizeof **list);
    if (arena.failed) pl->arena.failed = arena.failed;
    ks_arena_free(&arena);
    return pl->graphs != NULL;
}

/* All memory of the plan and its making but for the lists of users; 0 when there is not enough. */
static int alloc(maker *m, ks_plan *pl, size_t room) {
    ks_arena *keep = &pl->arena;
    pl->terminals = ks_arena_zalloc(keep, pl->ngraphs, sizeof *pl->terminals);
    pl->product_uses = ks_arena_alloc(keep, room, sizeof *pl->product_uses);
    pl->vector_uses = ks_arena_alloc(keep, room, sizeof *pl->vector_uses);
    pl->ops = ks_arena_alloc(keep, 2 * room + pl->ngraphs, sizeof *pl->ops);
    m->p = (ks_planner){.pl = pl,
                        .read = ks_arena_alloc(&m->arena, 4 * room, sizeof(uint32_t)),
                        .read_room = 4 * room,
                        .read_by = ks_arena_zalloc(&m->arena, 2 * room, sizeof(uint16_t))};
    m->p.t = (ks_tables){.pl = pl,
                         .edges = numbers(m, 2 * room),
                         .weights = numbers(m, room),
                         .products = numbers(m, room),
                         .vectors = numbers(m, room),
                         .flip = ks_arena_alloc(&m->arena, 2 * room, sizeof(uint16_t)),
                         .product_cost = ks_arena_alloc(&m->arena, room, sizeof(double)),
                         .vector_cost = ks_arena_alloc(&m->arena, room, sizeof(double))};
    for (int k = 0; k < 2; k++) m->p.t.cost[k] = fmax((double)pl->size[k], 50); /* below, overheads rule */
    pl->edges = ks_arena_alloc(keep, 2 * room, sizeof *pl->edges);
    pl->weights = ks_arena_alloc(keep, room, sizeof *pl->weights);
    pl->products = ks_arena_alloc(keep, room, sizeof *pl->products);
    pl->vectors = ks_arena_alloc(keep, room, sizeof *pl->vectors);
    m->c =
        (closure){pl, ks_arena_zalloc(&m->arena, room, 1), ks_arena_zalloc(&m->arena, room, 1), pl->ops, 0};
    m->reading = ks_arena_alloc(&m->arena, pl->ngraphs, sizeof *m->reading);
    m->o = (order){.needs = ks_arena_alloc(&m->arena, pl->ngraphs, sizeof(double)),
                   .done = ks_arena_zalloc(&m->arena, pl->ngraphs, 1),
                   .start = ks_arena_alloc(&m->arena, room, sizeof(int))};
    return !keep->failed && !m->arena.failed;
}

static kspec_status make(maker *m, ks_plan *pl, size_t room, kspec_error *err) {
    size_t uses = 0;
    if (!list_graphs(pl) || !alloc(m, pl, room))
        return ks_nomem(err, "the plan of the exact estimator", pl->arena.failed + m->arena.failed);
    ks_tables_begin(&m->p.t);
    if (!choose(&m->p, &m->c, m->reading))
        return ks_fail(err, KSPEC_E_NUMERIC, "the plan of order %d exceeds %zu operations", pl->nmax, room);
    pl->nproducts = m->p.t.products.count;
    pl->nvectors = m->p.t.vectors.count;
    for (size_t k = 0; k < pl->nproducts; k++) uses += (size_t)pl->product_uses[k];
    m->o.users = ks_arena_alloc(&m->arena, uses, sizeof *m->o.users);
    if (!m->o.users) return ks_nomem(err, "the plan of the exact estimator", m->arena.failed);
    schedule(pl, &m->c, &m->o);
    return KSPEC_OK;
}

kspec_status ks_plan_make(ks_plan *pl, ks_exact_form form, size_t rows, size_t cols, int nmax,
                          kspec_error *err) {
    static const size_t room[KS_EXACT_NMAX + 1] = {0, 64, 64, 256, 1024, 8192},
                                             weighted_room[KS_WEIGHTED_NMAX + 1] = {0, 64, 256, 4096, 24576};
    *pl = (ks_plan){.form = form, .size = {rows, cols}, .nmax = nmax};
    maker m = {0};
    kspec_status st = make(&m, pl, form.weighted ? weighted_room[nmax] : room[nmax], err);
    if (pl->arena.bytes + m.arena.bytes > pl->bytes_making)
        pl->bytes_making = pl->arena.bytes + m.arena.bytes;
    ks_arena_free(&m.arena);
    if (st) ks_plan_free(pl);
    return st;
}

void ks_plan_free(ks_plan *pl) {
    ks_arena_free(&pl->arena);
    memset(pl, 0, sizeof *pl);
}
