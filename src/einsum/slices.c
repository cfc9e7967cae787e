/* Evaluates graphs that are too dense for matrix products, one index at a time. */
#include "einsum/slices.h"

#include "base/error.h"

#include <math.h>
#include <string.h>

enum { BUDGET = 30 };

/* ---- plans ---- */

/*
 * Adds a source that is a single line of a matrix, whose index `end` is fixed. Returns -1 if the list of
 * sources is full.
 */
static int line_of(ks_slice_set *s, const ks_plan *plan, int extra, int matrix, int end) {
    for (int k = s->first; k < s->plan.sources; k++)
        if (s->line[k].matrix == matrix && s->line[k].end == end) return k;
    if (s->plan.sources == KS_SOURCES) return -1;
    const int k = s->plan.sources++;
    s->line[k].matrix = (uint8_t)matrix, s->line[k].end = (uint8_t)end;
    s->plan.source[k] = (ks_leaf){{(uint8_t)extra, plan->source[matrix].axis[1 - end]}, 0};
    return k;
}

/*
 * Builds the graph with vertex w fixed. Each neighbour of w gets an edge to a new vertex, whose axis has a
 * single index. Returns 0 if the graph becomes too large, or if an entry contains w twice.
 */
static int fix(ks_slice_set *s, const ks_plan *plan, int extra, const ks_net *g, int w, ks_net *out) {
    int place[KS_NET_VERTICES], own[KS_NET_VERTICES];
    *out = (ks_net){.links = g->links};
    for (int v = 0; v < g->n; v++) {
        own[v] = -1;
        if (v != w) out->vertex[place[v] = out->n++] = g->vertex[v];
    }
    for (int k = 0; k < g->links; k++) {
        const ks_link *l = &g->link[k];
        const int v = l->u == w ? l->v : l->u;
        if (l->u != w && l->v != w) {
            out->link[k] = (ks_link){l->matrix, (uint8_t)place[l->u], (uint8_t)place[l->v]};
            continue;
        }
        if (own[v] < 0 && out->n < KS_PLAN_VERTICES)
            out->vertex[own[v] = out->n++] = (ks_vertex){.axis = (uint8_t)extra};
        const int line = v == w ? -1 : line_of(s, plan, extra, l->matrix, l->v == w);
        if (line < 0 || own[v] < 0) return 0;
        out->link[k] = (ks_link){(uint8_t)line, (uint8_t)own[v], (uint8_t)place[v]};
    }
    return 1;
}

static void begin(ks_slice_set *s, const ks_plan *plan, int axis, int extra) {
    *s = (ks_slice_set){.axis = axis, .first = plan->sources};
    s->plan = (ks_plan){.sources = plan->sources};
    memcpy(s->plan.size, plan->size, sizeof plan->size);
    memcpy(s->plan.source, plan->source, sizeof plan->source);
    s->plan.size[extra] = 1;
}

/*
 * Computes one slice by the forward pass and, if x->keep is set, the backward pass. The values stay in
 * x->graph until ks_exec_end(). A dry execution has no data.
 */
static void slice(const ks_slice_set *s, ks_exec_state *x, const double *const *data, const double *seed,
                  double *const *through) {
    static const double nothing;
    ks_exec_begin(x);
    for (int k = 0; k < s->plan.sources; k++)
        ks_exec_source(x, k, x->dry ? &nothing : k < s->first ? data[k] : s->buffer[k]);
    ks_exec_forward(x);
    for (size_t g = 0; g < s->plan.ngraphs && x->keep && !x->status; g++)
        x->seed[g] = seed ? seed[s->of[g].graph] : 1;
    if (x->keep && !x->status) ks_exec_backward(x, through);
}

/* Counts the cost of a slice. */
static kspec_status cost(ks_slice_set *s, kspec_error *err) {
    const ks_run run = {.threads = 1};
    double *const through[KS_AXES] = {NULL};
    kspec_status st = KSPEC_OK;
    for (int keep = 0; keep < 2 && !st; keep++) {
        ks_exec_state x = {
            .plan = &s->plan, .run = &run, .what = "the estimate", .keep = keep, .dry = 1, .err = err};
        slice(s, &x, NULL, NULL, through);
        s->work[keep] = x.work, s->peak[keep] = x.peak, s->products[keep] = x.products;
        st = x.status;
        ks_exec_end(&x);
    }
    return st;
}

/* Returns the vertex that is cheapest to fix, or -1 if fixing no vertex suffices. */
static int choose(const ks_plan *plan, const ks_net *g, int extra, kspec_status *st, kspec_error *err) {
    double best = INFINITY;
    int found = -1;
    for (int w = 0; w < g->n && !*st; w++) {
        ks_slice_set s;
        ks_net net;
        begin(&s, plan, g->vertex[w].axis, extra);
        if (!fix(&s, plan, extra, g, w, &net)) continue;
        *st = ks_plan_make(&s.plan, &(ks_plan_graph){&net, -1, BUDGET}, 1, err);
        if (!*st && !s.plan.any_stuck) {
            *st = cost(&s, err);
            const double work = s.work[0] * (double)plan->size[s.axis];
            if (work < best) best = work, found = w;
        }
        ks_plan_free(&s.plan);
    }
    return found;
}

kspec_status ks_slices_make(ks_slices *out, const ks_plan *plan, const ks_plan_graph *task, int axes,
                            size_t *stuck, ks_arena *arena, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    *out = (ks_slices){.sets = 0};
    *stuck = SIZE_MAX;
    int *fixed = ks_arena_alloc(arena, plan->ngraphs, sizeof *fixed);
    ks_net *net = ks_arena_alloc(arena, plan->ngraphs, sizeof *net);
    ks_plan_graph *sliced = ks_arena_alloc(arena, plan->ngraphs, sizeof *sliced);
    if (arena->failed) return ks_nomem(err, "the plan", arena->failed);
    for (size_t g = 0; g < plan->ngraphs && !st; g++) {
        fixed[g] = !plan->terminals[g].stuck ? -2
                   : axes == KS_AXES         ? -1
                                             : choose(plan, task[g].net, axes, &st, err);
        if (fixed[g] == -1) *stuck = g;
    }
    for (int a = 0; a < axes && !st && *stuck == SIZE_MAX; a++) {
        ks_slice_set *s = &out->set[out->sets];
        size_t count = 0;
        begin(s, plan, a, axes);
        s->of = ks_arena_alloc(arena, plan->ngraphs, sizeof *s->of);
        for (size_t g = 0; g < plan->ngraphs && s->of; g++) {
            if (fixed[g] < 0 || task[g].net->vertex[fixed[g]].axis != a) continue;
            if (!fix(s, plan, axes, task[g].net, fixed[g], &net[count])) *stuck = g;
            sliced[count] = (ks_plan_graph){&net[count], -1, BUDGET};
            s->of[count].graph = (uint32_t)g;
            s->of[count++].positions = task[g].net->vertex[fixed[g]].positions;
        }
        if (!count || *stuck != SIZE_MAX) continue;
        s->graphs = count;
        s->value = ks_arena_alloc(arena, ks_size(count, plan->size[a]), sizeof *s->value);
        for (int k = s->first; k < s->plan.sources; k++)
            s->buffer[k] = ks_arena_alloc(arena, plan->size[s->plan.source[k].axis[1]], sizeof(double));
        if (arena->failed) return ks_nomem(err, "the plan", arena->failed);
        st = ks_plan_make(&s->plan, sliced, count, err);
        out->sets += !st;
        if (!st) st = cost(s, err);
    }
    return st;
}

void ks_slices_free(ks_slices *s) {
    for (size_t k = 0; k < s->sets; k++) ks_plan_free(&s->set[k].plan);
    s->sets = 0;
}

double ks_slices_work(const ks_slices *s) {
    double work = 0;
    for (size_t k = 0; k < s->sets; k++)
        work += s->set[k].work[0] * (double)s->set[k].plan.size[s->set[k].axis];
    return work;
}

/* ---- values ---- */

/* Copies line i of each matrix of which a slice uses a line. */
static void take_lines(const ks_slice_set *s, const double *const *data, size_t i) {
    for (int k = s->first; k < s->plan.sources; k++) {
        const ks_leaf *of = &s->plan.source[s->line[k].matrix];
        const double *from = data[s->line[k].matrix];
        const size_t cols = s->plan.size[of->axis[1]], count = s->plan.size[s->plan.source[k].axis[1]],
                     first = s->line[k].end ? i : i * cols, step = s->line[k].end ? cols : 1;
        for (size_t j = 0; j < count; j++) s->buffer[k][j] = from[first + j * step];
    }
}

/* Computes all slices of a set. A dry execution only counts their cost. */
static void run_set(ks_slice_set *s, ks_exec_state *whole, const double *const *data,
                    double *const *through) {
    const size_t size = s->plan.size[s->axis];
    const int back = through != NULL;
    if (whole->dry) {
        const size_t all = ks_size_add(whole->live, s->peak[back]);
        whole->work += (double)size * s->work[back];
        whole->products += size * s->products[back];
        if (all > whole->peak) whole->peak = all;
        return;
    }
    for (size_t i = 0; i < size && !whole->status; i++) {
        ks_run part;
        if (!ks_exec_step(whole, s->work[back], &part)) return;
        part.device = NULL;
        ks_exec_state x = {.plan = &s->plan,
                           .run = &part,
                           .what = whole->what,
                           .keep = back,
                           .total = s->work[back],
                           .most = s->peak[back],
                           .err = whole->err};
        take_lines(s, data, i);
        slice(s, &x, data, whole->seed, through);
        for (size_t g = 0; g < s->graphs && !x.status; g++) s->value[g * size + i] = x.graph[g];
        whole->status = x.status;
        ks_exec_end(&x);
    }
}

void ks_slices_forward(ks_slices *s, ks_exec_state *x, const double *const *data) {
    for (size_t k = 0; k < s->sets && !x->status; k++) {
        ks_slice_set *set = &s->set[k];
        const size_t size = set->plan.size[set->axis];
        run_set(set, x, data, NULL);
        for (size_t g = 0; g < set->graphs && !x->dry && !x->status; g++) {
            double sum = 0;
            for (size_t i = 0; i < size; i++) sum += set->value[g * size + i];
            x->graph[set->of[g].graph] = sum;
        }
    }
}

void ks_slices_backward(ks_slices *s, ks_exec_state *x, const double *const *data, double *const *through) {
    for (size_t k = 0; k < s->sets && !x->status; k++) {
        ks_slice_set *set = &s->set[k];
        const size_t size = set->plan.size[set->axis];
        run_set(set, x, data, through);
        double *at = x->dry || x->status ? NULL : through[set->axis];
        /* The fixed vertex represents `positions` indices of the expression. */
        for (size_t g = 0; g < set->graphs && at; g++) {
            const double each = x->seed[set->of[g].graph] * set->of[g].positions;
            for (size_t i = 0; i < size; i++) at[i] += each * set->value[g * size + i];
        }
    }
}
