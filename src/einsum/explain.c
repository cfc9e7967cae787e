#include "einsum/explain.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { LINE = 1500, INDEX = 40 };

typedef struct {
    const ks_program *p;
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

/* The k-th index of an axis in this line: its first name in the expression, with k primes */
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

static void put_arc(writer *w, uint32_t arc, const char *from, const char *to) {
    const ks_arc *a = ks_arc_at(w->p, arc);
    for (int k = 0, next; k < a->count; k = next) {
        for (next = k; next < a->count && a->ref[next] == a->ref[k]; next++) {
        }
        const uint32_t n = a->ref[k] / 2;
        const char *first = a->ref[k] & 1 ? to : from, *second = a->ref[k] & 1 ? from : to;
        if (n < (uint32_t)w->p->sources) {
            const ks_source *s = &w->names->source[n];
            put(w, " %s", w->given[s->given].name);
            if (s->half) put(w, "%d", s->half);
        } else {
            put(w, " G%u", n - (uint32_t)w->p->sources + 1);
        }
        put(w, "[%s,%s]", first, second);
        if (next - k > 1) put(w, "^%d", next - k);
    }
}

static void put_weights(writer *w, uint32_t number, const char *index) {
    const ks_weights *d = ks_weights_at(w->p, number);
    for (uint32_t k = 0, next; k < d->count; k = next) {
        for (next = k; next < d->count && d->vector[next] == d->vector[k]; next++) {
        }
        put(w, " v%u[%s]", d->vector[k] + 1, index);
        if (next - k > 1) put(w, "^%u", next - k);
    }
}

static void put_step(writer *w, ks_step s) {
    char u[INDEX], v[INDEX], x[INDEX];
    if (s.is_vector) {
        const ks_vector *y = ks_vector_at(w->p, s.number);
        index_of(w, y->u, 0, u);
        index_of(w, y->w, y->u == y->w, x);
        put(w, "v%u[%s] =", s.number + 1, u);
        if (y->diagonal) {
            const ks_source *m = &w->names->source[y->E];
            put(w, " %s[%s,%s]", w->given[m->given].name, u, u);
            return;
        }
        put(w, " sum_%s", x);
        put_arc(w, y->E, u, x);
        put_weights(w, y->d, x);
        return;
    }
    const ks_product *y = ks_product_at(w->p, s.number);
    index_of(w, y->u, 0, u);
    index_of(w, y->v, y->u == y->v, v);
    index_of(w, y->w, (y->u == y->w) + (y->v == y->w), x);
    put(w, "G%u[%s,%s] = sum_%s", s.number + 1, u, v, x);
    put_arc(w, y->L, u, x);
    put_weights(w, y->d, x);
    put_arc(w, y->R, v, x);
    put(w, "   (a matrix product)");
}

const char *ks_explain(const ks_program *p, const ks_formula *text, const ks_names *names,
                       const ks_given *given, const ks_sum *sum, const size_t *graph_of, size_t lines,
                       ks_arena *arena) {
    const size_t all = p->steps + p->graphs + sum->count,
                 room = ks_size(all < lines ? all + 2 : lines + 2, LINE);
    writer *w = ks_arena_zalloc(arena, 1, sizeof *w);
    char *out = ks_arena_alloc(arena, room, 1);
    size_t used = 0;
    if (!w || !out) return NULL;
    *w = (writer){.p = p, .text = text, .names = names, .given = given};
    for (size_t k = 0; k < all && k <= lines; k++) {
        w->used = 0, w->line[0] = 0;
        if (k == lines) {
            put(w, "... and %zu lines more", all - lines);
        } else if (k < p->steps) {
            put_step(w, p->step[k]);
        } else if (k < p->steps + p->graphs) {
            const ks_value *v = &p->values[k - p->steps];
            char u[INDEX];
            index_of(w, v->u, 0, u);
            put(w, "S%zu = sum_%s", k - p->steps + 1, u);
            put_weights(w, v->d, u);
        } else {
            const ks_sum_term *t = &sum->term[k - p->steps - p->graphs];
            char number[40];
            ks_print(number, sizeof number, "%+.6g", t->weight[0]);
            put(w, "%s %s", k == p->steps + p->graphs ? "value =" : "       ", number);
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
