/*
 * kspec-bench: speed beside DGEMM and beside the plain version, in one run: machines are noisy, and only
 * ratios of times taken together mean much. Every answer is checked before it is timed.
 */
#include "bench/speed/speed.h"
#include "core/restart.h"
#include "kspec/host.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ARG(field) offsetof(bench_args, field)

/* clang-format off */
static const cli_option options[] = {
    {"rows",   0, OPT_SIZE, ARG(rows),   "P",
     "rows of the matrix (default 1000)", .min = 8},
    {"cols",   0, OPT_SIZE, ARG(cols),   "Q",
     "columns (default 1000)", .min = 8},
    {"repeat", 0, OPT_INT,  ARG(repeat), "K",
     "run each K times, of which the best counts (default 3)", .min = 1},
    CLI_DEVICE_OPTION(ARG),
    {0},
};
/* clang-format on */

static const cli_choice names[] = {{"moments", 1},  {"exact", 2},     {"ridge", 3}, {"norm", 4},
                                   {"features", 5}, {"dimension", 6}, {0}};
static int (*const parts[])(const bench_args *a, bench_list *list) = {
    bench_moments, bench_exact, bench_ridge, bench_norm, bench_features, bench_dimension};
enum { PARTS = sizeof parts / sizeof *parts, ON_GPU = 3 }; /* a GPU has the first three */

bench_entry *bench_add(bench_list *list, const char *name, double seconds, double rate, double gemm,
                       double dgemms) {
    bench_entry *more = realloc(list->at, (list->count + 1) * sizeof *more);
    if (!more) {
        cli_no_memory();
        return NULL;
    }
    list->at = more;
    bench_entry *e = &more[list->count++];
    *e = (bench_entry){.seconds = seconds, .rate = rate, .gemm = gemm, .dgemms = dgemms};
    e->product = e->function = e->pass = e->of_product_and_pass = e->cpu_seconds = e->copying = NAN;
    snprintf(e->name, sizeof e->name, "%s", name);
    return e;
}

typedef struct {
    const bench_args *a;
    const bench_list *list;
    char device[144];
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    const bench_args *a = u->a;
    json_t *results = json_array();
    for (size_t k = 0; k < u->list->count; k++) {
        const bench_entry *e = &u->list->at[k];
        json_t *o = json_pack("{s:s}", "name", e->name);
        cli_set_reals(o, (cli_member[]){{"seconds", e->seconds},
                                        {"gfma_per_s", e->rate / 1e9},
                                        {"dgemm_gfma_per_s", e->gemm / 1e9},
                                        {"ratio", e->rate / e->gemm},
                                        {"dgemms", e->dgemms},
                                        {0}});
        const cli_member more[] = {
            {"product_seconds", e->product}, {"function_seconds", e->function},
            {"pass_seconds", e->pass},       {"cpu_seconds", e->cpu_seconds},
            {"copying_seconds", e->copying}, {"of_product_and_pass", e->of_product_and_pass}};
        for (size_t i = 0; i < sizeof more / sizeof *more; i++)
            if (isfinite(more[i].value)) json_object_set_new(o, more[i].key, json_real(more[i].value));
        json_array_append_new(results, o);
    }
    return json_pack("{s:s, s:I, s:I, s:s, s:s, s:o, s:o}", "what",
                     a->common.what ? cli_choice_name(names, a->common.what) : "all", "rows",
                     (json_int_t)a->rows, "cols", (json_int_t)a->cols, "isa", kspec_isa(), "blas",
                     kspec_blas(), "device", cli_string(u->device), "results", results);
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    if (u->a->device >= KSPEC_DEVICE_GPU) fprintf(f, "%s\n\n", u->device);
    fprintf(f, "%s%-34s %9s  %12s  %12s  %6s  %9s%s\n", cli_bold(&u->a->common), "", "seconds", "G madd/s",
            "DGEMM's", "ratio", "in DGEMMs", cli_plain(&u->a->common));
    for (size_t k = 0; k < u->list->count; k++) {
        const bench_entry *e = &u->list->at[k];
        fprintf(f, "%-34s %9.4g  %12.3f  %12.3f  %6.3f", e->name, e->seconds, e->rate / 1e9, e->gemm / 1e9,
                e->rate / e->gemm);
        if (isfinite(e->dgemms)) fprintf(f, "  %9.1f", e->dgemms);
        fprintf(f, *e->note ? "\n    %s\n" : "\n", e->note);
    }
}

/* ---- */

static int run(bench_args *a) {
    if (!a->rows) a->rows = 1000;
    if (!a->cols) a->cols = 1000;
    if (!a->repeat) a->repeat = 3;
    bench_list list = {0};
    output u = {a, &list, "cpu"};
    int status = EXIT_DONE, gpu = a->device >= KSPEC_DEVICE_GPU;
    if (gpu && a->common.what > ON_GPU)
        return cli_error(EXIT_USAGE, "bench %s: only moments, exact and ridge run on a GPU",
                         cli_choice_name(names, a->common.what));
    for (int k = 0; k < (gpu ? ON_GPU : PARTS) && !status; k++)
        if (!a->common.what || a->common.what == k + 1)
            status = !gpu     ? parts[k](a, &list)
                     : k == 2 ? bench_ridge_device(a, u.device, &list)
                              : bench_device(a, k == 1, u.device, &list);
    if (!status) status = cli_done(&a->common, print_table, to_json, &u);
    free(list.at);
    return status;
}

static const cli_command command = {
    .name = "bench",
    .synopsis = "bench [moments|exact|ridge|norm|features|dimension] [--rows P] [--cols Q] [--repeat K] "
                "[--device WHERE] [OPTIONS]",
    .description =
        "Checks the library's answers against a plain version, then times them and DGEMM in the same run.\n"
        "A multiply-add counts once; 'in DGEMMs' is the time in products of matrices of that size.\n"
        "--device gpu: the kernels of a GPU beside its DGEMM, and beside the processor.",
    .what = names,
    .what_optional = 1,
    .options = options,
    .args_size = sizeof(bench_args),
    .no_picture = 1,
    .apart = 1,
};

static void print_help(FILE *f, const void *c) { cli_help(c, f); }

int main(int argc, char **argv) {
    bench_args a = {0};
    cli_restart_limited(argv);
    cli_memory_watch();
    cli_catch_signals();
    cli_line_give(strdup("kspec-bench"));
    int status = cli_parse(&command, argc - 1, argv + 1, &a);
    if (!status && !a.common.help) cli_restart(argv);
    if (!status) status = a.common.help ? cli_print(print_help, &command) : run(&a);
    cli_args_free(&command, &a);
    return status;
}
