/* One network from its initialisation to its last epoch. */
#ifndef KS_LEARN_RUN_H
#define KS_LEARN_RUN_H

#include "learn/network.h"

#include <pthread.h>
#include <stdatomic.h>

/* What all runs of a call share. */
typedef struct {
    const kspec_learn_data *data;
    kspec_learn_opts o; /* defaults filled in */
    kspec_learn_scaling scaling;
    pthread_mutex_t lock; /* one call of the store at a time */
    atomic_int stop;      /* a run has failed, or the caller has cancelled */
    /* Looks at `stop`, and tells the caller how far it is, where this is the caller's thread. */
    int (*poll)(void *ctx, int worker);
    void *ctx;
} ks_learning;

/* Trains, measures, saves. `done` grows by the width for the initialisation and for every epoch. */
kspec_status ks_learn_run(ks_learning *l, kspec_learn_run *run, int worker, atomic_size_t *done,
                          kspec_error *err);
void ks_learn_run_free(kspec_learn_run *run);

/* The moments of the hidden layer as it is, into e; Phi goes to the store. */
kspec_status ks_learn_measure(ks_learning *l, const ks_network *net, int worker, kspec_learn_epoch *e,
                              kspec_error *err);

/* Whether epoch e is measured. */
static inline int ks_learn_is_measured(const ks_learning *l, size_t e) {
    return e % l->o.every == 0 || e == l->o.epochs;
}

/* Keeps the run in the store; gets it from there, if it is there: *epoch is then the one reached, else unchanged. */
kspec_status ks_checkpoint_save(ks_learning *l, const ks_network *net, const kspec_learn_run *run,
                                size_t epoch, kspec_error *err);
kspec_status ks_checkpoint_load(ks_learning *l, ks_network *net, kspec_learn_run *run, size_t *epoch,
                                int *found, kspec_error *err);

#endif
