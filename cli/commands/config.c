/* kspec config: prints the version, the instruction set and the libraries in use. */
#include "core/cli.h"
#include "core/restart.h"
#include "kspec/host.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    cli_common common;
} config_args;

/* Prints whether the user or kspec chose the processor core for the BLAS, and nothing if the BLAS chose
 * it. */
static void print_choice(FILE *f) {
    const char *advice = kspec_blas_advice(), *set = getenv("OPENBLAS_CORETYPE");
    if (cli_core_before())
        fprintf(f, " (restarted: OpenBLAS had detected %s)", cli_core_before());
    else if (advice)
        fprintf(f, " (slow on this processor: set OPENBLAS_CORETYPE=%s)", advice);
    else if (set && strncmp(kspec_blas(), "OpenBLAS", 8) == 0)
        fprintf(f, " (OPENBLAS_CORETYPE=%s)", set);
}

/* Returns a JSON string, or null without a name. */
static json_t *name(const char *s) { return s ? cli_string(s) : json_null(); }

static json_t *plugins(void) {
    json_t *list = json_array();
    const char *mpi = kspec_mpi();
    if (kspec_gpu()) json_array_append_new(list, json_string("cuda"));
    if (mpi && strstr(mpi, "openmpi")) json_array_append_new(list, json_string("openmpi"));
    if (mpi && strstr(mpi, "mpich")) json_array_append_new(list, json_string("mpich"));
    return list;
}

static void print_table(FILE *f, const void *result) {
    (void)result;
    fprintf(f, "version          %s\n", kspec_version());
    fprintf(f, "instruction set  %s\n", kspec_isa());
    fprintf(f, "BLAS             %s", kspec_blas());
    print_choice(f);
    fputc('\n', f);
    fprintf(f, "LP solver        %s\n", kspec_lp_solver());
    const char *sandbox = kspec_hdf5_sandbox();
    fprintf(f, "HDF5 reader      %s\n",
            !sandbox                       ? "cannot be run"
            : strcmp(sandbox, "none") == 0 ? "not sandboxed: this kernel or build has no seccomp for it"
                                           : "sandboxed (seccomp)");
    fprintf(f, "GPU              %s%s\n",
            kspec_gpu() ? "" : "none: ", kspec_gpu() ? kspec_gpu() : kspec_gpu_problem());
    fprintf(f, "MPI              %s\n",
            kspec_mpi() ? kspec_mpi() : "none: this installation has no plugin for one");
    fprintf(f, "threads          %d\n", kspec_default_threads());
}

static json_t *to_json(const void *result) {
    (void)result;
    return json_pack("{s:s, s:s, s:s, s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:i}", "version", kspec_version(),
                     "isa", kspec_isa(), "blas", kspec_blas(), "blas_before", name(cli_core_before()),
                     "blas_advice", name(kspec_blas_advice()), "lp_solver", kspec_lp_solver(), "hdf5_sandbox",
                     name(kspec_hdf5_sandbox()), "gpu", name(kspec_gpu()), "gpu_problem",
                     name(kspec_gpu_problem()), "plugins", plugins(), "threads", kspec_default_threads());
}

static int run(void *args) { return cli_done(args, print_table, to_json, NULL); }

const cli_command cmd_config = {
    .name = "config",
    .summary = "version, instruction set, libraries",
    .synopsis = "config [OPTIONS]",
    .description = "Shows the version of kspec, and the instruction set, libraries and plugins that it uses "
                   "on this machine.",
    .args_size = sizeof(config_args),
    .no_picture = 1,
    .run = run,
};
