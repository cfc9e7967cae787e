/* Expands an expression into a weighted sum of graphs whose indices are free. */
#include "einsum/sum.h"

#include "base/error.h"
#include "einsum/tuples.h"

#include <math.h>
#include <string.h>

/* One step of the expansion lists at most TERMS products of graphs, which need about 50 MB. */
enum { TERMS = 200000, SLOTS_CENTRED = 14 };

/* ---- sums ---- */

void ks_sum_add(ks_sum *s, const uint32_t part[KS_NET_LINKS], const double weight[KS_SUM_WEIGHTS],
                double factor, size_t *failed) {
    ks_sum_term t = {{0}};
    memcpy(t.part, part, sizeof t.part);
    const uint32_t number = ks_table_number(s, &t, failed);
    for (int k = 0; k < KS_SUM_WEIGHTS && !*failed; k++)
        ks_sum_at(s, number)->weight[k] += factor * weight[k];
}

/* ---- steps ---- */

typedef struct {
    ks_net net;
    uint32_t part[KS_NET_LINKS];
} known_net;

typedef struct {
    ks_nets *nets;
    ks_table known;
    size_t failed;
} work;

/*
 * Returns the numbers of a net's connected parts, ended by 0. A table stores these numbers, since the same
 * nets occur often.
 */
static const uint32_t *parts_of(work *w, const ks_net *net) {
    static const uint32_t none[KS_NET_LINKS];
    known_net x = {.net = *net};
    const size_t before = w->known.count, number = ks_table_number(&w->known, &x, &w->failed);
    known_net *k = w->failed ? NULL : ks_table_at(&w->known, number);
    if (k && w->known.count > before) ks_nets_parts(w->nets, net, k->part, &w->failed);
    return k && !w->failed ? k->part : none;
}

/*
 * Adds a term that consists of the parts of `net` and the parts of t. Parts number a and b of t are omitted
 * (-1: none).
 */
static void put(work *w, ks_sum *to, const ks_sum_term *t, int a, int b, const ks_net *net, double factor) {
    uint32_t all[2 * KS_NET_LINKS] = {0}, part[KS_NET_LINKS] = {0};
    const uint32_t *own = parts_of(w, net);
    int n = 0;
    for (int k = 0; k < KS_NET_LINKS && t && t->part[k]; k++)
        if (k != a && k != b) all[n++] = t->part[k];
    for (int k = 0; k < KS_NET_LINKS && own[k]; k++) {
        int j = n++;
        for (; j && all[j - 1] > own[k]; j--) all[j] = all[j - 1];
        all[j] = own[k];
    }
    memcpy(part, all, sizeof part);
    static const double one[KS_SUM_WEIGHTS] = {1};
    ks_sum_add(to, part, t ? t->weight : one, factor, &w->failed);
}

/* Counts the vertices of a term with this flag on one axis, or on all axes if axis is -1. */
static int flagged(const work *w, const ks_sum_term *t, int flag, int axis) {
    int count = 0;
    for (int k = 0; k < KS_NET_LINKS && t->part[k]; k++) {
        const ks_net *g = ks_nets_at(w->nets, t->part[k]);
        for (int v = 0; v < g->n; v++)
            count += g->vertex[v].flag == flag && (axis < 0 || g->vertex[v].axis == axis);
    }
    return count;
}

/*
 * Replaces one vertex with this flag, on the first axis that has such vertices. In one new term, with weight
 * `apart`, the vertex becomes free, or distinct if it was drawn. For each distinct vertex of the axis,
 * another new term merges both vertices, with weight `joined`.
 */
static void step(work *w, const ks_sum_term *t, int flag, const ks_axis *axes, ks_sum *to) {
    int part = -1, v = -1, axis = KS_AXES;
    for (int k = 0; k < KS_NET_LINKS && t->part[k]; k++) {
        const ks_net *g = ks_nets_at(w->nets, t->part[k]);
        for (int u = 0; u < g->n; u++)
            if (g->vertex[u].flag == flag && g->vertex[u].axis < axis)
                part = k, v = u, axis = g->vertex[u].axis;
    }
    const int drawn = flag == KS_DRAWN;
    const double N = axes[axis].population, apart = drawn ? 1 - flagged(w, t, KS_DISTINCT, axis) / N : 1,
                 joined = drawn ? 1 / N : -1;
    ks_net own = *ks_nets_at(w->nets, t->part[part]);
    own.vertex[v].flag = drawn ? KS_DISTINCT : KS_FREE;
    if (apart != 0) put(w, to, t, part, -1, &own, apart);
    for (int k = 0; k < KS_NET_LINKS && t->part[k]; k++) {
        const int count = ks_nets_at(w->nets, t->part[k])->n;
        for (int u = 0; u < count; u++) {
            ks_net g = *ks_nets_at(w->nets, t->part[part]);
            const ks_vertex *other = &ks_nets_at(w->nets, t->part[k])->vertex[u];
            if (other->axis != axis || other->flag != KS_DISTINCT || (k == part && u == v)) continue;
            int at = k == part ? u : ks_net_append(&g, ks_nets_at(w->nets, t->part[k])) + u;
            g.vertex[at].positions = (uint8_t)(g.vertex[at].positions + g.vertex[v].positions);
            ks_net_merge(&g, at, v);
            put(w, to, t, part, k, &g, joined);
        }
    }
}

/*
 * Replaces every vertex with this flag, level by level. A level contains the terms with equally many such
 * vertices.
 */
static kspec_status take_all(work *w, ks_sum *from, int flag, const ks_axis *axes, ks_sum *out,
                             kspec_error *err) {
    ks_sum level[KS_NET_VERTICES + 1];
    static const double one = 1;
    int big = 0;
    for (int d = 0; d <= KS_NET_VERTICES; d++) level[d] = KS_SUM;
    for (size_t k = 0; k < from->count; k++)
        ks_sum_add(&level[flagged(w, ks_sum_at(from, k), flag, -1)], ks_sum_at(from, k)->part,
                   ks_sum_at(from, k)->weight, one, &w->failed);
    for (int d = KS_NET_VERTICES; d > 0 && !w->failed && !big; d--) {
        for (size_t k = 0; k < level[d].count && !w->failed && !big; k++) {
            step(w, ks_sum_at(&level[d], k), flag, axes, &level[d - 1]);
            big = level[d - 1].count > TERMS;
        }
        ks_table_free(&level[d]);
    }
    *out = level[0];
    for (int d = 1; d <= KS_NET_VERTICES; d++) ks_table_free(&level[d]);
    if (w->failed) return ks_nomem(err, "the plan", w->failed);
    if (big)
        return ks_fail(
            err, KSPEC_E_ARG,
            "the plan needs more than %d different graphs: use fewer distinct indices or, where it is "
            "centred, fewer entries",
            TERMS);
    return KSPEC_OK;
}

/* ---- centring ---- */

/* Lists the ends of links whose axis the expansion centres. */
static int list_ends(const ks_net *g, const ks_axis *axes, int end[2 * KS_NET_LINKS]) {
    int count = 0;
    for (int k = 0; k < 2 * g->links; k++) {
        const ks_axis *a = &axes[g->vertex[k & 1 ? g->link[k / 2].v : g->link[k / 2].u].axis];
        if (a->centred && !ks_axis_complete(a)) end[count++] = k;
    }
    return count;
}

/* Returns the net in which each end of this set has a new index. */
static ks_net split(const ks_net *g, const int *end, int ends, unsigned set, const ks_axis *axes) {
    ks_net to = {.links = g->links};
    int place[KS_NET_VERTICES], own[2 * KS_NET_LINKS] = {0};
    for (int v = 0; v < g->n; v++) place[v] = -1;
    for (int k = 0; k < ends; k++) own[end[k]] = set >> k & 1;
    for (int k = 0; k < 2 * g->links; k++) {
        int v = k & 1 ? g->link[k / 2].v : g->link[k / 2].u, at = own[k] ? -1 : place[v];
        if (at < 0) {
            const ks_axis *a = &axes[g->vertex[v].axis];
            at = to.n++;
            to.vertex[at] = (ks_vertex){g->vertex[v].axis,
                                        ks_axis_free(a)           ? KS_FREE
                                        : isfinite(a->population) ? KS_DRAWN
                                                                  : KS_DISTINCT,
                                        0};
            if (!own[k]) place[v] = at;
        }
        to.link[k / 2].matrix = g->link[k / 2].matrix;
        *(k & 1 ? &to.link[k / 2].v : &to.link[k / 2].u) = (uint8_t)at;
    }
    return to;
}

/* ---- weights ---- */

static double falling(double N, int n) {
    double f = 1;
    for (int k = 0; k < n; k++) f *= N - k;
    return f;
}

/* Returns how many indices of an axis a term has. */
static int indices(const ks_nets *nets, const ks_sum_term *t, int axis) {
    int count = 0;
    for (int k = 0; k < KS_NET_LINKS && t->part[k]; k++) {
        const ks_net *g = ks_nets_at(nets, t->part[k]);
        for (int v = 0; v < g->n; v++) count += g->vertex[v].axis == axis;
    }
    return count;
}

static ks_sum_shortage find_shortage(const ks_sum *drawn, const ks_nets *nets, const ks_axis *axes,
                                     int naxes) {
    ks_sum_shortage s = {.axis = -1};
    for (size_t k = 0; k < drawn->count; k++)
        for (int x = 0; x < naxes; x++) {
            int r = indices(nets, ks_sum_at(drawn, k), x);
            if (!ks_axis_free(&axes[x]) && (size_t)r > axes[x].size && r > s.wanted)
                s = (ks_sum_shortage){.axis = x, .wanted = r};
        }
    return s;
}

/* Returns the number of tuples of r distinct indices of an axis. */
static double tuples(const ks_axis *a, int r) {
    if (a->groups) return 1; /* the groups' axis counts */
    if (a->first) return ks_tuples(a->first, a->size, r);
    return ks_axis_complete(a) ? pow((double)a->size, r) : falling((double)a->size, r);
}

/*
 * Turns means over distinct indices into sums divided by the number of tuples. Without one index of axis k,
 * the number of tuples is (P-1)_r. Without one group, the caller takes the number from ks_tuples_ratios().
 */
static void set_weights(work *w, ks_sum *s, const ks_axis *axes, int naxes, int with_loo, ks_sum *to) {
    for (size_t k = 0; k < s->count; k++) {
        const ks_sum_term *t = ks_sum_at(s, k);
        double weight[KS_SUM_WEIGHTS] = {t->weight[0]};
        for (int x = 0; x < naxes; x++) weight[0] /= tuples(&axes[x], indices(w->nets, t, x));
        for (int x = 0; x < naxes && with_loo; x++) {
            double P = (double)axes[x].size;
            int r = indices(w->nets, t, x);
            weight[1 + x] = ks_axis_free(&axes[x]) || axes[x].first ? weight[0] : weight[0] * P / (P - r);
        }
        ks_net whole = {0};
        for (int p = 0; p < KS_NET_LINKS && t->part[p]; p++)
            ks_net_append(&whole, ks_nets_at(w->nets, t->part[p]));
        for (int v = 0; v < whole.n && with_loo; v++)
            whole.vertex[v].positions = !ks_axis_free(&axes[whole.vertex[v].axis]);
        uint32_t part[KS_NET_LINKS] = {0};
        ks_nets_parts(w->nets, &whole, part, &w->failed);
        ks_sum_add(to, part, weight, 1, &w->failed);
    }
}

/* ---- expansion ---- */

/* Drops terms whose weights cancel up to rounding. */
static void drop_zeros(work *w, ks_sum *s, double most) {
    ks_sum kept = KS_SUM;
    for (size_t k = 0; k < s->count; k++) {
        const ks_sum_term *t = ks_sum_at(s, k);
        if (fabs(t->weight[0]) > 1e-13 * most) ks_sum_add(&kept, t->part, t->weight, 1, &w->failed);
    }
    ks_table_free(s);
    *s = kept;
}

static kspec_status centre(work *w, const ks_monomial *m, size_t count, int part, const ks_axis *axes,
                           ks_sum *to, kspec_error *err) {
    double most = 0;
    for (size_t k = 0; k < count && !w->failed; k++) {
        int end[2 * KS_NET_LINKS], ends = list_ends(&m[k].net, axes, end);
        if (m[k].part != part) continue;
        most = fmax(most, fabs(m[k].coefficient));
        if (ends > SLOTS_CENTRED)
            return ks_fail(err, KSPEC_E_ARG, "centring would replace %d indices by two each; %d is the most",
                           ends, SLOTS_CENTRED);
        for (unsigned set = 0; set < 1u << ends && !w->failed; set++) {
            ks_net net = split(&m[k].net, end, ends, set, axes);
            put(w, to, NULL, -1, -1, &net, m[k].coefficient * (__builtin_popcount(set) & 1 ? -1 : 1));
        }
    }
    drop_zeros(w, to, most);
    return w->failed ? ks_nomem(err, "the plan", w->failed) : KSPEC_OK;
}

/* ---- groups ---- */

static void tie(const ks_axis *axes, int x, ks_net *net, int v) {
    const int group = axes[x].groups;
    net->vertex[net->n] = (ks_vertex){(uint8_t)group, KS_DISTINCT, 0};
    net->link[net->links++] = (ks_link){(uint8_t)axes[group].member, (uint8_t)v, net->n++};
}

/*
 * Ties each index of axis x to a group. Every term gets equally many groups. Returns 0, or the number of
 * entries if a graph becomes too large.
 */
static int tie_all(work *w, const ks_sum *s, ks_axis *axes, int x, ks_sum *to) {
    int most = 0;
    for (size_t k = 0; k < s->count; k++) {
        const int r = indices(w->nets, ks_sum_at(s, k), x);
        most = r > most ? r : most;
    }
    axes[axes[x].groups].together = most;
    for (size_t k = 0; k < s->count && !w->failed; k++) {
        const ks_sum_term *t = ks_sum_at(s, k);
        ks_net whole = {0};
        for (int p = 0; p < KS_NET_LINKS && t->part[p]; p++)
            ks_net_append(&whole, ks_nets_at(w->nets, t->part[p]));
        if (whole.links + most > KS_NET_LINKS) return whole.links + most;
        for (int r = indices(w->nets, t, x); r < most; r++)
            whole.vertex[whole.n++] = (ks_vertex){(uint8_t)x, KS_FREE, 0};
        for (int v = 0, n = whole.n; v < n; v++)
            if (whole.vertex[v].axis == x) tie(axes, x, &whole, v);
        uint32_t part[KS_NET_LINKS] = {0};
        ks_nets_parts(w->nets, &whole, part, &w->failed);
        ks_sum_add(to, part, t->weight, 1, &w->failed);
    }
    return 0;
}

kspec_status ks_sum_expand(const ks_monomial *monomials, size_t count, int part, ks_axis *axes, int naxes,
                           int with_loo, ks_nets *nets, ks_sum *out, ks_sum_shortage *shortage,
                           kspec_error *err) {
    ks_sum centred = KS_SUM, drawn = KS_SUM, weighted = KS_SUM;
    work w = {.nets = nets, .known = {.size = sizeof(known_net), .key = sizeof(ks_net)}};
    *shortage = (ks_sum_shortage){.axis = -1};
    kspec_status st = centre(&w, monomials, count, part, axes, &centred, err);
    shortage->zero = !st && !centred.count;
    for (int x = 0; x < naxes && !st && !shortage->big && !shortage->zero; x++) {
        ks_sum tied = KS_SUM;
        if (!axes[x].groups) continue;
        shortage->big = tie_all(&w, &centred, axes, x, &tied);
        ks_table_free(&centred);
        centred = tied;
        if (w.failed) st = ks_nomem(err, "the plan", w.failed);
    }
    const int none = shortage->big || shortage->zero;
    if (!st && !none) st = take_all(&w, &centred, KS_DRAWN, axes, &drawn, err);
    if (!none) *shortage = find_shortage(&drawn, nets, axes, naxes);
    if (shortage->axis < 0 && !none && !st) {
        set_weights(&w, &drawn, axes, naxes, with_loo, &weighted);
        st = w.failed ? ks_nomem(err, "the plan", w.failed)
                      : take_all(&w, &weighted, KS_DISTINCT, axes, out, err);
    }
    ks_table_free(&w.known);
    ks_table_free(&centred);
    ks_table_free(&drawn);
    ks_table_free(&weighted);
    return st;
}
