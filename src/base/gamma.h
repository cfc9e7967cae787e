/* log Gamma(x), x > 0, by threads at once: lgamma() writes a sign to a global variable. */
#pragma once

double ks_lgamma(double x);
long double ks_lgammal(long double x);
