/* Computes the gamma function and its distribution. */
#pragma once

/*
 * Returns log Gamma(x) for x > 0. The function is safe in several threads, unlike lgamma(), which writes the
 * sign to a global variable.
 */
double ks_lgamma(double x);
long double ks_lgammal(long double x);

/* Returns the probability that a variable of the gamma distribution of shape a > 0 and scale 1 exceeds x. */
double ks_gamma_tail(double a, double x);

/*
 * Returns the probability that a gamma variable, shifted and scaled to mean 0 and variance 1 with this
 * skewness, exceeds x.
 */
double ks_skewed_tail(double skewness, double x);
