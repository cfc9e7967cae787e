/* Runs a public call that predicts points: chooses the device, and notes it in the result. */
#pragma once

#include "ridge/plan.h"

typedef struct {
    /* Counts the points in the result, and estimates how many points are solved. */
    size_t points;
    double solved;
    kspec_status (*make)(kspec_ridge *r, const ks_run *run, void *ctx, kspec_ridge_result *result,
                         kspec_error *err);
    void *ctx;
} ks_ridge_task;

/*
 * Computes the points, on a GPU if one was chosen. If the GPU fails under AUTO, computes all points again on
 * the CPU.
 */
kspec_status ks_ridge_call(kspec_ridge *r, const ks_ridge_task *t, kspec_ridge_result **out,
                           kspec_error *err);

/* Checks a result by real draws if the options request it, and adds doubts. */
kspec_status ks_ridge_check(kspec_ridge *r, kspec_ridge_result *result, kspec_error *err);

/* Returns 1 if all training rows have equal targets. */
int ks_ridge_constant_target(const kspec_ridge *r);
