/* kspec_norm(): prepares the rows, repeats each method over its draws, and judges the results. */
#include "base/clock.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/matrix.h"
#include "base/result.h"
#include "device/borrowed.h"
#include "features/kernel.h"
#include "linalg/linalg.h"
#include "norm/check.h"
#include "norm/methods.h"
#include "norm/pilot.h"
#include "norm/rff_device.h"
#include "team/team.h"

#include <math.h>
#include <string.h>

const char *ks_norm_method_name(kspec_norm_method method) {
    for (const ks_norm_method *k = ks_norm_methods; k->name; k++)
        if (k->method == method) return k->name;
    return NULL;
}

int ks_norm_pairs = -1;

/*
 * Pairs of a cosine and a sine have a smaller variance than single cosines if the median distance is at
 * most 2 sigma. The variance is 5 to 10 times smaller at sigma, but 1.5 times larger at 5 sigma
 * (docs/explanation/norm.md).
 */
static kspec_status find_wide(ks_norm_job *j, kspec_error *err) {
    enum { ROWS = 256 };
    const double WIDE = 2;
    const size_t p = j->in.p, rows = j->n < ROWS ? j->n : ROWS;
    if (ks_norm_pairs >= 0) j->wide = ks_norm_pairs;
    if (ks_norm_pairs >= 0 || rows < 2 || !(j->o.methods & KSPEC_NORM_METHOD_RFF_DEBIASED)) return KSPEC_OK;
    ks_inputs few = {.x = ks_alloc(ks_size(rows, p), sizeof(double)), .n = rows, .p = p};
    if (!few.x) return ks_nomem(err, "rows for the median distance", ks_size(rows * sizeof(double), p));
    for (size_t i = 0; i < rows; i++) memcpy(few.x + i * p, j->in.x + i * j->n / rows * p, p * sizeof *few.x);
    double median;
    kspec_error why;
    kspec_status st = ks_inputs_median(&few, j->o.kernel, j->o.seed, &median, &why);
    ks_free(few.x);
    /* A median distance of 0 means that rows are equal. */
    j->wide = st ? st == KSPEC_E_DATA : median <= WIDE;
    return st && st != KSPEC_E_DATA ? ks_fail_again(err, &why) : KSPEC_OK;
}

static kspec_status prepare(ks_norm_job *j, const kspec_matrix *x, kspec_norm_result *out, ks_arena *arena,
                            kspec_error *err) {
    kspec_norm_opts *o = &j->o;
    kspec_status st = ks_matrix_check(x, "the matrix", err);
    if (!st && o->methods & KSPEC_NORM_METHOD_AUTO) {
        const unsigned both = KSPEC_NORM_METHOD_LANCZOS | (o->gram ? 0U : KSPEC_NORM_METHOD_RFF_DEBIASED);
        o->methods = (o->methods & ~(unsigned)KSPEC_NORM_METHOD_AUTO) | ks_norm_auto(o, x->rows, x->cols);
        j->left_out = both & ~o->methods;
    }
    if (!st) st = ks_norm_check_options(o, x->rows, j->left_out, &j->kernel, err);
    if (st) return st;
    j->unit = 1;
    j->r = o->sample;
    out->n = j->n = x->rows;
    out->p = x->cols;
    out->sigma = out->gamma = out->nu = out->expected_error = NAN;
    if (o->gram) {
        j->K = x;
        return ks_norm_check_gram(x, &j->unit, err);
    }
    if ((st = ks_inputs_copy(x, o->scaling, &j->in, arena, err))) return st;
    out->constant_columns = j->in.constant_columns;
    ks_inputs_center(&j->in);
    const ks_bandwidth bandwidth = {o->sigma, o->gamma, o->median_sigma};
    if ((st = ks_bandwidth_sigma(&bandwidth, o->kernel, &j->in, o->seed, &out->sigma, err))) return st;
    out->gamma = o->gamma > 0 ? o->gamma : ks_gamma(o->kernel, out->sigma);
    if (o->kernel == KSPEC_KERNEL_MATERN) out->nu = j->kernel.nu;
    st = ks_inputs_divide(&j->in, out->sigma, (o->methods & KS_NORM_RFF) != 0, err);
    return st ? st : find_wide(j, err);
}

/* ---- results ---- */

/*
 * Theorem 2.1 of the paper (Approximating Gram Matrix Spectral Norm using Random Features): the
 * probability that | |K| - sigma_1(Z)^2 | exceeds e is at most 2n exp(-e^2 q/(c1 n^2 + c2 n e)), c1 =
 * 2(c^2 + 4), c2 = 2(c + 2)/3, c = sup k = 1. At 5%, e solves e^2 q - c2 n L e - c1 n^2 L = 0, L =
 * log(2n/0.05). The function returns NaN if e exceeds n.
 */
static double theorem_bound(double n, double q) {
    double L = log(2 * n / 0.05), c1 = 10, c2 = 2;
    double part = (c2 * L + sqrt(c2 * c2 * L * L + 4 * q * c1 * L)) / (2 * q);
    return part <= 1 ? part * n : NAN;
}

/*
 * Theorem 2.5 of the paper, by Kuczynski and Wozniakowski (1992): after T >= 2 updates of the power method
 * from a random start, the probability that | |K| - value | exceeds e |K| is at most min(0.824,
 * 0.354/sqrt(e (T-1))) sqrt(n) (1-e)^(T-1/2). The bound falls with e, so bisection finds e at 5%. Then |K|
 * is at most value/(1-e). The function returns NaN if e is 1, or if |K| may exceed n.
 */
static double power_bound(double n, double T, double value) {
    double low = 0, high = 1;
    for (int k = 0; k < 60 && T >= 2; k++) {
        const double e = (low + high) / 2;
        const double p = fmin(0.824, 0.354 / sqrt(e * (T - 1))) * sqrt(n) * pow(1 - e, T - 0.5);
        *(p > 0.05 ? &low : &high) = e;
    }
    const double error = value * high / (1 - high);
    return T >= 2 && error <= n ? error : NAN;
}

static void judge(const ks_norm_job *j, const ks_norm_method *m, const ks_debiased *mean, int converged,
                  kspec_norm_entry *e, ks_doubts to) {
    double n = (double)j->n, q = (double)j->o.features, rows = m->sampled ? (double)j->r : n;
    if (!converged) ks_doubt(to, KSPEC_DOUBT_NOT_CONVERGED, m->name, "updates", e->iterations, e->residual);
    if (m->method == KSPEC_NORM_METHOD_POWER) {
        e->has_bound = 1;
        e->bound = power_bound(n, e->iterations, e->value);
    }
    if (!m->rff) return;
    e->features = j->o.features;
    if (m->method == KSPEC_NORM_METHOD_RFF_DEBIASED) {
        e->ci_low = mean->low;
        e->ci_high = mean->high;
        e->paired = ks_norm_paired(j);
        if (mean->order < 2) ks_doubt(to, KSPEC_DOUBT_TOO_FEW_FEATURES, m->name, NULL, q, rows);
        return;
    }
    if (j->kernel.frequencies == KSPEC_FREQUENCIES_IID) { /* The theorem assumes independent features. */
        e->has_bound = 1;
        e->bound = n / rows * theorem_bound(rows, q);
    }
    const int near_floor = q < rows && e->value <= 2 * n / q;
    if (near_floor) ks_doubt(to, KSPEC_DOUBT_NEAR_FLOOR, m->name, NULL, e->value, n / q);
    if (mean->order < 2) return;
    e->debiased = mean->value;
    /* The interval ends at n, but for a wide kernel noise may raise a correct sigma_1(Z)^2 above n. */
    if (!near_floor && (fmin(e->value, n) > mean->high || e->value < mean->low ||
                        fabs(e->value - mean->value) > 0.2 * mean->value))
        ks_doubt(to, KSPEC_DOUBT_DISAGREES, m->name, NULL, e->value, e->debiased);
}

/* Adds draw k of `count` to the means in e and *mean. */
static void add_draw(kspec_norm_entry *e, int k, int count, const ks_norm_draw *d, ks_debiased *mean) {
    int debiased = e->method == KSPEC_NORM_METHOD_RFF_DEBIASED;
    *e->draws[k] =
        (kspec_norm_draw){d->top.value, debiased ? d->debiased.low : NAN, debiased ? d->debiased.high : NAN};
    e->value += d->top.value / count;
    e->seconds += d->seconds / count;
    e->iterations += (double)d->top.iterations / count;
    e->residual += d->top.residual / count;
    mean->value += d->debiased.value / count;
    mean->low += d->debiased.low / count;
    mean->high += d->debiased.high / count;
    if (d->debiased.order < mean->order) mean->order = d->debiased.order;
    if (k == 0 && debiased) e->order = d->debiased.order;
}

static kspec_status run_method(const ks_norm_job *j, const ks_norm_method *m, const ks_run *run,
                               kspec_norm_entry *e, kspec_norm_result *out, kspec_error *err) {
    ks_arena *memory = ks_result_arena(out);
    int random = m->rff || (m->sampled && !j->o.sample_first), count = random ? j->o.repeats : 1,
        converged = 1;
    *e = (kspec_norm_entry){
        .method = m->method, .ci_low = NAN, .ci_high = NAN, .spread = NAN, .bound = NAN, .debiased = NAN};
    if (m->sampled) e->sample = j->r;
    e->draw_count = (size_t)count;
    e->draws = ks_arena_list(memory, e->draw_count, sizeof **e->draws);
    if (!e->draws) return ks_nomem(err, "the draws", memory->failed);
    ks_debiased mean = {.order = KS_DEBIASED_ORDERS};
    for (int k = 0; k < count; k++) {
        ks_norm_draw d = {0};
        ks_run part = ks_run_part(run, (double)k / count, (k + 1.0) / count);
        kspec_status st = m->run(j, &part, (uint64_t)k, &d, err);
        if (st) return st;
        converged &= d.top.converged;
        add_draw(e, k, count, &d, &mean);
    }
    double square = 0;
    for (int k = 0; k < count; k++) square += pow(e->draws[k]->value - e->value, 2);
    if (count > 1) e->spread = sqrt(square / (count - 1));
    judge(j, m, &mean, converged, e, KS_DOUBTS(out));
    return KSPEC_OK;
}

/* Doubles q until the interval of the first draw is narrow enough, and sets j->o.features to q. */
static kspec_status choose_features(ks_norm_job *j, const ks_run *run, int *missed, kspec_error *err) {
    const ks_norm_method *m = ks_norm_methods;
    while (m->method != KSPEC_NORM_METHOD_RFF_DEBIASED) m++;
    for (int k = 0;; k++) {
        ks_norm_draw d = {0};
        ks_run part = ks_run_part(run, 1 - pow(0.5, k), 1 - pow(0.5, k + 1));
        kspec_status st = m->run(j, &part, 0, &d, err);
        if (st) return st;
        *missed =
            d.debiased.order < 2 || d.debiased.high - d.debiased.low > j->o.tolerance * d.debiased.value;
        if (!*missed || j->o.features * 2 > ks_debiased_features) return KSPEC_OK;
        j->o.features *= 2;
    }
}

static kspec_status compute(ks_norm_job *j, const ks_run *run, kspec_norm_result *out, kspec_error *err) {
    const ks_doubts to = KS_DOUBTS(out);
    int missed = 0;
    if (out->constant_columns)
        ks_doubt(to, KSPEC_DOUBT_CONSTANT_COLUMNS, NULL, NULL, (double)out->constant_columns, (double)out->p);
    if (j->left_out)
        ks_doubt_left_out(to,
                          j->left_out & KSPEC_NORM_METHOD_LANCZOS
                              ? "the exact norm, by Lanczos iteration"
                              : "an approximation from random features, with its interval",
                          "method", "lanczos,rff-debiased");
    for (const ks_norm_method *m = ks_norm_methods; m->name; m++)
        out->count += (j->o.methods & m->method) != 0;
    out->entries = ks_arena_list(to.arena, out->count, sizeof **out->entries);
    if (!out->entries) return ks_nomem(err, "the results", to.arena->failed);
    const int choose = j->o.tolerance > 0 || j->o.error > 0;
    double done = 0, steps = (double)out->count + choose;
    if (choose) {
        ks_run part = ks_run_part(run, 0, 1 / steps);
        kspec_status st = j->o.error > 0 ? ks_norm_pilot(j, &part, &j->o.features, &out->expected_error, err)
                                         : choose_features(j, &part, &missed, err);
        if (st) return st;
        done++;
    }
    kspec_norm_entry **e = out->entries;
    for (const ks_norm_method *m = ks_norm_methods; m->name; m++) {
        if (!(j->o.methods & m->method)) continue;
        ks_run part = ks_run_part(run, done / steps, (done + 1) / steps);
        done++;
        kspec_status st = run_method(j, m, &part, *e, out, err);
        if (st) return st;
        if (missed && m->method == KSPEC_NORM_METHOD_RFF_DEBIASED)
            ks_doubt(to, KSPEC_DOUBT_TOLERANCE_MISSED, m->name, NULL, (double)j->o.features);
        if (!isfinite((*e)->value))
            return ks_fail(err, KSPEC_E_NUMERIC, "%s: the norm exceeds the largest double", m->name);
        e++;
    }
    return KSPEC_OK;
}

/* Computes the multiply-adds of the methods, assuming PRODUCTS products per iteration. */
static double work_of(const ks_norm_job *j) {
    enum { PRODUCTS = 20, FUNCTION = 20 /* the cost of an exponential or a cosine in multiply-adds */ };
    const double n = (double)j->n, r = (double)j->r, q = (double)j->o.features,
                 each = (double)j->in.p + FUNCTION;
    double work = 0;
    if (j->o.methods & KSPEC_NORM_METHOD_POWER) work += n * n / 2 * each * PRODUCTS;
    if (j->o.methods & KSPEC_NORM_METHOD_LANCZOS) work += n * n / 2 * each * PRODUCTS;
    if (j->o.methods & KSPEC_NORM_METHOD_NYSTROM) work += r * r / 2 * each * PRODUCTS * j->o.repeats;
    for (const ks_norm_method *m = ks_norm_methods; m->name; m++) {
        if (!(j->o.methods & m->method & KS_NORM_RFF)) continue;
        const double rows = m->sampled ? r : n, debiased = m->method == KSPEC_NORM_METHOD_RFF_DEBIASED;
        /* the work of the features, of products (limited by memory), of Z^T Z, and of the moments */
        work += rows * q * each * j->o.repeats;
        if (!debiased) work += 4 * rows * q * PRODUCTS * j->o.repeats;
        if (debiased || q <= KS_DEBIASED_CHECK)
            work += (rows / 2 + 4 * q * (debiased ? KS_DEBIASED_ORDERS : KS_DEBIASED_EXACT)) * q * q *
                    j->o.repeats;
    }
    return work;
}

/*
 * Returns the bytes that a device needs: the rows, plus either the vectors and partial sums of a product
 * with K, or the features.
 */
static size_t room_of(const ks_norm_job *j) {
    const size_t q = j->o.tolerance > 0 ? ks_debiased_features : j->o.features;
    const size_t rows = ks_size(ks_size(j->n, j->in.p), sizeof(double));
    const size_t products = ks_size_add(rows, ks_size(j->n, 256 * sizeof(double)));
    if (!(j->o.methods & KS_NORM_RFF)) return products;
    size_t features = ks_rff_device_bytes(j->n, j->in.p, q);
    /* This adds Z^T Z and its moments. */
    if (q <= ks_debiased_features)
        features = ks_size_add(features, ks_size(ks_size(q, q), 24 * sizeof(double)));
    return j->o.methods & ~KS_NORM_RFF && products > features ? products : features;
}

/* Decides whether the CPU or a device computes products with K and features. */
static kspec_status decide(const ks_norm_job *j, ks_placement *placement, kspec_error *err) {
    const double work = work_of(j);
    const int matern = j->kernel.kind == KSPEC_KERNEL_MATERN && j->o.methods & ~KS_NORM_RFF;
    const char *refused = j->K       ? "Gram matrix that is given"
                          : matern   ? "Gram matrix of the Matern kernel"
                          : work > 0 ? NULL
                                     : "method of these";
    kspec_status st = ks_placement_decide(placement, work, refused, err);
    return st || !placement->device ? st : ks_placement_fit(placement, room_of(j), err);
}

typedef struct {
    const kspec_matrix *x;
    const kspec_norm_opts *o;
    kspec_norm_result *result;
} call;

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    call *c = ctx;
    kspec_norm_result *r = ks_result_new(sizeof *r);
    if (!r) return ks_nomem(err, "the results", sizeof *r);
    ks_norm_job j = {.o = *c->o};
    ks_run run = {0};
    ks_arena arena = {0};
    kspec_status st = ks_run_init(&run, j.o.threads, j.o.progress, err);
    run.team = j.o.team;
    if (!st) st = prepare(&j, c->x, r, &arena, err);
    if (!st) st = decide(&j, placement, err);
    run.device = placement->device;
    if (!st && !(st = ks_blas_enter(run.threads, err))) {
        st = compute(&j, &run, r, err);
        ks_blas_exit();
    }
    ks_arena_free(&arena);
    ks_placement_describe(placement, &r->device);
    if (placement->unusable) ks_doubt(KS_DOUBTS(r), KSPEC_DOUBT_GPU_UNUSED, NULL, placement->why, 0);
    const size_t failed = ks_result_arena(r)->failed;
    if (!st && failed) st = ks_nomem(err, "the list of doubts", failed);
    return ks_hand_over(st, r, &c->result);
}

kspec_status kspec_norm(const kspec_matrix *x, const kspec_norm_opts *opts, kspec_norm_result **out,
                        kspec_error *err) {
    kspec_norm_opts o;
    ks_placement placement = {0};
    ks_arena arena = {0};
    kspec_matrix host;
    call c = {&host, &o, NULL};
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double start = ks_now();
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (!st) st = ks_matrix_check(x, "the matrix", err);
    if (!st) host = *x;
    if (!st) o.device = ks_device_of_rank(o.device, o.team);
    if (!st) st = ks_borrowed_open(&placement, o.device, o.data_memory, &host, &arena, err);
    st = ks_placement_run(&placement, st, o.team, attempt, &c, err);
    ks_arena_free(&arena);
    return ks_end(st, c.result, start, out);
}
