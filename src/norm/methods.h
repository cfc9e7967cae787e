/*
 * Declares the methods of kspec_norm(), for one draw each. norm.c repeats the methods and judges the
 * results.
 */
#pragma once

#include "features/kernel.h"
#include "norm/debiased.h"
#include "norm/iterate.h"
#include "kspec/norm.h"

/* Holds the data for all methods: the inputs, or the Gram matrix K. */
typedef struct {
    kspec_norm_opts o; /* the options, with defaults filled in */
    ks_kernel kernel;
    ks_inputs in;          /* the centred rows in units of sigma */
    const kspec_matrix *K; /* the given Gram matrix, or NULL if the data are inputs */
    double unit; /* a power of two near K's largest entry; in units of it no square over- or underflows */
    size_t n, r; /* the number of rows, and the number of rows in a Nystrom sample */
    int wide;    /* 1 if sigma is large enough for pairs of cosines and sines */
    int pilot;   /* 1 to skip the additional debiased estimate */
    unsigned left_out; /* the methods that AUTO skipped */
} ks_norm_job;

typedef struct {
    ks_top top; /* value, iterations, residual */
    /* for RFF methods, the debiased estimate from the same features; its order is 0 if unknown */
    ks_debiased debiased;
    double seconds; /* the time of the method, without `debiased` if `debiased` is only a check */
} ks_norm_draw;

typedef kspec_status (*ks_norm_fn)(const ks_norm_job *j, const ks_run *run, uint64_t draw, ks_norm_draw *out,
                                   kspec_error *err);

typedef struct {
    kspec_norm_method method;
    const char *name;
    ks_norm_fn run;
    /* rff is 1 if the method uses random features; sampled is 1 if it uses a sample of the rows. */
    int rff, sampled;
} ks_norm_method;

/* 1 if features are pairs of a cosine and a sine, 0 if not; -1 lets sigma decide, and tests set 0 or 1 */
extern int ks_norm_pairs;

/* Returns 1 if rff-debiased uses pairs of cosines and sines. */
static inline int ks_norm_paired(const ks_norm_job *j) { return j->wide && j->o.features % 2 == 0; }

/* Computes only the value of rff-power with q features. */
kspec_status ks_norm_features_value(const ks_norm_job *j, const ks_run *run, size_t q, uint64_t draw,
                                    double *value, kspec_error *err);

extern const ks_norm_method ks_norm_methods[]; /* the list of methods; its last name is NULL */

/* kspec_name() */
const char *ks_norm_method_name(kspec_norm_method method);
