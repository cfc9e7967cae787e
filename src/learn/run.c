/* Trains and measures one network, epoch by epoch. */
#include "learn/run.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/result.h"
#include "base/streams.h"

#include <math.h>

/* The run checks `stop` after this many steps. */
enum { BATCHES = 16 };

static kspec_status diverged(const ks_network *net, size_t epoch, double loss, kspec_error *err) {
    /* fabs() makes NaN print without a sign. */
    return ks_fail(err, KSPEC_E_NUMERIC, "width %zu, seed %llu: the loss has become %g at epoch %zu%s",
                   net->N, (unsigned long long)net->seed, fabs(loss), epoch,
                   epoch ? "; a smaller learning rate may help" : ", before any training");
}

/* One pass through the training images, in a new random order */
static kspec_status train(ks_learning *l, ks_network *net, size_t epoch, double limit, size_t *order,
                          int worker, kspec_error *err) {
    const ks_images *s = &l->data->train;
    double loss = 0;
    ks_random_permutation(net->seed, ks_learn_stream(net->N, KS_LEARN_ORDER + epoch), s->n, order);
    for (size_t first = 0, k = 0; first < s->n; first += l->o.batch, k++) {
        size_t count = s->n - first < l->o.batch ? s->n - first : l->o.batch;
        loss += ks_network_step(net, s, order + first, count);
        if (k % BATCHES == 0 && l->poll(l->ctx, worker)) return ks_fail(err, KSPEC_E_CANCELLED, "cancelled");
    }
    loss /= (double)s->n;
    /* NaN also counts as diverged. */
    return loss <= limit ? KSPEC_OK : diverged(net, epoch, loss, err);
}

static kspec_status measure(ks_learning *l, ks_network *net, kspec_learn_run *run, size_t epoch, int worker,
                            kspec_error *err) {
    kspec_learn_epoch *e = run->epochs[run->epoch_count++];
    double unused;
    e->epoch = epoch;
    e->test_accuracy = NAN;
    ks_network_evaluate(net, &l->data->train, &e->loss, &e->accuracy);
    if (!isfinite(e->loss)) return diverged(net, epoch, e->loss, err);
    if (l->data->test.label) ks_network_evaluate(net, &l->data->test, &unused, &e->test_accuracy);
    return ks_learn_measure(l, net, worker, ks_result_arena(run), e, err);
}

kspec_learn_epoch **ks_learn_epochs_new(const ks_learning *l, kspec_learn_run *run, kspec_error *err) {
    size_t room = l->o.epochs / l->o.every + 2;
    kspec_learn_epoch **epochs = ks_arena_list(ks_result_arena(run), room, sizeof **epochs);
    if (!epochs) ks_nomem(err, "the epochs", ks_size(room, sizeof **epochs));
    return epochs;
}

kspec_status ks_learn_run(ks_learning *l, kspec_learn_run *run, int worker, atomic_size_t *done,
                          kspec_error *err) {
    ks_arena arena = {0};
    ks_network net;
    size_t n = l->data->train.n, epoch = 0, trained = 0;
    double computing = 0; /* CPU seconds of this thread in training */
    size_t *order = ks_arena_alloc(&arena, n, sizeof *order);
    run->epochs = ks_learn_epochs_new(l, run, err);
    kspec_status st = run->epochs ? KSPEC_OK : KSPEC_E_NOMEM;
    if (!st) st = ks_network_make(&net, &arena, run->width, run->seed, l->data, l->o.batch, &l->scaling, err);
    int found = 0;
    if (!st) st = ks_checkpoint_load(l, &net, run, &epoch, &found, err);
    if (found) {
        run->resumed = epoch;
        atomic_fetch_add(done, run->width * (1 + (epoch < l->o.epochs ? epoch : l->o.epochs)));
    }
    for (int first = !found; !st && (first || epoch < l->o.epochs); first = 0) {
        double start = ks_now(), own = ks_thread_seconds();
        if (!first) {
            st = train(l, &net, ++epoch, 1e6 * (1 + run->epochs[0]->loss), order, worker, err);
            run->train_seconds += ks_now() - start;
            computing += ks_thread_seconds() - own;
            trained++;
        }
        if (!st && ks_learn_is_measured(l, epoch)) {
            start = ks_now();
            st = measure(l, &net, run, epoch, worker, err);
            if (!st) st = ks_checkpoint_save(l, &net, run, epoch, err);
            run->measure_seconds += ks_now() - start;
        }
        atomic_fetch_add(done, run->width);
    }
    if (!st && trained) run->fma_rate = (double)trained * ks_network_fma(&net, n) / computing;
    ks_arena_free(&arena);
    return st;
}
