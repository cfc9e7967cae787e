/* Checks, splits, copies, centres and scales the data of a prediction. */
#include "ridge/data.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"
#include "features/kernel.h"
#include "ridge/classify.h"

#include <math.h>

/* ---- checks ---- */

static const char *const names[] = {"the matrix of training rows", "the matrix of training targets",
                                    "the matrix of test rows", "the matrix of test targets"};

static kspec_status check_pair(const kspec_matrix *x, const kspec_matrix *y, int test, kspec_error *err) {
    kspec_status st = ks_matrix_check(x, names[2 * test], err);
    if (!st) st = ks_matrix_check(y, names[2 * test + 1], err);
    if (!st && x->rows != y->rows) {
        const char *set = test ? "test" : "training";
        st = ks_fail(err, KSPEC_E_ARG, "%zu %s rows, but %zu %s targets", x->rows, set, y->rows, set);
    }
    return st;
}

/*
 * Checks that the options use at most one of the three sources of a test set: test rows, test_fraction and
 * test_noise.
 */
static kspec_status check_test_set(const kspec_ridge_opts *o, const ks_ridge_data *d, kspec_error *err) {
    if (o->test_noise > 0 && d->xt)
        return ks_refuse(err, KSPEC_E_ARG, "test_noise", NULL,
                         "test_noise and test rows cannot be combined: it makes "
                         "test rows of the training rows");
    if (o->test_fraction > 0 && (d->xt || o->test_noise > 0))
        return ks_refuse(err, KSPEC_E_ARG, "test_fraction", NULL, "test_fraction and %s cannot be combined",
                         d->xt ? "test rows" : "test_noise");
    if (!d->xt != !d->yt) return ks_fail(err, KSPEC_E_ARG, "test rows and test targets go together");
    return KSPEC_OK;
}

/* Computes the number of test rows. The training set and the test set need at least one row each. */
static kspec_status split_sizes(kspec_ridge *r, size_t rows, kspec_error *err) {
    const double fraction = r->o.test_fraction;
    r->nt = (size_t)(fraction * (double)rows + 0.5);
    if (r->nt > 0 && r->nt < rows) {
        r->n = rows - r->nt;
        return KSPEC_OK;
    }
    return ks_refuse(err, KSPEC_E_ARG, "test_fraction", NULL,
                     "test_fraction %g of %zu rows leaves no rows to %s", fraction, rows,
                     r->nt ? "train on" : "test on");
}

kspec_status ks_ridge_check_data(kspec_ridge *r, const ks_ridge_data *d, kspec_error *err) {
    kspec_status st = check_test_set(&r->o, d, err);
    if (!st) st = check_pair(d->x, d->y, 0, err);
    if (!st && d->xt) st = check_pair(d->xt, d->yt, 1, err);
    if (st) return st;
    if (d->xt && d->xt->cols != d->x->cols)
        return ks_fail(err, KSPEC_E_ARG, "test rows have %zu columns, but training rows have %zu",
                       d->xt->cols, d->x->cols);
    if (d->yt && d->yt->cols != d->y->cols)
        return ks_fail(err, KSPEC_E_ARG, "test targets have %zu columns, but training targets have %zu",
                       d->yt->cols, d->y->cols);
    r->n = d->x->rows, r->p = d->x->cols, r->m = d->y->cols;
    r->nt = d->xt ? d->xt->rows : 0;
    if (r->o.test_fraction > 0 && (st = split_sizes(r, d->x->rows, err))) return st;
    const size_t most = r->o.most_rows;
    if (most && r->n > most) r->n = most;
    if (most && r->nt > most) r->nt = most;
    if (r->o.test_noise > 0) r->nt = r->n;
    /* This bounds a matrix to 80 GB and fits LAPACK's 32-bit integers. */
    if (r->n > 100000 || r->nt > 100000)
        return ks_fail(err, KSPEC_E_ARG, "%zu rows exceed 100000", r->n > r->nt ? r->n : r->nt);
    return KSPEC_OK;
}

/* ---- which rows ---- */

/* Copies the rows list[0 ... count-1] of a matrix, or the first `count` rows if list is NULL. */
static kspec_status copy_rows(const kspec_matrix *m, const size_t *list, size_t count, const char *name,
                              double *to, kspec_error *err) {
    if (!list) return ks_matrix_copy(m, 0, count, name, to, err);
    kspec_status st = KSPEC_OK;
    for (size_t k = 0; k < count && !st; k++) st = ks_matrix_copy(m, list[k], 1, name, to + k * m->cols, err);
    return st;
}

/* Returns a random order of the rows if the options take only some rows, else NULL. */
static size_t *random_order(const kspec_ridge *r, size_t rows, size_t taken, size_t split, ks_arena *a) {
    size_t *order = taken < rows ? ks_arena_alloc(a, rows, sizeof *order) : NULL;
    if (order) ks_random_permutation(r->o.seed, ks_stream(KS_STREAM_RIDGE_ROWS, split), rows, order);
    return order;
}

static kspec_status copy(kspec_ridge *r, const ks_ridge_data *d, kspec_error *err) {
    ks_arena scratch = {0};
    const int noise = r->o.test_noise > 0;
    const size_t *train = random_order(r, d->x->rows, r->n, 0, &scratch), *test = NULL;
    ks_ridge_data of = *d;
    if (d->xt)
        test = random_order(r, d->xt->rows, r->nt, 1, &scratch);
    else if (r->o.test_fraction > 0 && train)
        of.xt = d->x, of.yt = d->y, test = train + d->x->rows - r->nt;
    kspec_status st = scratch.failed ? ks_nomem(err, "an order of the rows", scratch.failed) : KSPEC_OK;
    if (!st) st = copy_rows(of.x, train, r->n, names[0], r->X, err);
    if (!st) st = copy_rows(of.y, train, r->n, names[1], r->Y, err);
    if (!st && of.xt && !noise) st = copy_rows(of.xt, test, r->nt, names[2], r->Xt, err);
    if (!st && of.yt && !noise) st = copy_rows(of.yt, test, r->nt, names[3], r->Yt, err);
    ks_arena_free(&scratch);
    return st;
}

/* ---- centring and scaling ---- */

/* Replaces column j of `rows` rows by (x - mean)/sd, with the mean and deviation of the training rows. */
static void standardize(kspec_ridge *r, size_t given_test) {
    const size_t n = r->n, p = r->p;
    for (size_t j = 0; j < p; j++) {
        double low = r->X[j], high = low, mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) {
            const double x = r->X[i * p + j];
            low = fmin(low, x), high = fmax(high, x), mean += x / (double)n;
        }
        for (size_t i = 0; i < n; i++) {
            /* t is between 0 and 1, so t^2 cannot overflow. */
            const double t = (r->X[i * p + j] - mean) / (high - low);
            square += t * t / (double)n;
        }
        const double sd = sqrt(square) * (high - low);
        for (size_t i = 0; i < n; i++) r->X[i * p + j] = high > low ? (r->X[i * p + j] - mean) / sd : 0;
        for (size_t i = 0; i < given_test; i++)
            r->Xt[i * p + j] = high > low ? (r->Xt[i * p + j] - mean) / sd : 0;
    }
}

/*
 * Checks whether one of three or more columns has nearly all of the variance. Such a column alone decides
 * the distances between rows.
 */
static void find_widest(kspec_ridge *r) {
    const size_t n = r->n, p = r->p;
    double total = 0;
    for (size_t j = 0; j < p; j++) {
        double mean = 0, square = 0;
        for (size_t i = 0; i < n; i++) mean += r->X[i * p + j] / (double)n;
        for (size_t i = 0; i < n; i++) square += (r->X[i * p + j] - mean) * (r->X[i * p + j] - mean);
        total += square;
        if (square > r->widest_share) r->widest_share = square, r->widest = j;
    }
    r->widest_share = p < 3 || !(total > 0) ? 0 : r->widest_share / total;
}

/*
 * Computes Var y of each set and the error of predicting the training mean. It subtracts that mean if the
 * options request it.
 */
static void center_targets(kspec_ridge *r) {
    const size_t m = r->m;
    r->target_mean = 0, r->mean_train = 0, r->mean_test = 0;
    double square_all = 0, mean_all = 0;
    for (size_t j = 0; j < m; j++) {
        double mean[2] = {0, 0}, square[2] = {0, 0}, error = 0;
        double *const Y[2] = {r->Y, r->Yt};
        const size_t rows[2] = {r->n, r->nt};
        for (int s = 0; s < 2; s++) {
            for (size_t i = 0; i < rows[s]; i++) mean[s] += Y[s][i * m + j] / (double)rows[s];
            for (size_t i = 0; i < rows[s]; i++) {
                const double d = Y[s][i * m + j] - mean[s], e = Y[s][i * m + j] - mean[0];
                square[s] += d * d / (double)rows[s];
                error += s ? e * e / (double)rows[s] : 0;
            }
            for (size_t i = 0; i < rows[s] && r->o.center_target; i++) Y[s][i * m + j] -= mean[0];
        }
        r->target_means[j] = r->o.center_target ? mean[0] : 0;
        r->variance[0][j] = square[0], r->variance[1][j] = rows[1] ? square[1] : NAN;
        r->mean_train += square[0] / (double)m, r->mean_test += rows[1] ? error / (double)m : NAN;
        mean_all += mean[0] * mean[0], square_all += mean[0] * mean[0] + square[0];
    }
    if (r->mean_train > 0 && !r->o.center_target) r->target_mean = mean_all / square_all;
}

/* Returns the mean of |x|^2 over the training and test rows. */
static double mean_square(double *const rows[2], const size_t size[2], size_t p) {
    double square = 0, count = (double)(size[0] + size[1]);
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < size[s] * p; k++) square += rows[s][k] * rows[s][k] / count;
    return square;
}

/* Normalises training and test rows jointly: subtracts their mean, then divides until the mean |x|^2 is 1. */
static kspec_status normalise(kspec_ridge *r, kspec_error *err) {
    double *rows[2] = {r->X, r->Xt};
    size_t size[2] = {r->n, r->o.test_noise > 0 ? 0 : r->nt}, p = r->p;
    double given = mean_square(rows, size, p), count = (double)(size[0] + size[1]), factor = 1;
    for (size_t j = 0; r->o.center && j < p; j++) {
        double sum = 0;
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < size[s]; i++) sum += rows[s][i * p + j] / count;
        for (int s = 0; s < 2; s++)
            for (size_t i = 0; i < size[s]; i++) rows[s][i * p + j] -= sum;
    }
    double square = mean_square(rows, size, p);
    if (r->o.unit_length) {
        /* Below this bound, a variance consists of rounding errors. */
        if (!(square > 1e-28 * given && isfinite(square)))
            return ks_fail(err, KSPEC_E_ARG, "rows whose mean |x|^2 is %g%s cannot be scaled to 1", given,
                           r->o.center ? ", and does not vary," : "");
        factor = 1 / sqrt(square);
    }
    if (!(square * factor * factor < 1e300)) /* The inner products of rows must be finite. */
        return ks_fail(err, KSPEC_E_DATA, "the mean of |x|^2 exceeds 1e300; scale the data");
    for (int s = 0; s < 2; s++)
        for (size_t k = 0; k < size[s] * p; k++) rows[s][k] *= factor;
    if (r->o.test_noise > 0) {
        kspec_random_normal(r->o.seed, ks_stream(KS_STREAM_TEST_NOISE, 0), 0, r->n * p, r->Xt);
        for (size_t k = 0; k < r->n * p; k++) r->Xt[k] = r->X[k] + r->o.test_noise * r->Xt[k];
        for (size_t k = 0; k < r->n * r->m; k++) r->Yt[k] = r->Y[k];
    }
    return KSPEC_OK;
}

kspec_status ks_ridge_divide_by_sigma(kspec_ridge *r, kspec_error *err) {
    ks_inputs train = {.x = r->X, .n = r->n, .p = r->p};
    ks_bandwidth b = {.sigma = r->o.sigma, .median = r->o.median_sigma};
    kspec_status st = ks_bandwidth_sigma(&b, KSPEC_KERNEL_GAUSSIAN, &train, r->o.seed, &r->sigma, err);
    if (st) return st;
    const ks_bandwidth median = {.median = 1};
    if (ks_bandwidth_sigma(&median, KSPEC_KERNEL_GAUSSIAN, &train, r->o.seed, &r->distance, NULL))
        r->distance = 0; /* The distance is unknown for too few rows, or if all rows are equal. */
    double largest = 0;
    for (size_t k = 0; k < r->n * r->p; k++) largest = fmax(largest, fabs(r->X[k] /= r->sigma));
    for (size_t k = 0; k < r->nt * r->p; k++) largest = fmax(largest, fabs(r->Xt[k] /= r->sigma));
    if (!(largest < 1e150 / sqrt((double)r->p)))
        st = ks_fail(err, KSPEC_E_ARG, "sigma %g makes |x|^2 exceed 1e300", r->sigma);
    return st;
}

kspec_status ks_ridge_copy_data(kspec_ridge *r, const ks_ridge_data *d, kspec_error *err) {
    kspec_status st = copy(r, d, err);
    if (st) return st;
    if (r->o.standardize)
        standardize(r, r->o.test_noise > 0 ? 0 : r->nt);
    else
        find_widest(r);
    st = normalise(r, err);
    if (!st) center_targets(r);
    return st || !r->o.classify ? st : ks_ridge_check_classes(r, err);
}
