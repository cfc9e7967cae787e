/*
 * Unbiased estimates of products of entries, against sums over all tuples in integers: every connected
 * expression of one matrix with up to 3 row and 3 column indices and 6 entries, and sampled ones of two
 * matrices; the estimates without each index against estimates from the matrices without it.
 */
#include "test.h"

#include "base/student.h"
#include "einsum/unbiased.h"
#include "exact/cycles.h"
#include "kspec.h"
#include "oracle/einsum.h"

enum { FORMS = 136, CENTRED = 68, PAIRS = 300, TEXT = 200 };

static const size_t ROWS = 6, COLS = 5, OTHER = 4;

/* ---- data ---- */

static uint64_t state = 1;
static int draw(int below) {
    state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
    return (int)((state >> 33) % (uint64_t)below);
}

typedef struct {
    int entry[2][2][EIN_SIZE * EIN_SIZE]; /* of X and Y, two trials each */
    double as_double[2][2][EIN_SIZE * EIN_SIZE];
} numbers;

static void fill(numbers *n) {
    for (int m = 0; m < 2; m++)
        for (int t = 0; t < 2; t++)
            for (int k = 0; k < EIN_SIZE * EIN_SIZE; k++)
                n->as_double[m][t][k] = n->entry[m][t][k] = draw(6) - 2;
}

/* ---- both answers ---- */

typedef struct {
    const ein_form *form;
    const numbers *n;
    int trials;
    size_t size[3];
    const char *center, *complete, *population;
    int skip_axis;
    size_t skip;
    const uint64_t *groups; /* of the rows; skip then is the first row of one */
} question;

/* Is row i left out? */
static int skipped(const question *q, size_t i) {
    return q->skip_axis == 0 && (q->groups ? q->groups[i] == q->groups[q->skip] : i == q->skip);
}

static double ask(const question *q, int with_loo, kspec_unbiased_result **keep) {
    char text[TEXT];
    double without[2][2][EIN_SIZE * EIN_SIZE];
    kspec_matrix m[2][2];
    size_t size[3] = {q->size[0], q->size[1], q->size[2]};
    uint64_t labels[EIN_SIZE];
    if (q->skip_axis > 0) size[q->skip_axis]--;
    size[0] = 0;
    for (size_t i = 0; i < q->size[0]; i++)
        if (!skipped(q, i)) labels[size[0]++] = q->groups ? q->groups[i] : i;
    for (int k = 0; k < 2; k++)
        for (int t = 0; t < 2; t++) {
            double *to = without[k][t];
            for (size_t i = 0; i < q->size[0]; i++)
                for (size_t a = 0; a < q->size[1 + k]; a++)
                    if (!skipped(q, i) && !(q->skip_axis == 1 + k && a == q->skip))
                        *to++ = q->n->as_double[k][t][i * q->size[1 + k] + a];
            m[k][t] = (kspec_matrix){without[k][t], size[0], size[1 + k], (ptrdiff_t)size[1 + k], 1};
        }
    const kspec_operand operands[2] = {{"X", m[0], (size_t)q->trials}, {"Y", m[1], (size_t)q->trials}};
    const kspec_unbiased_opts opts = {.size = sizeof opts,
                                      .center = q->center,
                                      .complete = q->complete,
                                      .population = q->population,
                                      .row_groups = q->groups ? labels : NULL,
                                      .row_group_count = size[0],
                                      .no_stderr = !with_loo,
                                      .threads = 1};
    kspec_unbiased_result *r = NULL;
    kspec_error err;
    const kspec_status st =
        kspec_unbiased(ein_text(q->form, q->trials > 1, text, sizeof text), operands, 2, &opts, &r, &err);
    const double value = st ? NAN : r->value;
    if (st && keep) CHECK_MSG(0, "%s: %s", text, err.msg);
    if (keep)
        *keep = r;
    else
        kspec_free(r);
    return value;
}

static double answer(const question *q) {
    ein_data d = {.size = {(int)q->size[0], (int)q->size[1], (int)q->size[2]}, .group = q->groups};
    if (q->complete) d.complete[1] = d.complete[2] = 1;
    double sum = 0;
    for (int order = 0; order < q->trials; order++) { /* halves in both orders */
        for (int k = 0; k < q->form->factors; k++)
            d.data[k] = q->n->entry[q->form->matrix[k]][q->trials > 1 ? (k + order) & 1 : 0];
        sum += (q->center ? ein_centred(q->form, &d) : ein_mean(q->form, &d)) / q->trials;
    }
    return sum;
}

/* The estimate, and each without an index, which an estimate from less data must equal */
static int compare(question q) {
    char text[TEXT];
    kspec_unbiased_result *r;
    q.skip_axis = -1;
    const double got = ask(&q, 1, &r), want = answer(&q);
    ein_text(q.form, q.trials > 1, text, sizeof text);
    if (!r) return 0;
    const double unit = fmax(1, fabs(want)) + 1e3 * r->rounding;
    CHECK_MSG(fabs(got - want) <= 1e-11 * unit, "%s: %.17g != %.17g", text, got, want);
    for (size_t x = 0; x < r->axis_count; x++) {
        const kspec_unbiased_axis *a = r->axes[x];
        if (!a->without) continue;
        q.skip_axis = strstr(a->sides, "rows") ? 0 : strstr(a->sides, "X:cols") ? 1 : 2;
        const uint64_t *label = q.skip_axis ? NULL : q.groups;
        size_t left_out = 0;
        for (q.skip = 0; q.skip < a->size; q.skip++) {
            int seen = 0;
            for (size_t i = 0; i < q.skip && label; i++) seen |= label[i] == label[q.skip];
            if (seen) continue; /* with its group */
            const double less = ask(&q, 0, NULL), got_less = a->without[left_out++];
            CHECK_MSG(fabs(got_less - less) <= 1e-10 * (unit + fabs(less)),
                      "%s without %zu of the %s: %.17g != %.17g", text, q.skip, a->name, got_less, less);
        }
        CHECK(left_out == (label ? a->groups : a->size));
    }
    kspec_free(r);
    return 1;
}

/* ---- all expressions of one matrix ---- */

static ein_form forms[FORMS + 1];
static numbers data;

/* A sample of 4 of 5 rows estimates the mean over all tuples of the 5, coincidences and all. */
static void population(const ein_form *f) {
    char text[TEXT];
    question q = {f, &data, 1, {5, COLS, OTHER}, NULL, NULL, "i=5", 0, 0, NULL};
    double mean = 0;
    if (f->indices[0] > 4 || f->indices[1] > 4) return;
    for (q.skip = 0; q.skip < 5; q.skip++) mean += ask(&q, 0, NULL) / 5;
    ein_data d = {.size = {5, (int)COLS, (int)OTHER}, .complete = {1, 0, 0}};
    for (int k = 0; k < f->factors; k++) d.data[k] = data.entry[0][0];
    const double want = ein_mean(f, &d);
    CHECK_MSG(fabs(mean - want) <= 1e-11 * (1 + fabs(want)), "%s: %.17g != %.17g",
              ein_text(f, 0, text, sizeof text), mean, want);
}

TEST(every_small_expression_of_one_matrix) {
    int plain = 0, centred = 0, complete = 0, trials = 0;
    fill(&data);
    CHECK(ein_all(forms, FORMS + 1) == FORMS);
    for (int k = 0; k < FORMS; k++) {
        const ein_form *f = &forms[k];
        const question q = {f, &data, 1, {ROWS, COLS, OTHER}, NULL, NULL, NULL, -1, 0, NULL};
        question other = q;
        plain += compare(q);
        other.complete = "cols";
        complete += compare(other);
        other = q;
        other.trials = 2;
        if (f->factors > 1) trials += compare(other); /* X1 alone would be one trial */
        population(f);
        other = q;
        other.center = "rows";
        if (ein_can_centre(f)) centred += compare(other);
    }
    CHECK_MSG(plain == FORMS && complete == FORMS && trials == FORMS - 1 && centred == CENTRED, "%d %d %d %d",
              plain, complete, trials, centred);
}

/* ---- rows in groups ---- */

static int distinct_labels(const uint64_t *label, size_t n) {
    int count = 0;
    for (size_t i = 0; i < n; i++) {
        int seen = 0;
        for (size_t j = 0; j < i; j++) seen |= label[i] == label[j];
        count += !seen;
    }
    return count;
}

/* Does the library take this with groups? Then it is right. */
static int compare_if_taken(question q) {
    q.skip_axis = -1;
    return isnan(ask(&q, 0, NULL)) ? 0 : compare(q);
}

TEST(rows_in_groups) {
    /* 3 groups of 2, 3 and 1 rows; and 5 groups, since four rows of a centred product differ */
    static const uint64_t few[EIN_SIZE] = {3, 8, 3, 1, 8, 8}, many[EIN_SIZE] = {3, 8, 3, 1, 4, 6};
    int plain = 0, complete = 0, trials = 0, centred = 0, second = 0;
    state = 11;
    fill(&data);
    CHECK(distinct_labels(few, ROWS) == 3 && distinct_labels(many, ROWS) == 5);
    for (int k = 0; k < FORMS; k++) {
        const ein_form *f = &forms[k];
        const int order_2 = f->indices[0] <= 2 && f->factors <= 4;
        question q = {f, &data, 1, {ROWS, COLS, OTHER}, NULL, NULL, NULL, -1, 0, few}, other = q;
        const int taken = compare_if_taken(q);
        plain += taken, second += order_2;
        if (!order_2) continue;
        other.complete = "cols";
        complete += compare(other);
        other = q;
        other.trials = 2;
        if (f->factors > 1) trials += compare(other);
        other = q;
        other.center = "rows", other.groups = many;
        if (ein_can_centre(f)) centred += compare(other);
    }
    printf("groups: %d of %d expressions, %d of second order (%d centred)\n", plain, FORMS, second, centred);
    CHECK(complete == second && trials == second - 1 && centred > 5 && plain == FORMS);
}

/* ---- sampled expressions of two matrices ---- */

static int connected(const ein_form *f) {
    unsigned seen = 1, before;
    do {
        before = seen;
        for (int k = 0; k < f->factors; k++)
            for (int l = 0; l < f->factors; l++)
                if (seen >> k & 1 &&
                    (f->row[k] == f->row[l] || (f->matrix[k] == f->matrix[l] && f->col[k] == f->col[l])))
                    seen |= 1u << l;
    } while (seen != before);
    return seen == (1u << f->factors) - 1;
}

/* Names in the order in which they appear; how many there are on each axis */
static void rename_indices(ein_form *f) {
    int to[3][8], used[3] = {0};
    memset(to, -1, sizeof to);
    for (int k = 0; k < f->factors; k++) {
        int *row = &to[0][f->row[k]], *col = &to[ein_axis(f, k)][f->col[k]];
        if (*row < 0) *row = used[0]++;
        if (*col < 0) *col = used[ein_axis(f, k)]++;
        f->row[k] = *row, f->col[k] = *col;
    }
    memcpy(f->indices, used, sizeof used);
}

TEST(sampled_expressions_of_two_matrices) {
    static const uint64_t groups[EIN_SIZE] = {3, 8, 3, 1, 8, 8};
    int done = 0, centred = 0, grouped = 0, tried = 0;
    state = 7;
    fill(&data);
    for (; done < PAIRS && tried < 100000; tried++) {
        ein_form f = {.factors = 2 + draw(EIN_FACTORS - 1)};
        int both = 0;
        for (int k = 0; k < f.factors; k++) {
            f.matrix[k] = draw(2), f.row[k] = draw(3), f.col[k] = draw(2);
            both |= 1 << f.matrix[k];
        }
        if (both != 3 || !connected(&f)) continue;
        rename_indices(&f);
        question q = {&f, &data, 1 + (done % 3 == 2), {ROWS, COLS, OTHER}, NULL, NULL, NULL, -1, 0, NULL};
        if (done % 5 == 3) q.complete = "cols";
        if (ein_can_centre(&f) && done % 2)
            q.center = "rows", centred++;
        else if (done % 7 < 2)
            q.groups = groups, grouped++;
        done += compare(q);
    }
    CHECK_MSG(done == PAIRS && centred > 30 && grouped > 30, "%d, of them centred %d", done, centred);
    printf("%d expressions of one matrix, %d of two (%d centred, %d with groups)\n", FORMS, done, centred,
           grouped);
}

/* ---- more than matrix products ---- */

/* Three rows and three columns, each joined to each but for the last with the last; K(3,3) has it, too */
static const ein_form wide[] = {
    {8, {0}, {0, 0, 0, 1, 1, 1, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1}, {3, 3, 0}},
    {9, {0}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2}, {3, 3, 0}},
    {10, {0}, {0, 0, 0, 1, 1, 1, 2, 2, 2, 2}, {0, 1, 2, 0, 1, 2, 0, 1, 2, 2}, {3, 3, 0}},
    {9, {0, 0, 1, 0, 0, 1, 0, 0, 1}, {0, 0, 0, 1, 1, 1, 2, 2, 2}, {0, 1, 0, 0, 1, 0, 0, 1, 0}, {3, 2, 1}},
    {10,
     {0, 0, 1, 0, 0, 1, 0, 0, 1, 1},
     {0, 0, 0, 1, 1, 1, 2, 2, 2, 1},
     {0, 1, 0, 0, 1, 0, 0, 1, 0, 1},
     {3, 2, 2}},
};

TEST(slices_do_what_needs_more_than_products) {
    int done = 0;
    state = 5;
    fill(&data);
    for (size_t k = 0; k < sizeof wide / sizeof *wide; k++) {
        question q = {&wide[k], &data, 1, {5, COLS, OTHER}, NULL, NULL, NULL, -1, 0, NULL}, other = q;
        char text[TEXT];
        done += compare(q);
        other.complete = "cols";
        done += compare(other);
        other = q;
        other.trials = 2;
        done += compare(other);
        const kspec_matrix x = {data.as_double[0][0], 5, COLS, (ptrdiff_t)COLS, 1},
                           y = {data.as_double[1][0], 5, OTHER, (ptrdiff_t)OTHER, 1};
        const kspec_operand of[2] = {{"X", &x, 1}, {"Y", &y, 1}};
        const kspec_unbiased_opts o = {.size = sizeof o, .explain = 1};
        kspec_unbiased_result *r = NULL;
        CHECK(!kspec_unbiased(ein_text(&wide[k], 0, text, sizeof text), of, 2, &o, &r, NULL));
        CHECK_MSG(r && strstr(r->plan, "of slices"), "%s", r ? r->plan : text);
        kspec_free(r);
    }
    CHECK_MSG(done == 15, "%d", done);
}

/* Five indices, each joined to each: one fixed is not enough. And a matrix that is too large for slices */
TEST(what_slices_cannot_do_is_refused) {
    static const char *const text[] = {
        "X[i,j] X[i,k] X[i,l] X[i,m] X[j,k] X[j,l] X[j,m] X[k,l] X[k,m] X[l,m]",
        "X[i,a] X[i,b] X[i,c] X[j,a] X[j,b] X[j,c] X[k,a] X[k,b] X[k,c]"};
    static const char *const want[] = {"above three): 5 of the rows and columns of X",
                                       "use fewer rows or columns"};
    static const double entry = 1;
    for (int k = 0; k < 2; k++) {
        const size_t size = k ? 3000 : 9;
        const kspec_matrix x = {&entry, size, size, 0, 0};
        kspec_unbiased_result *r = NULL;
        kspec_error err = {0};
        const kspec_unbiased_opts o = {.size = sizeof o};
        CHECK(kspec_unbiased(text[k], &(kspec_operand){"X", &x, 1}, 1, &o, &r, &err) == KSPEC_E_ARG);
        CHECK_MSG(strstr(err.msg, want[k]), "%s", err.msg);
    }
}

/* ---- the hand-written paths ---- */

static double value_of(const char *text, const kspec_matrix *x, const kspec_matrix *y, const char *center,
                       double *se) {
    const kspec_operand of[2] = {{"X", x, 1}, {"Y", y, 1}};
    const kspec_unbiased_opts o = {.size = sizeof o, .center = center};
    kspec_unbiased_result *r = NULL;
    kspec_error err;
    CHECK_MSG(kspec_unbiased(text, of, 2, &o, &r, &err) == KSPEC_OK, "%s: %s", text, err.msg);
    const double value = r ? r->value : NAN;
    if (se) *se = r ? r->std_error : NAN;
    kspec_free(r);
    return value;
}

/* moments' exact, dimension and compare give what their expressions give */
TEST(moments_dimension_and_compare_are_expressions) {
    enum { P = 23, Q = 17, R = 12 };
    static const char *const cycle[] = {"X[i,a] X[i,a]", "X[i,a] X[j,a] X[j,b] X[i,b]",
                                        "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[i,c]",
                                        "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[i,d]"};
    static double x[P * Q], y[P * R];
    kspec_error err;
    kspec_random_normal(3, 0, 0, P * Q, x);
    kspec_random_normal(3, 1, 0, P * R, y);
    for (int k = 0; k < P * Q; k++) x[k] += 2 * cos(k / Q) * (1 + k % 3); /* one dimension stands out */
    for (int k = 0; k < P * R; k++) y[k] += x[(k / R) * Q + k % R];
    const kspec_matrix X = {x, P, Q, Q, 1}, Y = {y, P, R, R, 1};
    for (int centred = 0; centred < 2; centred++) {
        const char *center = centred ? "rows" : NULL;
        const kspec_moments_opts mo = {.size = sizeof mo,
                                       .nmax = 4,
                                       .estimators = KSPEC_ESTIMATOR_EXACT,
                                       .center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE};
        const kspec_dimension_opts d_o = {.size = sizeof d_o, .center = mo.center};
        const kspec_compare_opts co = {.size = sizeof co, .center = mo.center};
        kspec_moments_result *m = NULL;
        kspec_dimension_result *d = NULL;
        kspec_compare_result *c = NULL, *without;
        kspec_compare_opts none = co;
        none.no_shared = 1;
        CHECK(!kspec_compare(&X, 1, &Y, 1, &none, &without, &err) && isnan(without->shared_dimension));
        kspec_free(without);
        CHECK(!kspec_moments(&X, 1, &mo, &m, &err) && !kspec_dimension(&X, 1, &d_o, &d, &err));
        CHECK(!kspec_compare(&X, 1, &Y, 1, &co, &c, &err));
        for (int n = 1; n <= 4 && m; n++) {
            double se;
            const double value = value_of(cycle[n - 1], &X, &Y, center, &se),
                         unit = fabs(m->estimates[n - 1]->value);
            CHECK_MSG(fabs(value - m->estimates[n - 1]->value) <= 1e-8 * (unit + 1e-3), "m(%d) %.17g", n,
                      value);
            CHECK_MSG(fabs(se - m->estimates[n - 1]->std_error) <= 1e-7 * se, "m(%d): %g", n, se);
        }
        const double square = value_of("X[i,a] X[i,a] X[j,b] X[j,b]", &X, &Y, center, NULL),
                     cross = value_of("X[i,a] Y[i,b] X[j,a] Y[j,b]", &X, &Y, center, NULL),
                     m2 = value_of(cycle[1], &X, &Y, center, NULL),
                     other = value_of("Y[i,a] Y[j,a] Y[j,b] Y[i,b]", &X, &Y, center, NULL);
        CHECK(d && fabs(square - d->trace_squared) <= 1e-10 * square);
        CHECK_MSG(c && fabs(cross / sqrt(m2 * other) - c->alignment) <= 1e-9, "%.17g, %.17g",
                  cross / sqrt(m2 * other), c ? c->alignment : NAN);
        kspec_free(m);
        kspec_free(d);
        kspec_free(c);
    }
}

/* Both parts of the shared dimension in one call: the same values, and what both need is computed once */
TEST(expressions_of_one_call_share_their_plan) {
    enum { P = 30, Q = 9, R = 7 };
    static const char *const part[2] = {"X[i,a] Y[i,b] Y[j,b] X[j,a] X[k,c] Y[k,d] Y[l,d] X[l,c]",
                                        "X[i,a] Y[i,b] Y[j,b] X[j,c] X[k,c] Y[k,d] Y[l,d] X[l,a]"};
    static double x[2 * P * Q], y[P * R];
    kspec_random_normal(9, 0, 0, 2 * P * Q, x);
    kspec_random_normal(9, 1, 0, P * R, y);
    for (int k = 0; k < P * R; k++) y[k] += x[k / R * Q + k % R];
    const kspec_matrix X = {x, P, Q, Q, 1}, Y = {y, P, R, R, 1};
    const kspec_operand of[2] = {{"X", &X, 1}, {"Y", &Y, 1}};
    for (int centred = 0; centred < 2; centred++) {
        const kspec_unbiased_opts o = {.size = sizeof o, .center = centred ? "rows" : NULL};
        kspec_unbiased_result *both[2] = {NULL, NULL};
        char text[200];
        size_t alone = 0;
        snprintf(text, sizeof text, "%s; %s", part[0], part[1]);
        CHECK(ks_unbiased(text, 2, of, 2, &o, both, NULL) == KSPEC_OK);
        for (int k = 0; k < 2 && both[k]; k++) {
            kspec_unbiased_result *r = NULL;
            CHECK(!kspec_unbiased(part[k], of, 2, &o, &r, NULL));
            const double unit = fabs(r->value) + 100 * r->rounding;
            CHECK(fabs(both[k]->value - r->value) <= 1e-10 * unit && both[k]->axis_count == 3);
            CHECK(fabs(both[k]->std_error - r->std_error) <= 1e-8 * r->std_error);
            for (size_t i = 0; i < P; i++)
                CHECK(fabs(both[k]->axes[0]->without[i] - r->axes[0]->without[i]) <= 1e-9 * unit);
            alone += r->products;
            kspec_free(r);
        }
        CHECK_MSG(3 * both[0]->products <= 2 * alone && both[0]->products == both[1]->products,
                  "%zu products, alone %zu", both[0]->products, alone);
        kspec_free(both[0]), kspec_free(both[1]);
    }
    kspec_unbiased_result *r = NULL;
    kspec_error err;
    CHECK_FAILS(kspec_unbiased("X[i,a]; X[i,a]", of, 2, NULL, &r, &err), KSPEC_E_ARG, err, ">>> ; X[i,a]");
}

/* The cycles' graphs that exact lists by their symmetry are those that the expansion of einsum gives. */
TEST(the_graphs_of_exact_are_those_of_the_expression) {
    static const char *const cycle[] = {
        "X[i,a] X[i,a]", "X[i,a] X[j,a] X[j,b] X[i,b]", "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[i,c]",
        "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[i,d]",
        "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[l,c] X[l,d] X[m,d] X[m,e] X[i,e]"};
    static ks_graph g[KS_GRAPHS_MAX];
    double x[64];
    kspec_random_normal(2, 0, 0, 64, x);
    const kspec_matrix X = {x, 8, 8, 8, 1};
    const kspec_operand of = {"X", &X, 1};
    const kspec_unbiased_opts o = {.size = sizeof o, .no_stderr = 1};
    for (int n = 1; n <= 5; n++) {
        kspec_unbiased_result *r = NULL;
        CHECK(!kspec_unbiased(cycle[n - 1], &of, 1, &o, &r, NULL));
        CHECK_MSG(r && r->graphs == ks_graphs((ks_exact_form){0}, n, g), "order %d: %zu graphs", n,
                  r ? r->graphs : 0);
        kspec_free(r);
    }
}

/* The same with groups of rows: moments of all sizes of groups; centred, dimension and compare */
TEST(groups_of_moments_dimension_and_compare_are_expressions) {
    enum { P = 24, Q = 13, R = 9 };
    static double x[P * Q], y[P * R];
    uint64_t label[P];
    kspec_error err;
    kspec_random_normal(5, 0, 0, P * Q, x);
    kspec_random_normal(5, 1, 0, P * R, y);
    for (int k = 0; k < P * Q; k++) x[k] += 2 * cos(k / Q / 2) * (1 + k % 3);
    for (int k = 0; k < P * R; k++) y[k] += x[(k / R) * Q + k % R];
    for (uint64_t i = 0; i < P; i++)
        label[i] = i < 6 ? 77 : i < 9 ? 5 : 100 + i / 2; /* of 6, 3, 1 and 2 rows */
    const kspec_matrix X = {x, P, Q, Q, 1}, Y = {y, P, R, R, 1};
    const kspec_operand of[2] = {{"X", &X, 1}, {"Y", &Y, 1}};
    for (int centred = 0; centred < 2; centred++) {
        static const char *const text[] = {"X[i,a] X[j,a] X[j,b] X[i,b]", "X[i,a] X[i,a] X[j,b] X[j,b]",
                                           "X[i,a] Y[i,b] X[j,a] Y[j,b]", "Y[i,a] Y[j,a] Y[j,b] Y[i,b]"};
        const kspec_center center = centred ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE;
        const kspec_unbiased_opts o = {
            .size = sizeof o, .center = centred ? "rows" : NULL, .row_groups = label, .row_group_count = P};
        const kspec_moments_opts mo = {
            .size = sizeof mo, .nmax = 2, .estimators = KSPEC_ESTIMATOR_EXACT, .row_groups = label};
        const kspec_dimension_opts d_o = {.size = sizeof d_o, .center = center, .row_groups = label};
        const kspec_compare_opts co = {.size = sizeof co, .center = center, .row_groups = label};
        kspec_moments_result *m = NULL;
        kspec_dimension_result *d = NULL;
        kspec_compare_result *c = NULL;
        kspec_unbiased_result *u[4] = {NULL};
        for (int k = 0; k < 4; k++)
            CHECK_MSG(!kspec_unbiased(text[k], of, 2, &o, &u[k], &err), "%s", err.msg);
        CHECK(!kspec_moments(&X, 1, &mo, &m, &err) && !kspec_dimension(&X, 1, &d_o, &d, &err));
        CHECK(!kspec_compare(&X, 1, &Y, 1, &co, &c, &err));
        if (!u[3] || !d || !c || !m) return;
        CHECK(u[0]->axes[0]->groups == d->groups && u[0]->axes[0]->size == P);
        CHECK_MSG(fabs(u[0]->value - d->second_moment) <= 1e-10 * u[0]->value, "%.17g %.17g", u[0]->value,
                  d->second_moment);
        CHECK(fabs(u[1]->value - d->trace_squared) <= 1e-10 * u[1]->value);
        const double alignment = u[2]->value / sqrt(u[0]->value * u[3]->value);
        CHECK_MSG(fabs(alignment - c->alignment) <= 1e-9, "%.17g %.17g", alignment, c->alignment);
        if (!centred) CHECK(fabs(u[0]->std_error - m->estimates[1]->std_error) <= 1e-9 * u[0]->std_error);
        for (int k = 0; k < 4; k++) kspec_free(u[k]);
        kspec_free(m);
        kspec_free(d);
        kspec_free(c);
    }
}

/* Centred, a constant that is added to a column changes nothing, whatever the sizes of groups. */
TEST(offsets_change_nothing_with_groups) {
    enum { P = 18, Q = 7 };
    static double x[P * Q], shifted[P * Q];
    uint64_t label[P];
    kspec_random_normal(6, 0, 0, P * Q, x);
    for (int k = 0; k < P * Q; k++) shifted[k] = x[k] + 3 * (k % Q);
    for (uint64_t i = 0; i < P; i++) label[i] = i < 5 ? 0 : i < 8 ? 1 : i;
    static const char *const text[] = {"X[i,a] X[j,a] X[j,b] X[i,b]", "X[i,a] X[i,a]",
                                       "X[i,a] X[i,a] - X[i,a] X[j,a]"};
    for (int k = 0; k < 3; k++) {
        double value[2] = {NAN, NAN};
        for (int s = 0; s < 2; s++) {
            const kspec_matrix X = {s ? shifted : x, P, Q, Q, 1};
            const kspec_unbiased_opts o = {.size = sizeof o,
                                           .center = k < 2 ? "rows" : NULL, /* the third is by itself */
                                           .row_groups = label,
                                           .row_group_count = P};
            kspec_unbiased_result *r = NULL;
            kspec_error err;
            CHECK_MSG(!kspec_unbiased(text[k], &(kspec_operand){"X", &X, 1}, 1, &o, &r, &err), "%s", err.msg);
            if (r) value[s] = r->value;
            kspec_free(r);
        }
        CHECK_MSG(fabs(value[1] - value[0]) <= 1e-10 * fabs(value[0]), "%s: %.17g, shifted %.17g", text[k],
                  value[0], value[1]);
    }
}

/*
 * Skewness moves both ends of a product's interval, on the scale of the logarithm: the one outwards, the
 * other inwards by Cornish and Fisher's term. A single large row makes the estimate skewed.
 */
TEST(skewness_moves_both_ends_of_an_interval) {
    enum { P = 30, Q = 20 };
    static double x[P * Q];
    kspec_random_normal(9, 0, 0, P * Q, x);
    for (int k = 0; k < P * Q; k++) x[k] = (1 + 0.3 * x[k]) * (k < Q ? 1.5 : 1);
    const kspec_matrix X = {x, P, Q, Q, 1};
    const kspec_unbiased_opts o = {.size = sizeof o, .complete = "cols"};
    kspec_unbiased_result *r = NULL;
    CHECK(!kspec_unbiased("X[i,a] X[j,a]", &(kspec_operand){"X", &X, 1}, 1, &o, &r, NULL));
    if (!r) return;
    double mean = 0, two = 0, three = 0, four = 0;
    for (int i = 0; i < P; i++) mean += log(r->axes[0]->without[i]) / P;
    for (int i = 0; i < P; i++) {
        const double u = (P - 1) * (mean - log(r->axes[0]->without[i])) / P;
        two += u * u, three += u * u * u, four += u * u * u * u;
    }
    const double f = P / (P - 1.0), sd = sqrt(f * two), skew = three / (sd * sd * sd), z = 1.959963984540054,
                 q = ks_student_quantile(2 * two * two / (four - two * two / P)),
                 shift = skew * (2 * z * z + 1) / 6, bias = (P - 1) * (mean - log(r->value)),
                 low = log(r->value) - bias - (q - shift) * sd,
                 high = log(r->value) - bias + (q + shift / pow(1 - skew, 1.25)) * sd;
    CHECK_MSG(skew > 0.2 && skew < 0.9, "skewness %g", skew);
    CHECK_MSG(fabs(log(r->ci_low) - low) <= 1e-9, "%.12g %.12g", log(r->ci_low), low);
    CHECK_MSG(fabs(log(r->ci_high) - high) <= 1e-9, "%.12g %.12g", log(r->ci_high), high);
    kspec_free(r);
}

int main(void) {
    RUN(skewness_moves_both_ends_of_an_interval);
    RUN(every_small_expression_of_one_matrix);
    RUN(rows_in_groups);
    RUN(sampled_expressions_of_two_matrices);
    RUN(slices_do_what_needs_more_than_products);
    RUN(what_slices_cannot_do_is_refused);
    RUN(moments_dimension_and_compare_are_expressions);
    RUN(expressions_of_one_call_share_their_plan);
    RUN(the_graphs_of_exact_are_those_of_the_expression);
    RUN(groups_of_moments_dimension_and_compare_are_expressions);
    RUN(offsets_change_nothing_with_groups);
    return test_done();
}
