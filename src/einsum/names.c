/* Resolves the names of an expression to matrices and axes. */
#include "einsum/names.h"

#include "base/error.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    const ks_formula *text;
    const ks_given *given;
    int count;
    const ks_said *said;
    ks_names *to;
    kspec_error *err;
    /*
     * same[s] is the first side of a given matrix with the same axis as side s. index[i] is a side with the
     * axis of index i, or -1.
     */
    int same[2 * KS_GIVEN], index[KS_FORMULA_INDICES];
    /* axis[s] is the number of the axis of side s in the expression, or -1. */
    int axis[2 * KS_GIVEN];
} resolver;

static const char *const sides[2] = {"rows", "columns"};

/* ---- matrices ---- */

/* Returns the list of names that an expression may use, for messages. */
static const char *known(const resolver *r, char *room, size_t size) {
    size_t used = 0;
    room[0] = 0;
    for (int k = 0; k < r->count && used < size; k++)
        used += r->given[k].trials > 1
                    ? (size_t)snprintf(room + used, size - used, "%s%s1, %s2", k ? ", " : "",
                                       r->given[k].name, r->given[k].name)
                    : (size_t)snprintf(room + used, size - used, "%s%s", k ? ", " : "", r->given[k].name);
    return room;
}

/* Finds the matrix of this name. A list X of trials also has the names X1 and X2 for its halves. */
static kspec_status find(const resolver *r, ks_word w, int *given, int *half) {
    const char *text = r->text->text;
    char names[120];
    const int digit = text[w.at + w.length - 1];
    *half = 0;
    for (int k = 0; k < r->count; k++) {
        if (!ks_word_is(text, w, r->given[k].name)) continue;
        if (r->given[k].trials > 1)
            return ks_formula_fail(text, w.at, r->err,
                                   "%s has %zu trials: write %s1 and %s2 for two independent halves of them",
                                   r->given[k].name, r->given[k].trials, r->given[k].name, r->given[k].name);
        *given = k;
        return KSPEC_OK;
    }
    if (digit == '1' || digit == '2')
        for (int k = 0; k < r->count; k++) {
            if (!ks_word_is(text, (ks_word){w.at, w.length - 1}, r->given[k].name)) continue;
            if (r->given[k].trials < 2)
                return ks_formula_fail(text, w.at, r->err, "%s has one trial, so it has no half %.*s",
                                       r->given[k].name, w.length, text + w.at);
            *given = k, *half = digit - '0';
            return KSPEC_OK;
        }
    return ks_formula_fail(text, w.at, r->err, "unknown matrix %.*s; give %.*s=INPUT, or use %s", w.length,
                           text + w.at, w.length, text + w.at, known(r, names, sizeof names));
}

/* ---- axes ---- */

static size_t size_of(const resolver *r, int side) { return r->given[side / 2].size[side & 1]; }

static int root(const resolver *r, int side) {
    while (r->same[side] != side) side = r->same[side];
    return side;
}

static void unite(resolver *r, int a, int b) {
    a = root(r, a), b = root(r, b);
    r->same[a < b ? b : a] = a < b ? a : b;
}

static kspec_status link_axes(resolver *r) {
    const ks_formula *t = r->text;
    for (int k = 0; k < t->indices; k++) r->index[k] = -1;
    for (int p = 0; p < t->terms; p++)
        for (int k = 0; k < t->term[p].count; k++) {
            const ks_formula_entry *f = &t->term[p].factor[k];
            int given, half;
            kspec_status st = find(r, f->matrix, &given, &half);
            if (st) return st;
            for (int s = 0; s < 2; s++) {
                int *at = &r->index[f->index[s]], side = 2 * given + s;
                if (*at < 0) *at = side;
                if (size_of(r, *at) != size_of(r, side))
                    return ks_formula_fail(
                        t->text, f->name[s].at, r->err,
                        "%.*s runs over the %zu %s of %s and over the %zu %s of %s; use two names",
                        f->name[s].length, t->text + f->name[s].at, size_of(r, *at), sides[*at & 1],
                        r->given[*at / 2].name, size_of(r, side), sides[s], r->given[given].name);
                unite(r, *at, side);
            }
        }
    return KSPEC_OK;
}

/* ---- lists ---- */

/* Reads the next name of a list and moves *at behind the name. Returns 0 at the end of the list. */
static int next_name(const char **at, const char **name) {
    while (**at == ',' || **at == ' ') ++*at;
    *name = *at;
    while (**at && **at != ',' && **at != ' ' && **at != '=') ++*at;
    return (int)(*at - *name);
}

/* Declares that the matrices in the option's list have the same columns. */
static kspec_status link_columns(resolver *r) {
    const char *at = r->said->same_cols, *name;
    int first = -1, length;
    while (at && (length = next_name(&at, &name)) > 0) {
        int given = -1;
        for (int k = 0; k < r->count; k++)
            if (strlen(r->given[k].name) == (size_t)length &&
                !strncmp(r->given[k].name, name, (size_t)length))
                given = k;
        if (given < 0)
            return ks_about(r->err, "same_cols", NULL,
                            ks_fail(r->err, KSPEC_E_ARG, "'%.*s' is not one of the matrices", length, name));
        if (first < 0) first = given;
        if (r->given[first].size[1] != r->given[given].size[1])
            return ks_about(r->err, "same_cols", NULL,
                            ks_fail(r->err, KSPEC_E_ARG, "%s has %zu columns and %s has %zu",
                                    r->given[first].name, r->given[first].size[1], r->given[given].name,
                                    r->given[given].size[1]));
        unite(r, 2 * first + 1, 2 * given + 1);
    }
    return KSPEC_OK;
}

static kspec_status number_axes(resolver *r) {
    const ks_formula *t = r->text;
    ks_names *to = r->to;
    for (int k = 0; k < 2 * r->count; k++) r->axis[k] = -1;
    for (int k = 0; k < t->indices; k++) {
        int at = root(r, r->index[k]);
        if (r->axis[at] < 0) {
            if (to->axes == KS_AXES)
                return ks_formula_fail(t->text, t->index[k].at, r->err, "more than %d axes", KS_AXES);
            r->axis[at] = to->axes;
            to->letter[to->axes] = t->index[k];
            to->axis[to->axes++] = (ks_axis){.size = size_of(r, at), .population = INFINITY};
        }
        to->index_axis[k] = r->axis[at];
    }
    for (int k = 0; k < 2 * r->count; k++) r->axis[k] = r->axis[root(r, k)];
    for (int x = 0; x < to->axes; x++) {
        char *label = to->label[x];
        size_t used = 0, size = KS_AXIS_LABEL, listed = 0;
        int square = 0, cols = 1, before = 0;
        for (int k = 0; k < 2 * r->count; k++)
            if (r->axis[k] == x) cols &= k & 1, square |= (k & 1) && r->axis[k - 1] == x;
        used += (size_t)snprintf(label, size, "%s of ", square ? "rows and columns" : sides[cols]);
        for (int k = 0; k < r->count && used < size; k++)
            if (r->axis[2 * k] == x || r->axis[2 * k + 1] == x)
                used += (size_t)snprintf(label + used, size - used, "%s%s", before++ ? ", " : "",
                                         r->given[k].name);
        for (int k = 0; k < 2 * r->count && listed < size; k++)
            if (r->axis[k] == x)
                listed += (size_t)snprintf(to->sides[x] + listed, size - listed, "%s%s:%s", listed ? " " : "",
                                           r->given[k / 2].name, k & 1 ? "cols" : "rows");
        for (int k = 0, any = 0; k < t->indices && used < size; k++)
            if (to->index_axis[k] == x)
                used += (size_t)snprintf(label + used, size - used, "%s%.*s", any++ ? ", " : " (",
                                         t->index[k].length, t->text + t->index[k].at);
        if (used < size) snprintf(label + used, size - used, ")");
    }
    return KSPEC_OK;
}

/*
 * Returns the set of axes that a name means, which may be the axis of an index, all rows, all columns, or
 * both.
 */
static kspec_status axes_of(const resolver *r, const char *option, const char *name, int length,
                            unsigned *set) {
    const ks_formula *t = r->text;
    const int rows = (length == 4 && !strncmp(name, "rows", 4)),
              cols = (length == 4 && !strncmp(name, "cols", 4)),
              both = (length == 4 && !strncmp(name, "both", 4)),
              none = length == 4 && !strncmp(name, "none", 4);
    *set = 0;
    for (int k = 0; k < t->indices; k++)
        if (t->index[k].length == length && !strncmp(t->text + t->index[k].at, name, (size_t)length))
            *set |= 1u << r->to->index_axis[k];
    if (*set || none) return KSPEC_OK;
    for (int k = 0; k < 2 * r->count; k++)
        if (r->axis[k] >= 0 && (k & 1 ? cols || both : rows || both)) *set |= 1u << r->axis[k];
    if (*set) return KSPEC_OK;
    return ks_about(r->err, option, NULL,
                    ks_fail(r->err, KSPEC_E_ARG,
                            "'%.*s' is not an index of the expression, nor one of rows, cols, both", length,
                            name));
}

static kspec_status read_said(resolver *r) {
    static const char *const option[] = {"center", "complete", "population"};
    const char *lists[] = {r->said->center, r->said->complete, r->said->population};
    ks_names *to = r->to;
    for (int o = 0; o < 3; o++) {
        const char *at = lists[o], *name;
        int length;
        while (at && (length = next_name(&at, &name)) > 0) {
            unsigned set;
            double N = 0;
            kspec_status st = axes_of(r, option[o], name, length, &set);
            if (st) return st;
            if (o == 2) {
                char *end = NULL;
                if (*at == '=' && isdigit((unsigned char)at[1])) N = (double)strtoull(at + 1, &end, 10);
                if (!end || (*end && *end != ','))
                    return ks_about(r->err, option[o], NULL,
                                    ks_fail(r->err, KSPEC_E_ARG,
                                            "'%s' is not an index and a size, such as i=1000", name));
                at = end;
            } else if (*at == '=') {
                return ks_about(
                    r->err, option[o], NULL,
                    ks_fail(r->err, KSPEC_E_ARG, "'%s' is not a list of indices, such as i,a", name));
            }
            for (int x = 0; x < to->axes; x++) {
                ks_axis *a = &to->axis[x];
                if (!(set >> x & 1)) continue;
                if (o == 0) a->centred = 1;
                if (o == 1) a->population = (double)a->size;
                if (o < 2) continue;
                if (N < (double)a->size)
                    return ks_about(r->err, option[o], NULL,
                                    ks_fail(r->err, KSPEC_E_ARG, "%.*s=%.0f: there are %zu %s already",
                                            length, name, N, a->size, to->label[x]));
                if (isfinite(a->population))
                    return ks_about(r->err, option[o], NULL,
                                    ks_fail(r->err, KSPEC_E_ARG,
                                            "%.*s is complete, or has a population already", length, name));
                a->population = N;
            }
        }
    }
    return KSPEC_OK;
}

/* ---- groups ---- */

static kspec_status fail_groups(const resolver *r, kspec_status st) {
    return ks_about(r->err, "row_groups", NULL, st);
}

/* Finds the axis of all rows in the expression. Fails and returns 0 if the expression has two such axes. */
static kspec_status find_rows(const resolver *r, int *rows) {
    const ks_names *n = r->to;
    *rows = -1;
    for (int k = 0; k < 2 * r->count; k += 2) {
        if (*rows >= 0 && r->axis[k] >= 0 && r->axis[k] != *rows)
            return fail_groups(
                r, ks_formula_fail(r->text->text, n->letter[r->axis[k]].at, r->err,
                                   "groups apply to one kind of rows, the %s; this entry has the %s",
                                   n->label[*rows], n->label[r->axis[k]]));
        if (r->axis[k] >= 0) *rows = r->axis[k];
    }
    return KSPEC_OK;
}

/* Adds the axis of groups, and the matrix that assigns rows to groups. */
static kspec_status add_groups(resolver *r) {
    const ks_groups *g = r->said->groups;
    ks_names *to = r->to;
    int rows;
    kspec_status st = g ? find_rows(r, &rows) : KSPEC_OK;
    if (st || !g) return st;
    ks_axis *a = &to->axis[rows];
    if (g->n != a->size)
        return fail_groups(r,
                           ks_fail(r->err, KSPEC_E_ARG, "%zu labels of groups were given; there are %zu %s",
                                   g->n, a->size, to->label[rows]));
    if (isfinite(a->population))
        return fail_groups(r, ks_fail(r->err, KSPEC_E_ARG,
                                      "the %s come in groups, and cannot be complete or from a population",
                                      to->label[rows]));
    if (!g->of) return KSPEC_OK; /* single rows need no groups */
    if (to->axes == KS_AXES)
        return fail_groups(
            r, ks_fail(r->err, KSPEC_E_ARG, "an expression with groups has at most %d axes", KS_AXES - 1));
    to->grouped = rows, to->groups = a->groups = to->axes++;
    to->letter[to->groups] = to->letter[rows];
    char label[KS_AXIS_LABEL] = "groups of the ";
    strncat(label, to->label[rows], sizeof label - strlen(label) - 1);
    memcpy(to->label[to->groups], label, sizeof label);
    to->source[to->sources] = (ks_source){r->count, 0, {rows, to->groups}};
    to->axis[to->groups] =
        (ks_axis){.size = g->count, .population = INFINITY, .first = g->start, .member = to->sources++};
    return KSPEC_OK;
}

/* ---- graphs ---- */

static int source_of(resolver *r, int given, int half) {
    ks_names *to = r->to;
    for (int k = 0; k < to->sources; k++)
        if (to->source[k].given == given && to->source[k].half == half) return k;
    to->source[to->sources] =
        (ks_source){given, half, {r->axis[root(r, 2 * given)], r->axis[root(r, 2 * given + 1)]}};
    return to->sources++;
}

static kspec_status make_net(resolver *r, const ks_formula_term *t, ks_monomial *m) {
    const char *text = r->text->text;
    int vertex[KS_FORMULA_INDICES], used[KS_FORMULA_INDICES] = {0}, distinct[KS_AXES] = {0};
    ks_word first[KS_FORMULA_INDICES];
    memset(vertex, -1, sizeof vertex);
    *m = (ks_monomial){.coefficient = t->coefficient, .part = t->part};
    for (int k = 0; k < t->count; k++) {
        const ks_formula_entry *f = &t->factor[k];
        int given, half, at[2];
        kspec_status st = find(r, f->matrix, &given, &half);
        if (st) return st;
        r->to->halves |= half;
        for (int s = 0; s < 2; s++) {
            const int index = f->index[s], axis = r->to->index_axis[index];
            if (vertex[index] < 0) {
                first[index] = f->name[s];
                if (++distinct[axis] > KS_DISTINCT_MOST)
                    return ks_formula_fail(text, f->name[s].at, r->err,
                                           "%.*s is the sixth distinct index of the %s; %d is the most",
                                           f->name[s].length, text + f->name[s].at, r->to->label[axis],
                                           KS_DISTINCT_MOST);
                vertex[index] = m->net.n;
                m->net.vertex[m->net.n++].axis = (uint8_t)axis;
            }
            at[s] = vertex[index];
            used[index]++;
        }
        m->net.link[m->net.links++] =
            (ks_link){(uint8_t)source_of(r, given, half), (uint8_t)at[0], (uint8_t)at[1]};
    }
    for (int k = 0; k < r->text->indices; k++)
        if (used[k] == 1 && r->to->axis[r->to->index_axis[k]].centred)
            return ks_formula_fail(
                text, first[k].at, r->err,
                "this product is always 0 if centred, since %.*s is used only once; use it with a second "
                "entry, or do not centre the %s",
                first[k].length, text + first[k].at, r->to->label[r->to->index_axis[k]]);
    return KSPEC_OK;
}

kspec_status ks_names_resolve(const ks_formula *text, const ks_given *given, size_t count,
                              const ks_said *said, ks_names *out, kspec_error *err) {
    memset(out, 0, sizeof *out);
    resolver r = {.text = text, .given = given, .count = (int)count, .said = said, .to = out, .err = err};
    if (count < 1 || count > KS_GIVEN)
        return ks_fail(err, KSPEC_E_ARG, "there are %zu matrices; 1 to %d are expected", count, KS_GIVEN);
    for (int k = 0; k < 2 * r.count; k++) r.same[k] = k;
    out->given = r.count;
    kspec_status st = link_columns(&r);
    if (!st) st = link_axes(&r);
    if (!st) st = number_axes(&r);
    if (!st) st = read_said(&r);
    for (int k = 0; k < text->terms && !st; k++)
        st = make_net(&r, &text->term[k], &out->monomial[out->monomials++]);
    /* With halves of trials, list each product a second time with the halves swapped. */
    for (int k = 0; k < text->terms && !st && out->halves; k++) {
        ks_monomial m = out->monomial[k];
        m.coefficient /= 2;
        out->monomial[k].coefficient /= 2;
        for (int l = 0; l < m.net.links; l++) {
            const ks_source s = out->source[m.net.link[l].matrix];
            m.net.link[l].matrix =
                (uint8_t)(s.half ? source_of(&r, s.given, 3 - s.half) : m.net.link[l].matrix);
        }
        out->monomial[out->monomials++] = m;
    }
    return st ? st : add_groups(&r);
}
