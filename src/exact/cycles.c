/* Lists the graphs of the exact estimator for all orders and plans their computation. */
#include "exact/cycles.h"

#include "base/error.h"
#include "exact/terms.h"

#include <string.h>

/* Lists the graphs of all orders. Returns 0 if memory is short. */
static int list_graphs(ks_cycles *c, const size_t size[2]) {
    enum { MOST = 2 * KS_GRAPHS_MAX };
    if (!c->form.weighted) {
        c->graphs = ks_arena_alloc(&c->arena, MOST, sizeof *c->graphs);
        for (int n = 1; n <= c->nmax && c->graphs; n++)
            c->ngraphs += ks_graphs(c->form, n, c->graphs + c->ngraphs);
        return c->graphs != NULL;
    }
    ks_graph *list[KS_WEIGHTED_NMAX + 1] = {0};
    size_t count[KS_WEIGHTED_NMAX + 1] = {0};
    ks_arena arena = {0};
    for (int n = 1; n <= c->nmax && !arena.failed; n++) {
        size_t room;
        list[n] = ks_terms(&c->form, size, n, &count[n], &arena, &room);
        c->ngraphs += count[n];
        if (arena.bytes + room > c->bytes_making) c->bytes_making = arena.bytes + room;
    }
    if (!arena.failed) c->graphs = ks_arena_alloc(&c->arena, c->ngraphs, sizeof *c->graphs);
    for (int n = 1, at = 0; n <= c->nmax && c->graphs; at += (int)count[n++])
        memcpy(c->graphs + at, list[n], count[n] * sizeof **list);
    if (arena.failed) c->arena.failed = arena.failed;
    ks_arena_free(&arena);
    return c->graphs != NULL;
}

/*
 * Adds `count` parallel edges between vertices u and v. Each position of the cycle is the end of two edges,
 * so a vertex with p positions has 2 p edge ends.
 */
static void add_links(ks_net *net, int count, int matrix, int u, int v) {
    for (int k = 0; k < count; k++)
        net->link[net->links++] = (ks_link){(uint8_t)matrix, (uint8_t)u, (uint8_t)v};
}

static ks_net net_of(const ks_graph *g) {
    ks_net net = {.n = (uint8_t)(g->rows + g->cols)};
    int ends[KS_NET_VERTICES] = {0};
    for (int u = 0; u < g->rows; u++)
        for (int v = g->cols ? 0 : u; v < (g->cols ? g->cols : g->rows); v++) {
            const int to = g->cols ? g->rows + v : v, a = g->m[u][v].a, b = g->m[u][v].b;
            add_links(&net, a, 0, u, to);
            if (g->cols)
                add_links(&net, b, 1, u, to);
            else
                add_links(&net, b, 0, to, u);
            ends[u] += a + b, ends[to] += a + b;
        }
    for (int v = 0; v < net.n; v++)
        net.vertex[v] =
            (ks_vertex){.axis = v < g->rows ? KS_ROW : KS_COL, .positions = (uint8_t)(ends[v] / 2)};
    return net;
}

static kspec_status make(ks_cycles *c, const size_t size[2], ks_arena *arena, kspec_error *err) {
    static const int budget[KS_EXACT_NMAX + 1] = {0, 1, 10, 100, 400, 100}, weighted = 30;
    if (!list_graphs(c, size)) return ks_nomem(err, "the plan of the exact estimator", c->arena.failed);
    ks_net *nets = ks_arena_alloc(arena, c->ngraphs, sizeof *nets);
    ks_plan_graph *task = ks_arena_alloc(arena, c->ngraphs, sizeof *task);
    if (arena->failed) return ks_nomem(err, "the plan of the exact estimator", arena->failed);
    for (size_t g = 0; g < c->ngraphs; g++) {
        nets[g] = net_of(&c->graphs[g]);
        task[g] = (ks_plan_graph){&nets[g], c->graphs[g].root,
                                  c->form.weighted ? weighted : budget[c->graphs[g].n]};
    }
    c->plan = (ks_plan){.size = {size[0], size[1]}, .sources = 1, .may_be_hard = !c->form.one_sided};
    if (c->form.one_sided) {
        c->plan.source[0] = (ks_leaf){{KS_ROW, KS_ROW}, !c->form.two_trials};
    } else {
        c->plan.sources += c->form.two_trials;
        c->plan.source[0] = c->plan.source[1] = (ks_leaf){{KS_ROW, KS_COL}, 0};
    }
    return ks_plan_make(&c->plan, task, c->ngraphs, err);
}

kspec_status ks_cycles_make(ks_cycles *c, ks_exact_form form, size_t rows, size_t cols, int nmax,
                            kspec_error *err) {
    const size_t size[2] = {rows, cols};
    ks_arena arena = {0};
    *c = (ks_cycles){.form = form, .nmax = nmax};
    kspec_status st = make(c, size, &arena, err);
    const size_t most = c->arena.bytes + arena.bytes + c->plan.bytes_making;
    if (most > c->bytes_making) c->bytes_making = most;
    c->bytes = c->arena.bytes + c->plan.bytes;
    ks_arena_free(&arena);
    if (st) ks_cycles_free(c);
    return st;
}

void ks_cycles_free(ks_cycles *c) {
    ks_plan_free(&c->plan);
    ks_arena_free(&c->arena);
    *c = (ks_cycles){.nmax = 0};
}
