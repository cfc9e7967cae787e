/*
 * The tool: a table of commands in the same shape. A command is a struct: its name, its synopsis, its options
 * and the function that runs it. Help, completions and checking all come from these tables.
 *
 * The tool uses the public header only.
 */
#ifndef KSPEC_CLI_H
#define KSPEC_CLI_H

#include "kspec.h"

#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_INTERRUPTED = 130 };

/* ---- options ---- */

typedef enum {
    OPT_FLAG,   /* int: 1 when given */
    OPT_INT,    /* int */
    OPT_SIZE,   /* size_t */
    OPT_U64,    /* uint64_t */
    OPT_DOUBLE, /* double */
    OPT_STRING, /* const char * */
    OPT_CHOICE, /* const char *, one of `choices` */
    OPT_LIST    /* cli_list: comma-separated numbers */
} cli_type;

typedef struct {
    double *at;
    size_t count;
} cli_list;

typedef struct {
    const char *name; /* long name without dashes */
    char letter;      /* or 0 */
    cli_type type;
    size_t offset;   /* where the value goes in the command's arguments */
    const char *arg; /* what the help calls the value; NULL for flags */
    const char *help;
    const char *choices; /* "a|b|c": checked for OPT_CHOICE, offered by completion for any */
    long min;            /* OPT_INT, OPT_SIZE: the least value that may be given */
    int positive;        /* OPT_DOUBLE, OPT_LIST: 1 where values must be above 0 */
    const char *verbs;   /* "a|b": the only verbs of the command that take it; NULL: all */
    int aside;           /* changes nothing in the result, and is not remembered with it */
} cli_option;

/* What every command takes; the first member of each command's arguments. */
typedef struct {
    int json, quiet, help;
    uint64_t seed;
    int threads;
    const char *output, *plot;
    const char **inputs; /* what is left after the options */
    size_t input_count;
    const cli_option **given; /* the options that were given */
    size_t given_count;
    const char *select_rows, *select_cols, *axes, *nan; /* commands that read a matrix */
    int complex_pairs; /* set by a command that takes a complex vector, as two columns */
} cli_common;

typedef struct {
    const char *name, *summary;
    const char *synopsis;      /* one or more lines, without the leading "kspec" */
    const char *description;   /* a paragraph for -h */
    const char *verbs;         /* "a|b|c": what the first argument must be; or NULL */
    int verb_optional;         /* ... if there is one */
    const cli_option *options; /* ends with a NULL name; the common ones are added */
    size_t args_size;
    int reads_input;    /* takes INPUTs and the options that go with them */
    int input_optional; /* ... and checks by itself whether there is one */
    int takes_files;    /* takes arguments that are files, but no matrices */
    int writes_output;  /* -o is no place for the result, but part of it */
    int no_picture;     /* there is no picture of its result: no --plot */
    int (*run)(void *args);
} cli_command;

extern const cli_command *const cli_commands[]; /* ends with NULL */

/* Fills args from argv; returns 0, or an exit status after a message. EXIT_DONE + help set: -h was given. */
int cli_parse(const cli_command *c, int argc, char **argv, void *args);
int cli_no_input(const cli_command *c); /* the message where an INPUT is missing */
void cli_args_free(const cli_command *c, void *args);
void cli_help(const cli_command *c, FILE *f);

/* Calls fn for each option of a command: its own, those of input, the common ones. */
void cli_each_option(const cli_command *c, void (*fn)(const cli_option *o, void *ctx), void *ctx);

/* Was this option given? Tells a value of 0 from none. */
int cli_given(const cli_common *c, const char *name);

/* The entry of a NULL-terminated list nearest to word, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *list);

/* Is word one of "a|b|c"? */
int cli_is_choice(const char *choices, const char *word);

/* ---- messages ---- */

int cli_error(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3))); /* returns status */
int cli_fail(kspec_status st,
             const kspec_error *err); /* the message of a failed library call; its exit status */
void cli_warn(const cli_common *c, json_t *warnings, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* A progress callback that draws a bar on a terminal once the work has taken a second; NULL report if not
 * wanted. */
kspec_progress cli_progress(const cli_common *c);
void cli_progress_end(void);

/* Seconds of wall-clock time since some fixed point. */
double cli_now(void);

/* Makes Ctrl-C and SIGTERM remove unfinished files and end with status 130 (143). */
void cli_catch_signals(void);
void cli_guard_child(int pid); /* ends this process, too; 0: no longer */

/* ---- input ---- */

/* Reads the command's INPUTs; fails with a message and the exit status. Refuses infinite entries. */
int cli_read(const cli_common *c, kspec_dataset *d);

/* "10 trials × 640 rows × 50 columns" (one trial is not mentioned). */
void cli_print_shape(FILE *f, const cli_common *c, const kspec_dataset *d);

/* The Sigma and Sigma_x of an RBF kernel, from the files of --sigma and --sigma-x; NULL: the identity. */
typedef struct {
    kspec_matrix sigma, sigma_x; /* dim x dim; empty where there is no file */
    double *eta;                 /* the eta_count eigenvalues of Sigma_x Sigma^-1 above zero */
    size_t eta_count;
    kspec_dataset data[2];
} cli_covariances;

/* Reads and checks them; fails with a message and the exit status. *dim is 0, or what it must be. */
int cli_read_covariances(const char *sigma, const char *sigma_x, size_t *dim, cli_covariances *c);
void cli_covariances_free(cli_covariances *c);

/* ---- output ---- */

/*
 * A command prints its table to cli_text() and then calls cli_finish(), which sends it to standard output or
 * -o. With --json, cli_finish() sends `object` instead (and takes it over in any case); with --plot it draws it. So a
 * command makes the table unless --json is given, and the object where cli_wants_object().
 */
FILE *cli_text(void);
static inline int cli_wants_object(const cli_common *c) { return c->json || c->plot; }
void cli_remember(const char *word); /* one more word of the command line, which every object carries */
int cli_finish(const cli_common *c, json_t *object);

json_t *cli_string(const char *s);                /* whatever bytes it holds */
json_t *cli_real(double x);                       /* null where x is not finite */
json_t *cli_reals(const double *x, size_t count); /* an array of those */
/* A number in a table's column of its own, blank where it is not finite. */
void cli_cell(FILE *f, const char *format, int width, double x);
const char *cli_bold(const cli_common *c); /* escape sequences, empty unless the table goes to a terminal */
const char *cli_plain(const cli_common *c);

#endif
