/* The gamma function and its distribution. */
#pragma once

/* log Gamma(x), x > 0, safe in several threads: lgamma() writes the sign to a global variable. */
double ks_lgamma(double x);
long double ks_lgammal(long double x);

/* The probability that a variable of the gamma distribution of shape a > 0 and scale 1 exceeds x */
double ks_gamma_tail(double a, double x);

/* The same for a variable with mean 0, variance 1 and this skewness: a gamma variable, shifted and scaled */
double ks_skewed_tail(double skewness, double x);
