/*
 * Plans all graphs together. The search for one graph treats the operations of all other graphs as free. The
 * search runs three times, because the first search does not know the later graphs. Finally the graphs are
 * put in order.
 */
#include "engine/plan.h"

#include "base/error.h"
#include "device/plugin.h"
#include "engine/search.h"

#include <math.h>
#include <string.h>

/* Up to SCHEDULED graphs are put in the best order. */
enum { PASSES = 3, SCHEDULED = 4000 };

typedef struct {
    ks_planner p;
    const ks_plan_graph *task;
    ks_reading *reading;
    /* `ops` lists the needed operations, each after its operands. */
    ks_op *ops;
    size_t nops;
    ks_arena arena;
} maker;

/* ---- needs ---- */

static void need_product(maker *m, uint32_t k);

static void need_edge(maker *m, uint32_t e) {
    const ks_edge *x = &m->p.pl->edges[e];
    for (int k = 0; k < x->nref; k++) need_product(m, x->ref[k] / 2);
}

static void need_weights(maker *m, uint32_t d) {
    const ks_weights *x = &m->p.pl->weights[d];
    for (int k = 0; k < x->nvec; k++) {
        const ks_vector *v = &m->p.pl->vectors[x->vec[k]];
        ks_note *note = &m->p.t.vectors.note[x->vec[k]];
        if (note->seen) continue;
        note->seen = 1;
        if (!v->diagonal) need_edge(m, v->E);
        need_weights(m, v->d);
        m->ops[m->nops++] = (ks_op){KS_OP_VECTOR, x->vec[k]};
    }
}

static void need_product(maker *m, uint32_t k) {
    const ks_product *x = &m->p.pl->products[k];
    ks_note *note = &m->p.t.products.note[k];
    if (note->seen) return;
    note->seen = 1;
    need_edge(m, x->L);
    need_edge(m, x->R);
    need_weights(m, x->d);
    m->ops[m->nops++] = (ks_op){KS_OP_PRODUCT, k};
}

static void need_terminal(maker *m, const ks_terminal *t) {
    need_edge(m, t->E);
    need_edge(m, t->F);
    need_weights(m, t->du);
}

static ks_note *note_of(maker *m, ks_op op) {
    return &(op.kind == KS_OP_PRODUCT ? &m->p.t.products : &m->p.t.vectors)->note[op.index];
}

/* Lists in m->ops all operations that graph g needs, even if other graphs need them too. */
static void need_graph(maker *m, size_t g) {
    m->nops = 0;
    need_terminal(m, &m->p.pl->terminals[g]);
    for (size_t i = 0; i < m->nops; i++) note_of(m, m->ops[i])->seen = 0;
}

/* Adds `by` to the use counts of everything that graph g needs. */
static void count_uses(maker *m, size_t g, int by) {
    need_graph(m, g);
    for (size_t i = 0; i < m->nops; i++) note_of(m, m->ops[i])->uses += by;
}

/* ---- choice ---- */

/* Searches for all graphs PASSES times. Returns 0 if memory is short. */
static int choose(maker *m) {
    ks_plan *pl = m->p.pl;
    for (int pass = 0; pass < PASSES; pass++)
        for (size_t g = 0; g < pl->ngraphs; g++) {
            ks_terminal *t = &pl->terminals[g];
            if (t->stuck) continue;
            if (pass) count_uses(m, g, -1);
            if ((!pass || !ks_search_stands(&m->p, &m->reading[g])) &&
                !ks_search(&m->p, &m->task[g], t, &m->reading[g]) && m->p.stuck)
                t->stuck = m->p.stuck;
            if (m->p.t.failed) return 0;
            count_uses(m, g, +1);
            pl->any_stuck |= t->stuck != 0;
            pl->any_hard |= t->hard;
        }
    return 1;
}

/* ---- order ---- */

/*
 * Orders the graphs so that few matrices exist at a time. The next graph is always the one that needs the
 * least new memory. needs[g] is the number of doubles that graph g still needs. The list `users` from
 * start[k] on contains the graphs that use product k.
 */
typedef struct {
    double *needs;
    uint8_t *done;
    uint32_t *users, *start;
} order;

static double product_size(const ks_plan *pl, uint32_t k) {
    return (double)pl->size[pl->products[k].ku] * (double)pl->size[pl->products[k].kv];
}

static void list_users(maker *m, order *o) {
    const ks_plan *pl = m->p.pl;
    uint32_t total = 0;
    for (size_t k = 0; k < m->p.t.products.count; k++)
        o->start[k] = total += (uint32_t)m->p.t.products.note[k].uses;
    for (size_t g = 0; g < pl->ngraphs; g++) {
        need_graph(m, g);
        o->needs[g] = 0;
        for (size_t i = 0; i < m->nops; i++) {
            if (m->ops[i].kind != KS_OP_PRODUCT) continue;
            o->needs[g] += product_size(pl, m->ops[i].index);
            o->users[--o->start[m->ops[i].index]] = (uint32_t)g;
        }
    }
}

static size_t pick(const ks_plan *pl, const order *o) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t g = 0; g < pl->ngraphs && least > 0; g++)
        if (!o->done[g] && o->needs[g] < least) least = o->needs[g], best = g;
    return best;
}

static void schedule(maker *m, order *o) {
    ks_plan *pl = m->p.pl;
    const int by_memory = pl->ngraphs <= SCHEDULED;
    if (by_memory) list_users(m, o);
    m->nops = 0;
    for (size_t turn = 0; turn < pl->ngraphs; turn++) {
        const size_t g = by_memory ? pick(pl, o) : turn, before = m->nops;
        need_terminal(m, &pl->terminals[g]);
        for (size_t i = before; i < m->nops && by_memory; i++) {
            const uint32_t k = m->ops[i].index;
            if (m->ops[i].kind != KS_OP_PRODUCT) continue;
            for (int u = 0; u < m->p.t.products.note[k].uses; u++)
                o->needs[o->users[o->start[k] + (uint32_t)u]] -= product_size(pl, k);
        }
        m->ops[m->nops++] = (ks_op){KS_OP_TERMINAL, (uint32_t)g};
        o->done[g] = 1;
    }
    pl->ops = m->ops;
    pl->nops = m->nops;
}

/* ---- plan ---- */

/* Counts the used operations, and the uses of products. */
static size_t count_ops(const maker *m, size_t *uses) {
    const ks_tables *t = &m->p.t;
    size_t count = m->p.pl->ngraphs;
    *uses = 0;
    for (size_t k = 0; k < t->products.count; k++) {
        count += t->products.note[k].uses > 0;
        *uses += (size_t)t->products.note[k].uses;
    }
    for (size_t k = 0; k < t->vectors.count; k++) count += t->vectors.note[k].uses > 0;
    return count;
}

/* Checks that an elementwise product reads no more matrices than possible. An adjoint adds one factor. */
static kspec_status check_edges(const maker *m, kspec_error *err) {
    for (size_t e = 0; e < m->p.t.edges.count; e++)
        if (ks_edge_streams(&m->p.pl->edges[e]) >= KS_TILE_FACTORS)
            return ks_fail(err, KSPEC_E_ARG, "more than %d matrices have entries at the same two indices",
                           KS_TILE_FACTORS - 1);
    return KSPEC_OK;
}

static kspec_status make(maker *m, ks_plan *pl, kspec_error *err) {
    enum { A_GRAPHS_MOST = 8 * KS_NET_LINKS };
    ks_op of_one[A_GRAPHS_MOST];
    m->ops = of_one;
    m->p.read_room = ks_size(pl->ngraphs, 64);
    m->p.read = ks_arena_alloc(&m->arena, m->p.read_room, sizeof *m->p.read);
    m->reading = ks_arena_alloc(&m->arena, pl->ngraphs, sizeof *m->reading);
    pl->terminals = ks_arena_zalloc(&pl->arena, pl->ngraphs, sizeof *pl->terminals);
    if (m->arena.failed || pl->arena.failed || !ks_tables_begin(&m->p.t, pl) || !choose(m))
        return ks_nomem(err, "the plan", m->arena.failed + pl->arena.failed + m->p.t.failed);
    kspec_status st = check_edges(m, err);
    if (st) return st;
    pl->bytes_making = m->p.t.peak + m->arena.bytes + pl->arena.bytes;
    size_t uses, ops = count_ops(m, &uses);
    order o = {.needs = ks_arena_alloc(&m->arena, pl->ngraphs, sizeof *o.needs),
               .done = ks_arena_zalloc(&m->arena, pl->ngraphs, 1),
               .start = ks_arena_alloc(&m->arena, m->p.t.products.count + 1, sizeof *o.start),
               .users = ks_arena_alloc(&m->arena, uses + 1, sizeof *o.users)};
    ks_op *all = ks_arena_alloc(&pl->arena, ops + A_GRAPHS_MOST, sizeof *all);
    if (m->arena.failed || pl->arena.failed)
        return ks_nomem(err, "the plan", m->arena.failed + pl->arena.failed);
    m->ops = all;
    schedule(m, &o);
    const size_t bytes = m->p.t.bytes + m->arena.bytes + pl->arena.bytes;
    if (bytes > pl->bytes_making) pl->bytes_making = bytes;
    return KSPEC_OK;
}

kspec_status ks_plan_make(ks_plan *pl, const ks_plan_graph *task, size_t ngraphs, kspec_error *err) {
    maker m = {.task = task, .p.pl = pl, .p.t.pl = pl};
    pl->ngraphs = ngraphs;
    kspec_status st = make(&m, pl, err);
    ks_tables_end(&m.p.t, !st);
    ks_arena_free(&m.arena);
    pl->bytes += pl->arena.bytes;
    if (st) ks_plan_free(pl);
    return st;
}

void ks_plan_free(ks_plan *pl) {
    ks_free(pl->edges);
    ks_free(pl->weights);
    ks_free(pl->products);
    ks_free(pl->vectors);
    ks_arena_free(&pl->arena);
    *pl = (ks_plan){.ngraphs = 0};
}
