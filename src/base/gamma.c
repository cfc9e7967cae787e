#define _DEFAULT_SOURCE
#include "base/gamma.h"

#include <math.h>

double ks_lgamma(double x) {
    int sign;
    return lgamma_r(x, &sign);
}

long double ks_lgammal(long double x) {
    int sign;
    return lgammal_r(x, &sign);
}
