/*
 * What kspec_unbiased() shares with the rest of the library: moments, dimension and compare give the values
 * of their expressions, expressions of one call share a plan, and the interval follows from the estimates
 * without each index. And the refusal of a sum that cancels.
 */
#include "test.h"

#include "base/student.h"
#include "einsum/unbiased.h"
#include "exact/cycles.h"
#include "kspec.h"

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

/* A sum that is 0 for any data is refused at a product that cancels others. A part of a sum may cancel. */
TEST(a_sum_that_cancels_is_marked) {
    static const struct {
        const char *text, *center, *marked; /* NULL: it is fine */
    } sums[] = {
        {"X[i,a] X[i,a] - X[j,b] X[j,b]", NULL, ">>> X[j,b] X[j,b]: this product equals 'X[i,a] X[i,a]'"},
        {"X[i,a] X[i,a] - X[j,b] X[j,b]", "rows", ">>> X[j,b] X[j,b]: this product equals"},
        {"X[i,a] Y[i,b] - 2 X[j,c] Y[j,d] + 1 Y[k,d] X[k,c]", NULL, ">>> 1 Y[k,d] X[k,c]: this"},
        {"1/3 X[i,a] + 1/3 X[i,a] + 1/3 X[j,a] - X[j,b]", NULL,
         ">>> X[j,b]: this product equals '1/3 X[i,a]'"},
        {"T1[i,a] T2[j,a] - T2[k,a] T1[l,a]", NULL, ">>> T2[k,a] T1[l,a]: this product equals"},
        {"Y[i,b] - X[i,a] X[i,c] + X[j,d] X[j,a] - Y[k,e]", NULL, ">>> Y[k,e]: this product equals 'Y[i,b]'"},
        {"X[i,a] X[i,a] - X[j,b] X[j,b] + X[i,a] X[j,a]", NULL, NULL},
        {"X[i,a] X[i,a] - X[i,a] X[j,a]", NULL, NULL},
        {"T1[i,a] T2[j,a] - T1[i,a] T2[i,a]", NULL, NULL},
    };
    double x[2 * 48];
    kspec_random_normal(3, 0, 0, 2 * 48, x);
    const kspec_matrix X = {x, 8, 6, 6, 1}, Y = {x, 8, 5, 6, 1}, T[2] = {X, {x + 48, 8, 6, 6, 1}};
    const kspec_operand of[] = {{"X", &X, 1}, {"Y", &Y, 1}, {"T", T, 2}};
    for (size_t k = 0; k < sizeof sums / sizeof *sums; k++) {
        const kspec_unbiased_opts o = {.size = sizeof o, .center = sums[k].center};
        kspec_unbiased_result *r = NULL;
        kspec_error err = {0};
        const kspec_status st = kspec_unbiased(sums[k].text, of, 3, &o, &r, &err);
        if (sums[k].marked)
            CHECK_MSG(st == KSPEC_E_ARG && strstr(err.msg, sums[k].marked), "%s: %s", sums[k].text, err.msg);
        else
            CHECK_MSG(!st && r->value != 0, "%s: %s", sums[k].text, err.msg);
        kspec_free(r);
    }
}

int main(void) {
    RUN(a_sum_that_cancels_is_marked);
    RUN(moments_dimension_and_compare_are_expressions);
    RUN(expressions_of_one_call_share_their_plan);
    RUN(the_graphs_of_exact_are_those_of_the_expression);
    RUN(groups_of_moments_dimension_and_compare_are_expressions);
    RUN(offsets_change_nothing_with_groups);
    RUN(skewness_moves_both_ends_of_an_interval);
    return test_done();
}
