/*
 * The tool: a table of commands in the same shape. A command is a struct: its name, its synopsis, its
 * options and the function that runs it. Help, completions and checks come from these tables. A run function
 * reads its input, calls the library and ends in cli_done(), which prints the table or the JSON object.
 *
 * The tool uses the public header only.
 */
#pragma once

#include "kspec.h"

#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_INTERRUPTED = 130 };

/* ---- options ---- */

/* A word that an option takes, and what it means. A table of them ends with a NULL name. */
typedef struct {
    const char *name;
    int value;
} cli_choice;

/* The types of options, and of the fields that they fill */
/* clang-format off */
typedef enum {
    OPT_FLAG,   /* int: 1 when given */
    OPT_INT,    /* int */
    OPT_SIZE,   /* size_t */
    OPT_U64,    /* uint64_t */
    OPT_DOUBLE, /* double */
    OPT_STRING, /* const char * */
    OPT_CHOICE, /* int: the value of one of `choices` */
    OPT_SET,    /* unsigned: the values of some of `choices`, separated by commas and or-ed */
    OPT_LIST,   /* cli_list: comma-separated numbers */
    OPT_RANGES, /* cli_ranges: whole numbers from 1 and ranges, 3,8-16,20-40:5 */
    OPT_SIGMA,  /* cli_sigma: a number above 0, or "median" */
    OPT_BLOCK,  /* size_t: a whole number from 1, or "auto", KSPEC_BLOCK_AUTO */
    OPT_DEVICE, /* int: a kspec_device, by auto, cpu, gpu or gpu:K */
    OPT_LABEL   /* cli_labels: a name for the INPUTs that follow it, and may be given again */
} cli_type;
/* clang-format on */

typedef struct {
    double *at;
    size_t count;
} cli_list;

typedef struct {
    size_t *at, count;
} cli_ranges;

/* Names, each with the number of INPUTs that stand before it */
typedef struct {
    const char **name;
    size_t *from, count;
} cli_labels;

/* The bandwidth of a kernel; both 0: not given */
typedef struct {
    double value;
    int median;
} cli_sigma;

typedef struct {
    /* The long name without dashes, and a letter or 0 */
    const char *name;
    char letter;
    cli_type type;
    /* Where the value goes in the command's arguments */
    size_t offset;
    /* What the help calls the value; NULL for flags */
    const char *arg;
    const char *help;
    /* OPT_CHOICE, OPT_SET: the words allowed. Completion offers them for any type. OPT_LIST: words that mean
     * an empty list */
    const cli_choice *choices;
    /* OPT_INT, OPT_SIZE: the least value allowed */
    long min;
    /* OPT_DOUBLE, OPT_LIST: 1 where values must be above 0; OPT_LIST: 1 for whole numbers from 1 to 10^9 */
    int positive, whole;
    /* OPT_DOUBLE, OPT_RANGES: 1 where the word auto is allowed: NaN, an empty list */
    int automatic;
    /* Bits 1 << value of the first arguments (cli_command.what) that allow it; 0: all */
    unsigned of;
    /* 1: it does not change the result, and the command line in the JSON object leaves it out */
    int aside;
    /* 1: of the tool alone, of no use to a host */
    int tool_only;
    /* OPT_STRING: names a file that the command writes, which is tried before the work: its kind */
    enum { WRITES_NOTHING, WRITES_TEXT, WRITES_ARRAY } writes;
    /* The value where the option stands alone; another one follows '=' only. NULL: it needs a value. */
    const char *bare;
} cli_option;

typedef struct cli_command cli_command;

/* A column of the table that a list of INPUTs makes, and where its number is: "estimates.0.value" */
typedef struct {
    const char *heading, *path;
} cli_column;

/* What every command takes; the first member of each command's arguments. */
typedef struct cli_common cli_common;
struct cli_common {
    int json, quiet, help, help_all;
    uint64_t seed;
    int threads;
    const char *output, *plot;
    /* Draws a result's object into the file of --plot: core knows pictures by this alone */
    int (*draw)(const char *path, const json_t *object);
    /* Commands that share their work out: where they keep it, or NULL */
    const char *checkpoint;
    /* The value of the first argument, where the command has cli_command.what; 0 where it is left out */
    int what;
    /* The arguments that are not options */
    const char **inputs;
    size_t input_count;
    /* The options that were given */
    const cli_option **given;
    size_t given_count;
    /* Commands that read a matrix; nan is a kspec_nan */
    const char *select_rows, *select_cols, *axes;
    int nan;
    cli_list fill;
    /* set by a command that takes a host's arrays on a GPU where they are */
    int on_device;
    /* For the envelope of the JSON object: what was read, what was warned of, when the command began */
    const cli_command *command;
    json_t *input, *warnings, *doubts;
    double start;
    /* The files that data sets are mapped from, each with its size and times when it was read */
    json_t *mapped;
    /* The command inside which this one runs, or NULL */
    const cli_common *outer;
};

struct cli_command {
    /* "moments"; of a verb "wls fit" */
    const char *name, *summary;
    /* One or more lines, without the leading "kspec" */
    const char *synopsis;
    /* A paragraph for -h */
    const char *description;
    /* What the first argument must be, or NULL; and whether it may be left out */
    const cli_choice *what;
    int what_optional;
    /* Verbs: commands of their own, named by the first word; a list that ends with NULL, or NULL */
    const cli_command *const *verbs;
    /* Ends with a NULL name; the common options are added */
    const cli_option *options;
    size_t args_size;
    /* Takes INPUTs and the options that go with them; and checks by itself whether there is one */
    int reads_input, input_optional;
    /* Estimates from what is seen of a matrix with missing entries (--nan pairwise) */
    int takes_holes;
    /* Takes arguments that are files, without those options */
    int takes_files;
    /* How many arguments there may be; 0: any number */
    size_t most_inputs;
    /* -o is not a place for the table or the JSON object, but part of what is asked for */
    int writes_output;
    /* Its result has no picture: no --plot */
    int no_picture;
    /* A program of its own, kspec-NAME, that is not installed */
    int apart;
    /* Its work is shared out among ranks, and kept with --checkpoint (ranks.c) */
    int shares;
    /* "@FILE" is an INPUT for each of its lines, and this their table; ends with a NULL path, or NULL */
    const cli_column *columns;
    int (*run)(void *args);
};

/* Ends with NULL; the program's (main.c) */
extern const cli_command *const cli_commands[];

/* Fills args from argv; returns 0, or an exit status after a message. 0, too, where help is asked for. */
int cli_parse(const cli_command *c, int argc, char **argv, void *args);
void cli_args_free(const cli_command *c, void *args);

/* The message where an INPUT is missing */
int cli_no_input(const cli_command *c);

/* The verb of a command by its name, or NULL */
const cli_command *cli_find_verb(const cli_command *c, const char *name);

/* What -h shows of a command: usage, the options most used, two examples (help.c). */
void cli_help(const cli_command *c, FILE *f);
/* The same with every option */
void cli_help_all(const cli_command *c, FILE *f);

/* Calls fn for each option of a command: its own, those of input, the common ones. */
void cli_each_option(const cli_command *c, void (*fn)(const cli_option *o, void *ctx), void *ctx);

/* Was this option given? Tells a value of 0 from none. */
int cli_given(const cli_common *c, const char *name);

/* Has the command an option of that name, its own or one that it shares? */
int cli_takes(const cli_command *c, const char *name);

/* Is there an option of that name in a table that ends with a NULL name? */
int cli_has_option(const cli_option *options, const char *name);

/* ---- option values and words ---- */

/* Parses one value into its field; returns 0, or an exit status after a message. */
int cli_set(const cli_option *o, const char *text, void *args);
/* Is the option one letter, such as -n? --x is a long one, for it has no letter. "-" or "--" then */
static inline int cli_is_short(const cli_option *o) { return !o->name[1] && o->letter; }
const char *cli_dashes(const cli_option *o);
/* A finite number that is all of text */
int cli_parse_double(const char *text, double *out);

/* The choice that is the first n letters of a word, or NULL; the name of a value, or NULL */
const cli_choice *cli_find_choice(const cli_choice *choices, const char *word, size_t n);
const char *cli_choice_name(const cli_choice *choices, int value);
/* of --nan */
extern const cli_choice cli_nan_policies[];
/* "a, b, c" to `to`, which it returns */
const char *cli_choice_list(const cli_choice *choices, char *to, size_t size);

/* The entry of a NULL-terminated list nearest to word, or NULL when none is near. */
const char *cli_nearest(const char *word, const char *const *list);

/* The bytes of the UTF-8 character at s, of which `left` are there; 0 where it is not one */
size_t cli_letter(const char *s, size_t left);
/* Is it a control character, of C1 (U+0080 to U+009F) too? */
int cli_is_control(const char *s, size_t n);
/*
 * Puts '?' for every byte that a terminal might obey, or that is not UTF-8. Of a table, control characters
 * below 32 stay: they are our own.
 */
void cli_make_printable(char *text, size_t size, int table);

/* "" after 1, "s" after every other number */
static inline const char *cli_s(size_t count) { return count == 1 ? "" : "s"; }

/* Sorts numbers upwards, without NaN among them */
void cli_sort(double *x, size_t count);

/* ---- hosts: programs that run commands inside themselves (tool.h) ---- */

/* What a command tells its host instead of printing it */
typedef struct {
    void *ctx;
    /* the one-line message, and the exit status that the tool would have; `failed` comes first, if it does */
    void (*error)(void *ctx, int status, const char *text);
    void (*failed)(void *ctx, kspec_status status);
    /* the table, NULL for a host that shows none, and the JSON object, which are for free() by now */
    void (*done)(void *ctx, char *table, char *json);
    kspec_progress progress;
    /* 1: it is a command of the tool, in whose ranks and checkpoint the inner command has a part */
    int inner;
    int shows;
    /* what dimension and compare tell of, in place of their INPUTs; or NULL */
    kspec_accumulator *accumulator;
} cli_host;

/* The host of the commands of this thread; NULL: the tool itself */
extern _Thread_local const cli_host *cli_hosted;

/*
 * What the commands of this thread keep outside their arguments. A host may run a command inside a callback
 * of another one: cli_call_begin() puts the outer one's away, and cli_call_end() puts it back.
 */
typedef struct {
    const cli_host *hosted;
    const cli_common *running;
    char *line;
    int memory_failed;
} cli_call;
cli_call cli_call_begin(const cli_host *host);
void cli_call_end(cli_call outer);

/* Runs a command line, argv[0] its command, and returns the exit status. */
int cli_run(int argc, char **argv, char **command_line);

/*
 * The same inside the command c, for its JSON object, or after a failure the message (NULL: no memory); both
 * are the caller's
 */
int cli_run_inner(const cli_common *c, size_t argc, const char *const *argv, json_t **object, char **message);

/* Is an INPUT a list, "@FILE", that this command takes? Then it runs for each line, argv as it was parsed */
int cli_is_list(const cli_common *c);
int cli_run_list(const cli_common *c, size_t argc, const char *const *argv);

/* ---- memory ---- */

/* From here on an allocation that fails while JSON values are made is remembered. */
void cli_memory_watch(void);
/* Forgets it: a new command begins. */
void cli_memory_forget(void);
/* Remembers one; was there one? Then nothing that was made may be printed. */
void cli_memory_lost(void);
int cli_memory_failed(void);

/*
 * Parse all of a text or file; NULL where it is not JSON (then `where` says so), or without memory. jansson's
 * own functions end the process where memory runs out, so nothing else may call them.
 */
json_t *cli_json_parse(const char *text, size_t size, json_error_t *where);
json_t *cli_json_load(FILE *f, json_error_t *where);
/* The same of a file by its name; NULL also where there is none. */
json_t *cli_json_file(const char *path);

/*
 * A text that is written to as to a file. cli_text_open() is NULL without memory; cli_text_close() is 0 where
 * any of the text was lost. `data` then ends with a zero beyond its `size`, and is for free().
 */
typedef struct {
    char *data;
    size_t size, room;
    int failed;
    FILE *stream;
} cli_text;
FILE *cli_text_open(cli_text *t);
int cli_text_close(cli_text *t);

/* ---- messages ---- */

/* Prints "kspec: ..." on standard error and returns status. */
int cli_error(int status, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* The message of a failed library call, and its exit status */
int cli_fail(kspec_status st, const kspec_error *err);
/* The same where a value out of range came out of a file: status 3 */
int cli_fail_data(kspec_status st, const kspec_error *err);
/* What `print` writes, to standard output: nothing comes after what could not be written. */
int cli_print(void (*print)(FILE *f, const void *what), const void *what);
/* Standard output could not be written, as errno says; who closes a pipe has seen enough */
int cli_fail_output(void);
/* The same where a file could not be written: status 1 */
int cli_fail_writing(kspec_status st, const kspec_error *err);
/* "NAME: " before the message, where it is not clear which of several it is about */
void cli_error_prefix(kspec_error *err, const char *name);
int cli_no_memory(void);

/*
 * The doubts of a result, each once: in the JSON object and, unless it is a note or --quiet, as a warning on
 * standard error. `where`, if any, is the name of the matrix concerned.
 */
void cli_doubts(const cli_common *c, const char *where, kspec_doubt *const *doubts, size_t count);
/* A line for each thing that was left out to save time, with the option that computes it */
void cli_left_out_print(FILE *f, const cli_common *c, kspec_doubt *const *doubts, size_t count);
/* The same as cli_doubts() for the doubts in the JSON object of a command that ran inside this one */
void cli_doubts_of(const cli_common *c, const char *where, const json_t *object);
/* Rows and columns without a value: told once there is a result, so that a failure stays one line. */
void cli_doubts_of_missing(const cli_common *c, const kspec_dataset *d);
/* A warning about the tool itself, not about a result */
void cli_warn(const cli_common *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* A progress callback that draws a bar on a terminal after a second; its report is NULL if not wanted. */
kspec_progress cli_progress(const cli_common *c);
void cli_progress_end(void);

/* Seconds of wall-clock time since some fixed point. */
double cli_now(void);

/* Makes signals that end the tool remove unfinished files first, and end it with 128 + their number. */
void cli_catch_signals(void);
/* Makes them end this process, too; 0: no longer */
void cli_guard_child(int pid);

/* ---- input and output files ---- */

/*
 * Reads the command's INPUTs, with its options for them, and notes them for the JSON object; fails with a
 * message and the exit status. Refuses infinite entries.
 */
int cli_read(const cli_common *c, kspec_dataset **d);

/* Fails where a file that was mapped has changed since: results would mix old numbers with new ones. */
int cli_check_mapped(const cli_common *c);

/*
 * cli_fail() of a call on d. Where d is on a GPU and unfit, what cli_read() says of its numbers on the host,
 * which names them.
 */
int cli_fail_of(const cli_common *c, const kspec_dataset *d, kspec_status st, const kspec_error *err);

/*
 * A recording: one matrix, with all INPUTs that are its trials. `name` is its label, or its first INPUT.
 * Words that did not come from the command line are owned.
 */
typedef struct {
    const char *name, **inputs;
    size_t count;
    kspec_dataset *data;
} cli_recording;

typedef struct {
    cli_recording *at;
    size_t count;
    char **lines;
    size_t line_count;
} cli_recordings;

/*
 * What the INPUTs of a command line are: after a label, trials of one recording; without one, the same, or
 * each a recording by itself (`each`); an INPUT "@FILE" is a recording for each of the file's lines, whose
 * words are separated by tabs: INPUT, or LABEL INPUT... Free what it made, also after a failure.
 */
int cli_recordings_make(const cli_common *c, const cli_labels *labels, int each, cli_recordings *r);
/* Reads them; notes a single one as the input itself, several as its list "matrices". */
int cli_recordings_read(const cli_common *c, cli_recordings *r, int centered);
void cli_recordings_free(cli_recordings *r);
/* The command's arguments as if this recording were its only input, for cli_print_shape() and others */
cli_common cli_of_recording(const cli_common *c, const cli_recording *r);

/* Reads some INPUTs, trials of one matrix; noted under `role`, or as the input itself where it is NULL */
int cli_read_inputs(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    kspec_dataset **d);

/*
 * Reads one more file, which must hold one matrix, and notes it under `role`, such as "target", or as the
 * input itself where role is NULL.
 */
int cli_read_one(const cli_common *c, const char *role, const char *path, const kspec_read_opts *how,
                 kspec_dataset **d);

/* Views of all trials of a data set, for free(); NULL: no memory */
kspec_matrix *cli_trials(const kspec_dataset *d);

/* A name of whatever bytes: printable ones, its end where it is long; padded to `width` letters */
void cli_print_name(FILE *f, const char *name, int width);
int cli_name_width(const char *name);

/* "10 trials × 640 rows × 50 columns" (one trial is not mentioned), then "; how" unless that is NULL */
void cli_print_shape(FILE *f, const cli_common *c, const kspec_dataset *d, const char *how);

/* Writes rows x cols numbers to a file: .npy, .csv or .json by its suffix. */
kspec_status cli_write_array(const char *path, const double *x, size_t rows, size_t cols, kspec_error *err);

/* The Sigma and Sigma_x of an RBF kernel, from the files of --sigma and --sigma-x; NULL: the identity. */
typedef struct {
    /* dim x dim; empty where there is no file */
    kspec_matrix sigma, sigma_x;
    /* The eta_count eigenvalues of Sigma_x Sigma^-1 above zero */
    double *eta;
    size_t eta_count;
    kspec_dataset *data[2];
} cli_covariances;

/* Reads and checks them; fails with a message and the exit status. *dim is 0, or what it must be. */
int cli_read_covariances(const cli_common *common, const char *sigma, const char *sigma_x, size_t *dim,
                         cli_covariances *c);
void cli_covariances_free(cli_covariances *c);

/* ---- results ---- */

/*
 * The end of every command. Prints the table to standard output or -o; with --json, instead of it, the
 * object of the command's own keys in its envelope; with --plot, draws that object. `result` is passed to
 * both functions. print is NULL where there is no table.
 */
int cli_done(const cli_common *c, void (*print)(FILE *f, const void *result),
             json_t *(*keys)(const void *result), const void *result);

/* Is the object of cli_done() wanted? */
static inline int cli_wants_object(const cli_common *c) { return c->json || c->plot || cli_hosted; }

/* ---- the envelope: what every JSON object has ---- */

/* Makes c->input, c->doubts and c->warnings; 0 without memory */
int cli_envelope_open(cli_common *c, const cli_command *command);
void cli_envelope_close(cli_common *c);

/* The command whose envelope this thread opened last; NULL: none is open */
const cli_common *cli_running(void);

/* Remembers one more word of the command line, which every object has. */
void cli_remember(const char *word);
/* Puts it aside while another command runs inside this one */
char *cli_line_take(void);
void cli_line_give(char *line);

/* Notes a file that was read; how and d are NULL where it is not a matrix. */
void cli_note_input(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    const kspec_read_opts *how, const kspec_dataset *d);
/* Notes whether the input was centred and normalised. */
void cli_note_treatment(const cli_common *c, const char *role, int centered, int normalized);

/* The object with all keys; takes over `keys`. */
json_t *cli_envelope(const cli_common *c, json_t *keys);

/* The command line so far */
const char *cli_line(void);

/* ---- ranks: the tool under mpirun ---- */

/* Finds the launcher's other processes, and agrees with them on the status at the end. */
int cli_ranks_begin(char **argv);
int cli_ranks_end(int status);

/* 0 without a launcher */
int cli_rank(void);
/* Did mpirun or srun start this process, alone or with others? */
int cli_is_launched(void);
/* Is this a rank that prints nothing? Then its first message is noted, for rank 0 to print. */
int cli_is_quiet_rank(void);
void cli_ranks_note(const char *text);

/* Is this a rank that has nothing to do in this command? */
int cli_ranks_skip(const cli_command *c);
/* Takes away what only rank 0 writes. */
void cli_ranks_outputs(cli_common *c);

/* An input was read: all ranks must have the same one. */
int cli_ranks_input(const cli_common *c, const char *path, const kspec_dataset *d);
/* The same of a small file, such as labels or a list: what was read from it */
int cli_ranks_bytes(const cli_common *c, const char *path, const void *bytes, size_t count);

/* The team that reads files together; NULL: none */
kspec_team *cli_ranks_reading(const cli_common *c);
/* The team for the options of a call, after all input was read; NULL: none. Opens the checkpoint. */
kspec_status cli_team(const cli_common *c, kspec_team **out, kspec_error *err);

/* ---- devices ---- */

/* A line of an options table; FIELD(device) is the offset of an int */
#define CLI_DEVICE_OPTION(FIELD)                                                                         \
    {                                                                                                    \
        "device", 0, OPT_DEVICE, FIELD(device), "WHERE",                                                 \
            "auto (the default: a GPU where that is faster), cpu, gpu or gpu:K", cli_devices, .aside = 1 \
    }
extern const cli_choice cli_devices[];

/* The keys "device" and "device_reason" */
void cli_device_keys(const kspec_device_used *d, json_t *to);
/* A line "on gpu:0 ..." where it is not the processor */
void cli_device_print(FILE *f, const kspec_device_used *d);

/* ---- JSON values, cells of tables ---- */

/* A string of whatever bytes */
json_t *cli_string(const char *s);
/* null where x is not finite; an array of those; rows of them */
json_t *cli_real(double x);
json_t *cli_reals(const double *x, size_t count);
json_t *cli_real_rows(const double *x, size_t rows, size_t cols);

/* Members that are numbers, one after the other; null where they are not finite. Ends with a NULL key. */
typedef struct {
    const char *key;
    double value;
} cli_member;
void cli_set_reals(json_t *object, const cli_member *members);
/* Members of an interval, and of a standard error with it, from the fields of r that begin with FIELD */
#define CLI_ENDS(KEY, r, FIELD) \
    {KEY "ci_low", (r)->FIELD##ci_low}, { KEY "ci_high", (r)->FIELD##ci_high }
#define CLI_ERRORS(KEY, r, FIELD) {KEY "stderr", (r)->FIELD##std_error}, CLI_ENDS(KEY, r, FIELD)

/* A number in a table's column of its own, blank where it is not finite. */
void cli_cell(FILE *f, const char *format, int width, double x);

/*
 * Numbers rounded to their uncertainty: the second digit of the error is the last that is shown. Where the
 * error is not known, or 0, four digits; "" of a number that is not finite.
 */
typedef struct {
    char text[40];
} cli_number;
const char *cli_rounded(cli_number *to, double x, double error);
void cli_cell_rounded(FILE *f, int width, double x, double error);
/* An estimate in its interval: its error is the geometric mean of the distances to the ends, theirs these. */
typedef struct {
    cli_number value, low, high;
} cli_interval;
cli_interval cli_round_interval(double x, double low, double high);
double cli_error_of(double x, double low, double high);
/* "20.2 (95% interval 19.6 … 20.7)"; the estimate alone where there is no interval */
void cli_print_interval(FILE *f, double x, double low, double high);
/* Two cells: the ends */
void cli_cell_interval(FILE *f, int width, double x, double low, double high);

/* A probability in so many places, "0.03"; below 1e-16 "<1e-16", for no approximation of it holds there */
void cli_print_p(FILE *f, int width, double p);
/* Escape sequences, empty unless the table goes to a terminal */
const char *cli_bold(const cli_common *c);
const char *cli_plain(const cli_common *c);
