/* One network from its initialisation to its last epoch. */
#pragma once

#include "learn/network.h"

#include <pthread.h>
#include <stdatomic.h>

/* Shared by all runs of a call. */
typedef struct {
    const kspec_learn_data *data;
    const size_t *widths;
    size_t width_count;
    /* with defaults filled in */
    kspec_learn_opts o;
    kspec_learn_scaling scaling;
    kspec_learn_store store;
    /* one call of the store at a time */
    pthread_mutex_t lock;
    /* a run has failed, or the caller has cancelled */
    atomic_int stop;
    /* Looks at `stop`; on the caller's thread, reports progress, too. */
    int (*poll)(void *ctx, int worker);
    void *ctx;
} ks_learning;

/*
 * Trains, measures and saves `run`, which comes from ks_result_new(). `done` grows by the width for the
 * initialisation and for every epoch.
 */
kspec_status ks_learn_run(ks_learning *l, kspec_learn_run *run, int worker, atomic_size_t *done,
                          kspec_error *err);

/* Room for the moments of one Phi; NULL when memory is out. */
kspec_learn_moments *ks_learn_moments_new(ks_arena *arena, size_t count);

/* The moments of the hidden layer as it is, into e, with memory of the arena; Phi goes to the store. */
kspec_status ks_learn_measure(ks_learning *l, const ks_network *net, int worker, ks_arena *arena,
                              kspec_learn_epoch *e, kspec_error *err);

/* What a run has found, as bytes for other processes, and back into a run */
size_t ks_learn_record_bytes(const ks_learning *l);
kspec_status ks_learn_pack(const kspec_learn_run *run, unsigned char *to, size_t bytes, kspec_error *err);
kspec_status ks_learn_unpack(const ks_learning *l, const unsigned char *from, kspec_learn_run *run,
                             kspec_error *err);

/* Room for the epochs of a run; NULL when memory is out. */
kspec_learn_epoch **ks_learn_epochs_new(const ks_learning *l, kspec_learn_run *run, kspec_error *err);

/* Whether epoch e is measured. */
static inline int ks_learn_is_measured(const ks_learning *l, size_t e) {
    return e % l->o.every == 0 || e == l->o.epochs;
}

/* Saves the run in the store. */
kspec_status ks_checkpoint_save(ks_learning *l, const ks_network *net, const kspec_learn_run *run,
                                size_t epoch, kspec_error *err);

/* Loads it, where one is stored: *found is then 1 and *epoch the one reached; else *epoch is unchanged. */
kspec_status ks_checkpoint_load(ks_learning *l, ks_network *net, kspec_learn_run *run, size_t *epoch,
                                int *found, kspec_error *err);
