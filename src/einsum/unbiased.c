/*
 * Implements kspec_unbiased(), which computes unbiased estimates of an expression with error bars. The call
 * parses the text, resolves the names, expands the expression into graphs with free indices (sum.h), and
 * plans the computation of the graphs (engine/plan.h). The error bar comes from the estimates without each
 * index.
 */
#include "base/clock.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "device/device.h"
#include "einsum/data.h"
#include "einsum/explain.h"
#include "einsum/interval.h"
#include "einsum/refuse.h"
#include "einsum/slices.h"
#include "einsum/tuples.h"
#include "einsum/unbiased.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SPLITS = 8, EXPLAIN_LINES = 400 };
/*
 * The rounding error of a value is ROUNDING DBL_EPSILON times its sum of |terms|, as for the exact estimator
 * (moments/moments.c). Each graph is a separate sum of products and loses a few bits.
 */
static const double ROUNDING = 16;

/*
 * The search for a plan visits STATES states for all graphs together, and between STATES_LEAST and
 * STATES_MOST states for one graph.
 */
enum { STATES = 20000, STATES_MOST = 300, STATES_LEAST = 5 };
/* Slices may take SLICES_MOST multiply-adds, which is about an hour on one core. */
static const double SLICES_MOST = 1e14;

/* One expression of the call. */
typedef struct {
    ks_sum sum;
    /* The result is in units of 2^exponent. */
    int exponent;
    /* ratio[g] is the number of tuples of all rows divided by the number without group g. */
    double *ratio;
    /*
     * Partial sums of the value and of |terms|. without[k] contains partial sums of the estimates without
     * each index of axis k, or is NULL.
     */
    double value, abs, *without[KS_AXES];
    kspec_unbiased_result *result;
} part;

typedef struct {
    kspec_unbiased_opts o;
    const kspec_operand *operands;
    size_t count;
    ks_given given[KS_GIVEN + 1];
    ks_groups groups;
    ks_formula text;
    ks_names names;
    ks_data data;
    ks_nets nets;
    part part[KS_UNBIASED_PARTS];
    ks_plan plan;
    ks_slices slices;
    int with_loo;
    /* graph[k] is the number of the net of the plan's graph k. graph_of is the inverse of graph. */
    uint32_t *graph;
    size_t graphs, *graph_of;
    double *through[KS_AXES];
    ks_arena arena;
    ks_run run;
    double planning;
} job;

/* ---- input ---- */

static kspec_status check_operands(job *j, kspec_error *err) {
    if (!j->count || j->count > KS_GIVEN)
        return ks_fail(err, KSPEC_E_ARG, "there are %zu matrices; 1 to %d are expected", j->count, KS_GIVEN);
    for (size_t k = 0; k < j->count; k++) {
        const kspec_operand *o = &j->operands[k];
        if (!o->name || !o->name[0]) return ks_fail(err, KSPEC_E_ARG, "matrix %zu has no name", k);
        for (size_t l = 0; l < k; l++)
            if (!strcmp(o->name, j->operands[l].name))
                return ks_fail(err, KSPEC_E_ARG, "two matrices have the name %s", o->name);
        if (!o->ntrials) return ks_fail(err, KSPEC_E_ARG, "%s has no trials", o->name);
        kspec_status st = ks_check_pointer(err, o->trials, o->name);
        for (size_t t = 0; t < o->ntrials && !st; t++) {
            st = ks_matrix_check(&o->trials[t], o->name, err);
            if (!st && (o->trials[t].rows != o->trials->rows || o->trials[t].cols != o->trials->cols))
                st = ks_fail(err, KSPEC_E_ARG, "%s: trial %zu is %zu x %zu, the first is %zu x %zu", o->name,
                             t, o->trials[t].rows, o->trials[t].cols, o->trials->rows, o->trials->cols);
        }
        if (st) return st;
        j->given[k] = (ks_given){o->name, o->ntrials, {o->trials->rows, o->trials->cols}};
    }
    return KSPEC_OK;
}

/* ---- plan ---- */

/*
 * Converts coefficients to the units of the scaled data, whose entries are near 1. The factor is 2^(sum of
 * exponents of the term's matrices - unit).
 */
static void scale(job *j) {
    int unit[2 * KS_FORMULA_TERMS] = {0};
    for (int p = 0; p < j->text.parts; p++) j->part[p].exponent = INT32_MIN;
    for (int k = 0; k < j->names.monomials; k++) {
        const ks_net *g = &j->names.monomial[k].net;
        int *most = &j->part[j->names.monomial[k].part].exponent;
        for (int l = 0; l < g->links; l++)
            unit[k] += j->data.exponent[j->names.source[g->link[l].matrix].given];
        *most = unit[k] > *most ? unit[k] : *most;
    }
    for (int k = 0; k < j->names.monomials; k++) {
        ks_monomial *m = &j->names.monomial[k];
        m->coefficient = ldexp(m->coefficient, unit[k] - j->part[m->part].exponent);
    }
}

static kspec_status list_graphs(job *j, kspec_error *err) {
    j->graph_of = ks_arena_zalloc(&j->arena, j->nets.count + 1, sizeof *j->graph_of);
    j->graph = ks_arena_alloc(&j->arena, j->nets.count + 1, sizeof *j->graph);
    uint8_t *seen = ks_arena_zalloc(&j->arena, j->nets.count + 1, 1);
    if (j->arena.failed) return ks_nomem(err, "the plan", j->arena.failed);
    j->graphs = 0;
    for (int of = 0; of < j->text.parts; of++)
        for (size_t k = 0; k < j->part[of].sum.count; k++)
            for (int p = 0; p < KS_NET_LINKS && ks_sum_at(&j->part[of].sum, k)->part[p]; p++) {
                const uint32_t n = ks_sum_at(&j->part[of].sum, k)->part[p];
                if (seen[n]) continue;
                seen[n] = 1;
                j->graph_of[n] = j->graphs;
                j->graph[j->graphs++] = n;
            }
    return KSPEC_OK;
}

static kspec_status count_tuples(job *j, part *p, kspec_error *err) {
    const ks_axis *a = &j->names.axis[j->names.groups];
    size_t failed = 0;
    p->ratio = ks_arena_alloc(&j->arena, a->size, sizeof *p->ratio);
    if (!p->ratio || !ks_tuples_ratios(a->first, a->size, a->together, p->ratio, &failed))
        return ks_nomem(err, "the plan", failed + j->arena.failed);
    return KSPEC_OK;
}

static kspec_status expand(job *j, kspec_error *err) {
    ks_sum_shortage shortage;
    kspec_status st = KSPEC_OK;
    ks_table_free(&j->nets);
    for (int p = 0; p < j->text.parts && !st; p++) {
        ks_table_free(&j->part[p].sum);
        st = ks_sum_expand(j->names.monomial, (size_t)j->names.monomials, p, j->names.axis, j->names.axes,
                           j->with_loo, &j->nets, &j->part[p].sum, &shortage, err);
        if (!st && shortage.zero) st = ks_refuse_zero(&j->text, &j->names, &j->nets, p, err);
        if (!st && shortage.big) st = ks_refuse_groups(&j->text, &j->names, shortage.big, err);
        if (!st && shortage.axis >= 0) st = ks_refuse_short(&j->text, &j->names, shortage, err);
        if (!st && j->names.groups) st = count_tuples(j, &j->part[p], err);
    }
    return st;
}

/* Does each axis have enough indices after leaving out one? If not, some weights are not finite. */
static int can_leave_out(const job *j) {
    int sampled = 0;
    for (int x = 0; x < j->names.axes; x++) sampled |= !ks_axis_free(&j->names.axis[x]);
    for (int p = 0; p < j->text.parts && sampled; p++) {
        const part *of = &j->part[p];
        for (size_t g = 0; g < j->groups.count && of->ratio; g++)
            if (!isfinite(of->ratio[g])) return 0;
        for (size_t k = 0; k < of->sum.count; k++)
            for (int x = 0; x < KS_SUM_WEIGHTS; x++)
                if (!isfinite(ks_sum_at(&of->sum, k)->weight[x])) return 0;
    }
    return sampled;
}

/* Plans all graphs, and slices for the graphs that need them. */
static kspec_status plan_graphs(job *j, kspec_error *err) {
    const ks_names *n = &j->names;
    const size_t share = STATES / (j->graphs + 1);
    const int budget = share > STATES_MOST ? STATES_MOST : share < STATES_LEAST ? STATES_LEAST : (int)share;
    ks_plan_graph *task = ks_arena_alloc(&j->arena, j->graphs, sizeof *task);
    size_t stuck;
    if (!task) return ks_nomem(err, "the plan", j->arena.failed);
    for (size_t g = 0; g < j->graphs; g++)
        task[g] = (ks_plan_graph){ks_nets_at(&j->nets, j->graph[g]), -1, budget};
    j->plan = (ks_plan){.sources = n->sources};
    for (int k = 0; k < n->axes; k++) j->plan.size[k] = n->axis[k].size;
    for (int k = 0; k < n->sources; k++)
        j->plan.source[k] = (ks_leaf){{(uint8_t)n->source[k].axis[0], (uint8_t)n->source[k].axis[1]}, 0};
    kspec_status st = ks_plan_make(&j->plan, task, j->graphs, err);
    if (st || !j->plan.any_stuck) return st;
    st = ks_slices_make(&j->slices, &j->plan, task, n->axes, &stuck, &j->arena, err);
    if (!st && stuck != SIZE_MAX)
        return ks_refuse_stuck(&j->names, task[stuck].net, j->plan.terminals[stuck].stuck, err);
    const double work = ks_slices_work(&j->slices) * (j->with_loo ? 4 : 1);
    if (!st && work > SLICES_MOST)
        st = ks_fail(
            err, KSPEC_E_ARG,
            "this needs more than matrix products (treewidth above two): slices of it take about %.0e "
            "multiply-adds, %.0e is the most; use fewer rows or columns%s",
            work, SLICES_MOST, j->with_loo ? ", or no error bars" : "");
    return st;
}

static kspec_status make_plan(job *j, kspec_error *err) {
    const double start = ks_now();
    j->with_loo = !j->o.no_stderr;
    kspec_status st = expand(j, err);
    if (!st && j->with_loo && !can_leave_out(j)) {
        j->with_loo = 0;
        st = expand(j, err);
    }
    if (!st) st = list_graphs(j, err);
    if (!st) st = plan_graphs(j, err);
    for (int x = 0; x < j->names.axes && !st; x++)
        j->through[x] = ks_arena_alloc(&j->arena, j->names.axis[x].size, sizeof(double));
    if (!st && j->arena.failed) st = ks_nomem(err, "the plan", j->arena.failed);
    j->planning = ks_now() - start;
    return st;
}

/* ---- values ---- */

/*
 * Returns the product of the values of a term's graphs, except graph number `but`. With but = KS_NET_LINKS,
 * all graphs count.
 */
static double product(const job *j, const ks_sum_term *t, const double *graph, int but) {
    double x = 1;
    for (int p = 0; p < KS_NET_LINKS && t->part[p]; p++)
        if (p != but) x *= graph[j->graph_of[t->part[p]]];
    return x;
}

/*
 * Returns the sum of weight[which] times the products of all terms. Adds the sum of their absolute values to
 * *abs.
 */
static double total(const job *j, const ks_sum *of, const double *graph, int which, double *abs) {
    double sum = 0, all = 0;
    for (size_t k = 0; k < of->count; k++) {
        const double x = ks_sum_at(of, k)->weight[which] * product(j, ks_sum_at(of, k), graph, KS_NET_LINKS);
        sum += x, all += fabs(x);
    }
    if (abs) *abs += all;
    return sum;
}

/*
 * Sets the weight of each graph's value in the estimate. A dry execution has no values and only notes whether
 * a graph counts.
 */
static void set_seed(const job *j, const ks_sum *of, ks_exec_state *e, int which) {
    memset(e->seed, 0, j->graphs * sizeof *e->seed);
    for (size_t k = 0; k < of->count; k++) {
        const ks_sum_term *t = ks_sum_at(of, k);
        for (int p = 0; p < KS_NET_LINKS && t->part[p]; p++)
            e->seed[j->graph_of[t->part[p]]] += e->dry ? 1 : t->weight[which] * product(j, t, e->graph, p);
    }
}

/*
 * Do the weights without an index of axis x equal the value's weights times one factor? If they do, the
 * function sets *factor.
 */
static int proportional(const ks_sum *of, int x, double *factor) {
    *factor = 0;
    for (size_t k = 0; k < of->count; k++) {
        const double *w = ks_sum_at(of, k)->weight;
        if (*factor == 0 && w[0] != 0) *factor = w[1 + x] / w[0];
        if (fabs(w[1 + x] - *factor * w[0]) > 1e-12 * fabs(w[1 + x])) return 0;
    }
    return *factor != 0;
}

static void backward(job *j, const ks_sum *of, ks_exec_state *e, int which, double *const *through) {
    if (e->status) return;
    set_seed(j, of, e, which);
    ks_exec_backward(e, through);
    ks_slices_backward(&j->slices, e, j->data.matrix, through);
}

/*
 * Adds the estimates without each index to without[axis]. Axes whose weights are proportional to the value's
 * weights share a backward pass. Without an index of axis x, the estimate is `less` minus the sum through
 * this index, both with the weights of axis x.
 */
static void leave_out(job *j, part *p, ks_exec_state *e) {
    double *together[KS_AXES] = {NULL}, factor[KS_AXES];
    int any = 0;
    for (int x = 0; x < j->names.axes; x++) {
        if (!p->without[x]) continue;
        memset(j->through[x], 0, j->names.axis[x].size * sizeof *j->through[x]);
        if (!proportional(&p->sum, x, &factor[x])) factor[x] = 0;
        if (factor[x] != 0) together[x] = j->through[x], any = 1;
    }
    if (any) backward(j, &p->sum, e, 0, together);
    for (int x = 0; x < j->names.axes; x++) {
        if (!p->without[x]) continue;
        if (factor[x] == 0) {
            double *alone[KS_AXES] = {NULL};
            alone[x] = j->through[x];
            backward(j, &p->sum, e, 1 + x, alone);
        }
        if (e->dry || e->status) continue;
        const double less = total(j, &p->sum, e->graph, 1 + x, NULL), unit = factor[x] == 0 ? 1 : factor[x];
        const double *times = j->names.axis[x].first ? p->ratio : NULL;
        for (size_t i = 0; i < j->names.axis[x].size; i++)
            p->without[x][i] += (less - unit * j->through[x][i]) * (times ? times[i] : 1);
    }
}

/* Executes the plan. *forward receives the number of matrix products of the forward pass. */
static kspec_status execute(job *j, ks_exec_state *e, size_t *forward) {
    e->plan = &j->plan;
    e->run = &j->run;
    e->what = "the estimate";
    e->keep = j->with_loo;
    e->whole = 1;
    ks_exec_begin(e);
    for (int k = 0; k < j->plan.sources; k++) ks_exec_source(e, k, j->data.matrix[k]);
    ks_exec_forward(e);
    ks_slices_forward(&j->slices, e, j->data.matrix);
    *forward = e->products;
    for (int k = 0; k < j->text.parts && !e->status; k++) {
        part *p = &j->part[k];
        if (!e->dry) p->value += total(j, &p->sum, e->graph, 0, &p->abs);
        if (j->with_loo) leave_out(j, p, e);
    }
    ks_exec_end(e);
    return e->status;
}

/* ---- result ---- */

static kspec_status make_axes(const job *j, part *p, kspec_error *err) {
    kspec_unbiased_result *r = p->result;
    ks_arena *own = ks_result_arena(r);
    r->axis_count = (size_t)(j->names.axes - (j->names.groups > 0));
    r->axes = ks_arena_list(own, r->axis_count, sizeof **r->axes);
    for (int x = 0; x < (int)r->axis_count && r->axes; x++) {
        /* If rows are in groups, the jackknife leaves out groups. */
        const int of = j->names.axis[x].groups ? j->names.groups : x;
        const ks_axis *a = &j->names.axis[x], *left = &j->names.axis[of];
        char *name = ks_arena_alloc(own, 2, KS_AXIS_LABEL), *sides = name ? name + KS_AXIS_LABEL : NULL;
        if (name) memcpy(name, j->names.label[x], KS_AXIS_LABEL);
        if (name) memcpy(sides, j->names.sides[x], KS_AXIS_LABEL);
        *r->axes[x] = (kspec_unbiased_axis){.name = name,
                                            .sides = sides,
                                            .size = a->size,
                                            .population = a->population,
                                            .centered = a->centred,
                                            .groups = of == x ? 0 : left->size,
                                            .std_error = NAN};
        if (!j->with_loo || ks_axis_complete(a)) continue;
        r->axes[x]->without = p->without[of] = ks_arena_zalloc(own, left->size, sizeof(double));
    }
    return own->failed ? ks_nomem(err, "the result", own->failed) : KSPEC_OK;
}

/*
 * Is the product a moment m(n): one closed walk over n rows and n columns of one matrix? Each index then has
 * two entries, and entries connect all indices.
 */
static int is_moment(const job *j, const ks_net *net) {
    int entries[KS_NET_VERTICES] = {0}, reached[KS_NET_VERTICES] = {1};
    for (int round = 0; round < net->links; round++)
        for (int k = 0; k < net->links; k++) {
            const ks_link *e = &net->link[k];
            if (j->names.source[e->matrix].given != j->names.source[net->link[0].matrix].given) return 0;
            entries[e->u] += round == 0, entries[e->v] += round == 0;
            reached[e->u] = reached[e->v] = reached[e->u] || reached[e->v];
        }
    for (int v = 0; v < net->n; v++)
        if (entries[v] != 2 || !reached[v]) return 0;
    return 1;
}

/*
 * Returns the order of one product, which is the largest number of indices on an axis. The order determines
 * the scale of the interval. Returns 0 for a sum, and for a product with an odd number of entries of a
 * matrix. With an odd number, the product changes its sign with the matrix, so the logarithm is useless.
 * *moment: the product is a moment.
 */
static int order_of(const job *j, int number, int *moment) {
    int order = 0, terms = 0, odd = 0;
    const ks_net *net = NULL;
    for (int k = j->text.terms; k-- > 0;)
        if (j->text.term[k].part == number) net = &j->names.monomial[k].net, terms++;
    for (int g = 0; g < j->names.given; g++) {
        int entries = 0;
        for (int k = 0; k < net->links; k++) entries += j->names.source[net->link[k].matrix].given == g;
        odd |= entries & 1;
    }
    for (int x = 0; x < j->names.axes && terms == 1 && !odd; x++) {
        int count = 0;
        for (int v = 0; v < net->n; v++) count += net->vertex[v].axis == x;
        order = count > order ? count : order;
    }
    *moment = order > 0 && is_moment(j, net);
    return order;
}

static kspec_status finish(job *j, int number, kspec_error *err) {
    const part *p = &j->part[number];
    kspec_unbiased_result *r = p->result;
    const double splits = (double)r->splits;
    ks_error_bar bar = {.std_error = NAN, .low = NAN, .high = NAN};
    const double *list[KS_AXES];
    size_t size[KS_AXES], all = 0;
    double share[KS_AXES], of_axis[KS_AXES];
    int of[KS_AXES], count = 0;
    r->value = ldexp(p->value / splits, p->exponent);
    r->rounding = ROUNDING * DBL_EPSILON * ldexp(p->abs / splits, p->exponent);
    for (int x = 0; x < j->names.axes; x++) {
        const ks_axis *a = &j->names.axis[x];
        double *without = p->without[x];
        if (!without) continue;
        for (size_t i = 0; i < a->size; i++) without[i] = ldexp(without[i] / splits, p->exponent);
        list[count] = without, size[count] = a->size, all += a->size;
        of[count] = a->first ? j->names.grouped : x;
        share[count++] = isfinite(a->population) ? 1 - (double)a->size / a->population : 1;
    }
    double *room = ks_arena_alloc(&j->arena, all, sizeof *room);
    if (!room) return ks_nomem(err, "the jackknife", j->arena.failed);
    const ks_sides sides = {list, size, share, (size_t)count, 0};
    int moment;
    const int order = order_of(j, number, &moment);
    if (count) ks_interval_make(r->value, order, moment, &sides, room, of_axis, &bar);
    for (int k = 0; k < count; k++) r->axes[of[k]]->std_error = of_axis[k];
    r->std_error = bar.std_error, r->ci_low = bar.low - r->rounding, r->ci_high = bar.high + r->rounding;
    if (!isfinite(r->value)) return ks_fail(err, KSPEC_E_NUMERIC, "the value exceeds the range of numbers");
    if (r->value == 0 && p->value != 0)
        return ks_fail(err, KSPEC_E_NUMERIC,
                       "the value is below the range of numbers; multiply the matrices by a constant");
    return KSPEC_OK;
}

static kspec_status add_doubts(kspec_unbiased_result *r, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(r);
    const int bar = isfinite(r->std_error);
    if (r->rounding > 0.1 * (bar ? r->std_error : fabs(r->value)))
        ks_doubt(to, KSPEC_DOUBT_ESTIMATE_ROUNDING, NULL, bar ? "standard error" : "value", r->rounding);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

/* ---- call ---- */

/* Fills the parts of the result that are known before any computation. */
static kspec_status begin(job *j, part *p, kspec_error *err) {
    kspec_unbiased_result *r = p->result = ks_result_new(sizeof *r);
    if (!r) return ks_nomem(err, "the result", sizeof *r);
    kspec_status st = make_axes(j, p, err);
    if (st) return st;
    p->value = p->abs = 0;
    r->splits = j->data.random ? (size_t)j->o.splits : 1;
    r->value = r->std_error = r->ci_low = r->ci_high = r->rounding = NAN;
    r->graphs = j->graphs;
    r->planning = j->planning;
    if (!j->o.explain) return KSPEC_OK;
    r->plan = ks_explain(&j->plan, &j->slices, &j->text, &j->names, j->given, &p->sum, j->graph_of,
                         EXPLAIN_LINES, ks_result_arena(r));
    return r->plan ? KSPEC_OK : ks_nomem(err, "the plan", ks_result_arena(r)->failed);
}

/* Decides whether all matrices stay on the GPU, or move between GPU and host as needed. */
static kspec_status fit(const job *j, ks_placement *placement, size_t bytes, kspec_error *err) {
    for (int k = 0; k < j->plan.sources; k++) {
        const uint8_t *axis = j->plan.source[k].axis;
        const size_t entries = ks_size(j->plan.size[axis[0]], j->plan.size[axis[1]]);
        bytes = ks_size_add(bytes, ks_size(entries, sizeof(double)));
    }
    if (bytes > ks_device_available(placement->device) && ks_placement_stream(placement, bytes))
        return KSPEC_OK;
    return ks_placement_fit(placement, bytes, err);
}

static kspec_status compute(job *j, ks_placement *placement, kspec_error *err) {
    ks_exec_state dry = {.dry = 1, .err = err};
    const size_t splits = j->data.random ? (size_t)j->o.splits : 1;
    size_t products;
    kspec_status st = KSPEC_OK;
    for (int p = 0; p < j->text.parts && !st; p++) st = begin(j, &j->part[p], err);
    if (!st) st = execute(j, &dry, &products);
    for (int p = 0; p < j->text.parts && !st; p++) {
        kspec_unbiased_result *r = j->part[p].result;
        r->products = products, r->all_products = dry.products, r->work = dry.work, r->bytes = dry.peak;
    }
    if (!st && j->o.most > 0 && dry.work * (double)splits > j->o.most) return KSPEC_OK;
    if (!st) st = ks_placement_decide(placement, dry.work * (double)splits, NULL, err);
    if (!st && placement->device) st = fit(j, placement, dry.peak, err);
    j->run.device = placement->device;
    if (!st && !j->run.device) st = ks_check_memory(err, dry.peak, "the expression");
    for (size_t s = 0; s < splits && !st; s++) {
        const ks_run whole = j->run;
        st = ks_data_split(&j->data, s, err);
        j->run = ks_run_part(&whole, (double)s / (double)splits, (double)(s + 1) / (double)splits);
        ks_exec_state e = {.total = dry.work, .most = dry.peak, .err = err};
        if (!st) st = execute(j, &e, &products);
        j->run = whole;
    }
    for (int p = 0; p < j->text.parts && !st; p++) st = finish(j, p, err);
    return st;
}

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    job *j = ctx;
    kspec_status st = ks_run_init(&j->run, j->o.threads, j->o.progress, err);
    if (!st && !(st = ks_blas_enter(j->run.threads, err))) {
        st = compute(j, placement, err);
        ks_blas_exit();
    }
    for (int p = 0; p < j->text.parts; p++) {
        kspec_unbiased_result **r = &j->part[p].result;
        if (!st) ks_placement_describe(placement, &(*r)->device);
        if (!st) st = add_doubts(*r, err);
    }
    for (int p = 0; p < j->text.parts && st; p++) kspec_free(j->part[p].result), j->part[p].result = NULL;
    return st;
}

static kspec_status prepare(job *j, const char *expression, int parts, kspec_error *err) {
    kspec_status st = ks_check_pointer(err, expression, "the expression");
    if (!st) st = ks_check_pointer(err, j->operands, "the list of matrices");
    if (!st) st = check_operands(j, err);
    if (!st) st = ks_formula_parse(expression, parts, &j->text, err);
    if (!st) {
        st = ks_groups_make(&j->groups, j->o.row_groups, j->o.row_group_count, "row", &j->arena, err);
        if (st) ks_about(err, "row_groups", NULL, st);
    }
    if (!st) {
        const ks_said said = {j->o.center, j->o.complete, j->o.population, j->o.same_cols,
                              j->o.row_groups ? &j->groups : NULL};
        st = ks_names_resolve(&j->text, j->given, j->count, &said, &j->names, err);
    }
    if (!st && j->o.splits < 0) st = ks_fail(err, KSPEC_E_ARG, "splits %d is negative", j->o.splits);
    if (!j->o.splits) j->o.splits = SPLITS;
    j->data = (ks_data){.operands = j->operands, .names = &j->names, .groups = &j->groups, .seed = j->o.seed};
    j->given[j->count] = (ks_given){"in", 1, {j->groups.n, j->groups.count}};
    if (!st) st = ks_data_make(&j->data, j->given, j->count, &j->arena, err);
    if (!st) scale(j);
    return st ? st : make_plan(j, err);
}

kspec_status ks_unbiased(const char *expression, int parts, const kspec_operand *operands, size_t count,
                         const kspec_unbiased_opts *opts, kspec_unbiased_result **out, kspec_error *err) {
    const double start = ks_now();
    ks_placement placement = {0};
    job *j = ks_zalloc(1, sizeof *j);
    if (!j) return ks_nomem(err, "the expression", sizeof *j);
    j->operands = operands, j->count = count, j->nets = KS_NETS;
    for (int p = 0; p < KS_UNBIASED_PARTS; p++) j->part[p].sum = KS_SUM;
    kspec_status st = ks_take_opts(&j->o, sizeof j->o, opts, err);
    if (!st) st = prepare(j, expression, parts, err);
    if (!st) {
        st = ks_placement_open(&placement, j->o.device, err);
        st = ks_placement_run(&placement, st, NULL, attempt, j, err);
    }
    for (int p = 0; p < KS_UNBIASED_PARTS; p++) {
        if (!st && p < parts) (out[p] = j->part[p].result)->seconds = ks_now() - start;
        ks_table_free(&j->part[p].sum);
    }
    ks_table_free(&j->nets);
    ks_slices_free(&j->slices);
    ks_plan_free(&j->plan);
    ks_arena_free(&j->arena);
    ks_free(j);
    return st;
}

kspec_status kspec_unbiased(const char *expression, const kspec_operand *operands, size_t count,
                            const kspec_unbiased_opts *opts, kspec_unbiased_result **out, kspec_error *err) {
    return ks_begin(err, out) ? KSPEC_E_ARG : ks_unbiased(expression, 1, operands, count, opts, out, err);
}
