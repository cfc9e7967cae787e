/*
 * Finds the canonical form of a graph, so that equal graphs get equal codes. Each vertex of the graph has a
 * colour. The code refines the colours by those of the neighbours, until no class of equal colours splits. If
 * several vertices still share a colour, the search tries each of them as the first, and keeps the least
 * code. A code lists the whole graph, so equal codes mean equal graphs. A search that ends early may share
 * less work, but its result is still correct.
 */
#include "einsum/net.h"

#include <stdlib.h>
#include <string.h>

/* The search for the least code visits at most LEAVES leaves. */
enum { LEAVES = 300 };

static uint64_t mix(uint64_t a, uint64_t b) {
    a = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    a ^= a >> 29;
    a *= UINT64_C(0xbf58476d1ce4e5b9);
    return a ^ a >> 32;
}

/* ---- canonical form ---- */

typedef struct {
    const ks_net *net;
    int leaves;
    int found;
    ks_net best;
} search;

static int classes(const uint64_t *c, int n) {
    int count = 0;
    for (int i = 0; i < n; i++) {
        int old = 0;
        for (int k = 0; k < i; k++) old |= c[k] == c[i];
        count += !old;
    }
    return count;
}

/* Computes the new colour of each vertex from its old colour and the set of colours at its edges. */
static void refine(const ks_net *g, uint64_t *c) {
    int count = classes(c, g->n), before;
    do {
        uint64_t sum[KS_NET_VERTICES] = {0};
        for (int k = 0; k < g->links; k++) {
            const ks_link *l = &g->link[k];
            sum[l->u] += mix(c[l->v], 2u * l->matrix + 1);
            sum[l->v] += mix(c[l->u], 2u * l->matrix + 2 + (l->u == l->v ? 1000u : 0));
        }
        for (int v = 0; v < g->n; v++) c[v] = mix(c[v], sum[v]);
        before = count;
        count = classes(c, g->n);
    } while (count > before && count < g->n);
}

static int by_bytes(const void *a, const void *b) { return memcmp(a, b, sizeof(ks_link)); }

/* Writes the net with its vertices in the order of their colours, which are all different. */
static void leaf(search *s, const uint64_t *c) {
    const ks_net *g = s->net;
    ks_net code = {.n = g->n, .links = g->links};
    uint8_t place[KS_NET_VERTICES];
    for (int v = 0; v < g->n; v++) {
        int at = 0;
        for (int u = 0; u < g->n; u++) at += c[u] < c[v] || (u < v && c[u] == c[v]);
        place[v] = (uint8_t)at;
        code.vertex[at] = g->vertex[v];
    }
    for (int k = 0; k < g->links; k++) {
        const ks_link *l = &g->link[k];
        code.link[k] = (ks_link){l->matrix, place[l->u], place[l->v]};
    }
    qsort(code.link, code.links, sizeof *code.link, by_bytes);
    if (!s->found || memcmp(&code, &s->best, sizeof code) < 0) s->best = code;
    s->found = 1;
    s->leaves++;
}

/*
 * Do u and v have the same edges to the same vertices, and no edge to each other? If they do, either of u and
 * v may come first.
 */
static int twins(const ks_net *g, int u, int v) {
    int count[KS_NET_LINKS] = {0};
    for (int k = 0; k < g->links; k++) {
        const ks_link *l = &g->link[k];
        int at_u = l->u == u || l->v == u, at_v = l->u == v || l->v == v;
        if (at_u && at_v) return 0;
        if (!at_u) continue;
        ks_link want = *l;
        if (want.u == u) want.u = (uint8_t)v;
        if (want.v == u) want.v = (uint8_t)v;
        int found = 0;
        for (int j = 0; j < g->links && !found; j++)
            if (!count[j] && !memcmp(&g->link[j], &want, sizeof want)) count[j] = found = 1;
        if (!found) return 0;
    }
    int at_v = 0, used = 0;
    for (int k = 0; k < g->links; k++) at_v += g->link[k].u == v || g->link[k].v == v, used += count[k];
    return at_v == used;
}

static void look(search *s, const uint64_t *c) {
    const ks_net *g = s->net;
    int members[KS_NET_VERTICES], count = 0;
    uint64_t least = 0;
    /* Find the smallest colour that several vertices share, and how many vertices have it. */
    for (int v = 0; v < g->n; v++) {
        int same = 0;
        for (int u = 0; u < g->n; u++) same += c[u] == c[v];
        if (same > 1 && (!count || c[v] < least)) least = c[v], count = same;
    }
    if (!count) {
        leaf(s, c);
        return;
    }
    count = 0;
    for (int v = 0; v < g->n; v++)
        if (c[v] == least) members[count++] = v;
    for (int k = 0; k < count && s->leaves < LEAVES; k++) {
        int again = 0;
        for (int j = 0; j < k; j++) again |= twins(g, members[j], members[k]);
        if (again) continue;
        uint64_t d[KS_NET_VERTICES];
        memcpy(d, c, sizeof d);
        d[members[k]] = mix(d[members[k]], 77);
        refine(g, d);
        look(s, d);
    }
}

static ks_net canonical(const ks_net *net) {
    search s = {.net = net};
    uint64_t c[KS_NET_VERTICES] = {0};
    for (int v = 0; v < net->n; v++)
        c[v] = mix(net->vertex[v].axis * 1000u + net->vertex[v].flag * 100u + net->vertex[v].positions, 5);
    refine(net, c);
    look(&s, c);
    return s.best;
}

/* ---- numbers ---- */

uint32_t ks_nets_number(ks_nets *s, const ks_net *net, size_t *failed) {
    const ks_net code = canonical(net);
    return ks_table_number(s, &code, failed) + 1;
}

/* ---- parts ---- */

int ks_net_append(ks_net *to, const ks_net *part) {
    int first = to->n;
    for (int v = 0; v < part->n; v++) to->vertex[to->n++] = part->vertex[v];
    for (int k = 0; k < part->links; k++)
        to->link[to->links++] = (ks_link){part->link[k].matrix, (uint8_t)(part->link[k].u + first),
                                          (uint8_t)(part->link[k].v + first)};
    return first;
}

void ks_net_merge(ks_net *net, int u, int v) {
    int last = net->n - 1;
    for (int k = 0; k < net->links; k++) {
        ks_link *l = &net->link[k];
        if (l->u == v) l->u = (uint8_t)u;
        if (l->v == v) l->v = (uint8_t)u;
    }
    for (int k = 0; k < net->links && v != last; k++) {
        ks_link *l = &net->link[k];
        if (l->u == last) l->u = (uint8_t)v;
        if (l->v == last) l->v = (uint8_t)v;
    }
    net->vertex[v] = net->vertex[last];
    net->vertex[last] = (ks_vertex){0};
    net->n--;
}

int ks_nets_parts(ks_nets *s, const ks_net *net, uint32_t number[KS_NET_LINKS], size_t *failed) {
    int of[KS_NET_VERTICES], count = 0;
    for (int v = 0; v < net->n; v++) of[v] = v;
    for (int changed = 1; changed;) {
        changed = 0;
        for (int k = 0; k < net->links; k++) {
            int *a = &of[net->link[k].u], *b = &of[net->link[k].v];
            if (*a == *b) continue;
            *a = *b = *a < *b ? *a : *b;
            changed = 1;
        }
    }
    for (int root = 0; root < net->n; root++) {
        ks_net part = {0};
        int to[KS_NET_VERTICES];
        if (of[root] != root) continue;
        for (int v = 0; v < net->n; v++)
            if (of[v] == root) to[v] = part.n, part.vertex[part.n++] = net->vertex[v];
        for (int k = 0; k < net->links; k++)
            if (of[net->link[k].u] == root)
                part.link[part.links++] =
                    (ks_link){net->link[k].matrix, (uint8_t)to[net->link[k].u], (uint8_t)to[net->link[k].v]};
        if (part.links) number[count++] = ks_nets_number(s, &part, failed);
    }
    for (int k = 1; k < count; k++) /* in increasing order */
        for (int j = k; j && number[j] < number[j - 1]; j--) {
            uint32_t t = number[j];
            number[j] = number[j - 1], number[j - 1] = t;
        }
    return count;
}
