/* kspec_learn(): checks the options and trains the networks in parallel, the widest first. */
#include "base/clock.h"
#include "base/error.h"
#include "base/parallel.h"
#include "base/result.h"
#include "learn/run.h"
#include "linalg/linalg.h"
#include "team/team.h"

#include <math.h>
#include <time.h>

enum { MOST_WIDTH = 1 << 20, MOST_EPOCHS = 1000000 };

typedef struct {
    ks_learning l;
    ks_run run;
    kspec_learn_result *out;
    /* the order of the runs, the widest first */
    size_t *order;
    /* one for each run */
    kspec_error *errors;
    /* the total work in neurons times epochs; the initialisation counts as one epoch */
    double total;
    /* the number of runs of this process: all runs, unless a team divides them */
    size_t mine;
    /* in a team: the results of each run as bytes, in `order`, and a flag for each run of this process */
    unsigned char *records, *ran;
    size_t record;
    /* the finished work, and the numbers of started and of finished runs */
    atomic_size_t done, begun, finished;
} job;

/* ---- the options */

static kspec_status check_widths(const ks_learning *l, size_t *least, size_t *most, kspec_error *err) {
    if (!l->widths || l->width_count == 0) return ks_fail(err, KSPEC_E_ARG, "no width is given");
    *least = SIZE_MAX, *most = 0;
    for (size_t k = 0; k < l->width_count; k++) {
        size_t N = l->widths[k];
        if (N < 1 || N > MOST_WIDTH)
            return ks_fail(err, KSPEC_E_ARG, "width %zu is not between 1 and %d", N, MOST_WIDTH);
        for (size_t j = 0; j < k; j++)
            if (l->widths[j] == N) return ks_fail(err, KSPEC_E_ARG, "width %zu is given twice", N);
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
    kspec_status st = check_widths(&j->l, &least, &most, err);
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
    /* The shorter side of every later matrix. A failure is reported now, not after hours of training. */
    size_t side = least < s->probe ? least : s->probe;
    if (o->subsample && o->subsample < side) side = o->subsample;
    if (o->nmax < 0) return ks_fail(err, KSPEC_E_ARG, "order %d is below 1", o->nmax);
    if ((size_t)o->nmax > side)
        return ks_fail(err, KSPEC_E_ARG, "order %d exceeds %zu, the least of probe, width and subsample",
                       o->nmax, side);
    if (!o->nmax) o->nmax = side < 4 ? (int)side : 4;
    size_t at_once = (size_t)ks_workers(&j->run, ks_size(j->l.width_count, o->seeds));
    size_t doubles = ks_size(most, ks_size_add(s->pixels, ks_size(4, s->probe)));
    size_t each = ks_size_add(ks_network_bytes(most, j->l.data, o->batch), ks_size(doubles, sizeof(double)));
    return ks_check_memory(err, ks_size(at_once, each), "training");
}

/* ---- the runs */

/* Only the calling thread reports the progress of all runs, and learns whether to stop. */
static int poll(void *ctx, int worker) {
    job *j = ctx;
    if (worker == 0 && !atomic_load(&j->l.stop) &&
        ks_run_report(&j->run, fmin(1, (double)atomic_load(&j->done) / j->total)))
        atomic_store(&j->l.stop, 1);
    return atomic_load(&j->l.stop);
}

static int report(void *ctx, double fraction) {
    (void)fraction; /* The loop counts runs, but poll() reports epochs. */
    return poll(ctx, 0);
}

/*
 * Records how a run ended. `err` becomes the reason of the failure, unless the run stopped because another
 * run failed; then the other run's failure is the reason.
 */
static kspec_status reason(job *j, size_t run, kspec_status st, kspec_error *err) {
    pthread_mutex_lock(&j->l.lock);
    j->errors[run] = *err;
    j->errors[run].code = st;
    for (size_t k = 0; k < j->out->count && st == KSPEC_E_CANCELLED; k++)
        if (j->errors[k].code && j->errors[k].code != KSPEC_E_CANCELLED) run = k, st = j->errors[k].code;
    if (st) *err = j->errors[run];
    pthread_mutex_unlock(&j->l.lock);
    return st;
}

static kspec_status chunk(void *ctx, size_t k, const ks_worker *worker) {
    job *j = ctx;
    size_t r = j->order[k], count = j->mine;
    atomic_fetch_add(&j->begun, 1);
    kspec_status st = ks_learn_run(&j->l, j->out->runs[r], worker->index, &j->done, worker->err);
    if (!st && j->records) {
        st = ks_learn_pack(j->out->runs[r], j->records + k * j->record, j->record, worker->err);
        j->ran[k] = 1;
    }
    st = reason(j, r, st, worker->err);
    if (st) atomic_store(&j->l.stop, 1);
    atomic_fetch_add(&j->finished, 1);
    /* All runs have started. The calling thread reports progress until the others have ended. */
    while (worker->index == 0 && atomic_load(&j->begun) == count && atomic_load(&j->finished) < count &&
           !poll(j, 0))
        nanosleep(&(struct timespec){0, 20000000}, NULL);
    return st;
}

/* The runs, by width as given, then by seed; and their order, the widest first */
static kspec_status make_runs(job *j, kspec_error *err) {
    const ks_learning *l = &j->l;
    kspec_learn_result *out = j->out;
    size_t count = ks_size(l->width_count, l->o.seeds);
    out->runs = ks_arena_zalloc(ks_result_arena(out), count, sizeof *out->runs);
    j->order = ks_alloc(count, sizeof *j->order);
    j->errors = ks_zalloc(count, sizeof *j->errors);
    if (!out->runs || !j->order || !j->errors)
        return ks_nomem(err, "the runs", ks_size(count, sizeof *j->errors));
    out->count = count;
    for (size_t k = 0; k < count; k++) {
        kspec_learn_run *run = out->runs[k] = ks_result_new(sizeof *run);
        if (!run) return ks_nomem(err, "a run", sizeof *run);
        run->width = l->widths[k / l->o.seeds];
        run->seed = l->o.seed + k % l->o.seeds;
        size_t i = k; /* An insertion sort suffices for a few runs. */
        for (; i && out->runs[j->order[i - 1]]->width < run->width; i--) j->order[i] = j->order[i - 1];
        j->order[i] = k;
    }
    const size_t ranks = (size_t)ks_team_ranks(&j->run);
    for (size_t k = (size_t)ks_team_rank(&j->run); k < count; k += ranks, j->mine++)
        j->total += (double)out->runs[j->order[k]]->width * (double)(l->o.epochs + 1);
    if (!j->run.team) return KSPEC_OK;
    j->record = ks_learn_record_bytes(l);
    j->records = ks_zalloc(count, j->record);
    j->ran = ks_zalloc(count, 1);
    if (!j->records || !j->ran) return ks_nomem(err, "the runs of all ranks", ks_size(count, j->record));
    return KSPEC_OK;
}

static kspec_status train(job *j, kspec_error *err) {
    kspec_status st = make_runs(j, err);
    if (st) return st;
    ks_run run = {.threads = j->run.threads, .progress = {report, j}, .to = 1, .team = j->run.team};
    if ((st = ks_blas_enter(run.threads, err))) return st;
    const ks_share records = {j->records, j->record, j->out->count, 1};
    st = ks_team_for(&run, "runs", j->out->count, chunk, j, &records, 1, err);
    ks_blas_exit();
    for (size_t k = 0; k < j->out->count && !st && j->records; k++)
        if (!j->ran[k])
            st = ks_learn_unpack(&j->l, j->records + k * j->record, j->out->runs[j->order[k]], err);
    return st;
}

static void release(void *result) {
    const kspec_learn_result *r = result;
    for (size_t k = 0; k < r->count; k++) kspec_free(r->runs[k]);
}

kspec_status kspec_learn(const kspec_learn_data *data, const size_t *widths, size_t width_count,
                         const kspec_learn_opts *opts, kspec_learn_result **out, kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    double begun = ks_now();
    job j = {.l = {.data = data, .widths = widths, .width_count = width_count, .poll = poll}};
    kspec_status st = ks_take_opts(&j.l.o, sizeof j.l.o, opts, err);
    if (!st) st = ks_run_init(&j.run, j.l.o.threads, j.l.o.progress, err);
    j.run.team = j.l.o.team;
    if (!st && !data) st = ks_fail(err, KSPEC_E_ARG, "the data are missing (NULL)");
    if (!st) st = check(&j, err);
    kspec_learn_result *r = j.out = st ? NULL : ks_result_new(sizeof *r);
    if (!st && !r) st = ks_nomem(err, "the runs", sizeof *r);
    if (r) ks_result_owns(r, release);
    if (st) return ks_team_end(j.run.team, st, err);
    if (j.l.o.store) j.l.store = *j.l.o.store;
    j.l.ctx = &j;
    pthread_mutex_init(&j.l.lock, NULL);
    st = train(&j, err);
    pthread_mutex_destroy(&j.l.lock);
    ks_free(j.order);
    ks_free(j.errors);
    ks_free(j.records);
    ks_free(j.ran);
    st = ks_team_end(j.run.team, st, err);
    r->every = j.l.o.every;
    r->batch = j.l.o.batch;
    r->nmax = j.l.o.nmax;
    return ks_end(st, r, begun, out);
}
