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
    /* example: "gpu:0 NVIDIA H200" */
    char name[144];
    /*
     * failed is 1 after an operation on the device failed, except by cancellation. The message has already
     * been reported.
     */
    int failed;
    /* The multiply-adds of all products so far. A symmetric product counts fully. */
    double multiplied;
    double copying;
    /* Matrices that are on the device without copy_in(): the caller's matrices, and transposes. */
    const double *known[4];
    /*
     * If streamed is 0, all matrices fit on the device together. Otherwise unused matrices stay in host
     * memory (device/resident.h), and a product in tiles may use `streamed` doubles.
     */
    size_t streamed;
    /*
     * The streamed matrices, the device bytes that they may use, and the bytes in use. A share of 0 is enough
     * for two products.
     */
    struct ks_resident *resident;
    size_t share, taken;
    /* `operation` counts the operations on the streamed matrices so far. */
    size_t operation;
    /* KSPEC_GPU_MEMORY limits the device bytes to `most`. 0 means no limit. */
    size_t most;
} ks_device;

/*
 * ks_device_has() tells whether a matrix is on the device already, and returns 0 if d is NULL.
 * ks_device_take() registers a matrix, and ks_device_forget() unregisters it.
 */
int ks_device_has(const ks_device *d, const double *p);
void ks_device_take(ks_device *d, const double *p);
void ks_device_forget(ks_device *d, const double *p);

/* The decision for one call and its reason, which the result reports. */
typedef struct {
    kspec_device want;
    /* NULL: the CPU */
    ks_device *device;
    char why[160];
    /* GPU exists but unusable */
    int unusable;
    /*
     * If ranked is 1, the process is one of several ranks. All ranks must make the same choice, so AUTO means
     * the CPU.
     */
    int ranked;
    ks_device opened;
} ks_placement;

/*
 * Reads the caller's request, or KSPEC_DEVICE if the request is AUTO. If the request names a GPU, the
 * function opens it, and fails if none exists.
 */
kspec_status ks_placement_open(ks_placement *p, kspec_device want, kspec_error *err);

/*
 * Turns "gpu" into the GPU of a rank. ks_placement_open() then opens the GPU with the rank's number on its
 * machine, modulo the number of the machine's GPUs.
 */
kspec_device ks_device_of_rank(kspec_device want, const kspec_team *team);

/*
 * Decides under AUTO, without an open GPU, whether to open one. A GPU is opened if it computes `work`
 * multiply-adds faster than all CPUs, by its measured rate and including its start. The number of threads of
 * a call does not affect this decision, because the last bits of a GPU's results differ from those of the
 * CPU. refused names the part of this call that a GPU cannot do, or is NULL.
 */
kspec_status ks_placement_decide(ks_placement *p, double work, const char *refused, kspec_error *err);

/*
 * The open GPU cannot do `what`, or has too little memory for `bytes`. The functions fail, or under AUTO
 * choose the CPU.
 */
kspec_status ks_placement_refuse(ks_placement *p, const char *what, kspec_error *err);
kspec_status ks_placement_fit(ks_placement *p, size_t bytes, kspec_error *err);

/*
 * Moves the matrices of the call, `bytes` in all, to host memory, from which the GPU reads them in parts.
 * Returns 1 if the host has enough memory. The result then reports that the matrices are in host memory.
 */
int ks_placement_stream(ks_placement *p, size_t bytes);

/*
 * Handles a failure of the GPU. Under AUTO, the CPU repeats the work. Returns 0 if the caller requested the
 * GPU by name.
 */
int ks_placement_fall_back(ks_placement *p, const kspec_error *err);
void ks_placement_close(ks_placement *p);

/* Writes the decision to the result. */
void ks_placement_describe(const ks_placement *p, kspec_device_used *used);

/*
 * Makes one attempt at a call, on the host or on the device. A second attempt runs on the CPU. After success,
 * the result names the device (ks_placement_describe()).
 */
typedef kspec_status ks_attempt(void *call, ks_placement *placement, kspec_error *err);

/*
 * Runs a call with a placement that was `opened` with this status. If the GPU fails under AUTO, the call runs
 * again on the CPU. The function then closes the placement, and ends the call on all ranks of the team.
 */
kspec_status ks_placement_run(ks_placement *p, kspec_status opened, kspec_team *team, ks_attempt *attempt,
                              void *call, kspec_error *err);

/* Returns the number of free bytes on the device. */
size_t ks_device_available(const ks_device *d);

/* Turns the failure of a plugin call into a status with its message. KS_PLUGIN_OK becomes KSPEC_OK. */
kspec_status ks_device_status(ks_device *d, ks_plugin_status st, const char *what, kspec_error *err);

/* ---- load.c ---- */

/*
 * Returns the plugin, which is opened once per process. If there is none, returns NULL and sets *why to the
 * reason.
 */
const ks_plugin *ks_plugin_load(const char **why);

/*
 * Makes the next load use this file, or search again if path is NULL. Only tests call this function, while
 * nothing runs.
 */
void ks_plugin_use(const char *path);
