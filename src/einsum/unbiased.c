/*
 * kspec_unbiased(): text, names, the expansion into graphs whose indices are free (sum.h), the program that
 * computes them (program.h), and the estimates without each index, from which the error bar comes.
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
#include "einsum/run.h"
#include "einsum/tuples.h"
#include "linalg/linalg.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SPLITS = 8, EXPLAIN_LINES = 400 };
/* as for exact (moments/moments.c): each graph is a sum of products of its own, and loses a few bits */
static const double ROUNDING = 16;

typedef struct {
    kspec_unbiased_opts o;
    const kspec_operand *operands;
    size_t count;
    ks_given given[KS_GIVEN + 1];
    ks_groups groups;
    /* of each group, the tuples of all rows over those without it */
    double *ratio;
    ks_formula text;
    ks_names names;
    ks_data data;
    ks_nets nets;
    ks_sum sum;
    ks_program program;
    ks_stuck stuck;
    int with_loo;
    /* the result is in units of 2^exponent */
    int exponent;
    /* graph[k]: the net of the program's graph k; graph_of: its inverse */
    uint32_t *graph;
    size_t graphs, *graph_of;
    double *seed;
    ks_arena arena;
    ks_run run;
    double planning;
    kspec_unbiased_result *result;
} job;

/* ---- what was given ---- */

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

/* ---- the plan ---- */

/* Coefficients in units of the scaled data, whose entries are near 1: times 2^(sum of exponents - theirs) */
static void scale(job *j) {
    int unit[2 * KS_FORMULA_TERMS] = {0}, most = INT32_MIN;
    for (int k = 0; k < j->names.monomials; k++) {
        const ks_net *g = &j->names.monomial[k].net;
        unit[k] = 0;
        for (int l = 0; l < g->links; l++)
            unit[k] += j->data.exponent[j->names.source[g->link[l].matrix].given];
        most = unit[k] > most ? unit[k] : most;
    }
    j->exponent = most;
    for (int k = 0; k < j->names.monomials; k++)
        j->names.monomial[k].coefficient = ldexp(j->names.monomial[k].coefficient, unit[k] - most);
}

static kspec_status list_graphs(job *j, kspec_error *err) {
    j->graph_of = ks_arena_zalloc(&j->arena, j->nets.count + 1, sizeof *j->graph_of);
    j->graph = ks_arena_alloc(&j->arena, j->nets.count + 1, sizeof *j->graph);
    uint8_t *seen = ks_arena_zalloc(&j->arena, j->nets.count + 1, 1);
    if (j->arena.failed) return ks_nomem(err, "the plan", j->arena.failed);
    j->graphs = 0;
    for (size_t k = 0; k < j->sum.count; k++)
        for (int p = 0; p < KS_NET_LINKS && j->sum.term[k].part[p]; p++) {
            const uint32_t n = j->sum.term[k].part[p];
            if (seen[n]) continue;
            seen[n] = 1;
            j->graph_of[n] = j->graphs;
            j->graph[j->graphs++] = n;
        }
    return KSPEC_OK;
}

static kspec_status fail_short(const job *j, ks_sum_shortage s, kspec_error *err) {
    const ks_axis *a = &j->names.axis[s.axis];
    const int centred = a->centred || (a->first && j->names.axis[j->names.grouped].centred);
    return ks_formula_fail(j->text.text, j->names.letter[s.axis].at, err,
                           "%d %s%s are needed%s; there are %zu", s.wanted,
                           a->first ? "" : "distinct indices of the ", j->names.label[s.axis],
                           centred ? " where they are centred" : "", a->size);
}

/* What cannot be done with groups: the third distinct row of a product, or one entry too many */
static kspec_status fail_groups(const job *j, kspec_error *err) {
    const char *rows = j->names.label[j->names.grouped];
    for (int p = 0; p < j->text.terms; p++) {
        const ks_formula_term *t = &j->text.term[p];
        unsigned long long seen = 0;
        for (int k = 0; k < t->count; k++)
            for (int s = 0; s < 2; s++) {
                const int index = t->factor[k].index[s];
                if (j->names.index_axis[index] != j->names.grouped) continue;
                seen |= 1ull << index;
                if (__builtin_popcountll(seen) == 3 || k == 4)
                    return ks_formula_fail(
                        j->text.text, t->factor[k].name[s].at, err,
                        "rows in groups have expressions of second order: products of up to 4 entries with "
                        "2 distinct indices of the %s",
                        rows);
            }
    }
    return ks_fail(err, KSPEC_E_ARG, "groups of the %s need more than matrix products", rows);
}

/* The indices that cannot be summed over one after the other, by their axes */
static kspec_status fail_stuck(const job *j, kspec_error *err) {
    const ks_net *g = ks_nets_at(&j->nets, j->stuck.net);
    char list[200] = "";
    size_t used = 0;
    int count[KS_SUM_AXES] = {0};
    for (int v = 0; v < g->n; v++) count[g->vertex[v].axis] += j->stuck.vertices >> v & 1;
    if (count[j->names.groups] && j->names.groups) return fail_groups(j, err);
    for (int x = 0, any = 0; x < j->names.axes; x++)
        if (count[x] && used < sizeof list)
            used += (size_t)snprintf(list + used, sizeof list - used, "%s%d of the %s", any++ ? " and " : "",
                                     count[x], j->names.label[x]);
    return ks_fail(
        err, KSPEC_E_ARG,
        "this needs more than matrix products (treewidth above two): %s are each joined to three others "
        "or more",
        list);
}

static kspec_status expand(job *j, kspec_error *err) {
    ks_sum_shortage shortage;
    ks_table_free(&j->nets);
    ks_sum_free(&j->sum);
    kspec_status st = ks_sum_expand(j->names.monomial, (size_t)j->names.monomials, j->names.axis,
                                    j->names.axes, j->with_loo, &j->nets, &j->sum, &shortage, err);
    if (!st && shortage.big) return fail_groups(j, err);
    return !st && shortage.axis >= 0 ? fail_short(j, shortage, err) : st;
}

/* Does leaving one index out leave enough of each axis? Otherwise its weights are not finite. */
static int can_leave_out(const job *j) {
    int sampled = 0;
    for (int x = 0; x < j->names.axes; x++) sampled |= !ks_axis_free(&j->names.axis[x]);
    for (size_t g = 0; g < j->groups.count && j->ratio; g++)
        if (!isfinite(j->ratio[g])) return 0;
    for (size_t k = 0; k < j->sum.count && sampled; k++)
        for (int x = 0; x < KS_SUM_WEIGHTS; x++)
            if (!isfinite(j->sum.term[k].weight[x])) return 0;
    return sampled;
}

static kspec_status count_tuples(job *j, kspec_error *err) {
    const ks_axis *a = &j->names.axis[j->names.groups];
    size_t failed = 0;
    j->ratio = ks_arena_alloc(&j->arena, a->size, sizeof *j->ratio);
    if (!j->ratio || !ks_tuples_ratios(a->first, a->size, a->together, j->ratio, &failed))
        return ks_nomem(err, "the plan", failed + j->arena.failed);
    return KSPEC_OK;
}

static kspec_status make_plan(job *j, kspec_error *err) {
    const double start = ks_now();
    j->with_loo = !j->o.no_stderr;
    kspec_status st = expand(j, err);
    if (!st && j->names.groups) st = count_tuples(j, err);
    if (!st && j->with_loo && !can_leave_out(j)) {
        j->with_loo = 0;
        st = expand(j, err);
    }
    if (!st) st = list_graphs(j, err);
    if (!st) st = ks_program_make(&j->program, &j->names, &j->nets, j->graph, j->graphs, &j->stuck, err);
    if (!st && j->stuck.net) st = fail_stuck(j, err);
    if (!st) j->seed = ks_arena_alloc(&j->arena, j->graphs + 1, sizeof *j->seed);
    if (!st && j->arena.failed) st = ks_nomem(err, "the plan", j->arena.failed);
    j->planning = ks_now() - start;
    return st;
}

/* ---- values ---- */

/* The product of a term's graphs but for number `but`; KS_NET_LINKS: of all */
static double product(const job *j, const ks_sum_term *t, const double *graph, int but) {
    double x = 1;
    for (int p = 0; p < KS_NET_LINKS && t->part[p]; p++)
        if (p != but) x *= graph[j->graph_of[t->part[p]]];
    return x;
}

/* sum of weight[which] times products; abs: of absolute values */
static double total(const job *j, const double *graph, int which, double *abs) {
    double sum = 0, all = 0;
    for (size_t k = 0; k < j->sum.count; k++) {
        const double x = j->sum.term[k].weight[which] * product(j, &j->sum.term[k], graph, KS_NET_LINKS);
        sum += x, all += fabs(x);
    }
    if (abs) *abs += all;
    return sum;
}

static void set_seed(job *j, const double *graph, int which) {
    memset(j->seed, 0, j->graphs * sizeof *j->seed);
    for (size_t k = 0; k < j->sum.count; k++) {
        const ks_sum_term *t = &j->sum.term[k];
        for (int p = 0; p < KS_NET_LINKS && t->part[p]; p++)
            j->seed[j->graph_of[t->part[p]]] += t->weight[which] * product(j, t, graph, p);
    }
}

/* Are the weights without an index of axis x those of the value times one factor? Then *factor is it. */
static int proportional(const job *j, int x, double *factor) {
    *factor = 0;
    for (size_t k = 0; k < j->sum.count; k++) {
        const double *w = j->sum.term[k].weight;
        if (*factor == 0 && w[0] != 0) *factor = w[1 + x] / w[0];
        if (fabs(w[1 + x] - *factor * w[0]) > 1e-12 * fabs(w[1 + x])) return 0;
    }
    return *factor != 0;
}

/*
 * Adds the estimates without each index to without[axis]. Axes whose weights are those of the value but for a
 * factor share one backward pass; without an index of axis x: less - through, both with its weights.
 */
static kspec_status leave_out(job *j, ks_execution *e, double *const *without, double *const *through) {
    double *together[KS_SUM_AXES] = {NULL}, factor[KS_SUM_AXES];
    int any = 0;
    for (int x = 0; x < j->names.axes; x++) {
        if (!without[x]) continue;
        memset(through[x], 0, j->names.axis[x].size * sizeof *through[x]);
        if (!proportional(j, x, &factor[x])) factor[x] = 0;
        if (factor[x] != 0) together[x] = through[x], any = 1;
    }
    kspec_status st = KSPEC_OK;
    if (any) {
        set_seed(j, e->graph, 0);
        st = ks_execution_backward(e, j->seed, together);
    }
    for (int x = 0; x < j->names.axes && !st; x++) {
        if (!without[x]) continue;
        if (factor[x] == 0) {
            double *alone[KS_SUM_AXES] = {NULL};
            alone[x] = through[x];
            set_seed(j, e->graph, 1 + x);
            st = ks_execution_backward(e, j->seed, alone);
        }
        if (e->dry || st) continue;
        const double less = total(j, e->graph, 1 + x, NULL), unit = factor[x] == 0 ? 1 : factor[x];
        const double *times = j->names.axis[x].first ? j->ratio : NULL;
        for (size_t i = 0; i < j->names.axis[x].size; i++)
            without[x][i] += (less - unit * through[x][i]) * (times ? times[i] : 1);
    }
    return st;
}

static kspec_status execute(job *j, ks_execution *e, double *value, double *abs, double *const *without,
                            double *const *through, size_t *products) {
    e->program = &j->program;
    e->run = &j->run;
    e->keep = j->with_loo;
    e->data = (const double *const *)j->data.matrix;
    kspec_status st = ks_execution_forward(e);
    *products = e->products;
    if (!st && !e->dry) *value += total(j, e->graph, 0, abs);
    if (!st && j->with_loo) st = leave_out(j, e, without, through);
    ks_execution_end(e);
    return st;
}

/* ---- the result ---- */

static kspec_status make_axes(job *j, double **without, double **through, kspec_error *err) {
    kspec_unbiased_result *r = j->result;
    ks_arena *own = ks_result_arena(r);
    r->axis_count = (size_t)(j->names.axes - (j->names.groups > 0));
    r->axes = ks_arena_list(own, r->axis_count, sizeof **r->axes);
    for (int x = 0; x < (int)r->axis_count && r->axes; x++) {
        /* rows in groups are left out by group */
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
        r->axes[x]->without = without[of] = ks_arena_zalloc(own, left->size, sizeof(double));
        through[of] = ks_arena_alloc(&j->arena, left->size, sizeof(double));
    }
    if (own->failed) return ks_nomem(err, "the result", own->failed);
    return j->arena.failed ? ks_nomem(err, "the result", j->arena.failed) : KSPEC_OK;
}

/* That of one product, by which the interval has its scale: the most indices of an axis; 0 of a sum */
static int order_of(const job *j) {
    int order = 0;
    for (int x = 0; x < j->names.axes && j->text.terms == 1; x++) {
        int count = 0;
        for (int v = 0; v < j->names.monomial[0].net.n; v++)
            count += j->names.monomial[0].net.vertex[v].axis == x;
        order = count > order ? count : order;
    }
    return order;
}

static kspec_status finish(job *j, double value, double abs, double **without, kspec_error *err) {
    kspec_unbiased_result *r = j->result;
    const double splits = (double)r->splits;
    ks_error_bar bar = {.std_error = NAN, .low = NAN, .high = NAN};
    const double *list[KS_SUM_AXES];
    size_t size[KS_SUM_AXES], all = 0;
    double share[KS_SUM_AXES], part[KS_SUM_AXES];
    int of[KS_SUM_AXES], count = 0;
    r->value = ldexp(value / splits, j->exponent);
    r->rounding = ROUNDING * DBL_EPSILON * ldexp(abs / splits, j->exponent);
    for (int x = 0; x < j->names.axes; x++) {
        const ks_axis *a = &j->names.axis[x];
        if (!without[x]) continue;
        for (size_t i = 0; i < a->size; i++) without[x][i] = ldexp(without[x][i] / splits, j->exponent);
        list[count] = without[x], size[count] = a->size, all += a->size;
        of[count] = a->first ? j->names.grouped : x;
        share[count++] = isfinite(a->population) ? 1 - (double)a->size / a->population : 1;
    }
    double *room = ks_arena_alloc(&j->arena, all, sizeof *room);
    if (!room) return ks_nomem(err, "the jackknife", j->arena.failed);
    const ks_sides sides = {list, size, share, (size_t)count};
    if (count) ks_interval_make(r->value, order_of(j), &sides, room, part, &bar);
    for (int k = 0; k < count; k++) r->axes[of[k]]->std_error = part[k];
    r->std_error = bar.std_error, r->ci_low = bar.low - r->rounding, r->ci_high = bar.high + r->rounding;
    return KSPEC_OK;
}

static kspec_status add_doubts(const job *j, kspec_error *err) {
    kspec_unbiased_result *r = j->result;
    const ks_doubts to = KS_DOUBTS(r);
    const int bar = isfinite(r->std_error);
    if (r->rounding > 0.1 * (bar ? r->std_error : fabs(r->value)))
        ks_doubt(to, KSPEC_DOUBT_ESTIMATE_ROUNDING, NULL, bar ? "standard error" : "value", r->rounding);
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

/* ---- the call ---- */

static kspec_status compute(job *j, ks_placement *placement, kspec_error *err) {
    kspec_unbiased_result *r = j->result;
    double *without[KS_SUM_AXES] = {NULL}, *through[KS_SUM_AXES] = {NULL}, value = 0, abs = 0;
    kspec_status st = make_axes(j, without, through, err);
    if (st) return st;
    r->splits = j->data.random ? (size_t)j->o.splits : 1;
    r->value = r->std_error = r->ci_low = r->ci_high = r->rounding = NAN;
    r->graphs = j->graphs;
    r->planning = j->planning;
    if (j->o.explain) {
        r->plan = ks_explain(&j->program, &j->text, &j->names, j->given, &j->sum, j->graph_of, EXPLAIN_LINES,
                             ks_result_arena(r));
        if (!r->plan) return ks_nomem(err, "the plan", ks_result_arena(r)->failed);
    }
    ks_execution dry = {.dry = 1, .err = err};
    st = execute(j, &dry, &value, &abs, without, through, &r->products);
    r->all_products = dry.products, r->work = dry.work, r->bytes = dry.peak;
    if (!st && j->o.most > 0 && dry.work * (double)r->splits > j->o.most) return KSPEC_OK;
    if (!st) st = ks_placement_decide(placement, dry.work * (double)r->splits, NULL, err);
    if (!st && placement->device) st = ks_placement_fit(placement, r->bytes, err);
    j->run.device = placement->device;
    if (!st && !j->run.device) st = ks_check_memory(err, r->bytes, "the expression");
    for (size_t s = 0; s < r->splits && !st; s++) {
        const ks_run part = j->run;
        st = ks_data_split(&j->data, s, err);
        j->run = ks_run_part(&part, (double)s / (double)r->splits, (double)(s + 1) / (double)r->splits);
        ks_execution e = {.total = dry.work, .err = err};
        size_t products;
        if (!st) st = execute(j, &e, &value, &abs, without, through, &products);
        j->run = part;
    }
    if (st) return st;
    st = finish(j, value, abs, without, err);
    if (st) return st;
    return isfinite(r->value) ? KSPEC_OK
                              : ks_fail(err, KSPEC_E_NUMERIC, "the value exceeds the range of numbers");
}

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    job *j = ctx;
    kspec_status st = ks_run_init(&j->run, j->o.threads, j->o.progress, err);
    if (!st && !(j->result = ks_result_new(sizeof *j->result)))
        st = ks_nomem(err, "the result", sizeof *j->result);
    if (!st && !(st = ks_blas_enter(j->run.threads, err))) {
        st = compute(j, placement, err);
        ks_blas_exit();
    }
    if (!st) ks_placement_describe(placement, &j->result->device);
    if (!st) st = add_doubts(j, err);
    if (st) {
        kspec_unbiased_free(j->result);
        j->result = NULL;
    }
    return st;
}

static kspec_status prepare(job *j, const char *expression, kspec_error *err) {
    kspec_status st = ks_check_pointer(err, expression, "the expression");
    if (!st) st = ks_check_pointer(err, j->operands, "the list of matrices");
    if (!st) st = check_operands(j, err);
    if (!st) st = ks_formula_parse(expression, &j->text, err);
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

kspec_status kspec_unbiased(const char *expression, const kspec_operand *operands, size_t count,
                            const kspec_unbiased_opts *opts, kspec_unbiased_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    ks_placement placement = {0};
    job *j = ks_zalloc(1, sizeof *j);
    if (!j) return ks_nomem(err, "the expression", sizeof *j);
    j->operands = operands, j->count = count, j->nets = KS_NETS;
    kspec_status st = ks_take_opts(&j->o, sizeof j->o, opts, err);
    if (!st) st = prepare(j, expression, err);
    if (!st) {
        st = ks_placement_open(&placement, j->o.device, err);
        st = ks_placement_run(&placement, st, NULL, attempt, j, err);
    }
    if (!st) {
        j->result->seconds = ks_now() - start;
        *out = j->result;
    }
    ks_table_free(&j->nets);
    ks_sum_free(&j->sum);
    ks_program_free(&j->program);
    ks_arena_free(&j->arena);
    ks_free(j);
    return st;
}

void kspec_unbiased_free(kspec_unbiased_result *result) { ks_result_free(result); }
