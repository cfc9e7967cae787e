/* Prints the recommendation of `kspec ridge` as text, and adds it to the JSON object. */
#include "commands/ridge.h"

#include <math.h>

void ridge_choice(const ridge_advice *r, size_t k, size_t *N, double *lambda) {
    const kspec_ridge_curve_point *best = r->found->recommended;
    static const double factors[RIDGE_CHOICES] = {1, 0.5, 2};
    *N = (size_t)fmax(1, floor(factors[k] * (double)best->N));
    *lambda =
        best->lambda * (double)*N / (double)best->N; /* the same lambda/N, which is the ridge on the kernel */
}

/* The largest number of lines of a printed curve. They are evenly spaced and include the recommended
 * point. */
enum { LINES = 9 };

static void print_curve(FILE *f, const char *heading, const ridge_advice *r, const ridge_args *a,
                        kspec_ridge_curve_point *const *points, size_t count) {
    const kspec_ridge_curve_point *chosen = r->found->recommended;
    const size_t step = (count + LINES - 2) / (LINES - 1);
    size_t at = 0;
    for (size_t k = 0; k < count; k++)
        if (points[k]->N == chosen->N && points[k]->lambda == chosen->lambda &&
            points[k]->sigma == chosen->sigma)
            at = k;
    fprintf(f, "\n%s%s  %7s  %9s  %7s  %9s%s\n", cli_bold(&a->common), heading, "N", "lambda", "sigma",
            "test MSE", cli_plain(&a->common));
    for (size_t k = at % step; k < count; k += step) {
        const kspec_ridge_curve_point *p = points[k];
        fprintf(f, "%*s  %7zu  %9.3g  %7.3g  %9.4g%s\n", cli_name_width(heading), "", p->N, p->lambda,
                p->sigma, p->test_mse, k == at ? "  recommended" : "");
    }
}

void ridge_print_advice(FILE *f, const ridge_advice *r, const ridge_args *a) {
    const kspec_ridge_recommend_result *found = r->found;
    const kspec_ridge_curve_point *p = found->recommended;
    fprintf(f, "recommended: --features %zu --lambda %.3g --sigma %.4g\n", p->N, p->lambda, p->sigma);
    fprintf(f, "  predicted test error %.4g, R2 %.3f; predicting the mean errs by %.4g\n", p->test_mse, r->r2,
            found->mean_test_mse);
    fprintf(f, "  these are the fewest features within 2%% of the best error, %.4g with %zu",
            found->best->test_mse, found->best->N);
    if (found->best->sigma != p->sigma) fprintf(f, " and sigma %.3g", found->best->sigma);
    fputc('\n', f);
    fprintf(f, "  sigma is %.2g times the median distance of two rows\n", p->sigma / r->median);
    if (found->peak)
        fprintf(f, "  double descent: without lambda the test error peaks at N = %zu (%.3g)\n",
                found->peak->N, found->peak->ridgeless_test_mse);
    fprintf(f, "  training it on %zu row%s takes about %.2g s\n", r->training_rows, cli_s(r->training_rows),
            r->training_seconds);
    if (found->rows < r->training_rows)
        fprintf(f, "  predicted for %zu of the %zu training rows; with all rows errors are smaller\n",
                found->rows, r->training_rows);
    if (found->splits > 1) fprintf(f, "  mean over %zu random divisions of the rows\n", found->splits);
    print_curve(f, "by features", r, a, found->features, found->feature_count);
    print_curve(f, "by lambda  ", r, a, found->lambdas, found->lambda_count);
    print_curve(f, "by sigma   ", r, a, found->sigmas, found->sigma_count);
    fputs("\nthe recommended model, with half and with twice the features:\n", f);
}

static json_t *point_json(const kspec_ridge_curve_point *p) {
    json_t *o = json_pack("{s:I}", "features", (json_int_t)p->N);
    cli_set_reals(o, (cli_member[]){{"lambda", p->lambda},
                                    {"sigma", p->sigma},
                                    {"train_mse", p->train_mse},
                                    {"test_mse", p->test_mse},
                                    {"ridgeless_test_mse", p->ridgeless_test_mse},
                                    {0}});
    return o;
}

static json_t *curve_json(kspec_ridge_curve_point *const *points, size_t count) {
    json_t *list = json_array();
    for (size_t k = 0; k < count; k++) json_array_append_new(list, point_json(points[k]));
    return list;
}

void ridge_advice_keys(const ridge_advice *r, json_t *to) {
    const kspec_ridge_recommend_result *found = r->found;
    json_t *recommended = point_json(found->recommended);
    cli_set_reals(recommended, (cli_member[]){{"r2", r->r2},
                                              {"median_distance", r->median},
                                              {"training_seconds", r->training_seconds},
                                              {0}});
    json_object_set_new(recommended, "training_rows", json_integer((json_int_t)r->training_rows));
    json_object_set_new(recommended, "divisions", json_integer((json_int_t)found->splits));
    json_object_set_new(to, "recommended", recommended);
    json_object_set_new(to, "best", point_json(found->best));
    json_object_set_new(to, "double_descent", found->peak ? point_json(found->peak) : json_null());
    json_object_set_new(to, "curves",
                        json_pack("{s:o, s:o, s:o}", "features",
                                  curve_json(found->features, found->feature_count), "lambda",
                                  curve_json(found->lambdas, found->lambda_count), "sigma",
                                  curve_json(found->sigmas, found->sigma_count)));
}
