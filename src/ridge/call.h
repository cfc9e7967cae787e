/* Runs a public call that predicts points: chooses the device, and notes it in the result. */
#pragma once

#include "ridge/plan.h"

typedef struct {
    /* number of points in the result, and of points solved for them, by order of magnitude */
    size_t points;
    double solved;
    kspec_status (*make)(kspec_ridge *r, const ks_run *run, void *ctx, kspec_ridge_result *result,
                         kspec_error *err);
    void *ctx;
} ks_ridge_task;

/* Makes the points, on a GPU if one was chosen. If the GPU fails under AUTO, makes them again on the CPU. */
kspec_status ks_ridge_call(kspec_ridge *r, const ks_ridge_task *t, kspec_ridge_result **out,
                           kspec_error *err);

/* Checks a result by real draws if the options ask for it, and adds the doubts that follow. */
kspec_status ks_ridge_check(kspec_ridge *r, kspec_ridge_result *result, kspec_error *err);

/* Are the targets of all training rows the same? */
int ks_ridge_constant_target(const kspec_ridge *r);
