/* kspec_learn(): checks, and has the networks trained side by side, the widest first. */
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "learn/run.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>
#include <time.h>

enum { MOST_WIDTH = 1 << 20, MOST_EPOCHS = 1000000 };

typedef struct {
    ks_learning l;
    ks_run run;
    kspec_learn_result *out;
    size_t *order;                       /* of the runs, the widest first */
    kspec_error *errors;                 /* of each run */
    double total;                        /* work, in neurons times epochs (the initialisation is one) */
    atomic_size_t done, begun, finished; /* work; runs */
} job;

/* ---- what was asked */

static kspec_status check_widths(const kspec_learn_opts *o, size_t *least, size_t *most, kspec_error *err) {
    if (o->width_count == 0) return ks_fail(err, KSPEC_E_ARG, "no width is given");
    *least = SIZE_MAX, *most = 0;
    for (size_t k = 0; k < o->width_count; k++) {
        size_t N = o->widths[k];
        if (N < 1 || N > MOST_WIDTH)
            return ks_fail(err, KSPEC_E_ARG, "width %zu is not between 1 and %d", N, MOST_WIDTH);
        for (size_t j = 0; j < k; j++)
            if (o->widths[j] == N) return ks_fail(err, KSPEC_E_ARG, "width %zu is given twice", N);
        if (N < *least) *least = N;
        if (N > *most) *most = N;
    }
    return KSPEC_OK;
}

static kspec_status check_scaling(const kspec_learn_scaling *s, kspec_error *err) {
    if (!(s->rate > 0 && isfinite(s->rate)))
        return ks_fail(err, KSPEC_E_ARG, "learning rate %g is not a number above 0", s->rate);
    const double powers[] = {s->rate_power, s->hidden_power, s->output_power};
    for (int k = 0; k < 3; k++)
        if (!(fabs(powers[k]) <= 10))
            return ks_fail(err, KSPEC_E_ARG, "power %g of the width is not between -10 and 10", powers[k]);
    return KSPEC_OK;
}

static kspec_status check(job *j, kspec_error *err) {
    kspec_learn_opts *o = &j->l.o;
    const kspec_learn_shape *s = &j->l.data->shape;
    size_t least = 0, most = 0;
    kspec_status st = check_widths(o, &least, &most, err);
    if (st) return st;
    j->l.scaling = o->scaling ? *o->scaling : (kspec_learn_scaling){0.1, 1, 1, 1};
    if ((st = check_scaling(&j->l.scaling, err))) return st;
    if (!o->seeds) o->seeds = 1;
    if (!o->every) o->every = 2;
    if (!o->batch) o->batch = s->train_count < 32 ? s->train_count : 32;
    if (!o->estimators) o->estimators = KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_AUTO;
    if (o->epochs > MOST_EPOCHS)
        return ks_fail(err, KSPEC_E_ARG, "epochs %zu exceeds %d", o->epochs, MOST_EPOCHS);
    if (o->batch > s->train_count)
        return ks_fail(err, KSPEC_E_ARG, "batch %zu exceeds the %zu training images", o->batch,
                       s->train_count);
    if (o->subsample > most)
        return ks_fail(err, KSPEC_E_ARG, "subsample %zu exceeds the width %zu", o->subsample, most);
    /* the shorter side of every matrix there will be: told before hours of training, not after */
    size_t side = least < s->probe ? least : s->probe;
    if (o->subsample && o->subsample < side) side = o->subsample;
    if (o->nmax < 0) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", o->nmax);
    if ((size_t)o->nmax > side)
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds %zu, the least of probe, width and subsample",
                       o->nmax, side);
    if (!o->nmax) o->nmax = side < 4 ? (int)side : 4;
    size_t at_once = (size_t)ks_workers(&j->run, ks_size(o->width_count, o->seeds));
    size_t doubles = ks_size(most, ks_size_add(s->pixels, ks_size(4, s->probe)));
    size_t each = ks_size_add(ks_network_bytes(most, j->l.data, o->batch), ks_size(doubles, sizeof(double)));
    return ks_check_memory(err, ks_size(at_once, each), "training");
}

/* ---- the runs */

/* The calling thread, and it alone, tells how far all runs are and hears whether to stop. */
static int poll(void *ctx, int worker) {
    job *j = ctx;
    if (worker == 0 && ks_run_report(&j->run, fmin(1, (double)atomic_load(&j->done) / j->total)))
        atomic_store(&j->l.stop, 1);
    return atomic_load(&j->l.stop);
}

static int report(void *ctx, double fraction) {
    (void)fraction; /* counts runs; poll() counts epochs */
    return poll(ctx, 0);
}

static kspec_status chunk(void *ctx, size_t k, const ks_worker *worker) {
    job *j = ctx;
    size_t r = j->order[k], count = j->out->count;
    atomic_fetch_add(&j->begun, 1);
    kspec_status st = ks_learn_run(&j->l, &j->out->runs[r], worker->index, &j->done, &j->errors[r]);
    j->errors[r].code = st;
    if (st) atomic_store(&j->l.stop, 1);
    atomic_fetch_add(&j->finished, 1);
    /* nothing is left to begin: the calling thread listens until the others have ended */
    while (worker->index == 0 && atomic_load(&j->begun) == count && atomic_load(&j->finished) < count &&
           !poll(j, 0))
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    return st;
}

static kspec_status start(job *j, kspec_error *err) {
    const kspec_learn_opts *o = &j->l.o;
    size_t count = ks_size(o->width_count, o->seeds), n = 0;
    j->out->runs = ks_zalloc(count, sizeof *j->out->runs);
    j->order = ks_alloc(count, sizeof *j->order);
    j->errors = ks_zalloc(count, sizeof *j->errors);
    if (!j->out->runs || !j->order || !j->errors)
        return ks_nomem(err, "the runs", ks_size(count, sizeof *j->errors));
    j->out->count = count;
    for (size_t k = 0; k < o->width_count; k++)
        for (size_t s = 0; s < o->seeds; s++)
            j->out->runs[n++] = (kspec_learn_run){.width = o->widths[k], .seed = o->seed + s};
    for (size_t k = 0; k < count; k++) { /* insertion: runs are few */
        size_t i = k;
        for (; i && j->out->runs[j->order[i - 1]].width < j->out->runs[k].width; i--)
            j->order[i] = j->order[i - 1];
        j->order[i] = k;
        j->total += (double)j->out->runs[k].width * (double)(o->epochs + 1);
    }
    ks_run run = {j->run.threads, {report, j}, 0, 1};
    ks_blas_enter();
    kspec_status st = ks_parallel_for(&run, count, chunk, j, err);
    ks_blas_leave();
    /* a run that stops because another has failed is not the reason */
    for (size_t k = 0; k < count && st; k++) {
        kspec_status own = j->errors[k].code;
        if (own && own != KSPEC_E_CANCELLED) return ks_fail(err, own, "%s", j->errors[k].msg);
    }
    return st;
}

kspec_status kspec_learn(const kspec_learn_data *data, const kspec_learn_opts *opts, kspec_learn_result *out,
                         kspec_error *err) {
    ks_clear(err);
    memset(out, 0, sizeof *out);
    double begun = ks_now();
    job j = {.l = {.data = data, .poll = poll}, .out = out};
    j.l.ctx = &j;
    pthread_mutex_init(&j.l.lock, NULL);
    kspec_status st = ks_take_opts(&j.l.o, sizeof j.l.o, opts, err);
    if (!st) st = ks_run_init(&j.run, j.l.o.threads, j.l.o.progress, err);
    if (!st) st = check(&j, err);
    if (!st) st = start(&j, err);
    pthread_mutex_destroy(&j.l.lock);
    ks_free(j.order);
    ks_free(j.errors);
    if (st) {
        kspec_learn_free(out);
        return st;
    }
    out->every = j.l.o.every;
    out->batch = j.l.o.batch;
    out->nmax = j.l.o.nmax;
    out->seconds = ks_now() - begun;
    return KSPEC_OK;
}

void kspec_learn_free(kspec_learn_result *result) {
    for (size_t k = 0; k < result->count; k++) ks_learn_run_free(&result->runs[k]);
    ks_free(result->runs);
    memset(result, 0, sizeof *result);
}
