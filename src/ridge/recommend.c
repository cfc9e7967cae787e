/*
 * kspec_ridge_recommend(): finds the number of features, lambda and sigma with the least predicted test
 * error.
 */
#include "base/clock.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/result.h"
#include "base/streams.h"
#include "linalg/linalg.h"
#include "ridge/call.h"
#include "ridge/one.h"
#include "ridge/predict.h"
#include "team/team.h"

#include <float.h>
#include <math.h>
#include <string.h>

/*
 * factors holds the values of sigma divided by the median distance. The enum constants set the number of
 * lambdas per factor of 10 and the range of lambda.
 */
static const double factors[] = {0.3, 0.5, 0.7, 1, 1.4, 2, 3};
static const double mantissas[] = {1, 1.3, 1.8, 2.4, 3.2, 4.2, 5.6, 7.5};
enum { SIGMAS = sizeof factors / sizeof *factors, STEPS = sizeof mantissas / sizeof *mantissas };
enum { PER_DECADE = 4, LOWEST = -6, SPLITS = 5 };
static const double WORK = 2e9;  /* the work limit for all divisions together, in units of rows cubed */
static const double NEAR = 1.02; /* errors within this factor count as equal */

typedef struct {
    const kspec_ridge *r;
    /* splits is the number of divisions of the rows, and numbers the number of values of N. */
    size_t splits, numbers, lambdas;
    size_t *N;
    double sigma[SIGMAS], unit[SIGMAS]; /* unit is the mean of K(x,x) for each sigma. */
    double width;                       /* the number of columns for each N */
    /* the error of predicting the mean, for each division (equal for all sigma) */
    double baseline[SPLITS * SIGMAS];
    double *errors; /* the training and test errors: splits x SIGMAS x numbers x lambdas x 2 */
    struct bench {
        ks_one basis;
        /* rows and targets hold the whole data. fill() explains scratch and columns. */
        double *rows, *targets, *scratch, *columns;
        size_t *order;
        ks_one_solution *solutions;
    } * benches;
} search;

/* The kernel gets mu = lambda n/N on its diagonal, so one grid of mu serves every N. */
static double lambda_of(const search *s, size_t sigma, size_t number, size_t k) {
    const double mu = s->unit[sigma] * pow(10, LOWEST + (double)k / PER_DECADE);
    return mu * (double)s->N[number] / (double)s->r->n;
}

static double *error_at(const search *s, size_t split, size_t sigma, size_t number, size_t k) {
    return s->errors + 2 * (((split * SIGMAS + sigma) * s->numbers + number) * s->lambdas + k);
}

/* Returns the mean error over the divisions; which is 0 for the training error, 1 for the test error. */
static double mean_error(const search *s, size_t sigma, size_t number, size_t k, int which) {
    double sum = 0;
    for (size_t split = 0; split < s->splits; split++)
        sum += error_at(s, split, sigma, number, k)[which] / (double)s->splits;
    return isfinite(sum) ? sum : INFINITY;
}

/* ---- one division of the rows, one sigma ---- */

/*
 * Copies the rows and targets of a division, training rows first. The first division is the division that
 * the handle uses.
 */
static void divide_rows(search *s, size_t split, size_t sigma, struct bench *b) {
    const kspec_ridge *r = s->r;
    const size_t n = r->n, all = n + r->nt, p = r->p, m = r->m;
    const double scale = r->sigma / s->sigma[sigma];
    for (size_t i = 0; i < all; i++) b->order[i] = i;
    if (split) ks_random_permutation(r->o.seed, ks_stream(KS_STREAM_RIDGE_ROWS, 1 + split), all, b->order);
    for (size_t i = 0; i < all; i++) {
        const size_t from = b->order[i], test = from >= n;
        const double *x = test ? r->Xt + (from - n) * p : r->X + from * p;
        const double *y = test ? r->Yt + (from - n) * m : r->Y + from * m;
        for (size_t j = 0; j < p; j++) b->rows[i * p + j] = scale * x[j];
        memcpy(b->targets + i * m, y, m * sizeof *y);
    }
    double baseline = 0;
    for (size_t j = 0; j < m; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) mean += b->targets[i * m + j] / (double)n;
        for (size_t i = n; i < all; i++) {
            const double d = b->targets[i * m + j] - mean;
            baseline += d * d / (double)(m * r->nt);
        }
        for (size_t i = 0; i < all && split && r->o.center_target; i++) b->targets[i * m + j] -= mean;
    }
    s->baseline[split * SIGMAS + sigma] = baseline;
}

/* Computes the errors for all N and lambda, ordered by N. */
static kspec_status fill(const search *s, size_t split, size_t sigma, struct bench *b, kspec_error *err) {
    const size_t m = s->r->m, count = s->lambdas;
    double *train = b->columns, *test = train + count * m;
    for (size_t number = 0; number < s->numbers; number++) {
        const double N = s->width * (double)s->N[number];
        for (size_t k = 0; k < count; k++) {
            const double lambda = s->width * lambda_of(s, sigma, number, k);
            kspec_status st = ks_one_solve(&b->basis, N, lambda, 1e-10, 200, &b->solutions[k], err);
            if (st) return st;
        }
        ks_one_errors(&b->basis, b->solutions, count, b->scratch, train, test);
        for (size_t k = 0; k < count; k++) {
            double *to = error_at(s, split, sigma, number, k);
            to[0] = to[1] = 0;
            for (size_t j = 0; j < m; j++) {
                to[0] += train[k * m + j] / (double)m;
                to[1] += test[k * m + j] / (double)m;
            }
        }
    }
    return KSPEC_OK;
}

static kspec_status one_basis(void *ctx, size_t chunk, const ks_worker *worker) {
    search *s = ctx;
    struct bench *b = &s->benches[worker->index];
    const size_t split = chunk / SIGMAS, sigma = chunk % SIGMAS;
    divide_rows(s, split, sigma, b);
    const ks_one_rows rows = {b->rows, b->rows + s->r->n * s->r->p, s->r->p};
    kspec_status st = ks_one_make(&b->basis, &rows, worker->err);
    return st ? st : fill(s, split, sigma, b, worker->err);
}

/* ---- the values to search ---- */

/* Lists 1, 1.3, 1.8, 2.4 ... up to `most`, and the number at which columns and rows are equally many. */
static kspec_status list_numbers(search *s, size_t most, ks_arena *a, kspec_error *err) {
    const size_t equal = s->r->n / (size_t)s->width;
    size_t decades = 1;
    for (size_t x = most; x >= 10; x /= 10) decades++;
    s->N = ks_arena_alloc(a, decades * STEPS + 2, sizeof *s->N);
    if (!s->N) return ks_nomem(err, "a search", a->failed);
    size_t last = 0;
    for (size_t k = 0; last < most; k++) {
        size_t N = (size_t)(mantissas[k % STEPS] * pow(10, (double)(k / STEPS)) + 0.5);
        if (N > most) N = most;
        if (equal > last && equal < N && equal <= most) s->N[s->numbers++] = equal;
        if (N != last) s->N[s->numbers++] = N;
        last = N;
    }
    return KSPEC_OK;
}

static kspec_status prepare(search *s, const ks_run *run, size_t most, ks_arena *a, kspec_error *err) {
    const kspec_ridge *r = s->r;
    const size_t n = r->n, nt = r->nt, all = n + nt, m = r->m;
    const int fourier = r->o.activation == KSPEC_RIDGE_ACTIVATION_FOURIER;
    const ks_activation f = {fourier ? KSPEC_RIDGE_ACTIVATION_PHASES : r->o.activation, r->o.slope};
    if (!(r->distance > 0))
        return ks_fail(err, KSPEC_E_DATA, "all training rows are alike: there is nothing to learn from them");
    if (ks_ridge_constant_target(r))
        return ks_fail(err, KSPEC_E_DATA, "the target is the same for all %zu training rows", n);
    const double cubes = WORK / pow((double)n, 3);
    s->splits = r->o.test_fraction > 0 ? (size_t)fmax(1, fmin(SPLITS, cubes)) : 1;
    s->width = (double)ks_activation_width(r->o.activation);
    s->lambdas = (size_t)(PER_DECADE * (ceil(log10((double)n)) - LOWEST)) + 1;
    kspec_status st = list_numbers(s, most ? most : 4 * n, a, err);
    if (st) return st;
    for (size_t g = 0; g < SIGMAS; g++) {
        s->sigma[g] = factors[g] * r->distance;
        for (size_t i = 0; i < n; i++) {
            const double *x = r->X + i * r->p, scale = r->sigma / s->sigma[g];
            const double square = scale * scale * ks_dot(r->p, x, x);
            s->unit[g] += ks_activation_kernel(&f, square, square, square) / (double)n;
        }
        if (!(s->unit[g] > 0)) return ks_fail(err, KSPEC_E_DATA, "the kernel of the rows is 0");
    }
    const size_t points = ks_size(s->splits * SIGMAS, ks_size(s->numbers, s->lambdas));
    const size_t workers = (size_t)ks_workers(run, s->splits * SIGMAS);
    st = ks_check_memory(err, ks_size(ks_size(workers, ks_one_size(n, nt, m, r->p)), sizeof(double)),
                         "a search with %zu training and %zu test rows", n, nt);
    if (st) return st;
    s->errors = ks_arena_alloc(a, ks_size(2, points), sizeof *s->errors);
    s->benches = ks_arena_zalloc(a, workers, sizeof *s->benches);
    for (size_t w = 0; w < workers && !a->failed; w++) {
        struct bench *b = &s->benches[w];
        b->basis = (ks_one){.n = n, .nt = nt, .m = m, .f = f, .intercept = r->o.intercept};
        ks_one_alloc(&b->basis, a);
        b->rows = ks_arena_alloc(a, ks_size(all, r->p), sizeof *b->rows);
        b->targets = ks_arena_alloc(a, ks_size(all, m), sizeof *b->targets);
        b->scratch = ks_arena_alloc(a, ks_size(all, ks_size(m, s->lambdas)), sizeof *b->scratch);
        b->columns = ks_arena_alloc(a, ks_size(2 * m, s->lambdas), sizeof *b->columns);
        b->order = ks_arena_alloc(a, all, sizeof *b->order);
        b->solutions = ks_arena_alloc(a, s->lambdas, sizeof *b->solutions);
        b->basis.Y = b->targets, b->basis.Yt = b->targets + n * m;
    }
    return a->failed ? ks_nomem(err, "a search", a->failed) : KSPEC_OK;
}

/* ---- the result ---- */

static void set_point(const search *s, size_t sigma, size_t number, size_t k, kspec_ridge_curve_point *p) {
    *p = (kspec_ridge_curve_point){.N = s->N[number],
                                   .lambda = lambda_of(s, sigma, number, k),
                                   .sigma = s->sigma[sigma],
                                   .train_mse = mean_error(s, sigma, number, k, 0),
                                   .test_mse = mean_error(s, sigma, number, k, 1),
                                   .ridgeless_test_mse = mean_error(s, sigma, number, 0, 1)};
}

/* Returns the lambda with the least test error at a sigma and an N. */
static size_t best_lambda(const search *s, size_t sigma, size_t number) {
    size_t best = 0;
    for (size_t k = 1; k < s->lambdas; k++)
        if (mean_error(s, sigma, number, k, 1) < mean_error(s, sigma, number, best, 1)) best = k;
    return best;
}

static size_t best_sigma(const search *s, size_t number) {
    size_t best = 0;
    double least = INFINITY;
    for (size_t g = 0; g < SIGMAS; g++) {
        const double value = mean_error(s, g, number, best_lambda(s, g, number), 1);
        if (value < least) least = value, best = g;
    }
    return best;
}

/*
 * Finds the peak of double descent: an N whose ridgeless error exceeds the errors on both sides by a
 * fifth.
 */
static const kspec_ridge_curve_point *find_peak(kspec_ridge_curve_point *const *points, size_t count) {
    size_t top = 0;
    double before = INFINITY, after = INFINITY;
    for (size_t k = 1; k < count; k++)
        if (points[k]->ridgeless_test_mse > points[top]->ridgeless_test_mse) top = k;
    for (size_t k = 0; k < count; k++) {
        double *side = k < top ? &before : &after;
        if (k != top) *side = fmin(*side, points[k]->ridgeless_test_mse);
    }
    /* the largest error of a neighbour, infinite at an end of the curve */
    const double most = fmax(before, after);
    return points[top]->ridgeless_test_mse > 1.2 * most ? points[top] : NULL;
}

/* A further search may pay if the last step to an end of a curve lowers the error by more than NEAR. */
static void doubt_end(ks_doubts to, const char *where, kspec_ridge_curve_point *const *points, size_t at,
                      size_t count) {
    if (count < 2 || (at > 0 && at + 1 < count)) return;
    if (points[at ? at - 1 : 1]->test_mse > NEAR * points[at]->test_mse)
        ks_doubt(to, KSPEC_DOUBT_SEARCH_END, where, at ? "high" : "low", 0);
}

static kspec_status describe(const search *s, kspec_ridge_recommend_result *out, kspec_error *err) {
    ks_arena *a = ks_result_arena(out);
    size_t best = 0, chosen = 0;
    double least = INFINITY;
    for (size_t c = 0; c < s->numbers; c++) {
        const size_t g = best_sigma(s, c);
        const double value = mean_error(s, g, c, best_lambda(s, g, c), 1);
        if (value < least) least = value, best = c;
    }
    for (; chosen < best; chosen++) {
        const size_t g = best_sigma(s, chosen);
        if (mean_error(s, g, chosen, best_lambda(s, g, chosen), 1) <= NEAR * least) break;
    }
    out->feature_count = s->numbers, out->lambda_count = s->lambdas, out->sigma_count = SIGMAS;
    out->recommended = ks_arena_zalloc(a, 2, sizeof *out->recommended);
    out->features = ks_arena_list(a, s->numbers, sizeof **out->features);
    out->lambdas = ks_arena_list(a, s->lambdas, sizeof **out->lambdas);
    out->sigmas = ks_arena_list(a, SIGMAS, sizeof **out->sigmas);
    if (a->failed) return ks_nomem(err, "the curves", a->failed);
    const size_t g = best_sigma(s, chosen), k = best_lambda(s, g, chosen), of_best = best_sigma(s, best);
    out->best = out->recommended + 1;
    set_point(s, g, chosen, k, out->recommended);
    set_point(s, of_best, best, best_lambda(s, of_best, best), out->best);
    for (size_t c = 0; c < s->numbers; c++) set_point(s, g, c, best_lambda(s, g, c), out->features[c]);
    for (size_t c = 0; c < s->lambdas; c++) set_point(s, g, chosen, c, out->lambdas[c]);
    for (size_t c = 0; c < SIGMAS; c++) set_point(s, c, chosen, best_lambda(s, c, chosen), out->sigmas[c]);
    out->peak = find_peak(out->features, s->numbers);
    out->rows = s->r->n, out->test_rows = s->r->nt, out->splits = s->splits;
    for (size_t d = 0; d < s->splits; d++) out->mean_test_mse += s->baseline[d * SIGMAS] / (double)s->splits;
    const ks_doubts to = KS_DOUBTS(out);
    if (!(NEAR * least < out->mean_test_mse))
        ks_doubt(to, KSPEC_DOUBT_NO_BETTER, NULL, NULL, least, out->mean_test_mse);
    else {
        doubt_end(to, "lambda", out->lambdas, k, s->lambdas);
        if (ks_activation_of_differences(s->r->o.activation)) doubt_end(to, "sigma", out->sigmas, g, SIGMAS);
        if (chosen + 1 == s->numbers) doubt_end(to, "N", out->features, chosen, s->numbers);
    }
    return a->failed ? ks_nomem(err, "the list of doubts", a->failed) : KSPEC_OK;
}

static kspec_status run_search(search *s, size_t most, kspec_ridge_recommend_result *out, kspec_error *err) {
    ks_arena scratch = {0};
    ks_run run;
    kspec_status st = ks_ridge_enter(s->r, &run, err);
    if (st) return st;
    st = prepare(s, &run, most, &scratch, err);
    const ks_share shares[] = {
        {s->errors, 2 * s->numbers * s->lambdas * sizeof *s->errors, s->splits * SIGMAS, 1},
        {s->baseline, sizeof *s->baseline, s->splits * SIGMAS, 1}};
    if (!st) st = ks_team_for(&run, "bases", s->splits * SIGMAS, one_basis, s, shares, 2, err);
    if (!st) st = describe(s, out, err);
    ks_ridge_exit();
    ks_arena_free(&scratch);
    return st;
}

kspec_status kspec_ridge_recommend(kspec_ridge *r, size_t most, kspec_ridge_recommend_result **out,
                                   kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    const double start = ks_now();
    kspec_status st = ks_check_pointer(err, r, "the plan");
    if (st) return st;
    search s = {.r = r};
    kspec_ridge_recommend_result *result = NULL;
    if (most) st = ks_ridge_check_N(most, err);
    if (!st && r->mix)
        st = ks_refuse(
            err, KSPEC_E_ARG, "kernel", NULL,
            "a recommendation is for the Gaussian kernel; of a Matern kernel choose numbers of features "
            "and lambda");
    if (!st && !r->nt) st = ks_fail(err, KSPEC_E_ARG, "a recommendation needs a test set");
    if (!st && !(result = ks_result_new(sizeof *result)))
        st = ks_nomem(err, "a recommendation", sizeof *result);
    if (!st) st = run_search(&s, most, result, err);
    st = ks_team_end(r->o.team, st, err);
    return ks_end(st, result, start, out);
}
