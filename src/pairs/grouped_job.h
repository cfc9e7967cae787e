/*
 * Declares the numbers from which grouped_sums.c and grouped_columns.c compute estimates for groups of rows.
 */
#pragma once

#include "linalg/linalg.h"
#include "pairs/grouped.h"

/*
 * The numbers that determine the sum of (x_i - x_j).(x_k - x_l) (y_i - y_j).(y_k - y_l) / 4 over all tuples
 * of rows from four different groups. The sum is linear in these numbers, so the sum over a few columns needs
 * only their contributions. grouped.h explains W, E, u, n, r, U and V. p_k is the sum of n^k u. A field's
 * name lists its factors, and q stands for p_2. For example, pWq is p_1 W_0 p_2. The fields pWq, qU, qEp, qp
 * and vq add the terms for both orders of the matrices x and y.
 */
typedef struct {
    double WW[4];       /* WW contains the products <W_k, W_l> for kl = 00, 01, 02, 11. */
    double own[3];      /* own[k] is the sum of n^k |W|^2. */
    double WE[5];       /* WE contains the products <W_k, E_l> for kl = 01, 11, 21, 02, 12. */
    double Z[2];        /* Z[k-1] is the sum of n^k u W u. */
    double pWp[2], pWq; /* pWp[k] is p_1 W_k p_1. */
    double pU[2], qU;   /* pU[k-1] is p_1 U_k, and qU is p_2 U_1. */
    double EE[3];       /* EE contains the products <E_k, E_l> for kl = 11, 12, 22. */
    /* QQ is the product of the traces of E_2 in both matrices, and q is the sum of n^2 r r. */
    double QQ, q;
    double pEp[2], qEp; /* pEp[k-1] is p_1 E_k p_1. */
    double pp, qp;      /* pp is |p_1|^2 |p_1|^2, and qp is the trace of E_2 times |p_1|^2. */
    double vp, vq;      /* vp is v p_1 and vq is v p_2, where v is the sum of n^2 r u. */
} ks_forms;

/* S[k-1] is the sum of n^k over groups. */
typedef struct {
    double S[4];
    int centered;
} ks_group_sizes;

/*
 * Contains the sums of ks_forms for products of traces, |x_i - x_j|^2 |x_k - x_l|^2. For a single column,
 * both kinds of sums agree. t_k is the trace of W_k, e_k is the trace of E_k, and T_k is the sum of n^k t u.
 */
typedef struct {
    double t[3], own[3], e[2], Z[2];
    double pp, pq, pT[2], qT; /* pp is |p_1|^2, pq is p_1 p_2, pT[k-1] is p_1 T_k, and qT is p_2 T_1. */
    /* EE is <E_2, E_2>, q is the sum of n^2 r^2, and pEp is p_1 E_2 p_1. ks_forms explains vp and vq. */
    double EE, q, pEp, vp, vq;
} ks_group_line;

double ks_forms_value(const ks_group_sizes *z, const ks_forms *f);
ks_forms ks_forms_of_traces(const ks_group_line *l);

/*
 * Returns the number of tuples of four rows from different groups, or without centring the number of pairs of
 * rows from different groups.
 */
double ks_group_tuples(const ks_group_sizes *z);

/* Returns m(1) times the number of columns. Centred estimates use pairs of rows from different groups. */
double ks_group_trace(const ks_group_sizes *z, const ks_group_line *l);

/*
 * Returns the numbers of column k alone, without a group of n rows whose mean is u and whose sum of squares
 * is d. If n is 0, no group is left out.
 */
ks_group_line ks_group_column(const ks_grouped *g, size_t k, double n, double u, double d);

/* ---- job ---- */

/* The numbers of a column that the state stores only as a sum over all columns. */
typedef struct {
    double own[3], Z[2], qU, q, vq;
} ks_group_part;

typedef struct {
    const ks_grouped *g;
    const ks_group_sample *sample;
    ks_grouped_out *out;
    ks_group_sizes all;
    ks_forms block[3];
    ks_group_line trace[2];
    /* sums.h explains these weights of columns for each matrix. fewer is 0 if the columns are complete. */
    double own[2], own_less[2], pairs[2], fewer[2];
    double alone[2];
    double *W0p[2], *E1p[2]; /* W0p[a] is W_0 p_2 and E1p[a] is E_1 p_2, in the columns of matrix a. */
    /*
     * exact[0] and exact[1] list, for each column, products of its own matrix with itself and with the other
     * matrix.
     */
    ks_forms *exact[2];
    /*
     * For each part of the groups and each column, the three lists contain products of the own matrix with
     * itself, products with the other matrix, and products of traces.
     */
    ks_group_part *parts[3];
    /* count is the number of parts, and longest is the size of the largest group in the sample. */
    size_t count, longest;
    double **room; /* per worker */
} ks_group_job;

static inline size_t ks_group_start(const ks_grouped *g, int a) { return a ? g->cols[0] : 0; }
static inline int ks_group_matrices(const ks_grouped *g) { return g->cols[1] ? 2 : 1; }
static inline int ks_group_blocks(const ks_grouped *g) { return g->cols[1] ? 3 : 1; }

static inline double ks_group_dot(const ks_grouped *g, const double *x, const double *y, int a) {
    return ks_dot(g->cols[a], x + ks_group_start(g, a), y + ks_group_start(g, a));
}

static inline double ks_group_diagonal(ks_grouped_matrix m, size_t all, size_t k) {
    return m.factor * m.M[k * all + k];
}

/*
 * Sets the estimates without each column, for sides that were sampled. room is scratch for two lists of all
 * columns.
 */
void ks_group_leave_out_columns(const ks_group_job *j, double *room);
