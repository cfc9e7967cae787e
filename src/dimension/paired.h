/*
 * Compares two matrices whose own estimates are known. The result contains the alignment, the differences and
 * the doubts.
 */
#pragma once

#include "dimension/compared.h"

typedef struct {
    const kspec_compare_opts *o;
    ks_measured *matrix[2];
    const ks_compared *own[2];
    /*
     * name contains the matrices' names in doubts. data points to the caller's data, or is NULL for data on a
     * device.
     */
    const char *name[2];
    const ks_checked *data[2];
    /* If told[k] is 1, another result reports the doubts about matrix k alone. */
    int told[2];
} ks_paired;

/*
 * Creates a result with the shapes and settings of a comparison. All other fields of the result are
 * undefined. Returns NULL if memory is short.
 */
kspec_compare_result *ks_paired_result(const ks_paired *p);

/* Sets everything in the result r except the shared dimension and the time. */
kspec_status ks_paired_make(const ks_run *run, const ks_paired *p, kspec_compare_result *r, ks_arena *arena,
                            kspec_error *err);
