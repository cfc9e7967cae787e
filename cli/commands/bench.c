/*
 * Speed, beside DGEMM and beside the plain version, in one run: these machines are noisy, so that only ratios
 * of times taken together mean much. Every answer is checked before it is timed.
 */
#include "commands/bench.h"

#include <math.h>
#include <string.h>

#define ARG(field) offsetof(bench_args, field)

static const cli_option options[] = {
    {"rows", 0, OPT_SIZE, ARG(rows), "P", "rows of the matrix (default 1000)", .min = 8},
    {"cols", 0, OPT_SIZE, ARG(cols), "Q", "columns (default 1000)", .min = 8},
    {"repeat", 0, OPT_INT, ARG(repeat), "K", "times to run each, of which the best counts (default 3)",
     .min = 1},
    {0},
};

void bench_line(const bench_args *a, json_t *list, const char *name, double seconds, double rate, double gemm,
                double dgemms) {
    FILE *f = cli_text();
    if (!json_array_size(list))
        fprintf(f, "%s%-34s %9s  %12s  %12s  %6s  %9s%s\n", cli_bold(&a->common), "", "seconds", "G madd/s",
                "DGEMM's", "ratio", "in DGEMMs", cli_plain(&a->common));
    fprintf(f, "%-34s %9.4g  %12.3f  %12.3f  %6.3f", name, seconds, rate / 1e9, gemm / 1e9, rate / gemm);
    if (isfinite(dgemms)) fprintf(f, "  %9.1f", dgemms);
    fputc('\n', f);
    json_array_append_new(list, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o}", "name", name, "seconds",
                                          cli_real(seconds), "gfma_per_s", cli_real(rate / 1e9),
                                          "dgemm_gfma_per_s", cli_real(gemm / 1e9), "ratio",
                                          cli_real(rate / gemm), "dgemms", cli_real(dgemms)));
}

static const struct {
    const char *name;
    int (*run)(const bench_args *a, json_t *list);
} parts[] = {
    {"moments", bench_moments}, {"exact", bench_exact},       {"ridge", bench_ridge},
    {"norm", bench_norm},       {"features", bench_features},
};

static int run(void *args) {
    bench_args *a = args;
    if (!a->rows) a->rows = 1000;
    if (!a->cols) a->cols = 1000;
    if (!a->repeat) a->repeat = 3;
    json_t *list = json_array();
    const char *what = a->common.input_count ? a->common.inputs[0] : "all";
    int status = EXIT_DONE;
    for (size_t k = 0; k < sizeof parts / sizeof *parts && !status; k++)
        if (strcmp(what, "all") == 0 || strcmp(what, parts[k].name) == 0) status = parts[k].run(a, list);
    if (status) {
        json_decref(list);
        return status;
    }
    return cli_finish(&a->common, json_pack("{s:s, s:s, s:I, s:I, s:s, s:s, s:o}", "command", "bench", "what",
                                            what, "rows", (json_int_t)a->rows, "cols", (json_int_t)a->cols,
                                            "isa", kspec_isa(), "blas", kspec_blas(), "results", list));
}

const cli_command cmd_bench = {
    .name = "bench",
    .summary = "speed beside DGEMM",
    .synopsis = "bench [moments|exact|ridge|norm|features] [--rows P] [--cols Q] [--repeat K] [OPTIONS]",
    .description =
        "Checks the estimators against a plain version, then times them and DGEMM in the same run.\n"
        "A multiply-add counts once; 'in DGEMMs' is the time in products of matrices of that size.",
    .verbs = "moments|exact|ridge|norm|features",
    .verb_optional = 1,
    .options = options,
    .args_size = sizeof(bench_args),
    .run = run,
};
