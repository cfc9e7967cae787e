#include "core/cli.h"

typedef struct {
    cli_common common;
} config_args;

static void print_table(FILE *f, const void *result) {
    (void)result;
    fprintf(f, "version          %s\n", kspec_version());
    fprintf(f, "instruction set  %s\n", kspec_isa());
    fprintf(f, "BLAS             %s\n", kspec_blas());
    fprintf(f, "LP solver        %s\n", kspec_lp_solver());
    fprintf(f, "plugins          none\n"); /* none are part of this version */
    fprintf(f, "threads          %d\n", kspec_default_threads());
}

static json_t *to_json(const void *result) {
    (void)result;
    return json_pack("{s:s, s:s, s:s, s:s, s:[], s:i}", "version", kspec_version(), "isa", kspec_isa(),
                     "blas", kspec_blas(), "lp_solver", kspec_lp_solver(), "plugins", "threads",
                     kspec_default_threads());
}

static int run(void *args) { return cli_done(args, print_table, to_json, NULL); }

const cli_command cmd_config = {
    .name = "config",
    .summary = "version, instruction set, libraries",
    .synopsis = "config [OPTIONS]",
    .description = "What this build of kspec is and what it uses on this machine.",
    .args_size = sizeof(config_args),
    .no_picture = 1,
    .run = run,
};
