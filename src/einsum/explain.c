/* Prints the plan of an expression for a person to read. */
#include "einsum/explain.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1500, INDEX = 40 };

typedef struct {
    const ks_plan *p;
    const ks_formula *text;
    const ks_names *names;
    const ks_given *given;
    char line[LINE];
    size_t used;
} writer;

static void put(writer *w, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(writer *w, const char *fmt, ...) {
    va_list args;
    va_start(args, fmt);
    if (w->used < LINE) w->used += (size_t)vsnprintf(w->line + w->used, LINE - w->used, fmt, args);
    va_end(args);
}

/*
 * Writes the name of the k-th index of an axis in one line of the plan: the name of the axis's first index in
 * the expression, with k primes.
 */
static const char *index_of(const writer *w, int axis, int k, char *out) {
    static const char primes[] = "''";
    if (axis && axis == w->names->groups) {
        snprintf(out, INDEX, "group%.*s", k, primes);
        return out;
    }
    snprintf(out, INDEX, "%.*s%.*s", w->names->letter[axis].length < 30 ? w->names->letter[axis].length : 30,
             w->text->text + w->names->letter[axis].at, k, primes);
    return out;
}

static void put_edge(writer *w, uint32_t edge, const char *from, const char *to) {
    const ks_edge *e = &w->p->edges[edge];
    for (int k = 0, next; k < e->nleaf + e->nref; k = next) {
        const int leaf = k < e->nleaf;
        const uint32_t ref = leaf ? e->leaf[k] : e->ref[k - e->nleaf];
        for (next = k; next < (leaf ? e->nleaf : e->nleaf + e->nref) &&
                       (leaf ? e->leaf[next] : e->ref[next - e->nleaf]) == ref;
             next++) {
        }
        if (leaf) {
            const ks_source *s = &w->names->source[ref / 2];
            put(w, " %s", w->given[s->given].name);
            if (s->half) put(w, "%d", s->half);
        } else {
            put(w, " G%u", ref / 2 + 1);
        }
        put(w, "[%s,%s]", ref & 1 ? to : from, ref & 1 ? from : to);
        if (next - k > 1) put(w, "^%d", next - k);
    }
}

static void put_weights(writer *w, uint32_t number, const char *index) {
    const ks_weights *d = &w->p->weights[number];
    for (int k = 0, next; k < d->nvec; k = next) {
        for (next = k; next < d->nvec && d->vec[next] == d->vec[k]; next++) {
        }
        put(w, " v%u[%s]", d->vec[k] + 1, index);
        if (next - k > 1) put(w, "^%d", next - k);
    }
}

static void put_vector(writer *w, uint32_t number) {
    char u[INDEX], x[INDEX];
    const ks_vector *y = &w->p->vectors[number];
    index_of(w, y->ku, 0, u);
    index_of(w, y->kw, y->ku == y->kw, x);
    put(w, "v%u[%s] =", number + 1, u);
    if (y->diagonal) {
        put(w, " %s[%s,%s]", w->given[w->names->source[y->E].given].name, u, u);
        return;
    }
    put(w, " sum_%s", x);
    put_edge(w, y->E, u, x);
    put_weights(w, y->d, x);
}

static void put_product(writer *w, uint32_t number) {
    char u[INDEX], v[INDEX], x[INDEX];
    const ks_product *y = &w->p->products[number];
    index_of(w, y->ku, 0, u);
    index_of(w, y->kv, y->ku == y->kv, v);
    index_of(w, y->kw, (y->ku == y->kw) + (y->kv == y->kw), x);
    put(w, "G%u[%s,%s] = sum_%s", number + 1, u, v, x);
    put_edge(w, y->L, u, x);
    put_weights(w, y->d, x);
    put_edge(w, y->R, v, x);
    put(w, "   (a matrix product)");
}

static void put_graph(writer *w, const ks_slices *slices, uint32_t graph) {
    char u[INDEX];
    const ks_terminal *t = &w->p->terminals[graph];
    put(w, "S%u =", graph + 1);
    for (size_t k = 0; k < slices->sets && t->stuck; k++)
        for (size_t g = 0; g < slices->set[k].graphs; g++)
            if (slices->set[k].of[g].graph == graph)
                put(w,
                    " sum_%s of slices, in which it is fixed; a slice of all such sums takes %zu matrix "
                    "products",
                    index_of(w, slices->set[k].axis, 0, u), slices->set[k].products[0]);
    if (t->stuck) return;
    put(w, " sum_%s", index_of(w, t->ku, 0, u));
    put_weights(w, t->du, u);
}

const char *ks_explain(const ks_plan *p, const ks_slices *slices, const ks_formula *text,
                       const ks_names *names, const ks_given *given, const ks_sum *sum,
                       const size_t *graph_of, size_t lines, ks_arena *arena) {
    const size_t all = p->nops + sum->count, room = ks_size(all < lines ? all + 2 : lines + 2, LINE);
    writer *w = ks_arena_zalloc(arena, 1, sizeof *w);
    char *out = ks_arena_alloc(arena, room, 1);
    size_t used = 0;
    if (!w || !out) return NULL;
    *w = (writer){.p = p, .text = text, .names = names, .given = given};
    for (size_t k = 0; k < all && k <= lines; k++) {
        w->used = 0, w->line[0] = 0;
        if (k == lines) {
            put(w, "... and %zu lines more", all - lines);
        } else if (k < p->nops) {
            switch (p->ops[k].kind) {
            case KS_OP_PRODUCT: put_product(w, p->ops[k].index); break;
            case KS_OP_VECTOR: put_vector(w, p->ops[k].index); break;
            case KS_OP_TERMINAL: put_graph(w, slices, p->ops[k].index); break;
            }
        } else {
            const ks_sum_term *t = ks_sum_at(sum, k - p->nops);
            char number[40];
            ks_print(number, sizeof number, "%+.6g", t->weight[0]);
            put(w, "%s %s", k == p->nops ? "value =" : "       ", number);
            for (int j = 0; j < KS_NET_LINKS && t->part[j]; j++) put(w, " S%zu", graph_of[t->part[j]] + 1);
        }
        const size_t length = w->used < LINE ? w->used : LINE - 1;
        memcpy(out + used, w->line, length);
        used += length;
        out[used++] = '\n';
    }
    out[used] = 0;
    return out;
}
