/*
 * Saves a training run as bytes, and loads it again: words of 8 bytes in the machine's order. First come
 * magic number, version and length, then the configuration, word by word. Epoch, step and the measurements so
 * far follow, then weights and Adam's means, two floats a word. The last word is a checksum of all words
 * before it.
 */
#include "base/error.h"
#include "base/result.h"
#include "learn/run.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { VERSION = 3, HEAD = 3, FIELDS = 21, RECORD = 6, ESTIMATE = 8 };
static const uint64_t MAGIC = UINT64_C(0x6e7261656c70736b); /* "ksplearn" if the lowest byte comes first */

static uint64_t bits(double x) {
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static double number(uint64_t u) {
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* ---- the configuration: everything that determines the bits of a run */

typedef struct {
    const char *name;
    int real;
    uint64_t bits;
} field;

static void configuration(const ks_learning *l, const ks_network *net, field f[FIELDS]) {
    const kspec_learn_opts *o = &l->o;
    const kspec_learn_shape *s = &l->data->shape;
    const field all[FIELDS] = {
        {"width", 0, net->N},
        {"seed", 0, net->seed},
        {"number of training images", 0, s->train_count},
        {"number of test images", 0, s->test_count},
        {"number of pixels", 0, s->pixels},
        {"number of classes", 0, s->classes},
        {"scale of the pixels", 1, bits(s->pixel_factor)},
        {"digest of images and labels", 0, l->data->digest},
        {"batch", 0, o->batch},
        {"learning rate", 1, bits(l->scaling.rate)},
        {"power of the rate", 1, bits(l->scaling.rate_power)},
        {"power of the hidden weights", 1, bits(l->scaling.hidden_power)},
        {"power of the output weights", 1, bits(l->scaling.output_power)},
        {"number of epochs from one measurement to the next", 0, o->every},
        {"probe", 0, s->probe},
        {"subsample", 0, o->subsample},
        {"highest order", 0, (uint64_t)o->nmax},
        {"set of estimators", 0, o->estimators},
        {"number of permutations", 0, (uint64_t)o->permutations},
        {"side", 0, (uint64_t)o->side},
        {"no_stderr", 0, (uint64_t)o->no_stderr},
    };
    memcpy(f, all, sizeof all);
}

static kspec_status unlike(const ks_network *net, const field *f, uint64_t found, kspec_error *err) {
    static const char text[] = "the checkpoint of width %zu, seed %llu is of another run: its %s is";
    char begin[sizeof text + 120];
    snprintf(begin, sizeof begin, text, net->N, (unsigned long long)net->seed, f->name);
    if (f->real) return ks_fail(err, KSPEC_E_IO, "%s %.9g, not %.9g", begin, number(found), number(f->bits));
    return ks_fail(err, KSPEC_E_IO, "%s %llu, not %llu", begin, (unsigned long long)found,
                   (unsigned long long)f->bits);
}

/* ---- writing */

static size_t count_of(const kspec_learn_moments *m) { return m ? m->count : 0; }

static size_t words_of(const ks_network *net, const kspec_learn_run *run) {
    size_t words = HEAD + FIELDS + 3 + 3 * net->weights / 2 + 1;
    for (size_t k = 0; k < run->epoch_count; k++)
        words +=
            RECORD + ESTIMATE * (count_of(run->epochs[k]->moments) + count_of(run->epochs[k]->subsample));
    return words;
}

static uint64_t *put_estimates(uint64_t *w, const kspec_learn_moments *m) {
    for (size_t k = 0; k < count_of(m); k++) {
        const kspec_estimate *e = m->estimates[k];
        *w++ = e->estimator, *w++ = (uint64_t)e->n;
        *w++ = bits(e->value), *w++ = bits(e->std_error), *w++ = bits(e->ci_low), *w++ = bits(e->ci_high);
        *w++ = bits(e->root), *w++ = bits(m->ratio_error[k]);
    }
    return w;
}

kspec_status ks_checkpoint_save(ks_learning *l, const ks_network *net, const kspec_learn_run *run,
                                size_t epoch, kspec_error *err) {
    if (!l->store.save) return KSPEC_OK;
    size_t words = words_of(net, run), bytes = words * sizeof(uint64_t);
    uint64_t *all = ks_alloc(words, sizeof *all), *w = all;
    if (!all) return ks_nomem(err, "a checkpoint", bytes);
    field f[FIELDS];
    configuration(l, net, f);
    *w++ = MAGIC, *w++ = VERSION, *w++ = bytes;
    for (int k = 0; k < FIELDS; k++) *w++ = f[k].bits;
    *w++ = epoch, *w++ = net->steps, *w++ = run->epoch_count;
    for (size_t k = 0; k < run->epoch_count; k++) {
        const kspec_learn_epoch *e = run->epochs[k];
        *w++ = e->epoch, *w++ = bits(e->loss), *w++ = bits(e->accuracy), *w++ = bits(e->test_accuracy);
        *w++ = count_of(e->moments), *w++ = count_of(e->subsample);
        w = put_estimates(w, e->moments);
        w = put_estimates(w, e->subsample);
    }
    memcpy(w, net->state, 3 * net->weights * sizeof(float));
    w += 3 * net->weights / 2;
    *w = ks_fnv(KS_FNV, all, bytes - sizeof *w);
    pthread_mutex_lock(&l->lock);
    kspec_status st = l->store.save(l->store.ctx, net->N, net->seed, all, bytes, err);
    pthread_mutex_unlock(&l->lock);
    ks_free(all);
    return st;
}

/* ---- reading */

typedef struct {
    const uint64_t *at, *end;
} reader;

static kspec_status damaged(const ks_network *net, const char *how, kspec_error *err) {
    return ks_fail(err, KSPEC_E_IO, "the checkpoint of width %zu, seed %llu %s", net->N,
                   (unsigned long long)net->seed, how);
}

static const char odd[] = "is damaged: its records contradict each other";

/* Returns 1 if the remaining words suffice for `count` items of `words` words. */
static int has(const reader *r, uint64_t count, size_t words) {
    return count <= (uint64_t)(r->end - r->at) / words;
}

static kspec_status get_estimates(reader *r, size_t count, ks_arena *arena, kspec_learn_moments **out,
                                  kspec_error *err) {
    kspec_learn_moments *m = *out = ks_learn_moments_new(arena, count);
    if (!m) return ks_nomem(err, "the estimates of a checkpoint", arena->failed);
    for (size_t k = 0; k < count; k++, r->at += ESTIMATE) {
        *m->estimates[k] = (kspec_estimate){.estimator = (kspec_estimator)r->at[0],
                                            .n = (int)r->at[1],
                                            .value = number(r->at[2]),
                                            .std_error = number(r->at[3]),
                                            .ci_low = number(r->at[4]),
                                            .ci_high = number(r->at[5]),
                                            .root = number(r->at[6]),
                                            .variance_bound = NAN,
                                            .chebyshev_low = NAN,
                                            .chebyshev_high = NAN};
        m->ratio_error[k] = number(r->at[7]);
    }
    return KSPEC_OK;
}

/* Copies the next record into the run, if the run measures the epoch of the record */
static kspec_status get_record(ks_learning *l, const ks_network *net, reader *r, size_t reached,
                               kspec_learn_run *run, kspec_error *err) {
    if (!has(r, 1, RECORD)) return damaged(net, odd, err);
    kspec_learn_epoch e = {.epoch = r->at[0],
                           .loss = number(r->at[1]),
                           .accuracy = number(r->at[2]),
                           .test_accuracy = number(r->at[3])};
    uint64_t all = r->at[4], sub = r->at[5];
    r->at += RECORD;
    if (!has(r, all, ESTIMATE) || !has(r, sub, ESTIMATE) || !has(r, all + sub, ESTIMATE))
        return damaged(net, odd, err);
    /* The run now has fewer epochs, or the epoch was the last one of the stored run. */
    if (e.epoch > l->o.epochs || !ks_learn_is_measured(l, e.epoch)) {
        r->at += (all + sub) * ESTIMATE;
        return KSPEC_OK;
    }
    /* The epochs of records increase from 0 to at most the current epoch, so the list has room for all. */
    size_t had = run->epoch_count;
    if (e.epoch > reached || (had ? e.epoch <= run->epochs[had - 1]->epoch : e.epoch != 0))
        return damaged(net, odd, err);
    kspec_learn_epoch *to = run->epochs[run->epoch_count++];
    *to = e;
    kspec_status st = get_estimates(r, all, ks_result_arena(run), &to->moments, err);
    return st || !sub ? st : get_estimates(r, sub, ks_result_arena(run), &to->subsample, err);
}

static kspec_status parse(ks_learning *l, ks_network *net, const uint64_t *w, size_t bytes,
                          kspec_learn_run *run, size_t *epoch, kspec_error *err) {
    size_t least = (HEAD + FIELDS + 3 + 1) * sizeof *w;
    if (bytes < least || bytes % sizeof *w || w[0] != MAGIC)
        return damaged(net, "is damaged, or was made on another kind of machine", err);
    if (w[1] != VERSION) return damaged(net, "is of another version of kspec", err);
    if (w[2] != bytes) return damaged(net, "is cut off", err);
    if (w[bytes / sizeof *w - 1] != ks_fnv(KS_FNV, w, bytes - sizeof *w))
        return damaged(net, "is damaged: its checksum is wrong", err);
    field f[FIELDS];
    configuration(l, net, f);
    for (int k = 0; k < FIELDS; k++)
        if (w[HEAD + k] != f[k].bits) return unlike(net, &f[k], w[HEAD + k], err);
    reader r = {w + HEAD + FIELDS + 3, w + bytes / sizeof *w - 1};
    *epoch = w[HEAD + FIELDS];
    net->steps = w[HEAD + FIELDS + 1];
    kspec_status st = KSPEC_OK;
    for (uint64_t k = w[HEAD + FIELDS + 2]; k && !st; k--) st = get_record(l, net, &r, *epoch, run, err);
    if (st) return st;
    if (!run->epoch_count) return damaged(net, odd, err);
    if ((size_t)(r.end - r.at) != 3 * net->weights / 2)
        return damaged(net, "is damaged: it has another number of weights", err);
    memcpy(net->state, r.at, 3 * net->weights * sizeof(float));
    if (*epoch >= l->o.epochs && run->epochs[run->epoch_count - 1]->epoch != l->o.epochs)
        return ks_fail(err, KSPEC_E_IO,
                       "the checkpoint of width %zu, seed %llu is past epoch %zu, and was not measured there",
                       net->N, (unsigned long long)net->seed, l->o.epochs);
    return KSPEC_OK;
}

kspec_status ks_checkpoint_load(ks_learning *l, ks_network *net, kspec_learn_run *run, size_t *epoch,
                                int *found, kspec_error *err) {
    const kspec_learn_store *s = &l->store;
    *found = 0;
    if (!s->load) return KSPEC_OK;
    size_t bytes = 0;
    uint64_t *w = NULL;
    pthread_mutex_lock(&l->lock);
    kspec_status st = s->load(s->ctx, net->N, net->seed, NULL, &bytes, err);
    if (!st && bytes) {
        w = ks_alloc(bytes, 1);
        st = w ? s->load(s->ctx, net->N, net->seed, w, &bytes, err) : ks_nomem(err, "a checkpoint", bytes);
    }
    pthread_mutex_unlock(&l->lock);
    if (!st && w) {
        st = parse(l, net, w, bytes, run, epoch, err);
        *found = !st;
    }
    ks_free(w);
    return st;
}
