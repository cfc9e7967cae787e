/* Defines the state of an open prediction: the data, the kernel matrices, and room for one resolvent. */
#pragma once

#include "base/memory.h"
#include "base/parallel.h"
#include "simd/simd.h"
#include "kspec/ridge.h"

enum { COS, SIN };

struct kspec_ridge {
    kspec_ridge_opts o;
    double sigma;
    double distance; /* the median distance between two rows, or 0 if unknown */
    /* the numbers of training rows, test rows (0 without a test set), columns and targets */
    size_t n, nt, p, m;
    /* the rows (n x p and nt x p) after centring, scaling and division by sigma */
    double *X, *Xt;
    double *Y, *Yt;               /* n x m, nt x m */
    double *variance[2];          /* the variances of the training and test targets, m numbers each */
    double *target_means;         /* the m means that center_target subtracted, or NULL */
    double mean_train, mean_test; /* the mean squared errors of predicting the mean of the training targets */
    /* the share of the mean in the mean square of the targets, if the mean was not subtracted */
    double target_mean;
    /* the share of column `widest` in the variance of all columns, or 0 if unknown */
    double widest_share;
    size_t widest;
    double *K[2]; /* the kernel matrices K_cos and K_sin of the training rows, n x n */
    /* the kernel matrices K_cos and K_sin between test and training rows, nt x n */
    double *Kt[2];
    double trace[2], trace_t[2]; /* tr K_a(X,X), tr K_a(Xt,Xt) */
    double *own[2];              /* nt: nt numbers: K_a(x,x) of the test rows */
    double *Q, *work;            /* the resolvent and scratch, n x n each */
    double *H;                   /* nt x n */
    struct ks_one *one;          /* the basis for a single fixed point (one.h), or NULL */
    /*
     * the kernels for several fixed points (mix.h), or NULL. For cosines and sines, `one` and `mix` are
     * NULL.
     */
    struct ks_mix *mix;
    /* the matrices on the GPU during a call that runs on a GPU, else NULL */
    struct ks_ridge_device *on_device;
    double part[2]; /* for progress reports: the begin and the end of the next computation */
    const ks_simd *simd;
    ks_arena arena;
};

/* Begins a call: sets its threads and progress. The BLAS runs on one thread until ks_ridge_exit(). */
kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err);
void ks_ridge_exit(void);
