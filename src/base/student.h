/* Computes Student's t distribution for degrees of freedom that need not be an integer. */
#pragma once

/* KS_Z95 is the 97.5% quantile of the normal distribution. */
static const double KS_Z95 = 1.959963984540054;

/* Returns the probability that |T| exceeds |t|. degrees must be positive. */
double ks_student_tails(double t, double degrees);

/* Returns the value that |T| exceeds with a probability of 5%. Fewer degrees than 1 count as 1. */
double ks_student_quantile(double degrees);
