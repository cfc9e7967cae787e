/*
 * Every doubt that a result can carry: data that raise it, and data of the same kind that do not. A code
 * without a row in the table below fails.
 */
#include "device/device.h"
#include "help/bed.h"
#include "help/ridge.h"
#include "norm/debiased.h"

#include "help/read.h" /* its err is for all */

static char seen[128]; /* by code */

static void add(kspec_doubt *const *list, size_t count) {
    for (size_t k = 0; k < count; k++) {
        char text[512];
        kspec_doubt_text(list[k], text, sizeof text);
        CHECK_MSG(strlen(text) > 20 && !strpbrk(text, "{}") && !strstr(text, "--"), "%s", text);
        seen[list[k]->code] = 1;
    }
}

static int done(kspec_status st) {
    CHECK_MSG(st == KSPEC_OK, "%s", err.msg);
    return !st;
}

/* ---- files ---- */

static const struct {
    kspec_doubt_code code;
    const char *doubtful, *sound;
} files[] = {
    {KSPEC_DOUBT_INDEX_COLUMN, "0,3,1\n1,1,5\n2,4,2\n3,1,5\n", "0,3,1\n5,1,5\n2,4,2\n3,1,5\n"},
    {KSPEC_DOUBT_TIME_COLUMN, "a,time\n3,1\n1,5\n4,2\n", "a,timely\n3,1\n1,5\n4,2\n"},
    {KSPEC_DOUBT_TRIAL_COLUMN, "a,trial\n3,1\n1,5\n4,2\n", "a,triality\n3,1\n1,5\n4,2\n"},
    {KSPEC_DOUBT_EMPTY_ROWS, "3,1\nnan,nan\n4,2\n", "3,1\nnan,5\n4,2\n"},
    {KSPEC_DOUBT_EMPTY_COLS, "3,nan\n1,nan\n4,nan\n", "3,nan\n1,nan\n4,2\n"},
    {KSPEC_DOUBT_HEADER_ROW, "1990,1991,1992,1993\n3,1,4,1\n5,9,2,6\n",
     "1990,1991,1992,1999\n3,1,4,1\n5,9,2,6\n"},
    {KSPEC_DOUBT_DECIMAL_COMMA, "1,05,2,37\n3,10,4,02\n5,11,6,12\n", "1,15,2,37\n3,10,4,02\n5,11,6,12\n"},
};

static void read_all(const char *const *paths, size_t count) {
    const kspec_read_opts o = {.size = sizeof o, .nan = KSPEC_NAN_KEEP};
    kspec_dataset *d;
    if (done(kspec_read(paths, count, &o, &d, &err))) add(d->doubts, d->doubt_count);
    kspec_free(d);
}

static void a_file(kspec_doubt_code code, int doubtful) {
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) {
        if (files[k].code != code) continue;
        const char *p = put_text("doubt.csv", doubtful ? files[k].doubtful : files[k].sound);
        read_all(&p, 1);
    }
}

static void two_files(kspec_doubt_code code, int doubtful) {
    (void)code;
    enum { P = 30, Q = 4 };
    const size_t shape[2] = {P, Q};
    double x[2][P * Q];
    for (int k = 0; k < 2; k++) kspec_random_normal(7, doubtful ? (uint64_t)k : 0, 0, P * Q, x[k]);
    const char *const paths[2] = {put_npy("first.npy", 2, shape, 0, x[0]),
                                  put_npy("other.npy", 2, shape, 0, x[1])};
    read_all(paths, 2);
}

/* ---- one matrix ---- */

enum { P = 100, Q = 60, D = 5 };

/* Two trials in D dimensions */
typedef struct {
    double at[2][P * Q];
    kspec_matrix trials[2];
} sample_of;

/* `scale` (x w + noise) + offset, the inputs x of one seed, the weights w of another */
static void draw(sample_of *s, uint64_t weights, double noise, double scale, double offset) {
    double x[P * D], w[D * Q];
    kspec_random_normal(1, 1, 0, P * D, x);
    kspec_random_normal(weights, 2, 0, D * Q, w);
    for (uint64_t t = 0; t < 2; t++) {
        kspec_random_normal(weights, 3 + t, 0, P * Q, s->at[t]);
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < Q; j++) {
                double y = noise * s->at[t][i * Q + j];
                for (size_t k = 0; k < D; k++) y += x[i * D + k] * w[k * Q + j];
                s->at[t][i * Q + j] = scale * y + offset;
            }
        s->trials[t] = (kspec_matrix){s->at[t], P, Q, Q, 1};
    }
}

static void dimension(const kspec_matrix *m, size_t trials, const kspec_dimension_opts *o) {
    kspec_dimension_result *r;
    if (done(kspec_dimension(m, trials, o, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
}

static void moments(const kspec_matrix *m, size_t trials, unsigned estimator, int nmax) {
    const kspec_moments_opts o = {.size = sizeof o, .nmax = nmax, .estimators = estimator};
    kspec_moments_result *r;
    if (done(kspec_moments(m, trials, &o, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
}

static void compare(const kspec_matrix *a, const kspec_matrix *b, size_t trials) {
    kspec_compare_result *r;
    if (done(kspec_compare(a, trials, b, trials, NULL, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
}

/* Ten rows of a sample are too few; and noise alone has by chance whatever an estimate can have */
static void noise(kspec_doubt_code code, int doubtful) {
    enum { ROWS = 8, COLS = 6, SEEDS = 60 };
    sample_of s, other;
    if (!doubtful) {
        draw(&s, 1, 0.1, 1, 0), draw(&other, 2, 0.1, 1, 0);
        dimension(s.trials, 2, NULL);
        moments(s.trials, 2, 0, 3);
        compare(s.trials, other.trials, 2);
        return;
    }
    draw(&s, 1, 0.1, 1, 0);
    s.trials[0].rows = s.trials[1].rows = 2 * D;
    dimension(s.trials, 2, NULL);
    for (uint64_t seed = 0; seed < SEEDS && !seen[code]; seed++) {
        double x[2][2][ROWS * COLS];
        kspec_matrix m[2][2];
        for (int k = 0; k < 4; k++) {
            kspec_random_normal(seed, (uint64_t)k, 0, ROWS * COLS, x[k / 2][k % 2]);
            m[k / 2][k % 2] = (kspec_matrix){x[k / 2][k % 2], ROWS, COLS, COLS, 1};
        }
        dimension(m[0], 2, NULL);
        moments(m[0], 2, 0, 4);
        compare(m[0], m[1], 2);
    }
}

static void one_matrix(kspec_doubt_code code, int doubtful) {
    sample_of s;
    uint64_t groups[P];
    const kspec_dimension_opts o = {.size = sizeof o};
    for (size_t i = 0; i < P; i++) groups[i] = i < P / 4 ? 0 : i;
    draw(&s, 1, 0.1, doubtful && code == KSPEC_DOUBT_UNDERFLOW ? 1e-100 : 1,
         doubtful && code == KSPEC_DOUBT_UNEVEN_GROUPS ? 50 : 0);
    if (code == KSPEC_DOUBT_UNEVEN_GROUPS) {
        const kspec_moments_opts centred = {
            .size = sizeof centred, .nmax = 2, .center = KSPEC_CENTER_ROWS, .row_groups = groups};
        kspec_moments_result *r;
        if (done(kspec_moments(s.trials, 2, &centred, &r, &err))) add(r->doubts, r->doubt_count);
        kspec_free(r);
        return;
    }
    for (size_t k = 0; doubtful && code == KSPEC_DOUBT_NO_VARIATION && k < P * Q; k++)
        s.at[0][k] = s.at[1][k] = 3;
    dimension(s.trials, doubtful && code == KSPEC_DOUBT_ONE_TRIAL ? 1 : 2, &o);
}

/* Data that break an assumption: entries, rows, columns and trials of a sample, and what is no sample */
static void spoilt(kspec_doubt_code code, int doubtful) {
    sample_of s;
    size_t trials = 1;
    draw(&s, 1, 0.1, 1, 0);
    double *x = s.at[0];
    if (code == KSPEC_DOUBT_COPIED_TRIALS) trials = 2;
    for (size_t i = 0; doubtful && i < P; i++)
        for (size_t j = 0; j < Q; j++) {
            double *at = &x[i * Q + j], before = i ? x[(i - 1) * Q + j] : 0;
            switch ((int)code) {
            case KSPEC_DOUBT_FILL_VALUE: *at = i == 17 && j == 22 ? -999 : *at; break;
            case KSPEC_DOUBT_WILD_ENTRY: *at = i == 17 && j == 22 ? 1e6 : *at; break;
            case KSPEC_DOUBT_WILD_ENTRIES: *at = i % 9 == 3 && j == i % 50 ? 1e5 : *at; break;
            case KSPEC_DOUBT_WILD_ROW: *at *= i == 17 ? 1e3 : 1; break;
            case KSPEC_DOUBT_WILD_COLUMN: *at *= j == 22 ? 1e8 : 1; break;
            case KSPEC_DOUBT_LONG_TAIL: *at *= 20 / (double)(1 + j * 7 % Q); break;
            case KSPEC_DOUBT_NEIGHBOURS_ALIKE: *at = 0.6 * before + 0.8 * *at; break;
            case KSPEC_DOUBT_REPEATED_ROWS: *at = x[i / 4 * Q + j]; break;
            case KSPEC_DOUBT_REPEATED_COLS: *at = x[i * Q + (j < 50 ? j : j - 50)]; break;
            case KSPEC_DOUBT_NEAR_COPIES: *at = x[i % 25 * Q + j] + 1e-3 * *at; break;
            case KSPEC_DOUBT_SYMMETRIC: *at = i < Q && j < i ? x[j * Q + i] : *at; break;
            case KSPEC_DOUBT_COPIED_TRIALS: s.at[1][i * Q + j] = (float)*at; break;
            }
        }
    if (code == KSPEC_DOUBT_SYMMETRIC) s.trials[0].rows = Q;
    dimension(s.trials, trials, NULL);
    moments(s.trials, trials, 0, 2);
    if (!doubtful) compare(s.trials, s.trials, trials);
}

static void kernel_moments(kspec_doubt_code code, int doubtful) {
    sample_of s;
    draw(&s, 1, 0.1, doubtful && code == KSPEC_DOUBT_MOMENT_UNDERFLOW ? 1e-60 : 1,
         doubtful && code == KSPEC_DOUBT_MEANS_DOMINATE ? 9 : 0);
    if (doubtful && code == KSPEC_DOUBT_ROUNDING) /* two columns of one large entry each */
        for (size_t i = 0; i < P; i++)
            for (size_t j = 0; j < 2; j++) s.at[0][i * Q + j] = i == j ? 1e6 : 0;
    moments(s.trials, 1, KSPEC_ESTIMATOR_EXACT, 4);
}

/* Does the one doubt of this code name what it is about? */
static void names(kspec_doubt *const *list, size_t count, const char *what) {
    char text[512];
    for (size_t k = 0; k < count; k++)
        if (list[k]->code == KSPEC_DOUBT_DOMINATED)
            CHECK_MSG(strstr(kspec_doubt_text(list[k], text, sizeof text), what) == text, "%s", text);
    add(list, count);
}

/* One column is far larger than the others; then one row, and a group of rows */
static void dominated(kspec_doubt_code code, int doubtful) {
    (void)code;
    sample_of s;
    uint64_t groups[P];
    kspec_moments_result *r;
    kspec_dimension_result *d;
    const kspec_moments_opts two = {.size = sizeof two, .nmax = 2};
    kspec_dimension_opts turned = {.size = sizeof turned, .center = KSPEC_CENTER_COLS}, grouped = turned;
    for (size_t i = 0; i < P; i++) groups[i] = i / 2;
    draw(&s, 1, 0.1, 1, 0);
    for (size_t i = 0; i < P && doubtful; i++) s.at[0][i * Q + 5] *= 12;
    if (done(kspec_moments(s.trials, 1, &two, &r, &err)))
        names(r->doubts, r->doubt_count, "column 5 (from 0) makes ");
    kspec_free(r);
    if (done(kspec_dimension(s.trials, 1, NULL, &d, &err)))
        names(d->doubts, d->doubt_count, "column 5 (from 0) makes ");
    kspec_free(d);
    if (done(kspec_dimension(s.trials, 1, &turned, &d, &err)))
        names(d->doubts, d->doubt_count, "column 5 (from 0) makes ");
    kspec_free(d);
    draw(&s, 1, 0.1, 1, 0);
    for (size_t j = 0; j < 2 * Q && doubtful; j++) s.at[0][6 * Q + j] *= 12;
    grouped.center = KSPEC_CENTER_ROWS, grouped.row_groups = groups;
    if (done(kspec_dimension(s.trials, 1, &grouped, &d, &err)))
        names(d->doubts, d->doubt_count, "row group 3 (from 0) makes ");
    kspec_free(d);
}

static void shared_columns(kspec_doubt_code code, int doubtful) {
    (void)code;
    sample_of s, other;
    draw(&s, 1, 6, 1, 0), draw(&other, 2, 6, 1, 0);
    compare(s.trials, doubtful ? s.trials : other.trials, 1);
}

/* ---- spectra ---- */

static void spectrum(kspec_doubt_code code, int doubtful) {
    sample_of s;
    const kspec_moments_opts naive = {.size = sizeof naive, .estimators = KSPEC_ESTIMATOR_NAIVE};
    kspec_spectrum_opts o = {.size = sizeof o};
    kspec_spectrum_result *r;
    draw(&s, 1,
         doubtful && code == KSPEC_DOUBT_ALL_NOISE ? 1e9
         : code == KSPEC_DOUBT_FIT_DISAGREES       ? 6
                                                   : 0.1,
         1, 0);
    switch ((int)code) {
    case KSPEC_DOUBT_TRUTH_CENTER: o.truth_center = doubtful ? KSPEC_CENTER_NONE : KSPEC_CENTER_ROWS; break;
    case KSPEC_DOUBT_FIT_DISAGREES: o.moments = doubtful ? &naive : NULL; break;
    case KSPEC_DOUBT_NOISE_DISAGREES: o.noise = doubtful ? 0.12 : 0.1; break;
    }
    if (done(kspec_spectrum(s.trials, code == KSPEC_DOUBT_FIT_DISAGREES ? 1 : 2, &o, &r, &err)))
        add(r->doubts, r->doubt_count);
    kspec_free(r);
}

/* Noise that is shared along the rows of each trial, at a given level or not; columns of unequal gains */
static void unfit_noise(kspec_doubt_code code, int doubtful) {
    const int above = code == KSPEC_DOUBT_ABOVE_SAMPLE, shared = above || code == KSPEC_DOUBT_SHARED_NOISE;
    const kspec_spectrum_opts given = {.size = sizeof given, .noise = 5};
    sample_of s;
    kspec_spectrum_result *r;
    double gain[2 * P], column[Q];
    for (uint64_t seed = 1; seed <= (shared && doubtful ? 12 : 1); seed++) {
        draw(&s, seed, shared ? 3 : 0.1, 1, 0);
        kspec_random_normal(seed, 9, 0, (size_t)2 * P, gain);
        kspec_random_normal(seed, 10, 0, Q, column);
        for (size_t k = 0; k < (size_t)2 * P * Q && doubtful; k++) {
            double *at = &s.at[k / (P * Q)][k % (P * Q)], more = shared ? 2 * gain[k / Q] : 0;
            *at = (*at + more) * exp((shared ? 0.7 : 1) * column[k % Q]);
        }
        if (done(kspec_spectrum(s.trials, 1 + (size_t)shared, above && doubtful ? &given : NULL, &r, &err)))
            add(r->doubts, r->doubt_count);
        kspec_free(r);
    }
}

/* Two trials, cross-validated */
static void crossed(kspec_doubt_code code, int doubtful) {
    const kspec_spectrum_opts o = {.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_CVPCA};
    sample_of s;
    kspec_spectrum_result *r;
    draw(&s, 1, doubtful && code == KSPEC_DOUBT_NOTHING_SHARED ? 1e9 : 0.1, 1, 0);
    if (doubtful && code == KSPEC_DOUBT_NO_INTERVALS) s.trials[0].rows = s.trials[1].rows = 3;
    if (done(kspec_spectrum(s.trials, 2, &o, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
}

static const struct {
    kspec_doubt_code code;
    double m[3], std_error[3]; /* 0: none */
    double upper;
} given[] = {
    {KSPEC_DOUBT_NO_MEASURE, {1, -0.1}, {0}, 1},
    {KSPEC_DOUBT_LIST_CUT, {1, 1e-9}, {0}, 1},
    {KSPEC_DOUBT_LIST_DISAGREES, {4, 0.2}, {4, 0.004}, 8},
    {KSPEC_DOUBT_SUM_UNKNOWN, {1, 0.5}, {0.6, 0.1}, 1},
    {KSPEC_DOUBT_NO_EIGENVALUE, {0.1, 0.05}, {0}, 1},
    {KSPEC_DOUBT_NO_ERROR_BAR, {1, 0.5}, {0.1, NAN}, 1},
};

/* Moments of four eigenvalues of 0.5, or others */
static void from_moments(kspec_doubt_code code, int doubtful) {
    const double sound[] = {2, 1, 0.5}, errors[] = {0.1, 0.1, 0.1};
    kspec_spectrum_opts o = {.size = sizeof o, .upper = 1, .spacing = KSPEC_GRID_GEOMETRIC};
    kspec_spectrum_result *r;
    if (code == KSPEC_DOUBT_ILL_CONDITIONED) { /* of 3 and 1, or of a complex pair */
        o = (kspec_spectrum_opts){.size = sizeof o, .method = KSPEC_SPECTRUM_METHOD_NEWTON, .rank = 2};
        if (done(kspec_spectrum_from_moments((const double[]){4, doubtful ? 7 : 10}, NULL, NULL, 2, &o, &r,
                                             &err)))
            add(r->doubts, r->doubt_count);
        kspec_free(r);
    }
    for (size_t k = 0; k < sizeof given / sizeof *given; k++) {
        if (given[k].code != code) continue;
        if (doubtful) o.upper = given[k].upper;
        const double *e = doubtful ? given[k].std_error : errors;
        if (done(kspec_spectrum_from_moments(doubtful ? given[k].m : sound, e[0] > 0 ? e : NULL, NULL,
                                             doubtful ? 2 : 3, &o, &r, &err)))
            add(r->doubts, r->doubt_count);
        kspec_free(r);
    }
}

/* ---- norms ---- */

static void norm(kspec_doubt_code code, int doubtful) {
    enum { N = 900, COLS = 6 };
    static double x[N * COLS];
    kspec_norm_opts o = {
        .size = sizeof o, .methods = KSPEC_NORM_METHOD_RFF_POWER, .sigma = 10, .features = 100};
    kspec_random_normal(8, 77, 0, N * COLS, x);
    for (size_t i = 0; doubtful && code == KSPEC_DOUBT_CONSTANT_COLUMNS && i < N; i++) x[i * COLS] = 3;
    switch ((int)code) {
    case KSPEC_DOUBT_NEAR_FLOOR: o.features = 30, o.sigma = doubtful ? 0.05 : 10; break;
    case KSPEC_DOUBT_DISAGREES: o.sigma = doubtful ? 0.7 : 10; break;
    case KSPEC_DOUBT_NOT_CONVERGED:
        o.methods = KSPEC_NORM_METHOD_POWER, o.sigma = 0.7, o.features = 0;
        o.updates = doubtful ? 2 : 0;
        break;
    case KSPEC_DOUBT_TOLERANCE_MISSED:
        o.methods = KSPEC_NORM_METHOD_RFF_DEBIASED;
        o.features = 64, o.tolerance = 0.9;
        if (doubtful) o.tolerance = 1e-9, ks_debiased_features = 64;
        break;
    case KSPEC_DOUBT_TOO_FEW_FEATURES:
        o.methods = KSPEC_NORM_METHOD_RFF_DEBIASED;
        if (doubtful) o.sigma = 1e-6, o.features = 2;
        break;
    case KSPEC_DOUBT_CONSTANT_COLUMNS: o.scaling = KSPEC_SCALING_STANDARDIZE; break;
    case KSPEC_DOUBT_LEFT_OUT: o.methods = doubtful ? KSPEC_NORM_METHOD_AUTO : o.methods; break;
    }
    const kspec_matrix m = {x, N, COLS, COLS, 1};
    kspec_norm_result *r;
    if (done(kspec_norm(&m, &o, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
    ks_debiased_features = 4096;
}

/* Work that a GPU is worth, of which one step is done */
static void gpu(kspec_doubt_code code, int doubtful) {
    (void)code;
    enum { N = 1500, COLS = 2000 };
    double *x = malloc(sizeof *x * N * COLS);
    const kspec_norm_opts o = {.size = sizeof o,
                               .methods = KSPEC_NORM_METHOD_POWER | KSPEC_NORM_METHOD_LANCZOS,
                               .sigma = 60,
                               .updates = 1};
    kspec_random_normal(8, 77, 0, (size_t)N * COLS, x);
    ks_plugin_use(bed_plain);
    setenv("PLAIN_PLUGIN", doubtful ? "broken" : "none", 1);
    setenv("KSPEC_THREADS", "1", 1); /* where so little work is worth a GPU */
    const kspec_matrix m = {x, N, COLS, COLS, 1};
    kspec_norm_result *r;
    if (done(kspec_norm(&m, &o, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
    unsetenv("PLAIN_PLUGIN");
    unsetenv("KSPEC_THREADS");
    free(x);
}

/* ---- regressions ---- */

static void ridge(kspec_doubt_code code, int doubtful) {
    problem q = make_problem(13, 40, 20, 4);
    kspec_ridge_opts o = {.size = sizeof o, .device = KSPEC_DEVICE_CPU};
    double lambda = 1e-3;
    if (doubtful && code == KSPEC_DOUBT_NO_LIMIT) lambda = 0;
    if (doubtful && code == KSPEC_DOUBT_DELTA_ROUNDING) lambda = 1e-13, o.sigma = 10;
    if (doubtful && code == KSPEC_DOUBT_SIGMA_SMALL) o.sigma = 1e-3;
    for (size_t i = 0; doubtful && code == KSPEC_DOUBT_CONSTANT_TARGET && i < q.n; i++) q.y[i] = 2;
    for (size_t i = 0; doubtful && code == KSPEC_DOUBT_TARGET_MEAN && i < q.n; i++) q.y[i] += 9;
    for (size_t i = 0; doubtful && code == KSPEC_DOUBT_WIDEST_COLUMN && i < q.n; i++) q.X[i * q.p + 1] *= 100;
    if (code == KSPEC_DOUBT_DRAWS_DIFFER) lambda = doubtful ? 1e-8 : 1;
    o.check_draws = code == KSPEC_DOUBT_UNCHECKED && doubtful ? 0 : 8;
    if (doubtful && code == KSPEC_DOUBT_NO_BETTER) { /* noise */
        kspec_random_normal(1, 5, 0, q.n, q.y);
        kspec_random_normal(1, 6, 0, q.nt, q.yt);
    }
    kspec_ridge *r = open_problem(&q, &o);
    kspec_ridge_result *out = NULL;
    if (code == KSPEC_DOUBT_NO_BETTER) {
        kspec_ridge_recommend_result *found = NULL;
        if (done(kspec_ridge_recommend(r, 0, &found, &err))) add(found->doubts, found->doubt_count);
        kspec_free(found);
    } else if (done(code == KSPEC_DOUBT_SEARCH_END
                        ? kspec_ridge_best_lambda(r, 30, doubtful ? 10 : 1e-8, 100, &out, &err)
                        : kspec_ridge_predict(r, &(size_t){20}, 1, &lambda, 1, &out, &err))) {
        add(out->doubts, out->doubt_count);
    }
    kspec_free(out);
    kspec_ridge_close(r);
    free_problem(&q);
}

/* ---- curves ---- */

/* A line; many steps, of which 200 functions miss most; a wave that two functions miss */
static void curve(kspec_doubt_code code, int doubtful) {
    enum { MOST = 3000 };
    const int steps = doubtful && code == KSPEC_DOUBT_TOO_FEW_FUNCTIONS, n = steps ? MOST : 70;
    const int few = code == KSPEC_DOUBT_RESIDUALS_CORRELATED;
    static double x[MOST], y[MOST], outside[] = {0.5, 1.1};
    for (int i = 0; i < n; i++) {
        x[i] = (double)i * (i + n) / (2.0 * n * n); /* below 1, and uneven */
        y[i] = steps ? floor(30 * x[i]) : x[i] + 0.01 * sin(5e3 * x[i]) + few * doubtful * sin(9 * x[i]);
    }
    kspec_wls_smooth_opts o = {.size = sizeof o, .basis = KSPEC_WLS_BASIS_LEGENDRE, .at = outside};
    if (doubtful && code == KSPEC_DOUBT_REAL_DATA) o.basis = KSPEC_WLS_BASIS_FOURIER;
    o.p = few ? 2 : 0, o.at_count = doubtful && code == KSPEC_DOUBT_EXTRAPOLATED ? 2 : 1;
    kspec_wls_smooth_result *r = NULL;
    if (done(kspec_wls_smooth((size_t)n, x, y, &o, &r, &err))) add(r->doubts, r->doubt_count);
    kspec_free(r);
}

/* ---- expressions ---- */

/* A variance as a difference, of entries whose mean is 10^9 times their spread */
static void expression(kspec_doubt_code code, int doubtful) {
    double x[40];
    (void)code;
    for (int k = 0; k < 40; k++) x[k] = (doubtful ? 1e9 : 0) + sin(7.0 * k);
    const kspec_matrix m = {x, 8, 5, 5, 1};
    const kspec_operand X = {"X", &m, 1};
    kspec_unbiased_result *r = NULL;
    if (done(kspec_unbiased("X[i,a] X[i,a] - X[i,a] X[j,a]", &X, 1, NULL, &r, &err)))
        add(r->doubts, r->doubt_count);
    kspec_free(r);
}

/* ---- the table ---- */

static void (*const rows[])(kspec_doubt_code, int doubtful) = {
    [KSPEC_DOUBT_GPU_UNUSED] = gpu,
    [KSPEC_DOUBT_INDEX_COLUMN] = a_file,
    [KSPEC_DOUBT_TIME_COLUMN] = a_file,
    [KSPEC_DOUBT_TRIAL_COLUMN] = a_file,
    [KSPEC_DOUBT_UNRELATED_TRIALS] = two_files,
    [KSPEC_DOUBT_EMPTY_ROWS] = a_file,
    [KSPEC_DOUBT_EMPTY_COLS] = a_file,
    [KSPEC_DOUBT_HEADER_ROW] = a_file,
    [KSPEC_DOUBT_DECIMAL_COMMA] = a_file,
    [KSPEC_DOUBT_FILL_VALUE] = spoilt,
    [KSPEC_DOUBT_WILD_ENTRY] = spoilt,
    [KSPEC_DOUBT_WILD_ENTRIES] = spoilt,
    [KSPEC_DOUBT_WILD_ROW] = spoilt,
    [KSPEC_DOUBT_WILD_COLUMN] = spoilt,
    [KSPEC_DOUBT_LONG_TAIL] = spoilt,
    [KSPEC_DOUBT_NEIGHBOURS_ALIKE] = spoilt,
    [KSPEC_DOUBT_REPEATED_ROWS] = spoilt,
    [KSPEC_DOUBT_REPEATED_COLS] = spoilt,
    [KSPEC_DOUBT_NEAR_COPIES] = spoilt,
    [KSPEC_DOUBT_SYMMETRIC] = spoilt,
    [KSPEC_DOUBT_COPIED_TRIALS] = spoilt,
    [KSPEC_DOUBT_ONE_TRIAL] = one_matrix,
    [KSPEC_DOUBT_DIMENSION_BELOW_ONE] = noise,
    [KSPEC_DOUBT_DIMENSION_ROUGH] = noise,
    [KSPEC_DOUBT_DIMENSION_UNKNOWN] = noise,
    [KSPEC_DOUBT_DIMENSION_UNDEFINED] = noise,
    [KSPEC_DOUBT_NO_VARIATION] = one_matrix,
    [KSPEC_DOUBT_UNDERFLOW] = one_matrix,
    [KSPEC_DOUBT_UNEVEN_GROUPS] = one_matrix,
    [KSPEC_DOUBT_DOMINATED] = dominated,
    [KSPEC_DOUBT_ALIGNMENT_UNDEFINED] = noise,
    [KSPEC_DOUBT_ALIGNMENT_ABOVE_ONE] = shared_columns,
    [KSPEC_DOUBT_SHARED_COLS] = shared_columns,
    [KSPEC_DOUBT_MOMENT_UNDERFLOW] = kernel_moments,
    [KSPEC_DOUBT_MOMENT_BELOW_BOUND] = noise,
    [KSPEC_DOUBT_MOMENTS_UNKNOWN] = noise,
    [KSPEC_DOUBT_ROUNDING] = kernel_moments,
    [KSPEC_DOUBT_MEANS_DOMINATE] = kernel_moments,
    [KSPEC_DOUBT_TRUTH_CENTER] = spectrum,
    [KSPEC_DOUBT_ALL_NOISE] = spectrum,
    [KSPEC_DOUBT_FIT_DISAGREES] = spectrum,
    [KSPEC_DOUBT_ABOVE_SAMPLE] = unfit_noise,
    [KSPEC_DOUBT_UNEVEN_COLUMNS] = unfit_noise,
    [KSPEC_DOUBT_SHARED_NOISE] = unfit_noise,
    [KSPEC_DOUBT_NOISE_DISAGREES] = spectrum,
    [KSPEC_DOUBT_NO_MEASURE] = from_moments,
    [KSPEC_DOUBT_LIST_CUT] = from_moments,
    [KSPEC_DOUBT_LIST_DISAGREES] = from_moments,
    [KSPEC_DOUBT_SUM_UNKNOWN] = from_moments,
    [KSPEC_DOUBT_NO_EIGENVALUE] = from_moments,
    [KSPEC_DOUBT_NO_ERROR_BAR] = from_moments,
    [KSPEC_DOUBT_NOTHING_SHARED] = crossed,
    [KSPEC_DOUBT_NO_INTERVALS] = crossed,
    [KSPEC_DOUBT_ILL_CONDITIONED] = from_moments,
    [KSPEC_DOUBT_CONSTANT_COLUMNS] = norm,
    [KSPEC_DOUBT_NEAR_FLOOR] = norm,
    [KSPEC_DOUBT_DISAGREES] = norm,
    [KSPEC_DOUBT_NOT_CONVERGED] = norm,
    [KSPEC_DOUBT_TOLERANCE_MISSED] = norm,
    [KSPEC_DOUBT_TOO_FEW_FEATURES] = norm,
    [KSPEC_DOUBT_SIGMA_SMALL] = ridge,
    [KSPEC_DOUBT_CONSTANT_TARGET] = ridge,
    [KSPEC_DOUBT_NO_LIMIT] = ridge,
    [KSPEC_DOUBT_DELTA_ROUNDING] = ridge,
    [KSPEC_DOUBT_SEARCH_END] = ridge,
    [KSPEC_DOUBT_TARGET_MEAN] = ridge,
    [KSPEC_DOUBT_WIDEST_COLUMN] = ridge,
    [KSPEC_DOUBT_NO_BETTER] = ridge,
    [KSPEC_DOUBT_DRAWS_DIFFER] = ridge,
    [KSPEC_DOUBT_UNCHECKED] = ridge,
    [KSPEC_DOUBT_REAL_DATA] = curve,
    [KSPEC_DOUBT_EXTRAPOLATED] = curve,
    [KSPEC_DOUBT_TOO_FEW_FUNCTIONS] = curve,
    [KSPEC_DOUBT_RESIDUALS_CORRELATED] = curve,
    [KSPEC_DOUBT_ESTIMATE_ROUNDING] = expression,
    [KSPEC_DOUBT_LEFT_OUT] = norm,
};

TEST(every_doubt_is_raised_by_what_it_is_about_alone) {
    const int count = (int)(sizeof rows / sizeof *rows);
    make_folder();
    for (int code = 0; kspec_name(KSPEC_NAMES_DOUBT, (kspec_doubt_code)code); code++) {
        const char *name = kspec_name(KSPEC_NAMES_DOUBT, (kspec_doubt_code)code);
        CHECK_MSG(code < count && rows[code], "%s has no row", name);
        if (code >= count || !rows[code]) continue;
        for (int doubtful = 0; doubtful < 2; doubtful++) {
            memset(seen, 0, sizeof seen);
            rows[code]((kspec_doubt_code)code, doubtful);
            CHECK_MSG(seen[code] == doubtful, "%s, %s", name, doubtful ? "doubtful" : "sound");
        }
    }
    remove_folder();
}

/* Chance puts half of a flat spectrum's estimates below the bound; without error bars that says nothing. */
TEST(a_flat_spectrum_without_error_bars_is_not_doubted) {
    const kspec_moments_opts o = {
        .size = sizeof o, .nmax = 3, .no_stderr = 1, .estimators = KSPEC_ESTIMATOR_EXACT};
    int below = 0;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        sample_of s;
        kspec_moments_result *r;
        draw(&s, seed, 0, 1, 0);
        if (!done(kspec_moments(s.trials, 1, &o, &r, &err))) continue;
        const double m1 = r->estimates[0]->value, m2 = r->estimates[1]->value, m3 = r->estimates[2]->value;
        below += m3 < m2 * m2 / m1;
        memset(seen, 0, sizeof seen);
        add(r->doubts, r->doubt_count);
        CHECK(!seen[KSPEC_DOUBT_MOMENT_BELOW_BOUND]);
        kspec_free(r);
    }
    CHECK(below > 0);
}

TEST(numbers_that_differ_are_printed_differently) {
    const kspec_doubt d = {.code = KSPEC_DOUBT_MOMENT_BELOW_BOUND,
                           .what = "exact",
                           .count = 3,
                           .names = (const char *const[]){"order", "moment", "bound", NULL},
                           .values = {3, 1.580123, 1.580456}};
    char text[512];
    CHECK(strstr(kspec_doubt_text(&d, text, sizeof text), "m(3) = 1.5801 (exact) is not above 1.5805"));
}

int main(void) {
    char exe[PATH_MAX] = "";
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 1;
    snprintf(bed_plain, sizeof bed_plain, "%s/plain_plugin.so", dirname(exe));
    RUN(every_doubt_is_raised_by_what_it_is_about_alone);
    RUN(a_flat_spectrum_without_error_bars_is_not_doubted);
    RUN(numbers_that_differ_are_printed_differently);
    return test_done();
}
