/*
 * Where a computation runs. The processor is the default; a GPU is reached through a plugin
 * (device/plugin.h), which is opened at run time where it is asked for or worth it, and never linked.
 */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

typedef struct ks_device {
    const ks_plugin *plugin;
    ks_gpu *gpu;
    /* "gpu:0 NVIDIA H200" */
    char name[144];
    /* something failed on it (not the caller's cancelling); the failure's message was passed on */
    int failed;
    /* multiply-adds of the products so far, a symmetric one's once for both halves */
    double multiplied;
    /* seconds in which the host's matrices were copied */
    double copying;
    /* matrices that are on it without copy_in(): the caller's, and transposes */
    const double *known[4];
    /*
     * Other than 0: matrices do not fit together, and are in the host's memory while they are not used
     * (device/resident.h). So many doubles are a product's that goes in tiles; what goes so depends on it
     */
    size_t streamed;
    /* those matrices; bytes of the device that they may take (0: those of two products) and take */
    struct ks_resident *resident;
    size_t share, taken;
    /* operations on them so far */
    size_t operation;
    /* bytes that may be taken of it, by KSPEC_GPU_MEMORY; 0: all */
    size_t most;
} ks_device;

/* Is this matrix on the device already? 0 where d is NULL. And from now on; and no longer. */
int ks_device_has(const ks_device *d, const double *p);
void ks_device_take(ks_device *d, const double *p);
void ks_device_forget(ks_device *d, const double *p);

/* What was decided for one call, and why; what the result says of it. */
typedef struct {
    kspec_device want;
    /* NULL: the processor */
    ks_device *device;
    char why[160];
    /* there is a GPU that would have been used, but it could not be */
    int unusable;
    /* 1: one of several ranks, which must all decide alike: AUTO is the processor */
    int ranked;
    ks_device opened;
} ks_placement;

/*
 * The caller's wish, or what KSPEC_DEVICE says where it is AUTO; opens a GPU where one is asked for by name
 * and fails where there is none.
 */
kspec_status ks_placement_open(ks_placement *p, kspec_device want, kspec_error *err);

/*
 * "gpu" for one of several ranks: ks_placement_open() then opens the GPU of the rank's number on its machine,
 * modulo the GPUs of that machine
 */
kspec_device ks_device_of_rank(kspec_device want, const kspec_team *team);

/*
 * Under AUTO, and where none is open: opens a GPU where `work` multiply-adds take so much longer on all
 * processors that starting it pays: a call's own number of threads does not decide it, for a GPU's last bits
 * are its own. `refused`: what of this call a GPU does not have, or NULL.
 */
kspec_status ks_placement_decide(ks_placement *p, double work, const char *refused, kspec_error *err);

/* The open GPU does not have `what`, or has fewer bytes: a failure, or under AUTO the processor's */
kspec_status ks_placement_refuse(ks_placement *p, const char *what, kspec_error *err);
kspec_status ks_placement_fit(ks_placement *p, size_t bytes, kspec_error *err);

/*
 * The matrices of the call are to be in the host's memory, `bytes` of them: 1 where that has so many, and the
 * result says so
 */
int ks_placement_stream(ks_placement *p, size_t bytes);

/* The GPU failed under AUTO: the processor does it again. 0 where it was asked for by name. */
int ks_placement_fall_back(ks_placement *p, const kspec_error *err);
void ks_placement_close(ks_placement *p);

/* What the result says of it */
void ks_placement_describe(const ks_placement *p, kspec_device_used *used);

/*
 * One attempt at a call, on the host or the device, as it decides; a second one is the processor's. After
 * success the call has a result, which says where it was made (ks_placement_describe()).
 */
typedef kspec_status ks_attempt(void *call, ks_placement *placement, kspec_error *err);

/*
 * A call with a placement, `opened` with this status: attempts it, and again where the GPU failed under AUTO;
 * closes the placement, and ends the call for all of the team.
 */
kspec_status ks_placement_run(ks_placement *p, kspec_status opened, kspec_team *team, ks_attempt *attempt,
                              void *call, kspec_error *err);

/* Bytes that are free on the device */
size_t ks_device_available(const ks_device *d);

/* The failure of a call of the plugin, with its message; KSPEC_OK for KS_PLUGIN_OK */
kspec_status ks_device_status(ks_device *d, ks_plugin_status st, const char *what, kspec_error *err);

/* ---- loading, in load.c ---- */

/* The plugin, opened once per process; NULL and why */
const ks_plugin *ks_plugin_load(const char **why);

/* For tests alone, while nothing runs: the next load takes this file (NULL: looks for one again). */
void ks_plugin_use(const char *path);
