/* The main program: finds the command on the command line, runs it, and prints the overview of commands. */
#include "core/cli.h"
#include "core/restart.h"
#include "plot/plot.h"
#include "kspec/host.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

extern const cli_command cmd_moments, cmd_dimension, cmd_compare, cmd_estimate, cmd_spectrum, cmd_norm,
    cmd_ridge, cmd_wls, cmd_learn, cmd_theory, cmd_generate, cmd_report, cmd_plot, cmd_config, cmd_completion;

const cli_command *const cli_commands[] = {
    &cmd_dimension, &cmd_spectrum, &cmd_compare,    &cmd_moments, &cmd_estimate, &cmd_report,
    &cmd_norm,      &cmd_ridge,    &cmd_wls,        &cmd_learn,   &cmd_theory,   &cmd_generate,
    &cmd_plot,      &cmd_config,   &cmd_completion, NULL,
};

/* The questions of the overview, each with the first of its commands. */
static const struct {
    const cli_command *first;
    const char *question;
} questions[] = {
    {&cmd_dimension, "What do my data look like?"},
    {&cmd_norm, "How good will a regression be?"},
    {&cmd_learn, "What should I expect?"},
    {&cmd_plot, "Pictures and set-up"},
};

static const cli_command *find(const char *name) {
    for (const cli_command *const *c = cli_commands; *c; c++)
        if (strcmp((*c)->name, name) == 0) return *c;
    return NULL;
}

static void overview(FILE *f) {
    fputs("usage: kspec COMMAND [ARGUMENTS]\n\n"
          "What infinitely many inputs and features would show, estimated from a finite matrix of "
          "measurements.\n",
          f);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        for (size_t k = 0; k < sizeof questions / sizeof *questions; k++)
            if (questions[k].first == *c) fprintf(f, "\n%s\n", questions[k].question);
        fprintf(f, "  %-12s %s\n", (*c)->name, (*c)->summary);
    }
    fputs("\n  help [COMMAND]  the usage of a command (also: kspec COMMAND -h, and --help-all)\n"
          "  --version       the version\n\n"
          "Try:\n"
          "  kspec generate rff --rows 300 --cols 200 --dim 3 -o x.npy\n"
          "  kspec report x.npy -o report.html\n",
          f);
}

/* Prints a newcomer's questions and the commands that answer them. */
static void greet(FILE *f) {
    fputs("How many dimensions do my data have?   kspec dimension YOURS.npy   (rows: inputs, columns: "
          "features)\n"
          "What spectrum is behind them?          kspec spectrum YOURS.npy    (or .csv, .mat, .h5: kspec "
          "help)\n"
          "Are these two data sets alike?         kspec compare A.npy B.npy   (on one page: kspec report)\n",
          f);
}

static int unknown_command(const char *name) {
    const char *names[64];
    size_t n = 0;
    for (const cli_command *const *c = cli_commands; *c && n < 62; c++) names[n++] = (*c)->name;
    names[n++] = "help";
    names[n] = NULL;
    const char *near = cli_nearest(name, names);
    if (near) return cli_error(EXIT_USAGE, "unknown command '%s'; did you mean %s?", name, near);
    return cli_error(EXIT_USAGE, "unknown command '%s'; 'kspec help' lists them", name);
}

static void print_help(FILE *f, const void *command) {
    if (command)
        cli_help(command, f);
    else
        overview(f);
}

static void print_help_all(FILE *f, const void *command) { cli_help_all(command, f); }

static void print_version(FILE *f, const void *version) { fprintf(f, "kspec %s\n", (const char *)version); }

static int unexpected(const char *where, const char *arg) {
    return cli_error(EXIT_USAGE, "%s: unexpected argument '%s'", where, arg);
}

static int help(int argc, char **argv) {
    const cli_command *c = argc ? find(argv[0]) : NULL,
                      *verb = c && argc > 1 ? cli_find_verb(c, argv[1]) : NULL;
    if (argc && !c) return unknown_command(argv[0]);
    if (argc > (verb ? 2 : 1)) return unexpected("help", argv[verb ? 2 : 1]);
    return cli_print(print_help, verb ? verb : c);
}

/* Opens closed standard files as /dev/null. If the shell has closed standard error ("2>&-"), the next
 * file that kspec opens would get its number, and messages would end up in that file. /dev/null occupies
 * the number. It is opened the wrong way, so that reading or writing still fails. */
static void hold_standard_files(void) {
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0) (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Checks KSPEC_ISA even if the command does not need it. */
static int check_isa(void) {
    const char *isa = kspec_isa();
    if (strncmp(isa, "invalid", 7) != 0) return EXIT_DONE;
    return cli_error(EXIT_USAGE, "KSPEC_ISA=%s must be one of " KSPEC_ISA_NAMES " that this processor has",
                     getenv("KSPEC_ISA"));
}

/* Checks before any computation that the picture can be drawn and the results can be written. */
static int check_output(const cli_common *c, const void *args) {
    int status = EXIT_DONE;
    if (c->plot && c->output && strcmp(c->output, c->plot) == 0)
        return cli_error(EXIT_USAGE, "-o and --plot are both %s", c->plot);
    if (c->plot) status = plot_check("--plot", c->plot);
    if (c->output && c->command == &cmd_plot) status = plot_check("-o", c->output);
    for (size_t k = 0; k < c->given_count && !status; k++) {
        const cli_option *o = c->given[k];
        if (!o->writes) continue;
        const char *path = *(const char *const *)((const char *)args + o->offset);
        kspec_error err;
        if (!path) continue; /* only rank 0 writes this file */
        kspec_status st = kspec_write_check(path, o->writes == WRITES_ARRAY ? 2 : 0, &err);
        if (st) status = cli_fail_writing(st, &err);
    }
    return status;
}

static int run(const cli_command *c, int argc, char **argv, char **command_line) {
    cli_remember(c->name);
    const cli_command *verb = argc ? cli_find_verb(c, argv[0]) : NULL;
    if (verb) {
        cli_remember(argv[0]);
        c = verb, argc--, argv++;
    }
    void *args = calloc(1, c->args_size);
    if (!args) return cli_no_memory();
    int status = cli_parse(c, argc, argv, args);
    if (!status) {
        const cli_common *common = args;
        if (common->help || common->help_all) {
            status = cli_print(common->help_all ? print_help_all : print_help, c);
        } else {
            if (!cli_hosted) cli_restart(command_line);
            ((cli_common *)args)->draw = plot_result;
            status = check_isa();
            cli_ranks_outputs(args);
            if (!status) status = check_output(args, args);
            if (!status && !cli_ranks_skip(c))
                status = cli_is_list(args) ? cli_run_list(args, (size_t)argc, (const char *const *)argv)
                                           : c->run(args);
        }
    }
    cli_args_free(c, args);
    free(args);
    return status;
}

int cli_run(int argc, char **argv, char **command_line) {
    const cli_command *c = find(argv[0]);
    return c ? run(c, argc - 1, argv + 1, command_line) : unknown_command(argv[0]);
}

static int dispatch(int argc, char **argv) {
    if (argc < 2) {
        if (!cli_is_quiet_rank()) greet(stderr);
        return EXIT_USAGE;
    }
    const char *name = argv[1];
    if (strcmp(name, "--version") == 0) {
        if (argc > 2) return unexpected("--version", argv[2]);
        return cli_print(print_version, kspec_version());
    }
    if (strcmp(name, "help") == 0 || strcmp(name, "-h") == 0 || strcmp(name, "--help") == 0)
        return help(argc - 2, argv + 2);
    return cli_run(argc - 1, argv + 1, argv);
}

int main(int argc, char **argv) {
    cli_restart_limited(argv);
    hold_standard_files();
    cli_memory_watch();
    cli_catch_signals();
    int status = cli_ranks_begin(argv);
    return cli_ranks_end(status ? status : dispatch(argc, argv));
}
