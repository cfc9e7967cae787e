/*
 * Every public call, with odd numbers in its data and options and cancelled at some report. The table of calls
 * is the contract's. The input: which call, when to cancel, then two bytes an entry of data, then as many for
 * options.
 */
int contract_main(void);
#define main contract_main
#include "unit/test_contract.c"
#undef main

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

static const unsigned char *from, *end;

static unsigned next(void) { return from < end ? *from++ : 0; }

static double odd(void) {
    static const double numbers[] = {0,      -0.0,  1,        -1,     2,        0.5,       1e-300,
                                     -1e300, 1e300, 4.9e-324, NAN,    INFINITY, -INFINITY, 1e16,
                                     1e-16,  3,     1e154,    1e-160, 255,      0.1};
    unsigned k = next(), scale = next();
    if (k < sizeof numbers / sizeof *numbers) return numbers[k];
    return ((double)k - 128) * (scale % 64 ? 1 : 1e-12) / 16 + (double)scale / 512;
}

static void fill(double *x, size_t count, double usual) {
    for (size_t i = 0; i < count; i++)
        x[i] = from < end ? odd() : usual * (double)(1 + i % 7) / (double)(1 + i % 5);
}

/* Numbers of options that hold no pointer: an offset and a type each. */
typedef struct {
    char type;
    size_t offset;
} member;
#define INT(T, m) \
    { 'i', offsetof(T, m) }
#define SIZE(T, m) \
    { 'z', offsetof(T, m) }
#define REAL(T, m) \
    { 'd', offsetof(T, m) }
/* clang-format off */
static const struct {
    const char *call;
    member members[16];
} known[] = {
    {"kspec_moments", {INT(kspec_moments_opts, nmax), INT(kspec_moments_opts, estimators), INT(kspec_moments_opts, splits),
        INT(kspec_moments_opts, scheme), INT(kspec_moments_opts, permutations), INT(kspec_moments_opts, side),
        INT(kspec_moments_opts, sampled), INT(kspec_moments_opts, normalize), INT(kspec_moments_opts, center),
        INT(kspec_moments_opts, bound), INT(kspec_moments_opts, correlation)}},
    {"kspec_spectrum_from_moments", {SIZE(kspec_spectrum_opts, grid), INT(kspec_spectrum_opts, spacing),
        REAL(kspec_spectrum_opts, upper), INT(kspec_spectrum_opts, weights), INT(kspec_spectrum_opts, quantile),
        INT(kspec_spectrum_opts, draws)}},
    {"kspec_dimension", {INT(kspec_dimension_opts, no_center), INT(kspec_dimension_opts, splits),
        SIZE(kspec_dimension_opts, curve)}},
    {"kspec_norm", {INT(kspec_norm_opts, methods), INT(kspec_norm_opts, kernel), REAL(kspec_norm_opts, sigma),
        REAL(kspec_norm_opts, gamma), INT(kspec_norm_opts, median_sigma), INT(kspec_norm_opts, scaling),
        INT(kspec_norm_opts, gram), SIZE(kspec_norm_opts, features), SIZE(kspec_norm_opts, sample),
        INT(kspec_norm_opts, updates), REAL(kspec_norm_opts, stop), INT(kspec_norm_opts, repeats),
        REAL(kspec_norm_opts, tolerance)}},
    {"kspec_gram", {INT(kspec_kernel_opts, kernel), REAL(kspec_kernel_opts, sigma), INT(kspec_kernel_opts, median_sigma)}},
    {"kspec_generate", {INT(kspec_generate_opts, process), SIZE(kspec_generate_opts, dim), REAL(kspec_generate_opts, noise),
        INT(kspec_generate_opts, noise_correlation), REAL(kspec_generate_opts, noise_share)}},
    {"kspec_ridge_predict", {INT(kspec_ridge_opts, center), INT(kspec_ridge_opts, unit_length),
        REAL(kspec_ridge_opts, test_noise), REAL(kspec_ridge_opts, sigma), INT(kspec_ridge_opts, median_sigma),
        INT(kspec_ridge_opts, solver), REAL(kspec_ridge_opts, tolerance), INT(kspec_ridge_opts, max_iterations)}},
    {"kspec_wls_theory", {SIZE(kspec_wls_opts, P), REAL(kspec_wls_opts, alpha), REAL(kspec_wls_opts, beta),
        REAL(kspec_wls_opts, gamma), REAL(kspec_wls_opts, noise), INT(kspec_wls_opts, complex_noise),
        INT(kspec_wls_opts, no_variance)}},
    {"kspec_wls_fit", {SIZE(kspec_wls_opts, P), REAL(kspec_wls_opts, alpha), REAL(kspec_wls_opts, beta),
        REAL(kspec_wls_opts, gamma), REAL(kspec_wls_opts, noise)}},
    {"kspec_wls_decay", {INT(kspec_wls_decay_opts, kernel), REAL(kspec_wls_decay_opts, sigma),
        REAL(kspec_wls_decay_opts, slope), INT(kspec_wls_decay_opts, degree), INT(kspec_wls_decay_opts, unit_sphere)}},
};
/* clang-format on */

static void set_options(const row *r, unsigned char *opts) {
    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(known[k].call, r->name) == 0)
            for (const member *m = known[k].members; m->type && from < end; m++) {
                int small = (int)next() % 24 - 2;
                if (m->type == 'i')
                    memcpy(opts + m->offset, &small, sizeof small);
                else if (m->type == 'z')
                    memcpy(opts + m->offset, &(size_t){small < 0 ? 0 : (size_t)small}, sizeof(size_t));
                else
                    memcpy(opts + m->offset, &(double){odd()}, sizeof(double));
            }
}

static long reports, limit;
static int stop(void *ctx, double f) {
    (void)ctx;
    if (!(f >= 0 && f <= 1.0000001)) __builtin_trap();
    return limit >= 0 && reports++ >= limit;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    if (!file[0]) {
        setenv("KSPEC_THREADS", "1", 1);
        make_inputs();
        snprintf(file, sizeof file, "/dev/shm/kspec-fuzz-%ld.npy", (long)getpid());
        int held;
        if (write_file(NULL, &held, NULL)) abort();
    }
    from = data, end = data + size;
    const row *r = &rows[next() % (sizeof rows / sizeof *rows)];
    if (strstr(r->name, "kspec_read") || strstr(r->name, "kspec_write")) return 0;
    reports = 0, limit = (long)next() - 1;
    const unsigned char *half = from + (end - from) / 2, *last = end;
    end = half;
    fill(phi_at[0], P * Q, 1), fill(phi_at[1], P * Q, 0.5), fill(table_at, P * TABLE, 1);
    fill(target_at, GRID, 1), fill(images_at, IMAGES * PIXELS, 0.1);
    for (int i = 0; i < IMAGES; i++) labels_at[i] = from < end ? odd() : i % 3;
    from = half, end = last;
    kspec_progress progress = {stop, NULL};
    zeroed(r, r->size);
    if (r->quick) memcpy(&options, r->quick, r->size);
    if (r->size) set_options(r, options.bytes);
    if (r->progress) memcpy(options.bytes + r->progress, &progress, sizeof progress);
    int held = 0;
    kspec_error err = {0};
    kspec_status st = r->call(r->size ? (void *)&options : NULL, &held, &err);
    if (held || err.code != st || (st ? !err.msg[0] || strchr(err.msg, '\n') : err.msg[0])) __builtin_trap();
    if (st == KSPEC_E_CANCELLED && limit < 0) __builtin_trap();
    if (test_failures) __builtin_trap();
    return 0;
}
