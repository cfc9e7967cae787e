/*
 * Computes the marginal likelihood of data under each prior. With s^2 integrated out (flat in log s) and a
 * flat prior on the mean, log p = -1/2 sum log v_k - n/2 log q. v_k is the variance of z_k in units of
 * s^2, q = sum z_k^2/v_k + rest, and n counts all numbers except the flat ones.
 */
#include "base/error.h"
#include "linalg/eigen.h"
#include "linalg/linalg.h"
#include "wls/smooth.h"

#include <math.h>
#include <string.h>

/* A prior ends where its variance falls below this share of the first variance. */
static const double NEGLIGIBLE = 1e-16;
/*
 * With unknown noise, the prior is the share of the data's degrees of freedom that a curve leaves, to this
 * power.
 */
static const double LEFT = 2;

double ks_log_sum(double a, double b) {
    const double most = fmax(a, b);
    return most == -INFINITY ? most : most + log(exp(a - most) + exp(b - most));
}

static double one_variance(kspec_wls_prior prior, double shape, double level) {
    return prior == KSPEC_WLS_PRIOR_POWER ? pow(1 + level, -2 * shape) : exp(-2 * shape * level);
}

/*
 * On N equidistant points a mode cannot be distinguished from modes of some higher frequencies;
 * frequencies up to 4N count.
 */
double ks_prior_variance(const ks_reduced *r, kspec_wls_prior prior, double shape, double level) {
    enum { PERIODS = 4 };
    double sum = one_variance(prior, shape, level);
    if (r->R) return sum;
    const double N = (double)r->N * (r->basis.kind == KSPEC_WLS_BASIS_COSINE ? 2 : 1);
    for (int m = 1; m < PERIODS; m++) {
        sum += one_variance(prior, shape, m * N + level);
        if (r->basis.kind != KSPEC_WLS_BASIS_FOURIER) sum += one_variance(prior, shape, m * N - level);
    }
    return sum;
}

/* ---- a candidate's evidence ---- */

/*
 * Returns log p from the two sums. If noise is 0, the noise is integrated out. If a curve follows nearly
 * all points, the data cannot distinguish noise from signal, and all large scales fit equally well. So the
 * prior probability of a scale is the square of the share of degrees of freedom that the scale leaves.
 */
static double log_likelihood(double log_variance, double q, double used, double n, double noise) {
    if (noise > 0) return -0.5 * log_variance - 0.5 * q / (noise * noise) - n * log(noise);
    return -0.5 * log_variance - 0.5 * n * log(fmax(q, 1e-300)) + LEFT * log(fmax(1 - used / n, 1e-9));
}

/* Holds a bin of coefficients with nearly the same variance; a regular grid has many such coefficients. */
typedef struct {
    double level, energy, square, count;
} bin;

typedef struct {
    ks_evidence *e;
    bin *bins;
    size_t bin_count;
    /*
     * energy holds the sums of z^2 over functions 0 ... k-1, without the flat functions. tail holds the
     * sums over later functions, plus `rest`.
     */
    double *energy, *tail;
    /* the number of candidates with a shape, and the scratch of each worker, K x K */
    size_t shaped;
    double *scratch;
    size_t worker_size;
} job;

static void on_grid(const job *j, ks_candidate *c) {
    const ks_reduced *r = j->e->data;
    for (int s = 0; s < KS_SCALES; s++) c->log_evidence[s] = 0, c->misfit[s] = r->rest, c->used[s] = 0;
    const double first = ks_prior_variance(r, c->prior, c->shape, 1);
    for (int s = 0; s < KS_SCALES; s++) c->scale[s] /= first * (double)r->N;
    for (size_t b = 0; b < j->bin_count; b++) {
        const bin *at = &j->bins[b];
        const double a = ks_prior_variance(r, c->prior, c->shape, at->level) * at->square;
        for (int s = 0; s < KS_SCALES; s++) {
            const double v = 1 + c->scale[s] * a;
            c->log_evidence[s] += at->count * log(v);
            c->misfit[s] += at->energy / v;
            c->used[s] += at->count * (1 - 1 / v);
        }
    }
}

static kspec_status by_eigenvalues(const job *j, ks_candidate *c, double *B, kspec_error *err) {
    const ks_reduced *r = j->e->data;
    const size_t K = r->K, k = c->k, f = r->flat;
    const double first = one_variance(c->prior, c->shape, 1);
    for (int s = 0; s < KS_SCALES; s++) c->scale[s] /= first * r->R[0] * r->R[0];
    const double rest = j->tail[f + k];
    if (k) {
        memset(B, 0, k * k * sizeof *B);
        for (size_t i = 0; i < k; i++)
            for (size_t l = i; l < k; l++)
                B[i * k + l] =
                    r->R[(f + i) * K + f + l] *
                    sqrt(one_variance(c->prior, c->shape, (double)ks_basis_level(&r->basis, f + l)));
        ks_gemm(0, 1, k, k, k, 1, B, k, B, k, 0, c->vectors, k);
        kspec_status st = ks_syevd(1, k, c->vectors, k, c->values, err);
        if (st) return st;
        /* The eigenvectors are the rows of the matrix here. */
        ks_gemm(0, 1, 1, k, k, 1, r->z + f, k, c->vectors, k, 0, c->z, k);
    }
    for (int s = 0; s < KS_SCALES; s++) {
        double log_v = 0, q = rest, used = 0;
        for (size_t i = 0; i < k; i++) {
            const double v = 1 + c->scale[s] * fmax(c->values[i], 0);
            log_v += log(v), q += c->z[i] * c->z[i] / v, used += 1 - 1 / v;
        }
        c->log_evidence[s] = log_v, c->misfit[s] = q, c->used[s] = used;
    }
    return KSPEC_OK;
}

static void up_to_a_degree(const job *j, ks_candidate *c) {
    const size_t f = j->e->data->flat;
    const double inside = j->energy[f + c->k], outside = j->tail[f + c->k];
    for (int s = 0; s < KS_SCALES; s++) {
        const double v = 1 + c->scale[s];
        c->log_evidence[s] = (double)c->k * log(v), c->misfit[s] = inside / v + outside;
        c->used[s] = (double)c->k * (1 - 1 / v);
    }
}

static kspec_status candidate(void *ctx, size_t chunk, const ks_worker *worker) {
    const job *j = ctx;
    ks_candidate *c = &j->e->at[chunk];
    kspec_status st = KSPEC_OK;
    for (int s = 0; s < KS_SCALES; s++) c->scale[s] = exp(-8 + 0.5 * s);
    if (c->prior == KSPEC_WLS_PRIOR_SHARP)
        up_to_a_degree(j, c);
    else if (j->e->data->R)
        st = by_eigenvalues(j, c, j->scratch + (size_t)worker->index * j->worker_size, worker->err);
    else
        on_grid(j, c);
    for (int s = 0; s < KS_SCALES && !st; s++)
        c->log_evidence[s] =
            log_likelihood(c->log_evidence[s], c->misfit[s], c->used[s], j->e->n, j->e->noise);
    return st;
}

/* ---- the list of candidates ---- */

static double shape_of(kspec_wls_prior prior, int k) {
    const double t = (double)k / (KS_SHAPES - 1);
    return prior == KSPEC_WLS_PRIOR_POWER ? 0.6 + 9.4 * t : 0.05 * pow(80, t);
}

/*
 * Returns the number of functions that the points determine. The code makes the kth function orthogonal to
 * the earlier functions on the points. Column k of R^-1 then gives its root mean square over the interval,
 * in units of its root mean square over the points. A sharp degree gives all functions the same variance
 * at the points. A function that is much larger between the points would widen the band there without
 * limit.
 */
static size_t determined(const ks_reduced *r, double *column) {
    static const double LARGER = 5;
    const size_t K = r->K;
    for (size_t j = 0; r->R && j < K; j++) {
        double square = 0;
        for (size_t i = j + 1; i-- > 0;) {
            double sum = i == j;
            for (size_t l = i + 1; l <= j; l++) sum -= r->R[i * K + l] * column[l];
            column[i] = sum / r->R[i * K + i];
            square += column[i] * column[i];
        }
        if (!(sqrt(square) * r->R[0] <= LARGER)) return j;
    }
    return K;
}

/* Lists the sharp degrees: all up to 128, then in steps of 3%, as long as a fifth of the data remains. */
static size_t degrees(const ks_reduced *r, size_t usable, size_t *at) {
    const size_t top = r->K > r->flat ? ks_basis_level(&r->basis, r->K - 1) : 0;
    size_t count = 0;
    for (size_t level = 0; level <= top; level += level < 128 ? 1 : level * 3 / 100) {
        const size_t k = ks_basis_upto(&r->basis, level);
        if (level && ((double)k > 0.8 * (double)r->rows || k > usable)) break;
        if (at) at[count] = k - r->flat;
        count++;
    }
    return count;
}

/* Returns the number of functions that a prior reaches. */
static size_t reach(const ks_reduced *r, kspec_wls_prior prior, double shape) {
    const double first = one_variance(prior, shape, 1);
    size_t k = r->flat;
    while (k < r->K &&
           (!r->R || one_variance(prior, shape, (double)ks_basis_level(&r->basis, k)) > NEGLIGIBLE * first))
        k++;
    return k - r->flat;
}

static kspec_status list(ks_evidence *e, ks_arena *arena, kspec_error *err) {
    const ks_reduced *r = e->data;
    const int given = e->beta > 0;
    double *column = given ? NULL : ks_arena_alloc(arena, r->K, sizeof *column);
    if (!given && !column) return ks_nomem(err, "the priors", ks_size(r->K, sizeof *column));
    const size_t usable = given ? 0 : determined(r, column);
    const size_t shaped = given ? 1 : 2 * KS_SHAPES, sharp = given ? 0 : degrees(r, usable, NULL);
    e->count = shaped + sharp;
    e->at = ks_arena_zalloc(arena, e->count, sizeof *e->at);
    size_t *k = ks_arena_alloc(arena, sharp, sizeof *k);
    if (arena->failed) return ks_nomem(err, "the priors", ks_size(e->count, sizeof *e->at));
    for (size_t i = 0; i < shaped; i++) {
        ks_candidate *c = &e->at[i];
        c->prior = i < KS_SHAPES ? KSPEC_WLS_PRIOR_POWER : KSPEC_WLS_PRIOR_EXP;
        c->shape = given ? e->beta : shape_of(c->prior, (int)(i % KS_SHAPES));
        c->k = reach(r, c->prior, c->shape);
        if (!r->R) continue;
        c->vectors = ks_arena_alloc(arena, ks_size(c->k, c->k), sizeof *c->vectors);
        c->values = ks_arena_alloc(arena, c->k, sizeof *c->values);
        c->z = ks_arena_alloc(arena, c->k, sizeof *c->z);
    }
    if (sharp) degrees(r, usable, k);
    for (size_t i = 0; i < sharp; i++)
        e->at[shaped + i].prior = KSPEC_WLS_PRIOR_SHARP, e->at[shaped + i].k = k[i],
                       e->at[shaped + i].shape = (double)ks_basis_level(&r->basis, r->flat + k[i] - 1);
    return arena->failed ? ks_nomem(err, "the priors", arena->failed) : KSPEC_OK;
}

/* Divides the levels into bins: one level each up to 512, then 1% wide. */
static size_t make_bins(const ks_reduced *r, bin *to) {
    size_t count = 0;
    for (size_t k = r->flat; k < r->K;) {
        const size_t level = ks_basis_level(&r->basis, k), last = level < 512 ? level : level * 101 / 100,
                     end = ks_basis_upto(&r->basis, last);
        bin b = {.level = 0.5 * (double)(level + ks_basis_level(&r->basis, end - 1)),
                 .square = (double)r->N,
                 .count = (double)(end - k)};
        for (; k < end; k++) b.energy += r->z[k] * r->z[k];
        if (to) to[count] = b;
        count++;
    }
    return count;
}

/*
 * Returns log prior probabilities: all priors are equally likely, all shapes of a prior, and all scales of
 * a shape.
 */
static void sum_up(ks_evidence *e) {
    double counts[KS_PRIORS] = {0}, priors = 0;
    for (size_t i = 0; i < e->count; i++) counts[e->at[i].prior]++;
    for (int f = 0; f < KS_PRIORS; f++) e->log_prior[f] = -INFINITY, priors += counts[f] > 0;
    for (size_t i = 0; i < e->count; i++) {
        ks_candidate *c = &e->at[i];
        const double share = log(priors * counts[c->prior] * KS_SCALES);
        for (int s = 0; s < KS_SCALES; s++) {
            c->log_evidence[s] -= share;
            e->log_prior[c->prior] = ks_log_sum(e->log_prior[c->prior], c->log_evidence[s]);
        }
    }
    e->log_evidence = -INFINITY;
    for (int f = 0; f < KS_PRIORS; f++) e->log_evidence = ks_log_sum(e->log_evidence, e->log_prior[f]);
}

kspec_status ks_smooth_evidence(const ks_run *run, const ks_reduced *r, double beta, double noise,
                                ks_arena *arena, ks_evidence *out, kspec_error *err) {
    *out = (ks_evidence){.data = r, .beta = beta, .noise = noise, .n = (double)(r->rows - r->flat)};
    kspec_status st = list(out, arena, err);
    if (st) return st;
    job j = {.e = out, .bin_count = make_bins(r, NULL), .worker_size = r->R ? r->K * r->K : 0};
    const int workers = ks_workers(run, out->count);
    const size_t scratch = ks_size((size_t)workers, j.worker_size);
    j.energy = ks_arena_alloc(arena, r->K + 1, sizeof *j.energy);
    j.tail = ks_arena_alloc(arena, r->K + 1, sizeof *j.tail);
    j.bins = ks_arena_alloc(arena, j.bin_count, sizeof *j.bins);
    j.scratch = ks_alloc(scratch, sizeof *j.scratch);
    if (arena->failed || !j.scratch) {
        ks_free(j.scratch);
        return ks_nomem(err, "the evidence", ks_size(scratch, sizeof *j.scratch));
    }
    make_bins(r, j.bins);
    j.energy[0] = 0, j.tail[r->K] = r->rest;
    for (size_t k = 0; k < r->K; k++) j.energy[k + 1] = k < r->flat ? 0 : j.energy[k] + r->z[k] * r->z[k];
    for (size_t k = r->K; k-- > 0;) j.tail[k] = j.tail[k + 1] + r->z[k] * r->z[k];
    st = ks_parallel_for(run, out->count, candidate, &j, err);
    ks_free(j.scratch);
    if (!st) sum_up(out);
    return st;
}
