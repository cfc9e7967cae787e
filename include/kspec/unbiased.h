/* Part of kspec.h: unbiased estimates of products of matrix entries, written as in einsum. */
#ifndef KSPEC_UNBIASED_H
#define KSPEC_UNBIASED_H

#include "kspec/doubt.h"

KSPEC_BEGIN_DECLS

/*
 * An expression is a sum of products of matrix entries with named indices, such as
 *
 *     X[i,a] X[j,a] X[j,b] X[i,b]                m(2)
 *     X[i,a] Y[i,b] X[j,a] Y[j,b]                tr T1 T2: shared rows, separate columns
 *     X[i,a] X[i,a] - 2 X[i,a] X[j,a]
 *
 * Equal names are the same index; different names on the same axis are distinct values. The estimate is the
 * mean of each product over all tuples of indices, which is unbiased (a U-statistic). A number before a
 * product multiplies it: 2, 0.5 or 1/3.
 *
 * An axis is what indices run over: the rows of a matrix, or its columns. A name that is used with two
 * matrices links their axes, which must have one length.
 *
 * Of a matrix X that is given with several trials, X1 and X2 are the means of two halves of them, at random
 * the same for all matrices with so many trials; results are averaged over splits and over both orders.
 */
typedef struct {
    const char *name;
    const kspec_matrix *trials;
    size_t ntrials;
} kspec_operand;

/* The lists are names of indices, or rows, cols and both: "i,a". An index stands for its whole axis. */
typedef struct {
    size_t size;
    /* Axes whose mean is removed, without bias: each entry X[i,a] becomes X[i,a] - X[i',a] with an index i'
     * of its own, distinct from all others. Default none. */
    const char *center;
    /* axes that are complete: coincidences are allowed, and there is no error from sampling */
    const char *complete;
    /* axes that are samples from a finite population, and its size: "i=1000,a=500" */
    const char *population;
    /* Labels of the rows, of which only equality matters: rows with one label depend on each other. Distinct
     * rows then are rows of different groups, each tuple of which counts once, and the interval leaves out a
     * group at a time. Products of a sum, and what centring adds, are all means over the same tuples. For
     * one kind of rows; a product's entries and distinct rows are 10 together at most. */
    const uint64_t *row_groups;
    size_t row_group_count; /* how many labels */
    const char *same_cols;  /* matrices whose columns are the same features: "X,Y" */
    int no_stderr;          /* 1: no leave-one-out estimates, which take several times as long */
    int explain;            /* 1: the plan as text */
    int splits;             /* of more than two trials; default 8 */
    uint64_t seed;          /* of the splits */
    int threads;
    kspec_progress progress;
    kspec_device device; /* where products are made */
    double most;         /* other than 0: what takes more multiply-adds has the value NaN */
} kspec_unbiased_opts;

typedef struct {
    const char *name;  /* such as "rows of X, Y (i, j)" */
    const char *sides; /* what it is of the matrices: "X:rows Y:rows" */
    size_t size;
    double population; /* infinite; the size of a finite one, or of a complete axis */
    int centered;
    size_t groups;    /* in how many groups its indices come; 0: none */
    double std_error; /* the part of the standard error that comes from this axis */
    /* the estimates without each index, or each group; NULL of a complete axis and without error bars */
    const double *without;
} kspec_unbiased_axis;

typedef struct {
    double value; /* NaN where `most` does not suffice */
    /* by the jackknife over all axes, leaving out each index exactly; the interval is nominally 95%. NaN
     * where leaving one out leaves too few indices. */
    double std_error, ci_low, ci_high;
    double rounding; /* how far rounding may have moved the value */
    size_t axis_count;
    kspec_unbiased_axis **axes;
    /* the plan: graphs, matrix products and, leaving out included, what is multiplied and held */
    size_t graphs, products, all_products;
    double work;      /* multiply-adds at the rate of a matrix product */
    size_t bytes;     /* beyond the data */
    const char *plan; /* with `explain`, lines such as "A1[i,j] = sum_a X[i,a] X[j,a]"; else NULL */
    double planning;  /* seconds */
    size_t splits;    /* over which it was averaged */
    double seconds;
    size_t doubt_count; /* see kspec/doubt.h */
    kspec_doubt **doubts;
    kspec_device_used device;
} kspec_unbiased_result;

/*
 * At most 10 entries a product and 5 distinct indices an axis (before centring), 8 axes and 12 products.
 * Time: a few matrix products, `products` of them; leaving out adds about twice as many. What needs more
 * (a graph of treewidth above two) is computed with one index fixed at each of its values in turn, up to
 * 1e14 multiply-adds; where that is not enough, it is refused. A failure in the text marks the place.
 */
KSPEC_API kspec_status kspec_unbiased(const char *expression, const kspec_operand *operands, size_t count,
                                      const kspec_unbiased_opts *opts, kspec_unbiased_result **out,
                                      kspec_error *err);
KSPEC_API void kspec_unbiased_free(kspec_unbiased_result *result);

/*
 * The error bar of any function of estimates, such as a ratio: without[k] has the function's values without
 * each of the sizes[k] indices of an axis, from the estimates' own. shares[k] is 1, or 1 - size/N of a
 * sample from a finite population of N. bar: standard error, lower and upper end of the 95% interval.
 */
KSPEC_API kspec_status kspec_jackknife(double value, const double *const *without, const size_t *sizes,
                                       const double *shares, size_t axes, double *bar, kspec_error *err);

KSPEC_END_DECLS
#endif
