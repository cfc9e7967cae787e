/* The interval of a moment, from leave-one-out values alone, against its definition. */
#include "kspec.h"
#include "help/interval.h"
#include "kspec/host.h"
#include "moments/jackknife.h"
#include "test.h"

/* n values of log-normal heights on either side, about 1 */
static void uneven(uint64_t seed, size_t count, double sd, double *x) {
    kspec_random_normal(seed, 0, 0, count, x);
    for (size_t i = 0; i < count; i++) x[i] = 1 - 0.004 * exp(sd * x[i]);
}

TEST(intervals_by_definition) {
    enum { P = 17, Q = 23 };
    double x[P + Q], values[P + Q], room[P + Q], ends[2];
    ks_error_bar bar;
    int above = 0, skewed = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (int n = 1; n <= 4; n++) {
            const double share[2] = {seed % 5 == 0 ? 0.4 : 1, seed % 7 == 0 ? 0 : 1}, m = 0.9 + 0.01 * n;
            uneven(seed, P + Q, (double)(seed % 4) * 0.7, x);
            if (seed % 2) /* the other way round */
                for (size_t i = 0; i < P + Q; i++) x[i] = 1 / x[i];
            for (size_t i = 0; i < P + Q; i++) values[i] = pow(x[i], n);
            ks_jackknife(m, n, values, P, values + P, Q, share, room, &bar);
            for (size_t i = 0; i < P + Q; i++) values[i] = log(values[i]);
            interval_ends(values, P, Q, share, log(m), 0, ends);
            if (bar.low <= 0) continue; /* of the next test */
            CHECK_CLOSE(bar.low, m * exp(ends[0]), 1e-8);
            CHECK_CLOSE(bar.high, m * exp(ends[1]), 1e-8);
            CHECK(bar.low <= m && m <= bar.high);
            above++, skewed += bar.degrees < 10;
        }
    CHECK_MSG(above > 150 && skewed > 30, "%d %d", above, skewed);
}

TEST(intervals_near_zero_reach_it) {
    enum { P = 9, Q = 8 };
    static const double both[2] = {1, 1};
    double x[P + Q], roots[P + Q], room[P + Q];
    int near_zero = 0, negative = 0;
    for (uint64_t seed = 0; seed < 40; seed++)
        for (int n = 1; n <= 4; n++) {
            ks_error_bar bar;
            kspec_random_normal(seed, 1, 0, P + Q, x);
            const double m = x[0], root = ks_signed_root(m, n);
            for (size_t i = 0; i < P + Q; i++) x[i] = m + 0.5 * x[i], roots[i] = ks_signed_root(x[i], n);
            ks_jackknife(m, n, x, P, x + P, Q, both, room, &bar);
            CHECK(bar.low <= m && m <= bar.high);
            if (root > 1.959963984540054 * twin_spread_of(roots, P, Q, both, root).sd) continue;
            const twin_spread plain = twin_spread_of(x, P, Q, both, m);
            const double half = plain.quantile * plain.sd * (1 - 1e-9);
            CHECK(bar.low <= m - half && m - bar.low <= 10.001 * half);
            CHECK(bar.high >= m + half && bar.high - m <= 10.001 * half);
            near_zero++, negative += m < 0;
        }
    CHECK(near_zero > 60 && negative > 20);
}

/* m(1) of n groups of rows, all columns known: Student's quantile with n - 1 degrees, 12.7 for two */
TEST(few_groups_have_few_degrees) {
    static const double quantile[] = {12.706204736, 4.302652730, 3.182446305, 2.776445105};
    for (size_t n = 2; n <= 5; n++) {
        double x[5 + 2] = {0}, room[5 + 2], sum = 0, squares = 0;
        for (size_t i = 0; i < n; i++) sum += x[i] = i % 2 ? 1.001 : 0.999;
        for (size_t i = 0; i < n; i++) squares += (x[i] - sum / (double)n) * (x[i] - sum / (double)n);
        ks_error_bar bar;
        const double m = sum / (double)n;
        ks_jackknife(m, 1, x, n, x + n, 2, (const double[2]){1, 0}, room, &bar);
        const double sd = sqrt(squares * (double)(n - 1) / (double)n);
        CHECK_CLOSE(bar.std_error, sd, 1e-9);
        CHECK_CLOSE(bar.degrees, (double)(n - 1), 1e-5);
        CHECK(bar.high > m + 0.97 * quantile[n - 2] * sd && bar.low < m - 0.97 * quantile[n - 2] * sd);
    }
}

int main(void) {
    RUN(intervals_by_definition);
    RUN(intervals_near_zero_reach_it);
    RUN(few_groups_have_few_degrees);
    return test_done();
}
