/* What an open prediction holds: the data, the kernel matrices, and room for one resolvent. */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "simd/simd.h"
#include "kspec/ridge.h"

enum { COS, SIN };

struct kspec_ridge {
    kspec_ridge_opts o;
    double sigma;
    double distance;              /* the median one of two rows; 0: not known */
    size_t n, nt, p, m;           /* training rows, test rows (0: none), columns, targets */
    double *X, *Xt;               /* n x p, nt x p: centred, scaled, divided by sigma */
    double *Y, *Yt;               /* n x m, nt x m */
    double *variance[2];          /* m each: of the training and of the test targets */
    double *target_means;         /* m: what center_target subtracted, or 0 */
    double mean_train, mean_test; /* the mean squared errors of the training targets' mean */
    double target_mean;           /* its share of their mean square, where it was not subtracted */
    double widest_share;          /* the share that one column, `widest`, has of all variance; 0: not known */
    size_t widest;
    double *K[2];                /* K_cos, K_sin: n x n */
    double *Kt[2];               /* the same between test and training rows: nt x n */
    double trace[2], trace_t[2]; /* tr K_a(X,X), tr K_a(Xt,Xt) */
    double *own[2];              /* nt: K_a(x,x) of the test rows */
    double *Q, *work;            /* n x n: the resolvent, and scratch */
    double *H;                   /* nt x n */
    struct ks_one *one;          /* of one fixed point: see one.h; or NULL */
    struct ks_mix *mix;          /* of several: see mix.h; or NULL, as one, for two of cosines and sines */
    /* where a call computes on a GPU: its matrices on it; else NULL */
    struct ks_ridge_device *on_device;
    double part[2]; /* of a call's progress: where the next computation begins and ends */
    const ks_simd *simd;
    ks_arena arena;
};

/* Begins a call: its threads and progress. The BLAS runs on one thread until ks_ridge_exit(). */
kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err);
void ks_ridge_exit(void);
