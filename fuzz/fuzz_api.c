/*
 * Every public call, with odd numbers in its data and options and cancelled at some report. The table of
 * calls is the contract's. The input: which call, when to cancel, then two bytes an entry of data, then as
 * many for options.
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
/* clang-format off */
#define INT(m)  {'i', offsetof(T, m)}
#define SIZE(m) {'z', offsetof(T, m)}
#define REAL(m) {'d', offsetof(T, m)}
static const struct {
    const char *call;
    member members[16];
} taken[] = {
#define T kspec_moments_opts
    {"kspec_moments", {INT(nmax), INT(estimators), INT(splits), INT(scheme), INT(permutations), INT(side),
                       INT(sampled), INT(normalize), INT(center), INT(bound), INT(correlation)}},
#undef T
#define T kspec_spectrum_opts
    {"kspec_spectrum_from_moments", {SIZE(grid), INT(spacing), REAL(upper), INT(weights), INT(quantile),
                                     INT(draws)}},
#undef T
#define T kspec_dimension_opts
    {"kspec_dimension", {INT(center), INT(splits), SIZE(curve)}},
#undef T
#define T kspec_norm_opts
    {"kspec_norm", {INT(methods), INT(kernel), REAL(sigma), REAL(gamma), INT(median_sigma), INT(scaling),
                    INT(gram), SIZE(features), SIZE(sample), INT(updates), REAL(stop), INT(repeats),
                    REAL(tolerance)}},
    {"kspec_gram", {INT(kernel), REAL(sigma), INT(median_sigma)}},
#undef T
#define T kspec_generate_opts
    {"kspec_generate", {INT(process), SIZE(dim), REAL(noise), INT(noise_correlation), REAL(noise_share)}},
#undef T
#define T kspec_ridge_opts
    {"kspec_ridge_predict", {INT(center), INT(unit_length), REAL(test_noise), REAL(sigma), INT(median_sigma),
                             INT(solver), REAL(tolerance), INT(max_iterations)}},
#undef T
#define T kspec_wls_opts
    {"kspec_wls_theory", {SIZE(P), REAL(alpha), REAL(beta), REAL(gamma), REAL(noise), INT(complex_noise),
                          INT(no_variance)}},
    {"kspec_wls_fit", {SIZE(P), REAL(alpha), REAL(beta), REAL(gamma), REAL(noise)}},
#undef T
#define T kspec_wls_decay_opts
    {"kspec_wls_decay", {INT(kernel), REAL(sigma), REAL(slope), INT(degree), INT(unit_sphere)}},
#undef T
};
/* clang-format on */

static void set_options(const row *r, unsigned char *opts) {
    for (size_t k = 0; k < sizeof taken / sizeof *taken; k++)
        if (strcmp(taken[k].call, r->name) == 0)
            for (const member *m = taken[k].members; m->type && from < end; m++) {
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
