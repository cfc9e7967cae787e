/* A public call that makes points: where it computes, and what its result says of that. */
#pragma once

#include "ridge/plan.h"

typedef struct {
    /* points of the result, and how many are solved for them, by order of magnitude */
    size_t points;
    double solved;
    kspec_status (*make)(kspec_ridge *r, const ks_run *run, void *ctx, kspec_ridge_result *result,
                         kspec_error *err);
    void *ctx;
} ks_ridge_task;

/* Makes the points, on a GPU where that was decided; where it fails under AUTO, on the processor again. */
kspec_status ks_ridge_call(kspec_ridge *r, const ks_ridge_task *t, kspec_ridge_result **out,
                           kspec_error *err);

/* Draws that check a result as the options want it, and the doubts that follow. */
kspec_status ks_ridge_check(kspec_ridge *r, kspec_ridge_result *result, kspec_error *err);

/* Are the targets of all training rows the same? */
int ks_ridge_constant_target(const kspec_ridge *r);
