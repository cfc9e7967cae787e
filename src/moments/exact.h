/*
 * The `exact` estimator: the mean over all cycles with distinct rows and distinct columns (the U-statistic),
 * or with one side complete, where only the sampled side's indices need to differ.
 */
#ifndef KS_MOMENTS_EXACT_H
#define KS_MOMENTS_EXACT_H

#include "moments/estimators.h"
#include "kspec/moments.h"

/*
 * What ks_exact() would cost, by a dry run: multiply-adds at the rate of a matrix product, and an upper bound on the
 * bytes it holds beyond its inputs. Of the pair only the shape counts, and whether A and B are the same.
 */
kspec_status ks_exact_cost(const ks_pair *p, kspec_sampled s, int with_loo, double *work, size_t *bytes,
                           kspec_error *err);

/*
 * p->nmax is at most 5 and at most the sampled sides. Order 5 with both sides sampled takes P^2 Q^2
 * multiply-adds and more; orders to 4 a few matrix products. Leaving out a row or column of a complete side
 * changes nothing: those entries are m itself.
 */
kspec_status ks_exact(const ks_run *run, const ks_pair *p, kspec_sampled s, const ks_moments_out *out,
                      kspec_error *err);

/*
 * The same; abs_terms[n-1] (where not NULL) is the sum of the absolute values of the terms whose sum is m(n),
 * in units of m(n): rounding errors are a small multiple of 1e-16 of it.
 */
kspec_status ks_exact_terms(const ks_run *run, const ks_pair *p, kspec_sampled s, const ks_moments_out *out,
                            double *abs_terms, kspec_error *err);

#endif
