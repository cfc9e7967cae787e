/* Trains one network, from its initialisation to its last epoch. */
#pragma once

#include "learn/network.h"

#include <pthread.h>
#include <stdatomic.h>

/* Holds the data shared by all runs of a call. */
typedef struct {
    const kspec_learn_data *data;
    const size_t *widths;
    size_t width_count;
    /* the options, with defaults filled in */
    kspec_learn_opts o;
    kspec_learn_scaling scaling;
    kspec_learn_store store;
    /* the lock allows one call of the store at a time */
    pthread_mutex_t lock;
    /* becomes 1 after a run has failed or the caller has cancelled */
    atomic_int stop;
    /* Checks `stop`; the caller's thread also reports progress. */
    int (*poll)(void *ctx, int worker);
    void *ctx;
} ks_learning;

/*
 * Trains, measures and saves `run`, which ks_result_new() created. `done` grows by the width for the
 * initialisation and for every epoch.
 */
kspec_status ks_learn_run(ks_learning *l, kspec_learn_run *run, int worker, atomic_size_t *done,
                          kspec_error *err);

/* Allocates the moments of one Phi, and returns NULL if memory is out. */
kspec_learn_moments *ks_learn_moments_new(ks_arena *arena, size_t count);

/* Writes the moments of the present hidden layer to e, with memory of the arena; the store gets Phi. */
kspec_status ks_learn_measure(ks_learning *l, const ks_network *net, int worker, ks_arena *arena,
                              kspec_learn_epoch *e, kspec_error *err);

/* Converts the results of a run to bytes for other processes, and back into a run. */
size_t ks_learn_record_bytes(const ks_learning *l);
kspec_status ks_learn_pack(const kspec_learn_run *run, unsigned char *to, size_t bytes, kspec_error *err);
kspec_status ks_learn_unpack(const ks_learning *l, const unsigned char *from, kspec_learn_run *run,
                             kspec_error *err);

/* Allocates the epochs of a run, and returns NULL if memory is out. */
kspec_learn_epoch **ks_learn_epochs_new(const ks_learning *l, kspec_learn_run *run, kspec_error *err);

/* Returns 1 if the run measures epoch e. */
static inline int ks_learn_is_measured(const ks_learning *l, size_t e) {
    return e % l->o.every == 0 || e == l->o.epochs;
}

/* Saves the run in the store. */
kspec_status ks_checkpoint_save(ks_learning *l, const ks_network *net, const kspec_learn_run *run,
                                size_t epoch, kspec_error *err);

/*
 * Loads a stored run. If one exists, *found is 1 and *epoch is its last epoch; otherwise *epoch does not
 * change.
 */
kspec_status ks_checkpoint_load(ks_learning *l, ks_network *net, kspec_learn_run *run, size_t *epoch,
                                int *found, kspec_error *err);
