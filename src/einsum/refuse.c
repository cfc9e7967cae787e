/* Reports why an expression cannot be estimated, and marks the reason in the text. */
#include "einsum/refuse.h"

#include "base/error.h"

#include <stdio.h>
#include <string.h>

kspec_status ks_refuse_short(const ks_formula *text, const ks_names *names, ks_sum_shortage s,
                             kspec_error *err) {
    const ks_axis *a = &names->axis[s.axis];
    const int centred = a->centred || (a->first && names->axis[names->grouped].centred);
    return ks_formula_fail(text->text, names->letter[s.axis].at, err,
                           "%d %s%s are needed%s; there are %zu: use fewer names, or more data", s.wanted,
                           a->first ? "" : "distinct indices of the ", names->label[s.axis],
                           centred ? " where they are centred" : "", a->size);
}

/*
 * Reports that a product with groups has too many entries. Each distinct row needs one more entry, which
 * contains the row's group.
 */
kspec_status ks_refuse_groups(const ks_formula *text, const ks_names *names, int entries, kspec_error *err) {
    const int rows = names->grouped;
    return ks_formula_fail(
        text->text, names->letter[rows].at, err,
        "with groups, a product's entries and its distinct %s%s are %d together; %d is the "
        "most",
        names->label[rows], names->axis[rows].centred ? ", where centring adds one for each entry," : "",
        entries, KS_NET_LINKS);
}

/*
 * Do two products of the text have the same graphs? With halves of trials, either order of the halves counts.
 */
static int same_product(const ks_names *n, ks_nets *nets, int terms, int a, int b, size_t *failed) {
    int same = 0;
    for (int m = b; m < n->monomials; m += terms) {
        uint32_t of[2][KS_NET_LINKS] = {{0}};
        ks_nets_parts(nets, &n->monomial[a].net, of[0], failed);
        ks_nets_parts(nets, &n->monomial[m].net, of[1], failed);
        same |= !memcmp(of[0], of[1], sizeof of[0]);
    }
    return same;
}

/*
 * Reports that the products of an expression cancel, and marks the last product that equals an earlier one.
 * An equal product always exists. Centring only adds graphs with more indices, so a graph with the fewest
 * indices is a product itself.
 */
kspec_status ks_refuse_zero(const ks_formula *t, const ks_names *names, ks_nets *nets, int part,
                            kspec_error *err) {
    enum { SHOWN = 60 };
    size_t failed = 0;
    for (int a = t->terms; a-- > 1 && !failed;)
        for (int b = 0; b < a; b++) {
            const ks_formula_term *of = &t->term[b];
            if (t->term[a].part != part || of->part != part ||
                !same_product(names, nets, t->terms, a, b, &failed))
                continue;
            const int last = of->factor[of->count - 1].name[1].at,
                      length = last + (int)strcspn(t->text + last, "]") + 1 - of->at;
            return ks_formula_fail(
                t->text, t->term[a].at, err,
                "this product equals '%.*s%s', and the sum is 0 for any data; leave one of "
                "them out, or change which of its indices are equal",
                length < SHOWN ? length : SHOWN, t->text + of->at, length < SHOWN ? "" : " ...");
        }
    return ks_nomem(err, "the plan", failed);
}

/* Reports the axes of indices over which the plan cannot sum one after the other. */
kspec_status ks_refuse_stuck(const ks_names *names, const ks_net *g, uint32_t stuck, kspec_error *err) {
    char list[200] = "";
    size_t used = 0;
    int count[KS_AXES] = {0};
    for (int v = 0; v < g->n; v++) count[g->vertex[v].axis] += stuck >> v & 1;
    for (int x = 0, any = 0; x < names->axes; x++)
        if (count[x] && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%d of the %s", any++ ? " and " : "",
                                     count[x], names->label[x]);
    return ks_fail(
        err, KSPEC_E_ARG,
        "this needs more than matrix products, also with any one index fixed (treewidth above three): %s are "
        "each joined to three others or more",
        list);
}
