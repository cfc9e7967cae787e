/* Compares two matrices whose own estimates are known: alignment, differences and doubts. */
#pragma once

#include "dimension/compared.h"

typedef struct {
    const kspec_compare_opts *o;
    ks_measured *matrix[2];
    const ks_compared *own[2];
    /* name: the matrices' names in doubts. data: the caller's data, or NULL for data on a device. */
    const char *name[2];
    const ks_checked *data[2];
    /* 1: another result reports the doubts about this matrix alone */
    int told[2];
} ks_paired;

/* A result with the shapes and settings of a comparison, all else undefined; NULL: out of memory */
kspec_compare_result *ks_paired_result(const ks_paired *p);

/* Sets everything in r except the shared dimension and the time. */
kspec_status ks_paired_make(const ks_run *run, const ks_paired *p, kspec_compare_result *r, ks_arena *arena,
                            kspec_error *err);
