/* The numbers behind estimates from groups of rows, for the parts of grouped_sums.c and grouped_columns.c. */
#pragma once

#include "linalg/linalg.h"
#include "pairs/grouped.h"

/*
 * These numbers determine the sum of (x_i - x_j).(x_k - x_l) (y_i - y_j).(y_k - y_l) / 4 over all tuples of
 * rows from four different groups. The sum is linear in these numbers, so the sum over a few columns needs
 * only their contributions. The notation is that of grouped.h. p_k = sum n^k u. (s): the sum of both orders
 * of the matrices x and y.
 */
typedef struct {
    double WW[4];       /* <W_k, W_l>: 00, 01, 02, 11 */
    double own[3];      /* sum n^k |W|^2 */
    double WE[5];       /* <W_k, E_l>: 01, 11, 21, 02, 12 */
    double Z[2];        /* sum n^k u W u, k = 1, 2 */
    double pWp[2], pWq; /* p_1 W_k p_1, k = 0, 1; p_1 W_0 p_2 (s) */
    double pU[2], qU;   /* p_1 U_k, p_2 U_1 (s) */
    double EE[3];       /* <E_k, E_l>: 11, 12, 22 */
    double QQ, q;       /* product of the traces of E_2; sum n^2 r r */
    double pEp[2], qEp; /* p_1 E_k p_1; p_2 E_1 p_1 (s) */
    double pp, qp;      /* |p_1|^2 |p_1|^2; the trace of E_2 times |p_1|^2 (s) */
    double vp, vq;      /* v p_1, v p_2 (s), v = sum n^2 r u */
} ks_forms;

/* Sums over groups of n, n^2, n^3, n^4 */
typedef struct {
    double S[4];
    int centered;
} ks_group_sizes;

/*
 * The sums of ks_forms for products of traces, |x_i - x_j|^2 |x_k - x_l|^2. For a single column, both kinds
 * of sums agree. t_k and e_k are the traces of W_k and E_k.
 */
typedef struct {
    double t[3], own[3], e[2], Z[2];
    double pp, pq, pT[2], qT;  /* |p_1|^2, p_1 p_2, p_1 T_k, p_2 T_1, T_k = sum n^k t u */
    double EE, q, pEp, vp, vq; /* <E_2, E_2>, sum n^2 r^2, p_1 E_2 p_1, v p_1, v p_2 */
} ks_group_line;

double ks_forms_value(const ks_group_sizes *z, const ks_forms *f);
ks_forms ks_forms_of_traces(const ks_group_line *l);

/* The number of tuples of four rows from different groups, or of two */
double ks_group_tuples(const ks_group_sizes *z);

/* Returns m(1) times the number of columns, the mean over pairs of rows from different groups */
double ks_group_trace(const ks_group_sizes *z, const ks_group_line *l);

/* Returns the numbers of column k alone. n, u and d describe a group to leave out (n = 0: none) */
ks_group_line ks_group_column(const ks_grouped *g, size_t k, double n, double u, double d);

/* ---- the work ---- */

/* Those numbers of a column that the state stores only as a sum over columns */
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
    double own[2], own_less[2], pairs[2], fewer[2]; /* for each matrix, as in sums.h; fewer: 0 if complete */
    double alone[2];                                /* the sum over single columns */
    double *W0p[2], *E1p[2];                        /* W_0 and E_1 times p_2 of matrix a */
    /* for each column: products of its own matrix with itself, and with the other matrix */
    ks_forms *exact[2];
    /*
     * for each part of the groups and each column: products of the own matrix with itself, with the other
     * matrix, and products of traces
     */
    ks_group_part *parts[3];
    size_t count, longest; /* the number of parts, and the size of the largest group in the sample */
    double **room;         /* per worker */
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

/* Sets the estimates without each column of sampled sides. room: scratch of two lists of all columns. */
void ks_group_leave_out_columns(const ks_group_job *j, double *room);
