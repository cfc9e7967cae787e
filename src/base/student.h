/* Student's t distribution, with degrees of freedom that need not be an integer. */
#pragma once

/* The 97.5% quantile of the normal distribution */
static const double KS_Z95 = 1.959963984540054;

/* The probability that |t| is exceeded; degrees > 0 */
double ks_student_tails(double t, double degrees);

/* The value that |t| exceeds with a probability of 5%. Fewer degrees than 1 count as 1. */
double ks_student_quantile(double degrees);
