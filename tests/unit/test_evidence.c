/*
 * Is there any signal? z against its definition in sums over cycles, how often noise of many kinds is taken
 * for signal, and how often signal for noise.
 */
#include "kspec.h"
#include "oracle/pairs.h"
#include "test.h"

enum { P = 20, Q = 30, ENTRIES = P * Q, TRIALS = 3 };

static double at[TRIALS][ENTRIES];

static kspec_matrix view(const double *x, size_t rows, size_t cols) {
    return (kspec_matrix){x, rows, cols, (ptrdiff_t)cols, 1};
}

static kspec_dimension_result *answer(const double *const x[], size_t trials, size_t rows, size_t cols,
                                      kspec_center center) {
    kspec_matrix phi[TRIALS];
    kspec_dimension_opts o = {.size = sizeof o, .center = center, .threads = 1};
    kspec_dimension_result *r;
    kspec_error err;
    for (size_t t = 0; t < trials; t++) phi[t] = view(x[t], rows, cols);
    CHECK_MSG(kspec_dimension(phi, trials, &o, &r, &err) == KSPEC_OK, "%s", err.msg);
    return r;
}

/* ---- by definition ---- */

/* The mean over pairs of different columns of the product of two (co)variances of trials X and Z */
static double second(size_t rows, size_t cols, const double *x, const double *z, int centered) {
    const oracle_matrix X = {x, cols}, Z = {z, cols};
    long double sum = 0;
    for (size_t a = 0; a < cols; a++)
        for (size_t b = 0; b < cols; b++)
            if (a != b) sum += oracle_product(rows, SIZE_MAX, centered, X, a, Z, b, Z, a, X, b);
    return (double)(sum / (long double)(cols * (cols - 1)));
}

static void center(size_t rows, size_t cols, double *x) {
    for (size_t k = 0; k < cols; k++) {
        double mean = 0;
        for (size_t i = 0; i < rows; i++) mean += x[i * cols + k] / (double)rows;
        for (size_t i = 0; i < rows; i++) x[i * cols + k] -= mean;
    }
}

TEST(z_is_its_definition) {
    enum { R = 7, C = 5, N = R * C };
    for (int kind = 0; kind < 4; kind++) {
        const int centered = kind & 1, trials = 1 + (kind >> 1);
        double x[2][N], d[N];
        kspec_random_normal(3, 70 + (uint64_t)kind, 0, N, x[0]);
        kspec_random_normal(4, 70 + (uint64_t)kind, 0, N, x[1]);
        for (size_t k = 0; k < N; k++) /* a signal, and columns of unequal size */
            for (int t = 0; t < 2; t++)
                x[t][k] = (double)(1 + k % C) * (x[t][k] + 0.3 * (double)(k / C % 3) - 0.2);
        kspec_dimension_result *r = answer((const double *const[]){x[0], x[1]}, (size_t)trials, R, C,
                                           centered ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE);
        if (!r) continue;
        if (trials == 1) memcpy(x[1], x[0], sizeof x[0]);
        for (int t = 0; t < 2 && centered; t++) center(R, C, x[t]);
        for (size_t k = 0; k < C; k++) {
            double square = 0;
            for (size_t i = 0; i < N; i += C)
                square += (x[0][i + k] * x[0][i + k] + x[1][i + k] * x[1][i + k]) / (2 * R);
            for (size_t i = 0; i < N; i += C)
                for (int t = 0; t < 2; t++) x[t][i + k] *= pow(square, -0.25);
        }
        const double m = second(R, C, x[0], x[1], centered);
        for (size_t k = 0; k < N; k++) d[k] = x[0][k] - x[1][k];
        const double noise = trials == 1 ? 0 : fmax(0, second(R, C, d, d, centered) / 4);
        const double grown = centered ? R / (R - 1.0) : 1; /* of the variance, by centring */
        for (int t = 0; t < 2; t++)
            for (size_t k = 0; k < N; k++) x[t][k] *= x[t][k] * grown;
        const double pairs = centered ? (R - 1) * (R - 2) : R * (R - 1),
                     error =
                         sqrt((trials == 1 ? 4 : 2) * second(R, C, x[0], x[1], 0) / (pairs * C * (C - 1)));
        CHECK_CLOSE(r->signal_z, m / (error + 2 * noise / sqrt(pairs)), 1e-9);
        kspec_free(r);
    }
}

/* ---- noise ---- */

typedef enum { NORMAL, HEAVY, UNEQUAL, COUNTS, BOTH_SIDES, SHARED, SHARED_GAIN, KINDS } noise_kind;
static const char *const kinds[KINDS] = {
    "normal",     "Student t4",         "unequal columns",         "counts",
    "both sides", "shared along a row", "a shared gain of columns"};

/* A count of mean m, less m, from 64 uniform numbers */
static double count_of(double m, const double *u) {
    size_t n = 0;
    for (double product = u[0]; n < 63 && product > exp(-m); n++) product *= u[n + 1];
    return (double)n - m;
}

static void draw_noise(noise_kind kind, uint64_t seed, size_t trials) {
    static double more[4 * ENTRIES], u[64];
    double col[Q], row[P], gain[P];
    kspec_random_normal(seed, 80, 0, Q, col);
    kspec_random_normal(seed, 81, 0, P, row);
    for (size_t t = 0; t < trials; t++) {
        kspec_random_normal(seed, 82 + t, 0, ENTRIES, at[t]);
        kspec_random_normal(seed, 92 + t, 0, (size_t)4 * ENTRIES, more);
        kspec_random_normal(seed, 102 + t, 0, P, gain);
        for (size_t k = 0; k < ENTRIES; k++) {
            const double *m = more + 4 * k, s = col[k % Q];
            switch (kind) {
            case HEAVY: at[t][k] /= sqrt((m[0] * m[0] + m[1] * m[1] + m[2] * m[2] + m[3] * m[3]) / 4); break;
            case UNEQUAL: at[t][k] *= exp(s); break;
            case COUNTS:
                kspec_random_uniform(seed, 200 + t, 64 * k, 64, u);
                at[t][k] = count_of(exp(0.7 * s), u);
                break;
            case BOTH_SIDES: at[t][k] *= exp(0.7 * s + 0.5 * row[k / Q]); break;
            case SHARED: at[t][k] += 0.5 * gain[k / Q]; break;
            case SHARED_GAIN: at[t][k] += gain[k / Q] * s; break;
            case NORMAL:
            case KINDS: break;
            }
        }
    }
}

/*
 * 200 matrices a kind, one, two and three trials, centred and not. NONE in 97% (95% where noise is shared):
 * below 92% in a fixed seed would be 4 (2.5) standard errors off. CLEAR in 0.2% (1%).
 */
TEST(noise_is_not_taken_for_signal) {
    enum { DRAWS = 200 };
    for (noise_kind kind = 0; kind < KINDS; kind++)
        for (size_t trials = kind >= SHARED ? 2 : 1; trials <= TRIALS; trials++) {
            int none[2] = {0, 0}, clear = 0;
            for (uint64_t seed = 0; seed < DRAWS; seed++) {
                draw_noise(kind, 1000 * trials + seed, trials);
                for (int centered = 0; centered < 2; centered++) {
                    kspec_dimension_result *r =
                        answer((const double *const[]){at[0], at[1], at[2]}, trials, P, Q,
                               centered ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE);
                    none[centered] += r && r->signal == KSPEC_EVIDENCE_NONE;
                    clear += r && r->signal == KSPEC_EVIDENCE_CLEAR;
                    kspec_free(r);
                }
            }
            for (int c = 0; c < 2; c++)
                CHECK_MSG(none[c] >= 0.92 * DRAWS, "%s, %zu trials: none in %d of %d", kinds[kind], trials,
                          none[c], DRAWS);
            CHECK_MSG(clear <= 0.03 * 2 * DRAWS, "%s, %zu trials: clear in %d of %d", kinds[kind], trials,
                      clear, 2 * DRAWS);
        }
}

/* Five factors, a quarter of their variance of noise, columns of very unequal size */
TEST(signal_is_not_taken_for_noise) {
    enum { DRAWS = 100, FACTORS = 5 };
    for (size_t trials = 1; trials <= 2; trials++) {
        int clear = 0;
        for (uint64_t seed = 0; seed < DRAWS; seed++) {
            double x[P * FACTORS], w[Q * FACTORS], col[Q];
            draw_noise(NORMAL, 7000 + seed, trials);
            kspec_random_normal(seed, 301, 0, P * FACTORS, x);
            kspec_random_normal(seed, 302, 0, Q * FACTORS, w);
            kspec_random_normal(seed, 303, 0, Q, col);
            for (size_t t = 0; t < trials; t++)
                for (size_t k = 0; k < ENTRIES; k++) {
                    for (size_t f = 0; f < FACTORS; f++)
                        at[t][k] += 2 * x[k / Q * FACTORS + f] * w[k % Q * FACTORS + f] / sqrt(FACTORS);
                    at[t][k] *= exp(col[k % Q]);
                }
            kspec_dimension_result *r =
                answer((const double *const[]){at[0], at[1]}, trials, P, Q, KSPEC_CENTER_ROWS);
            CHECK(r && r->signal > KSPEC_EVIDENCE_NONE);
            clear += r && r->signal == KSPEC_EVIDENCE_CLEAR;
            kspec_free(r);
        }
        CHECK_MSG(clear >= 0.98 * DRAWS, "%zu trials: clear in %d of %d", trials, clear, DRAWS);
    }
}

/* Groups, missing entries: not known. By columns: that of the transpose. */
TEST(where_it_is_unknown) {
    uint64_t groups[P];
    double turned[ENTRIES];
    kspec_dimension_result *r, *s;
    kspec_error err;
    draw_noise(NORMAL, 9, 1);
    for (size_t i = 0; i < P; i++) groups[i] = i / 2;
    for (size_t k = 0; k < ENTRIES; k++) turned[k % Q * P + k / Q] = at[0][k];
    const kspec_dimension_opts o = {.size = sizeof o, .row_groups = groups};
    const kspec_matrix phi = view(at[0], P, Q);
    CHECK(kspec_dimension(&phi, 1, &o, &r, &err) == KSPEC_OK);
    CHECK(r && r->signal == KSPEC_EVIDENCE_UNKNOWN && isnan(r->signal_z));
    kspec_free(r);
    r = answer((const double *const[]){at[0]}, 1, P, Q, KSPEC_CENTER_COLS);
    s = answer((const double *const[]){turned}, 1, Q, P, KSPEC_CENTER_ROWS);
    if (r && s) CHECK_CLOSE(r->signal_z, s->signal_z, 1e-9);
    kspec_free(r), kspec_free(s);
    CHECK(!kspec_name(KSPEC_NAMES_EVIDENCE, KSPEC_EVIDENCE_UNKNOWN) &&
          !kspec_name(KSPEC_NAMES_EVIDENCE, (kspec_evidence)9));
    CHECK(strcmp(kspec_name(KSPEC_NAMES_EVIDENCE, KSPEC_EVIDENCE_NONE), "none") == 0);
}

int main(void) {
    RUN(z_is_its_definition);
    RUN(noise_is_not_taken_for_signal);
    RUN(signal_is_not_taken_for_noise);
    RUN(where_it_is_unknown);
    return test_done();
}
