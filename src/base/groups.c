/* Turns labels into groups, orders rows by group, and counts sets of rows from different groups. */
#include "base/groups.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    uint64_t label;
    size_t at;
} labelled;

static int by_label(const void *a, const void *b) {
    const labelled *x = a, *y = b;
    if (x->label != y->label) return x->label < y->label ? -1 : 1;
    return x->at < y->at ? -1 : 1;
}

kspec_status ks_groups_make(ks_groups *g, const uint64_t *labels, size_t n, const char *what, ks_arena *arena,
                            kspec_error *err) {
    *g = (ks_groups){.n = n, .count = n};
    if (!labels) return KSPEC_OK;
    ks_arena scratch = {0};
    labelled *list = ks_arena_alloc(&scratch, n, sizeof *list);
    g->of = ks_arena_alloc(arena, n, sizeof *g->of);
    g->start = ks_arena_zalloc(arena, n + 1, sizeof *g->start);
    g->member = ks_arena_alloc(arena, n, sizeof *g->member);
    if (!list || arena->failed) {
        ks_arena_free(&scratch);
        return ks_nomem(err, "the groups", ks_size(n, sizeof *list));
    }
    for (size_t i = 0; i < n; i++) list[i] = (labelled){labels[i], i};
    qsort(list, n, sizeof *list, by_label);
    /*
     * First of[i] becomes the index of the first row with i's label. Then of[i] becomes the number of i's
     * group, in order of appearance.
     */
    for (size_t i = 0, first = 0; i < n; i++) {
        if (i == 0 || list[i].label != list[i - 1].label) first = list[i].at;
        g->of[list[i].at] = first;
    }
    ks_arena_free(&scratch);
    g->count = 0;
    for (size_t i = 0; i < n; i++) {
        g->of[i] = g->of[i] == i ? g->count++ : g->of[g->of[i]];
        g->start[g->of[i] + 1]++;
    }
    if (g->count < 2)
        return ks_fail(err, KSPEC_E_ARG, "all %zu %ss have one label: at least 2 groups are needed", n, what);
    if (g->count == n) g->of = NULL;
    for (size_t k = 0; k < g->count; k++) g->start[k + 1] += g->start[k];
    /*
     * While the first loop lists the members, start[k] moves to the end of group k. The second loop moves
     * start[k] back.
     */
    for (size_t i = 0; i < n && g->of; i++) g->member[g->start[g->of[i]]++] = i;
    for (size_t k = g->count; k > 0 && g->of; k--) g->start[k] = g->start[k - 1];
    g->start[0] = 0;
    return KSPEC_OK;
}

kspec_status ks_group_order_alloc(ks_group_order *o, const ks_groups *g, ks_arena *arena, kspec_error *err) {
    o->place = ks_arena_alloc(arena, g->n, sizeof *o->place);
    o->group = ks_arena_alloc(arena, g->count, sizeof *o->group);
    o->first = ks_arena_alloc(arena, g->count + 1, sizeof *o->first);
    return arena->failed ? ks_nomem(err, "an order of rows and columns", arena->failed) : KSPEC_OK;
}

void ks_group_order_set(ks_group_order *o, const ks_groups *g) {
    size_t at = 0;
    for (size_t k = 0; k < g->count; k++) {
        size_t own = o->group[k];
        o->first[k] = at;
        for (size_t i = 0; i < ks_group_size(g, own); i++)
            o->place[at++] = g->of ? g->member[g->start[own] + i] : own;
    }
    o->first[g->count] = at;
}

/* ---- counting ---- */

ks_wide ks_wide_of(double x) {
    ks_wide w;
    w.f = frexp(x, &w.e);
    return w;
}

static ks_wide normal(double f, int e) {
    int de;
    f = frexp(f, &de);
    return (ks_wide){f, f == 0 ? 0 : e + de};
}

ks_wide ks_wide_times(ks_wide a, ks_wide b) { return normal(a.f * b.f, a.e + b.e); }

static ks_wide plus(ks_wide a, ks_wide b) {
    if (a.f == 0) return b;
    if (b.f == 0) return a;
    if (a.e < b.e) return plus(b, a);
    return normal(a.f + ldexp(b.f, b.e - a.e), a.e);
}

void ks_group_counts(const size_t *first, size_t count, size_t without, int nmax, ks_wide *e) {
    e[0] = ks_wide_of(1);
    for (int n = 1; n <= nmax; n++) e[n] = (ks_wide){0, 0};
    for (size_t k = 0, most = 0; k < count; k++) {
        if (k == without) continue;
        ks_wide s = ks_wide_of((double)(first[k + 1] - first[k]));
        if (most < (size_t)nmax) most++;
        for (size_t n = most; n >= 1; n--) e[n] = plus(e[n], ks_wide_times(e[n - 1], s));
    }
}
