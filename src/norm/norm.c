/* kspec_gram_norm(): checks, prepares the rows, repeats each method over its draws, and judges the results. */
#include "base/clock.h"
#include "base/error.h"
#include "linalg/linalg.h"
#include "norm/methods.h"

#include <math.h>
#include <string.h>

const char *kspec_kernel_name(kspec_kernel kernel) {
    static const char *const names[] = {"gaussian", "laplace", "cauchy"};
    return (size_t)kernel < sizeof names / sizeof *names ? names[kernel] : NULL;
}

const char *kspec_norm_method_name(kspec_norm_method m) {
    for (const ks_norm_method *k = ks_norm_methods; k->name; k++)
        if (k->method == m) return k->name;
    return NULL;
}

/* ---- checks ---- */

static const unsigned RFF = KSPEC_NORM_RFF_POWER | KSPEC_NORM_RFF_NYSTROM | KSPEC_NORM_RFF_DEBIASED,
                      SAMPLED = KSPEC_NORM_NYSTROM | KSPEC_NORM_RFF_NYSTROM,
                      ALL = (KSPEC_NORM_RFF_DEBIASED << 1) - 1;

static kspec_status check_options(kspec_norm_opts *o, size_t n, kspec_error *err) {
    if (!o->methods) o->methods = KSPEC_NORM_LANCZOS;
    if (o->methods & ~ALL)
        return ks_fail(err, KSPEC_E_ARG, "methods 0x%x: unknown bits above 0x%x", o->methods, ALL);
    if (!kspec_kernel_name(o->kernel))
        return ks_fail(err, KSPEC_E_ARG, "kernel %d is none of gaussian, laplace, cauchy", (int)o->kernel);
    if (o->scaling < KSPEC_SCALING_NONE || o->scaling > KSPEC_SCALING_MINMAX)
        return ks_fail(err, KSPEC_E_ARG, "scaling %d is none of none, standardize, minmax", (int)o->scaling);
    if (!(o->sigma >= 0 && o->sigma <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "sigma %g is not between 0 and 1e300", o->sigma);
    if (!(o->gamma >= 0 && o->gamma <= 1e300))
        return ks_fail(err, KSPEC_E_ARG, "gamma %g is not between 0 and 1e300", o->gamma);
    if (o->sigma > 0 && o->gamma > 0)
        return ks_fail(err, KSPEC_E_ARG, "sigma %g and gamma %g: only one of them can be given", o->sigma,
                       o->gamma);
    if (!o->features) o->features = 256;
    if (o->features > 1000000) return ks_fail(err, KSPEC_E_ARG, "features %zu exceed 1000000", o->features);
    if (o->methods & KSPEC_NORM_RFF_DEBIASED && o->features > KS_DEBIASED_FEATURES)
        return ks_fail(err, KSPEC_E_ARG, "rff-debiased: %zu features exceed %d", o->features,
                       KS_DEBIASED_FEATURES);
    if (o->methods & SAMPLED && o->sample > n)
        return ks_fail(err, KSPEC_E_ARG, "sample %zu exceeds the number of rows, %zu", o->sample, n);
    if (!o->sample) o->sample = n < 1000 ? n : 1000;
    if (o->updates < 0) return ks_fail(err, KSPEC_E_ARG, "updates %d is below 1", o->updates);
    if (!o->updates) o->updates = 1000;
    if (!(o->stop >= 0 && o->stop < 1))
        return ks_fail(err, KSPEC_E_ARG, "stop %g is not between 0 and 1", o->stop);
    if (o->stop == 0) o->stop = 1e-10;
    if (o->repeats < 0 || o->repeats > 1000000)
        return ks_fail(err, KSPEC_E_ARG, "repeats %d is not between 1 and 1000000", o->repeats);
    if (!o->repeats) o->repeats = 1;
    if (!(o->tolerance >= 0 && isfinite(o->tolerance)))
        return ks_fail(err, KSPEC_E_ARG, "tolerance %g is not positive", o->tolerance);
    if (o->tolerance > 0 && !(o->methods & KSPEC_NORM_RFF_DEBIASED))
        return ks_fail(err, KSPEC_E_ARG, "a tolerance needs the method rff-debiased");
    if (!o->memory) o->memory = (size_t)1 << 30;
    if (!o->gram) return KSPEC_OK;
    if (o->methods & RFF)
        return ks_fail(err, KSPEC_E_ARG, "random features need the rows themselves, not their Gram matrix");
    if (o->sigma > 0 || o->gamma > 0 || o->scaling != KSPEC_SCALING_NONE ||
        o->kernel != KSPEC_KERNEL_GAUSSIAN)
        return ks_fail(err, KSPEC_E_ARG, "kernel, sigma, gamma and scaling mean nothing for a Gram matrix");
    return KSPEC_OK;
}

/* What a Gram matrix must be, as far as two rows at a time can tell. E_IO: the matrix is unfit, not the options. */
static kspec_status check_gram(const kspec_matrix *K, double *unit, kspec_error *err) {
    size_t n = K->rows;
    if (n == 0 || n != K->cols)
        return ks_fail(err, KSPEC_E_IO, "a Gram matrix is square and not empty, this one is %zu x %zu", n,
                       K->cols);
    const double *x = K->data;
    ptrdiff_t R = K->row_stride, C = K->col_stride;
    double largest = 0;
    for (size_t i = 0; i < n; i++) {
        double d = x[(ptrdiff_t)i * (R + C)];
        if (!(d >= 0 && isfinite(d)))
            return ks_fail(err, KSPEC_E_IO, "no Gram matrix: entry (%zu, %zu) is %g", i, i, d);
        largest = fmax(largest, d);
    }
    if (largest > 0) *unit = ldexp(1, ilogb(largest));
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < i; k++) {
            ptrdiff_t a = (ptrdiff_t)i, b = (ptrdiff_t)k;
            double u = x[a * R + b * C], v = x[b * R + a * C],
                   most = sqrt(x[a * (R + C)]) * sqrt(x[b * (R + C)]);
            if (!isfinite(u) || !isfinite(v))
                return ks_fail(err, KSPEC_E_IO,
                               "no Gram matrix: entry (%zu, %zu) or its mirror is not finite", i, k);
            if (fabs(u - v) > 1e-10 * largest)
                return ks_fail(err, KSPEC_E_IO,
                               "no Gram matrix: entries (%zu, %zu) and (%zu, %zu), %g and %g, differ", i, k,
                               k, i, u, v);
            if (fabs(u) > most + 1e-10 * largest)
                return ks_fail(
                    err, KSPEC_E_IO,
                    "no Gram matrix: entry (%zu, %zu), %g, exceeds the mean of its diagonal entries, %g", i,
                    k, u, most);
        }
    return KSPEC_OK;
}

/* gamma and sigma of a kernel: gamma = 1/(2 sigma^2), 1/sigma, 1/sigma^2 */
static double to_sigma(kspec_kernel kernel, double gamma) {
    return kernel == KSPEC_KERNEL_LAPLACE ? 1 / gamma
                                          : 1 / sqrt(kernel == KSPEC_KERNEL_CAUCHY ? gamma : 2 * gamma);
}

static double to_gamma(kspec_kernel kernel, double sigma) {
    return kernel == KSPEC_KERNEL_LAPLACE
               ? 1 / sigma
               : 1 / (kernel == KSPEC_KERNEL_CAUCHY ? sigma * sigma : 2 * sigma * sigma);
}

static kspec_status prepare(ks_norm_job *j, const kspec_matrix *x, kspec_norm_result *out, ks_arena *arena,
                            kspec_error *err) {
    kspec_norm_opts *o = &j->o;
    j->unit = 1;
    out->n = j->n = x->rows;
    out->p = x->cols;
    out->sigma = out->gamma = NAN;
    kspec_status st = check_options(o, j->n, err);
    j->r = o->sample;
    if (st) return st;
    if (o->gram) {
        j->K = x;
        return check_gram(x, &j->unit, err);
    }
    if ((st = ks_inputs_copy(x, o->scaling, &j->in, arena, err))) return st;
    out->constant_columns = j->in.constant_columns;
    ks_inputs_center(&j->in);
    double sigma = o->sigma;
    if (o->gamma > 0) sigma = to_sigma(o->kernel, o->gamma);
    if (sigma == 0) st = ks_inputs_median(&j->in, o->kernel, o->seed, &sigma, err);
    if (st) return st;
    out->sigma = sigma;
    out->gamma = o->gamma > 0 ? o->gamma : to_gamma(o->kernel, sigma);
    return ks_inputs_divide(&j->in, sigma, (o->methods & RFF) != 0, err);
}

/* ---- results ---- */

/*
 * Theorem 2.1 of the paper (Approximating Gram Matrix Spectral Norm using Random Features): the probability that
 * | |K| - sigma_1(Z)^2 | exceeds e is at most 2n exp(-e^2 q/(c1 n^2 + c2 n e)), c1 = 2(c^2 + 4), c2 = 2(c + 2)/3, c = sup k
 * = 1. Solved for e at 5%: e^2 q - c2 n L e - c1 n^2 L = 0, L = log(2n/0.05). NaN where e exceeds n.
 */
static double theorem_bound(double n, double q) {
    double L = log(2 * n / 0.05), c1 = 10, c2 = 2;
    double part = (c2 * L + sqrt(c2 * c2 * L * L + 4 * q * c1 * L)) / (2 * q);
    return part <= 1 ? part * n : NAN;
}

static void judge(const ks_norm_job *j, const ks_norm_method *m, const ks_debiased *mean, int converged,
                  kspec_norm_entry *e) {
    double n = (double)j->n, q = (double)j->o.features, rows = m->sampled ? (double)j->r : n;
    if (!converged) e->doubts |= KSPEC_NORM_NOT_CONVERGED;
    if (!m->rff) return;
    e->features = j->o.features;
    e->has_bound = 1;
    e->bound = n / rows * theorem_bound(rows, q);
    if (m->method == KSPEC_NORM_RFF_DEBIASED) {
        e->ci_low = mean->low;
        e->ci_high = mean->high;
        e->bound = NAN;
        e->has_bound = 0; /* the theorem is about sigma_1(Z)^2 */
        if (mean->order < 2) e->doubts |= KSPEC_NORM_NO_ORDER;
        return;
    }
    if (q < rows && e->value <= 2 * n / q) e->doubts |= KSPEC_NORM_NEAR_FLOOR;
    if (mean->order < 2) return;
    e->debiased = mean->value;
    /* the interval ends at n, which a sound sigma_1(Z)^2 of a wide kernel may exceed by its noise */
    if (fmin(e->value, n) > mean->high || e->value < mean->low ||
        fabs(e->value - mean->value) > 0.2 * mean->value)
        e->doubts |= KSPEC_NORM_DISAGREES;
}

static kspec_status run_method(const ks_norm_job *j, const ks_norm_method *m, const ks_run *run,
                               kspec_norm_entry *e, kspec_error *err) {
    int random = m->rff || (m->sampled && !j->o.sample_first), count = random ? j->o.repeats : 1,
        converged = 1;
    *e = (kspec_norm_entry){
        .method = m->method, .ci_low = NAN, .ci_high = NAN, .spread = NAN, .bound = NAN, .debiased = NAN};
    if (m->sampled) e->sample = j->r;
    e->draws = ks_alloc((size_t)count, sizeof *e->draws);
    if (!e->draws) return ks_nomem(err, "the draws", ks_size((size_t)count, sizeof *e->draws));
    ks_debiased mean = {.order = KS_DEBIASED_ORDERS};
    for (int k = 0; k < count; k++) {
        ks_norm_draw d = {0};
        ks_run part = ks_run_part(run, (double)k / count, (k + 1.0) / count);
        kspec_status st = m->run(j, &part, (uint64_t)k, &d, err);
        if (st) return st;
        int debiased = m->method == KSPEC_NORM_RFF_DEBIASED;
        e->draws[e->draw_count++] =
            (kspec_norm_draw){d.top.value, debiased ? d.debiased.low : NAN, debiased ? d.debiased.high : NAN};
        e->value += d.top.value / count;
        e->seconds += d.seconds / count;
        e->iterations += (double)d.top.iterations / count;
        e->residual += d.top.residual / count;
        converged &= d.top.converged;
        mean.value += d.debiased.value / count;
        mean.low += d.debiased.low / count;
        mean.high += d.debiased.high / count;
        if (d.debiased.order < mean.order) mean.order = d.debiased.order;
        if (k == 0 && debiased) e->order = d.debiased.order;
    }
    double square = 0;
    for (int k = 0; k < count; k++) square += pow(e->draws[k].value - e->value, 2);
    if (count > 1) e->spread = sqrt(square / (count - 1));
    judge(j, m, &mean, converged, e);
    return KSPEC_OK;
}

/* q, doubled until the interval of the first draw is narrow enough: left in j->o.features */
static kspec_status choose_features(ks_norm_job *j, const ks_run *run, int *missed, kspec_error *err) {
    const ks_norm_method *m = ks_norm_methods;
    while (m->method != KSPEC_NORM_RFF_DEBIASED) m++;
    for (int k = 0;; k++) {
        ks_norm_draw d = {0};
        ks_run part = ks_run_part(run, 1 - pow(0.5, k), 1 - pow(0.5, k + 1));
        kspec_status st = m->run(j, &part, 0, &d, err);
        if (st) return st;
        *missed =
            d.debiased.order < 2 || d.debiased.high - d.debiased.low > j->o.tolerance * d.debiased.value;
        if (!*missed || j->o.features * 2 > KS_DEBIASED_FEATURES) return KSPEC_OK;
        j->o.features *= 2;
    }
}

static kspec_status compute(ks_norm_job *j, const ks_run *run, kspec_norm_result *out, kspec_error *err) {
    size_t count = 0;
    int missed = 0;
    for (const ks_norm_method *m = ks_norm_methods; m->name; m++) count += (j->o.methods & m->method) != 0;
    out->entries = ks_zalloc(count, sizeof *out->entries);
    if (!out->entries) return ks_nomem(err, "the results", ks_size(count, sizeof *out->entries));
    double done = 0, steps = (double)count + (j->o.tolerance > 0);
    if (j->o.tolerance > 0) {
        ks_run part = ks_run_part(run, 0, 1 / steps);
        kspec_status st = choose_features(j, &part, &missed, err);
        if (st) return st;
        done++;
    }
    for (const ks_norm_method *m = ks_norm_methods; m->name; m++) {
        if (!(j->o.methods & m->method)) continue;
        kspec_norm_entry *e = &out->entries[out->count++];
        ks_run part = ks_run_part(run, done / steps, (done + 1) / steps);
        done++;
        kspec_status st = run_method(j, m, &part, e, err);
        if (st) return st;
        if (missed && m->method == KSPEC_NORM_RFF_DEBIASED) e->doubts |= KSPEC_NORM_TOLERANCE_MISSED;
        if (!isfinite(e->value))
            return ks_fail(err, KSPEC_E_NUMERIC, "%s: the norm exceeds the largest double", m->name);
    }
    return KSPEC_OK;
}

kspec_status kspec_gram_norm(const kspec_matrix *x, const kspec_norm_opts *opts, kspec_norm_result *out,
                             kspec_error *err) {
    ks_clear(err);
    memset(out, 0, sizeof *out);
    double start = ks_now();
    ks_norm_job j = {0};
    ks_run run;
    ks_arena arena = {0};
    kspec_status st = ks_take_opts(&j.o, sizeof j.o, opts, err);
    if (!st) st = ks_run_init(&run, j.o.threads, j.o.progress, err);
    if (!st) st = prepare(&j, x, out, &arena, err);
    if (!st) {
        ks_blas_enter();
        st = compute(&j, &run, out, err);
        ks_blas_leave();
    }
    ks_arena_free(&arena);
    if (st) {
        kspec_norm_free(out);
        return st;
    }
    out->seconds = ks_now() - start;
    return KSPEC_OK;
}

void kspec_norm_free(kspec_norm_result *result) {
    for (size_t k = 0; k < result->count; k++) ks_free(result->entries[k].draws);
    ks_free(result->entries);
    memset(result, 0, sizeof *result);
}
