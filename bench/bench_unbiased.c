/*
 * Are the estimates of kspec_unbiased() unbiased, and do their intervals cover? Matrices X = f L^(1/2) w and
 * Y = f M^(1/2) v with Gaussian f (rows), w and v (columns), whose every mean is known.
 *
 * usage: bench_unbiased [SEEDS [FIRST [TIMES [TAIL]]]]
 * TIMES: matrices so many times as large; TAIL: rows and columns have log-normal scales, and this is the
 * deviation of the logarithm
 */
#include "kspec.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { D = 6, TRIALS = 2, TIMES_MOST = 8, SIZE_MOST = 50 * TIMES_MOST };
static size_t P = 40, Q = 50, R = 30;
static const double lambda[D] = {3, 2, 1.5, 1, 0.6, 0.4}, mu[D] = {0.5, 1, 2, 0, 1, 0};
static const double NOISE = 1, OFFSET = 2;
static double tail;

typedef struct {
    const char *text, *center, *complete;
    /* noise, an offset of each column, fixed columns */
    int noise, offset, fixed;
    double truth;
    double sum, squares, se, bad;
    int covered, plain, count; /* plain: by 1.96 standard errors */
} task;

static double power(const double *x, const double *y, int n, int m) {
    double s = 0;
    for (int k = 0; k < D; k++) s += pow(x[k], n) * pow(y[k], m);
    return s;
}

static void normal(uint64_t seed, uint64_t stream, size_t n, double *x) {
    kspec_random_normal(seed, stream, 0, n, x);
}

/* X (P x cols) of this seed, stream and spectrum */
static void make(uint64_t seed, const double *f, const double *spectrum, uint64_t columns, size_t cols,
                 const task *t, double trial, double *x) {
    static double w[D * SIZE_MOST], c[SIZE_MOST], e[SIZE_MOST * SIZE_MOST], c_scale[SIZE_MOST],
        r_scale[SIZE_MOST];
    normal(t->fixed ? 12345 : seed, columns, D * cols, w);
    normal(seed, columns + 100, cols, c);
    normal(seed, columns + 200 + (uint64_t)trial, P * cols, e);
    normal(seed, columns + 300, cols, c_scale);
    normal(seed, 300, P, r_scale);
    for (size_t a = 0; a < cols; a++) c_scale[a] = t->fixed ? 1 : exp(tail * c_scale[a] - tail * tail);
    for (size_t i = 0; i < P; i++) r_scale[i] = exp(tail * r_scale[i] - tail * tail);
    for (size_t i = 0; i < P; i++)
        for (size_t a = 0; a < cols; a++) {
            double s = t->offset * OFFSET * c[a] + t->noise * NOISE * e[i * cols + a];
            for (size_t k = 0; k < D; k++)
                s += f[i * D + k] * sqrt(spectrum[k]) * w[k * cols + a] * r_scale[i] * c_scale[a];
            x[i * cols + a] = s;
        }
}

/* tr C^2 of the fixed columns' covariance C / Q */
static double fixed_truth(void) {
    static double w[D * SIZE_MOST];
    double s = 0;
    normal(12345, 1, D * Q, w);
    for (size_t a = 0; a < Q; a++)
        for (size_t b = 0; b < Q; b++) {
            double c = 0;
            for (size_t k = 0; k < D; k++) c += lambda[k] * w[k * Q + a] * w[k * Q + b];
            s += c * c / ((double)Q * Q);
        }
    return s;
}

int main(int argc, char **argv) {
    const int seeds = argc > 1 ? atoi(argv[1]) : 2000;
    const uint64_t first = argc > 2 ? (uint64_t)atoi(argv[2]) : 1;
    const int times = argc > 3 ? atoi(argv[3]) : 1;
    tail = argc > 4 ? atof(argv[4]) : 0;
    if (seeds < 2 || times < 1 || times > TIMES_MOST) return 2;
    P *= (size_t)times, Q *= (size_t)times, R *= (size_t)times;
    const double l1 = power(lambda, mu, 1, 0), l2 = power(lambda, mu, 2, 0), l3 = power(lambda, mu, 3, 0),
                 lm = power(lambda, mu, 1, 1), l2m2 = power(lambda, mu, 2, 2);
    task tasks[] = {
        {.text = "X[i,a] X[i,a]", .truth = l1},
        {.text = "X[i,a] X[j,a] X[j,b] X[i,b]", .truth = l2},
        {.text = "X[i,a] X[j,a] X[j,b] X[k,b] X[k,c] X[i,c]", .truth = l3},
        {.text = "X[i,a] Y[i,b] X[j,a] Y[j,b]", .truth = lm},
        {.text = "X[i,a] X[j,a] X[j,b] X[i,b]", .center = "rows", .offset = 1, .truth = l2},
        {.text = "X[i,a] Y[i,b] X[j,a] Y[j,b]", .center = "rows", .offset = 1, .truth = lm},
        {.text = "X1[i,a] X2[i,a]", .noise = 1, .truth = l1},
        {.text = "X1[i,a] X2[j,a] X1[j,b] X2[i,b]", .noise = 1, .truth = l2},
        {.text = "X[i,a] X[i,a] - X[i,a] X[j,a]", .offset = 1, .truth = l1},
        {.text = "X[i,a] X[j,a] X[j,b] X[i,b]", .complete = "cols", .fixed = 1, .truth = fixed_truth()},
        {.text = "X[i,a] X[i,a] X[j,b] X[j,b]", .truth = l1 * l1},
        {.text = "X[i,a] Y[i,b] Y[j,b] X[j,c] X[k,c] Y[k,d] Y[l,d] X[l,a]", .truth = l2m2},
    };
    const size_t count = sizeof tasks / sizeof *tasks;
    static double x[TRIALS][SIZE_MOST * SIZE_MOST], y[TRIALS][SIZE_MOST * SIZE_MOST], f[SIZE_MOST * D];
    for (int s = 0; s < seeds; s++)
        for (size_t k = 0; k < count; k++) {
            task *t = &tasks[k];
            const uint64_t seed = (first + (uint64_t)s) * 1000 + k;
            const int two = strchr(t->text, '1') != NULL;
            normal(seed, 0, P * D, f);
            kspec_matrix mx[TRIALS], my[TRIALS];
            for (int r = 0; r < TRIALS; r++) {
                make(seed, f, lambda, 1, Q, t, r, x[r]);
                make(seed, f, mu, 2, R, t, r, y[r]);
                mx[r] = (kspec_matrix){x[r], P, Q, (ptrdiff_t)Q, 1};
                my[r] = (kspec_matrix){y[r], P, R, (ptrdiff_t)R, 1};
            }
            const kspec_operand of[2] = {{"X", mx, two ? TRIALS : 1}, {"Y", my, 1}};
            const kspec_unbiased_opts o = {
                .size = sizeof o, .center = t->center, .complete = t->complete, .threads = 1};
            kspec_unbiased_result *r;
            kspec_error err;
            if (kspec_unbiased(t->text, of, 2, &o, &r, &err)) {
                fprintf(stderr, "%s: %s\n", t->text, err.msg);
                return 1;
            }
            t->sum += r->value;
            t->squares += r->value * r->value;
            t->se += r->std_error * r->std_error;
            t->covered += r->ci_low <= t->truth && t->truth <= r->ci_high;
            t->plain += fabs(r->value - t->truth) <= 1.96 * r->std_error;
            t->bad += r->ci_low > t->truth;
            t->count++;
            kspec_free(r);
        }
    printf("%-62s%10s%10s%7s%9s%9s%9s%11s\n", "expression", "truth", "mean", "z", "SE/SD", "covered", "above",
           "1.96 SE");
    for (size_t k = 0; k < count; k++) {
        const task *t = &tasks[k];
        char name[100];
        const double n = t->count, mean = t->sum / n, sd = sqrt((t->squares - t->sum * mean) / (n - 1));
        snprintf(name, sizeof name, "%s%s%s", t->text, t->center ? ", centred" : "",
                 t->complete ? ", complete" : "");
        printf("%-62s%10.5g%10.5g%7.2f%9.3f%8.1f%%%8.1f%%%10.1f%%\n", name, t->truth, mean,
               (mean - t->truth) / (sd / sqrt(n)), sqrt(t->se / n) / sd, 100 * t->covered / n,
               100 * t->bad / n, 100 * t->plain / n);
    }
    return 0;
}
