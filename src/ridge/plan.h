/* The state of an open prediction: the data, the kernel matrices, and room for one resolvent. */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "simd/simd.h"
#include "kspec/ridge.h"

enum { COS, SIN };

struct kspec_ridge {
    kspec_ridge_opts o;
    double sigma;
    double distance;              /* the median distance of two rows; 0: unknown */
    size_t n, nt, p, m;           /* training rows, test rows (0: no test set), columns, targets */
    double *X, *Xt;               /* n x p, nt x p: centred, scaled, divided by sigma */
    double *Y, *Yt;               /* n x m, nt x m */
    double *variance[2];          /* m each: variances of the training and of the test targets */
    double *target_means;         /* m: what center_target subtracted, or 0 */
    double mean_train, mean_test; /* the mean squared errors of predicting the training targets' mean */
    double target_mean;           /* the mean's share of their mean square, if it was not subtracted */
    double widest_share;          /* the share of all variance in one column, `widest`; 0: unknown */
    size_t widest;
    double *K[2];                /* K_cos, K_sin: n x n */
    double *Kt[2];               /* K_cos, K_sin between test and training rows: nt x n */
    double trace[2], trace_t[2]; /* tr K_a(X,X), tr K_a(Xt,Xt) */
    double *own[2];              /* nt: K_a(x,x) of the test rows */
    double *Q, *work;            /* n x n: the resolvent, and scratch */
    double *H;                   /* nt x n */
    struct ks_one *one;          /* for one fixed point: see one.h; or NULL */
    struct ks_mix *mix;          /* for several: see mix.h; or NULL. Both are NULL for cosines and sines */
    /* during a call on a GPU: its matrices on the GPU; else NULL */
    struct ks_ridge_device *on_device;
    double part[2]; /* for a call's progress: begin and end of the next computation */
    const ks_simd *simd;
    ks_arena arena;
};

/* Begins a call: sets its threads and progress. The BLAS runs on one thread until ks_ridge_exit(). */
kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err);
void ks_ridge_exit(void);
