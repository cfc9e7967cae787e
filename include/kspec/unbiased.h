/* Part of kspec.h: unbiased estimates of products of matrix entries, written as in einsum. */
#ifndef KSPEC_UNBIASED_H
#define KSPEC_UNBIASED_H
#include "kspec/doubt.h"

/* An expression is a sum of products of matrix entries with named indices, such as
 *
 *     X[i,a] X[j,a] X[j,b] X[i,b]                m(2)
 *     X[i,a] Y[i,b] X[j,a] Y[j,b]                tr T1 T2: shared rows, separate columns
 *     X[i,a] X[i,a] - 2 X[i,a] X[j,a]
 *
 * An index runs over an axis: the rows of a matrix, or its columns. Equal names are the same index; different
 * names on the same axis are distinct values. A name in two matrices links their axes, which must have the
 * same length. The estimate is the mean of each product over all tuples of indices, which is unbiased (a
 * U-statistic). A number before a product multiplies it: 2, 0.5 or 1/3.
 *
 * For a matrix X with several trials, X1 and X2 are the means of two random halves of them, the same halves
 * for all matrices with the same number of trials. Results are averages over splits and over both orders. */
typedef struct {
    const char *name;
    const kspec_matrix *trials;
    size_t ntrials;
} kspec_operand;

/* The lists are names of indices, or rows, cols and both: "i,a". An index stands for its whole axis. */
typedef struct {
    size_t size;
    /* Axes whose mean to remove, without bias: each entry X[i,a] becomes X[i,a] - X[i',a] with a new index
     * i', distinct from all others. Default none. */
    const char *center;
    const char *complete;   /* axes where indices may coincide, and that have no sampling error */
    const char *population; /* axes sampled from a finite population, and its size: "i=1000,a=500" */
    /* Labels of the rows, compared only for equality: rows with one label depend on each other. Distinct rows
     * are then rows of different groups, each tuple of rows counts once, and the interval leaves out a group
     * at a time. All products of a sum, and the terms that centring adds, are means over the same tuples. For
     * one kind of rows; a product's entries and distinct rows are 10 together at most. */
    const uint64_t *row_groups;
    size_t row_group_count; /* the number of labels */
    const char *same_cols;  /* matrices whose columns are the same features: "X,Y" */
    int no_stderr, explain; /* 1: no leave-one-out estimates, which take much longer; the plan as text */
    int splits;             /* of more than two trials; default 8 */
    uint64_t seed;
    int threads;
    kspec_progress progress;
    kspec_device device;
    double most; /* above 0: an estimate that takes more multiply-adds is NaN */
} kspec_unbiased_opts;

typedef struct {
    const char *name, *sides; /* such as "rows of X, Y (i, j)"; its role in the matrices: "X:rows Y:rows" */
    size_t size;
    double population; /* infinite, or the size of a finite population or of a complete axis */
    int centered;
    size_t groups;         /* of its indices; 0: none */
    double std_error;      /* the part of the standard error that comes from this axis */
    const double *without; /* the estimates without each index, or each group; NULL for a complete axis */
} kspec_unbiased_axis;

typedef struct {
    double value; /* NaN if `most` does not suffice */
    /* by the jackknife over all axes, leaving out each index exactly; NaN if that leaves too few indices */
    double std_error, ci_low, ci_high;
    double rounding;
    size_t axis_count;
    kspec_unbiased_axis **axes;
    size_t graphs, products,
        all_products;         /* of the plan; all_products, work and bytes include leave-one-out */
    double work;              /* multiply-adds at the rate of a matrix product */
    size_t bytes;             /* beyond the data */
    const char *plan;         /* with `explain`, lines such as "A1[i,j] = sum_a X[i,a] X[j,a]" */
    double planning, seconds; /* planning: the seconds for the plan alone */
    size_t splits;            /* the number of splits averaged */
    size_t doubt_count;
    kspec_doubt **doubts;
    kspec_device_used device;
} kspec_unbiased_result;

/* At most 10 entries a product and 5 distinct indices an axis (before centring), 8 axes and 12 products.
 * Time: a few matrix products, `products` of them; leaving out adds about twice as many. A graph of treewidth
 * above two needs more: the call fixes one index at each of its values in turn, up to 1e14 multiply-adds, and
 * refuses larger graphs. For a failure in the text, the message marks the place. */
KSPEC_API kspec_status kspec_unbiased(const char *expression, const kspec_operand *operands, size_t count,
                                      const kspec_unbiased_opts *opts, kspec_unbiased_result **out,
                                      kspec_error *err);

/* The error bar of any function of estimates, such as a ratio: without[k] has the function's values without
 * each of the sizes[k] indices of an axis, computed from the estimates' leave-one-out values. shares[k] is 1,
 * or 1 - size/N for a sample from a finite population of N. bar: standard error, lower and upper end of the
 * 95% interval. */
KSPEC_API kspec_status kspec_jackknife(double value, const double *const *without, const size_t *sizes,
                                       const double *shares, size_t axes, double *bar, kspec_error *err);
#endif
