/* Stores the results of a run as bytes, which one process sends to the others. */
#include "base/error.h"
#include "base/result.h"
#include "learn/run.h"

#include <string.h>

/* The fields of a run, of an epoch and of an estimate, without pointers */
typedef struct {
    size_t epochs, resumed;
    double train_seconds, measure_seconds, fma_rate;
} head;

typedef struct {
    size_t epoch, moments, subsample;
    double loss, accuracy, test_accuracy;
} measured;

typedef struct {
    kspec_estimate e;
    double ratio_error;
} estimate;

size_t ks_learn_record_bytes(const ks_learning *l) {
    size_t estimators = 0;
    for (unsigned set = l->o.estimators; set; set &= set - 1) estimators++;
    size_t most = 2 * estimators * (size_t)l->o.nmax; /* the estimates of all neurons and of the subsample */
    return ks_size_add(sizeof(head), ks_size(l->o.epochs / l->o.every + 2,
                                             ks_size_add(sizeof(measured), ks_size(most, sizeof(estimate)))));
}

typedef struct {
    unsigned char *at, *end;
} writer;

static int put(writer *w, const void *bytes, size_t count) {
    if ((size_t)(w->end - w->at) < count) return 0;
    memcpy(w->at, bytes, count);
    w->at += count;
    return 1;
}

static int put_moments(writer *w, const kspec_learn_moments *m) {
    int fits = 1;
    for (size_t k = 0; m && k < m->count && fits; k++) {
        estimate x;
        memset(&x, 0, sizeof x);
        x.e = *m->estimates[k], x.ratio_error = m->ratio_error[k];
        fits = put(w, &x, sizeof x);
    }
    return fits;
}

kspec_status ks_learn_pack(const kspec_learn_run *run, unsigned char *to, size_t bytes, kspec_error *err) {
    writer w = {to, to + bytes};
    const head h = {run->epoch_count, run->resumed, run->train_seconds, run->measure_seconds, run->fma_rate};
    int fits = put(&w, &h, sizeof h);
    for (size_t k = 0; k < run->epoch_count && fits; k++) {
        const kspec_learn_epoch *e = run->epochs[k];
        const measured m = {e->epoch,
                            e->moments ? e->moments->count : 0,
                            e->subsample ? e->subsample->count : 0,
                            e->loss,
                            e->accuracy,
                            e->test_accuracy};
        fits = put(&w, &m, sizeof m) && put_moments(&w, e->moments) && put_moments(&w, e->subsample);
    }
    if (fits) memset(w.at, 0, (size_t)(w.end - w.at));
    return fits ? KSPEC_OK
                : ks_fail(err, KSPEC_E_NUMERIC, "width %zu: its results exceed %zu bytes", run->width, bytes);
}

static const unsigned char *get_moments(const unsigned char *at, size_t count, ks_arena *arena,
                                        kspec_learn_moments **out) {
    *out = count ? ks_learn_moments_new(arena, count) : NULL;
    for (size_t k = 0; k < count && *out; k++, at += sizeof(estimate)) {
        estimate x;
        memcpy(&x, at, sizeof x);
        *(*out)->estimates[k] = x.e, (*out)->ratio_error[k] = x.ratio_error;
    }
    return at;
}

kspec_status ks_learn_unpack(const ks_learning *l, const unsigned char *from, kspec_learn_run *run,
                             kspec_error *err) {
    ks_arena *arena = ks_result_arena(run);
    head h;
    memcpy(&h, from, sizeof h);
    from += sizeof h;
    run->resumed = h.resumed, run->train_seconds = h.train_seconds;
    run->measure_seconds = h.measure_seconds, run->fma_rate = h.fma_rate;
    if (!(run->epochs = ks_learn_epochs_new(l, run, err))) return KSPEC_E_NOMEM;
    for (; run->epoch_count < h.epochs; run->epoch_count++) {
        kspec_learn_epoch *e = run->epochs[run->epoch_count];
        measured m;
        memcpy(&m, from, sizeof m);
        *e = (kspec_learn_epoch){
            .epoch = m.epoch, .loss = m.loss, .accuracy = m.accuracy, .test_accuracy = m.test_accuracy};
        from = get_moments(from + sizeof m, m.moments, arena, &e->moments);
        if (!arena->failed) from = get_moments(from, m.subsample, arena, &e->subsample);
        if (arena->failed) return ks_nomem(err, "the estimates of a run", arena->failed);
    }
    return KSPEC_OK;
}
