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
    double *X, *Xt;               /* the rows, n x p and nt x p: centred, scaled, divided by sigma */
    double *Y, *Yt;               /* n x m, nt x m */
    double *variance[2];          /* the variances of the training targets and of the test targets, m each */
    double *target_means;         /* the m means that center_target subtracted, or 0 */
    double mean_train, mean_test; /* the mean squared errors of predicting the mean of the training targets */
    /* the share of the mean in the mean square of the targets, if the mean was not subtracted */
    double target_mean;
    /* the share of column `widest` in the variance of all columns; 0: unknown */
    double widest_share;
    size_t widest;
    double *K[2];                /* K_cos, K_sin: n x n */
    double *Kt[2];               /* K_cos, K_sin between test and training rows: nt x n */
    double trace[2], trace_t[2]; /* tr K_a(X,X), tr K_a(Xt,Xt) */
    double *own[2];              /* nt: K_a(x,x) of the test rows */
    double *Q, *work;            /* the resolvent and scratch, n x n each */
    double *H;                   /* nt x n */
    struct ks_one *one;          /* for one fixed point (one.h), or NULL */
    /* for several fixed points (mix.h), or NULL. Both are NULL for cosines and sines */
    struct ks_mix *mix;
    /* the matrices on the GPU during a call on a GPU; else NULL */
    struct ks_ridge_device *on_device;
    double part[2]; /* for progress reports: the begin and the end of the next computation */
    const ks_simd *simd;
    ks_arena arena;
};

/* Begins a call: sets its threads and progress. The BLAS runs on one thread until ks_ridge_exit(). */
kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err);
void ks_ridge_exit(void);
