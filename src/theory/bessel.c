/* Computes the modified Bessel function by two expansions. */
#include "theory/bessel.h"

#include "base/gamma.h"

#include <math.h>

static const long double pi = 3.14159265358979323846264338327950288L;

/* U_0 = 1, U_{j+1}(p) = p^2 (1-p^2) U_j'(p) / 2 + int_0^p (1 - 5t^2) U_j(t) dt / 8  (DLMF 10.41.9) */
void ks_debye_init(ks_debye *d) {
    *d = (ks_debye){{{1}}};
    for (int j = 0; j + 1 < KS_DEBYE_TERMS; j++)
        for (int i = 0; i <= j; i++) {
            long double c = d->u[j][i], m = j + 2 * i; /* This term of U_j is c p^m. */
            d->u[j + 1][i] += c * (m / 2 + 1 / (8 * (m + 1)));
            d->u[j + 1][i + 1] -= c * (m / 2 + 5 / (8 * (m + 3)));
        }
}

/*
 * Debye's expansion (DLMF 10.41.3), in powers of 1/S, S = sqrt(nu^2 + z^2), p = nu/S:
 *     I_nu(z) ~ e^S (z/(nu+S))^nu / sqrt(2 pi S) sum_j U_j(p) / nu^j,
 * with e^-z e^S = exp(nu^2/(z+S)). The code collects the powers of z so that large ones do not cancel.
 */
static long double large(const ks_debye *d, long double mu, long double k, long double z) {
    long double nu = mu + k, S = hypotl(nu, z), p = nu / S, sum = 0, power = 1;
    for (int j = 0; j < KS_DEBYE_TERMS; j++, power /= S) {
        long double U = 0;
        for (int i = j; i >= 0; i--) U = U * p * p + d->u[j][i];
        sum += U * power;
    }
    long double powers =
        z < nu ? k * logl(z) + mu * logl(2) - nu * logl(nu + S) : mu * logl(2 / z) - nu * asinhl(nu / z);
    return powers + ks_lgammal(mu + 1) + nu * nu / (z + S) - logl(2 * pi * S) / 2 + logl(sum);
}

/*
 * The power series (DLMF 10.25.2), whose terms are all positive:
 *     I_nu(z) = (z/2)^nu / Gamma(nu+1) sum_j (z^2/4)^j / (j! (nu+1)_j)
 */
static long double small(long double mu, long double k, long double z) {
    long double sum = 1, term = 1;
    for (long double j = 1; term > sum * 1e-21L; j++) sum += term *= z / 2 * (z / 2) / (j * (mu + k + j));
    return logl(sum) - z + k * logl(z / 2) + ks_lgammal(mu + 1) - ks_lgammal(mu + k + 1);
}

/* At S = 100 the neglected terms are below 1e-19. */
long double ks_log_bessel(const ks_debye *d, long double mu, long double k, long double z) {
    return hypotl(mu + k, z) < 100 ? small(mu, k, z) : large(d, mu, k, z);
}
