/*
 * Decides where a computation runs. The CPU is the default. A GPU needs a plugin (device/plugin.h). The
 * library opens the plugin at run time, on request or if the GPU is faster, and never links it.
 */
#pragma once

#include "base/parallel.h"
#include "device/plugin.h"

typedef struct ks_device {
    const ks_plugin *plugin;
    ks_gpu *gpu;
    /* "gpu:0 NVIDIA H200" */
    char name[144];
    /*
     * 1 after an operation on the device failed (other than by cancellation); the message has been passed on
     */
    int failed;
    /* the multiply-adds of all products so far; a symmetric product counts fully */
    double multiplied;
    /* the seconds spent on copying host matrices */
    double copying;
    /* matrices that are on the device without copy_in(): the caller's, and transposes */
    const double *known[4];
    /*
     * 0: all matrices fit on the device together. Otherwise unused matrices stay in host memory
     * (device/resident.h), and a product in tiles may use this many doubles
     */
    size_t streamed;
    /*
     * these matrices, the device bytes that they may use (0: enough for two products), and the bytes in use
     */
    struct ks_resident *resident;
    size_t share, taken;
    /* the number of operations on these matrices so far */
    size_t operation;
    /* the limit of KSPEC_GPU_MEMORY on device bytes; 0: no limit */
    size_t most;
} ks_device;

/*
 * Is this matrix on the device already (0 if d is NULL)? The next two functions register and unregister a
 * matrix.
 */
int ks_device_has(const ks_device *d, const double *p);
void ks_device_take(ks_device *d, const double *p);
void ks_device_forget(ks_device *d, const double *p);

/* The decision for one call and its reason, which the result reports */
typedef struct {
    kspec_device want;
    /* NULL: the processor */
    ks_device *device;
    char why[160];
    /* 1 if a GPU exists but could not be used */
    int unusable;
    /* 1 for one of several ranks. All ranks must decide alike, so AUTO means the CPU */
    int ranked;
    ks_device opened;
} ks_placement;

/*
 * Reads the request of the caller, or KSPEC_DEVICE if the request is AUTO. Opens a GPU if one is requested by
 * name, and fails if none exists.
 */
kspec_status ks_placement_open(ks_placement *p, kspec_device want, kspec_error *err);

/*
 * Turns "gpu" into the GPU of a rank. ks_placement_open() then opens the GPU with the rank's number on its
 * machine, modulo the number of GPUs there.
 */
kspec_device ks_device_of_rank(kspec_device want, const kspec_team *team);

/*
 * Under AUTO without an open GPU: opens a GPU if it computes `work` multiply-adds faster than all CPUs, by
 * its measured rate and including its start. The number of threads of a call does not affect this decision,
 * because the last bits of a GPU differ from those of the CPU. `refused`: the part of this call that a GPU
 * cannot do, or NULL.
 */
kspec_status ks_placement_decide(ks_placement *p, double work, const char *refused, kspec_error *err);

/* The open GPU cannot do `what`, or lacks the bytes: fails, or under AUTO uses the CPU. */
kspec_status ks_placement_refuse(ks_placement *p, const char *what, kspec_error *err);
kspec_status ks_placement_fit(ks_placement *p, size_t bytes, kspec_error *err);

/*
 * Stores the matrices of the call, `bytes` in all, in host memory. Returns 1 if the host has enough memory;
 * the result then reports this.
 */
int ks_placement_stream(ks_placement *p, size_t bytes);

/* The GPU failed: under AUTO, the CPU repeats the work. Returns 0 if the GPU was requested by name. */
int ks_placement_fall_back(ks_placement *p, const kspec_error *err);
void ks_placement_close(ks_placement *p);

/* Writes the decision to the result. */
void ks_placement_describe(const ks_placement *p, kspec_device_used *used);

/*
 * One attempt at a call, on the host or on the device. A second attempt runs on the CPU. After success, the
 * result names the device (ks_placement_describe()).
 */
typedef kspec_status ks_attempt(void *call, ks_placement *placement, kspec_error *err);

/*
 * Runs a call with a placement that was `opened` with this status. Repeats it if the GPU failed under AUTO.
 * Then closes the placement, and ends the call on all ranks of the team.
 */
kspec_status ks_placement_run(ks_placement *p, kspec_status opened, kspec_team *team, ks_attempt *attempt,
                              void *call, kspec_error *err);

/* Free bytes on the device */
size_t ks_device_available(const ks_device *d);

/* Turns the failure of a plugin call into a status with its message; KSPEC_OK for KS_PLUGIN_OK. */
kspec_status ks_device_status(ks_device *d, ks_plugin_status st, const char *what, kspec_error *err);

/* ---- loading, in load.c ---- */

/* The plugin, opened once per process; or NULL, and the reason in *why */
const ks_plugin *ks_plugin_load(const char **why);

/* For tests only, while nothing runs: the next load uses this file (NULL: searches again). */
void ks_plugin_use(const char *path);
