/*
 * Declares the command-line tool: a table of commands in one shape. A command is a struct with its name, its
 * synopsis, its options and the function that runs it. Help, completions and checks come from these tables. A
 * run function reads its input, calls the library and ends in cli_done(), which prints the table or the JSON
 * object.
 *
 * The tool uses the public header only.
 */
#pragma once

#include "core/cells.h"
#include "kspec.h"

#include <jansson.h>
#include <stdio.h>

enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_INPUT = 3, EXIT_INTERRUPTED = 130 };

/* ---- options ---- */

/* A word that an option takes, and its meaning. A table of words ends with a NULL name. */
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
    OPT_RANGES, /* cli_ranges: whole numbers from 1, and ranges such as 3,8-16,20-40:5 */
    OPT_SIGMA,  /* cli_sigma: a number above 0, or "median" */
    OPT_BLOCK,  /* size_t: a whole number from 1, or "auto" (KSPEC_BLOCK_AUTO) */
    OPT_DEVICE, /* int: a kspec_device, from auto, cpu, gpu or gpu:K */
    OPT_LABEL   /* cli_labels: a name for the following INPUTs; may be repeated */
} cli_type;
/* clang-format on */

typedef struct {
    double *at;
    size_t count;
} cli_list;

typedef struct {
    size_t *at, count;
} cli_ranges;

/* Labels, each with the number of INPUTs before it */
typedef struct {
    const char **name;
    size_t *from, count;
} cli_labels;

/* The bandwidth of a kernel. Both fields are 0 if the option was not given. */
typedef struct {
    double value;
    int median;
} cli_sigma;

typedef struct {
    /* The option's long name without dashes, and its letter or 0 */
    const char *name;
    char letter;
    cli_type type;
    /* The offset of the value's field in the struct of the command's arguments */
    size_t offset;
    /* The placeholder of the value in the help; NULL for flags */
    const char *arg;
    const char *help;
    /* OPT_CHOICE and OPT_SET allow these words, and so does an OPT_LIST without numbers. Completion
     * offers them. */
    const cli_choice *choices;
    /* OPT_INT, OPT_SIZE: the least value allowed */
    long min;
    /* positive: the values of an OPT_DOUBLE or OPT_LIST must be above 0. whole: those of an OPT_LIST are
     * whole numbers from 1 to 10^9. */
    int positive, whole;
    /* 1: an OPT_DOUBLE takes the word auto as NaN, and an OPT_RANGES as an empty list. */
    int automatic;
    /* If the command's first argument is a choice (cli_command.what), only some choices allow this
     * option. Each of them sets the bit 1 << value here. 0: all choices allow it. */
    unsigned of;
    /* 1: the option does not change the result, so the command line in the JSON object omits it */
    int aside;
    /* 1: for the tool only, useless to a host */
    int tool_only;
    /*
     * OPT_STRING: the kind of file that the command writes under this name. The tool checks the name before
     * the work
     */
    enum { WRITES_NOTHING, WRITES_TEXT, WRITES_ARRAY } writes;
    /* The value of a bare option; any other value must follow '='. NULL: the option needs a value. */
    const char *bare;
} cli_option;

typedef struct cli_command cli_command;

/* A command with several INPUTs prints a table. Each column shows the number at one path of the JSON object,
 * such as "estimates.0.value". */
typedef struct {
    const char *heading, *path;
} cli_column;

/* The arguments that all commands share; the first member of each command's arguments */
typedef struct cli_common cli_common;
struct cli_common {
    int json, quiet, help, help_all;
    uint64_t seed;
    int threads;
    const char *output, *plot;
    /* Draws a result's object into the file of --plot. The core does not know the pictures. */
    int (*draw)(const char *path, const json_t *object);
    /* The directory of the checkpoint, or NULL. Only commands that divide their work among ranks have one. */
    const char *checkpoint;
    /* The value of the first argument if it is a choice (cli_command.what); 0 if the argument is missing */
    int what;
    /* The arguments that are not options */
    const char **inputs;
    size_t input_count;
    /* The options that were given */
    const cli_option **given;
    size_t given_count;
    /* Options of commands that read a matrix. nan holds a kspec_nan. */
    const char *select_rows, *select_cols, *axes;
    int nan;
    cli_list fill;
    /* 1: the host passes arrays on a GPU, and the command computes there */
    int on_device;
    /* The envelope of the JSON object contains these inputs, warnings and doubts, and the seconds since
     * `start`. */
    const cli_command *command;
    json_t *input, *warnings, *doubts;
    double start;
    /* The memory-mapped files of data sets, with their size and times when they were read */
    json_t *mapped;
    /* The outer command, if this command runs inside another one, or NULL */
    const cli_common *outer;
};

struct cli_command {
    /* The name is "moments", or "wls fit" for the verb fit. */
    const char *name, *summary;
    /* One or more lines, without the leading "kspec" */
    const char *synopsis;
    /* The paragraph that -h prints first */
    const char *description;
    /* The choices for the first argument, or NULL. what_optional: this argument may be missing */
    const cli_choice *what;
    int what_optional;
    /* The commands among which the first word chooses (verbs), ended by NULL; or NULL */
    const cli_command *const *verbs;
    /* The command's own options, without the common ones. A NULL name ends the table. */
    const cli_option *options;
    size_t args_size;
    /* reads_input: the command takes INPUTs and the options for them. input_optional: it can run without
     * INPUTs. */
    int reads_input, input_optional;
    /* 1: the command accepts --nan pairwise, and estimates from the entries that are not missing */
    int takes_holes;
    /* 1: the command's arguments are files, but the options for INPUTs do not apply */
    int takes_files;
    /* The largest number of arguments; 0: no limit */
    size_t most_inputs;
    /* 1: the command writes its own output to the file of -o. Otherwise -o redirects the table or the
     * JSON object. */
    int writes_output;
    /* 1: the result has no picture, and the command has no --plot */
    int no_picture;
    /* 1: the command is a separate program, kspec-NAME, that is not installed */
    int apart;
    /* 1: ranks divide the work, and --checkpoint stores it (ranks.c) */
    int shares;
    /* If not NULL, an INPUT "@FILE" names one INPUT per line, and their table has these columns. A NULL
     * path ends the columns. */
    const cli_column *columns;
    int (*run)(void *args);
};

/* The commands of the program (main.c), ended by NULL */
extern const cli_command *const cli_commands[];

/* Fills args from argv. Returns 0, also after printing help, or an exit status after a message. */
int cli_parse(const cli_command *c, int argc, char **argv, void *args);
void cli_args_free(const cli_command *c, void *args);

/* Reports a missing INPUT. */
int cli_no_input(const cli_command *c);

/* The verb of a command by its name, or NULL */
const cli_command *cli_find_verb(const cli_command *c, const char *name);

/* Prints the help of -h: usage, the options most used, two examples (help.c). */
void cli_help(const cli_command *c, FILE *f);
/* Prints the same with every option. */
void cli_help_all(const cli_command *c, FILE *f);

/* Calls fn for each option of a command: its specific options, the input options, the common ones. */
void cli_each_option(const cli_command *c, void (*fn)(const cli_option *o, void *ctx), void *ctx);

/* Was this option given? Distinguishes a value of 0 from a missing one. */
int cli_given(const cli_common *c, const char *name);

/* Does the command have an option of this name, its own or a shared one? */
int cli_takes(const cli_command *c, const char *name);

/* Does the table, which a NULL name ends, contain an option of this name? */
int cli_has_option(const cli_option *options, const char *name);

/* ---- option values and words ---- */

/* Parses one value into its field; returns 0, or an exit status after a message. */
int cli_set(const cli_option *o, const char *text, void *args);
/* Is the name a single letter, such as -n? (--x is a long name.) Then "-" precedes it, otherwise "--" */
static inline int cli_is_short(const cli_option *o) { return !o->name[1] && o->letter; }
const char *cli_dashes(const cli_option *o);
/* Reads a finite number. The text must contain nothing else. */
int cli_parse_double(const char *text, double *out);

/* Returns the choice named by the first n letters of a word, or NULL. */
const cli_choice *cli_find_choice(const cli_choice *choices, const char *word, size_t n);
const char *cli_choice_name(const cli_choice *choices, int value);
extern const cli_choice cli_nan_policies[];
/* Writes "a, b, c" to `to` and returns `to`. */
const char *cli_choice_list(const cli_choice *choices, char *to, size_t size);

/* Returns the list's entry that is spelt most like the word, or NULL if none is similar. NULL ends the
 * list. */
const char *cli_nearest(const char *word, const char *const *list);

/* Returns the length in bytes of the UTF-8 character at s, of which `left` bytes exist; 0 if it is
 * invalid. */
size_t cli_letter(const char *s, size_t left);
/* Is the letter a control character, including C1 (U+0080 to U+009F)? */
int cli_is_control(const char *s, size_t n);
/*
 * Writes '?' for every byte that a terminal might obey, or that is not UTF-8. In a table, control characters
 * below 32 stay, because they come from kspec.
 */
void cli_make_printable(char *text, size_t size, int table);

/* Returns the plural's ending: "" for 1, "s" for every other number. */
static inline const char *cli_s(size_t count) { return count == 1 ? "" : "s"; }

/* Sorts numbers in increasing order; none may be NaN */
void cli_sort(double *x, size_t count);

/* ---- hosts: programs that run commands inside themselves (tool.h) ---- */

/* A host receives the output of a command through these functions, and the command prints nothing. */
typedef struct {
    void *ctx;
    /* error() receives the message, one line, and the exit status of the tool. If the library failed, the
     * command calls failed() first. */
    void (*error)(void *ctx, int status, const char *text);
    void (*failed)(void *ctx, kspec_status status);
    /* done() receives the table (NULL if the host shows none) and the JSON object. The host frees both. */
    void (*done)(void *ctx, char *table, char *json);
    kspec_progress progress;
    /* 1: the host is a command of the tool, whose ranks and checkpoint the inner command shares */
    int inner;
    int shows;
    /* If not NULL, dimension and compare use this accumulator instead of INPUTs. */
    kspec_accumulator *accumulator;
} cli_host;

/* The host of the commands in this thread; NULL: the tool itself */
extern _Thread_local const cli_host *cli_hosted;

/*
 * The state that the commands of this thread keep outside their arguments. A host may run a command inside a
 * callback of another one: cli_call_begin() saves the outer command's state, and cli_call_end() restores it.
 */
typedef struct {
    const cli_host *hosted;
    const cli_common *running;
    char *line;
    int memory_failed;
} cli_call;
cli_call cli_call_begin(const cli_host *host);
void cli_call_end(cli_call outer);

/* Runs a command line, whose argv[0] is its command, and returns the exit status. */
int cli_run(int argc, char **argv, char **command_line);

/*
 * Runs a command line inside the command c. The caller owns its JSON object, or its message after a failure
 * (NULL: no memory).
 */
int cli_run_inner(const cli_common *c, size_t argc, const char *const *argv, json_t **object, char **message);

/* Is an INPUT a list, "@FILE", that this command takes? Then cli_run_list() runs it for each line of argv. */
int cli_is_list(const cli_common *c);
int cli_run_list(const cli_common *c, size_t argc, const char *const *argv);

/* ---- memory ---- */

/* Starts to watch for failed allocations while JSON values are built. */
void cli_memory_watch(void);
/* Forgets any failure, since a new command begins. */
void cli_memory_forget(void);
/* Records that an allocation failed. Then cli_memory_failed() returns 1: the result is incomplete and
 * must not be printed. */
void cli_memory_lost(void);
int cli_memory_failed(void);

/*
 * Parse a whole text or file. They return NULL without memory, or if the text is not JSON (`where` then gives
 * the place). jansson's own functions end the process if memory runs out, so no other function may call them.
 */
json_t *cli_json_parse(const char *text, size_t size, json_error_t *where);
json_t *cli_json_load(FILE *f, json_error_t *where);
/* Parses a file by its name; NULL also if the file does not exist. */
json_t *cli_json_file(const char *path);

/*
 * A text in memory that is written like a file. cli_text_open() returns NULL without memory. cli_text_close()
 * returns 0 if any of the text was lost. Afterwards `data` has a zero after its `size` bytes; the caller
 * frees it.
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

/* Prints the message of a failed library call and returns its exit status. */
int cli_fail(kspec_status st, const kspec_error *err);
/* Like cli_fail(), but returns 3, the status for a file whose value is out of range. */
int cli_fail_data(kspec_status st, const kspec_error *err);
/* Prints to standard output by calling `print`; after a failed write nothing more is printed. */
int cli_print(void (*print)(FILE *f, const void *what), const void *what);
/* Reports a failed write to standard output, from errno. A reader that closed the pipe is not an error. */
int cli_fail_output(void);
/* Reports a failed write to a file and returns 1. */
int cli_fail_writing(kspec_status st, const kspec_error *err);
/* Puts "NAME: " before the message, if it could be about several matrices. */
void cli_error_prefix(kspec_error *err, const char *name);
int cli_no_memory(void);

/*
 * Reports the doubts of a result, each once: in the JSON object and as a warning on standard error. Notes,
 * and all doubts under --quiet, give no warning. `where`, if any, names the matrix concerned.
 */
void cli_doubts(const cli_common *c, const char *where, kspec_doubt *const *doubts, size_t count);
/* Prints a line for each result that was omitted to save time, with the option that computes it. */
void cli_left_out_print(FILE *f, const cli_common *c, kspec_doubt *const *doubts, size_t count);
/* Reports doubts, like cli_doubts(), from the JSON object of a command that ran inside this one. */
void cli_doubts_of(const cli_common *c, const char *where, const json_t *object);
/* Reports rows and columns without a value. Call it once a result exists: a failure stays one line. */
void cli_doubts_of_missing(const cli_common *c, const kspec_dataset *d);
/* Warns about the tool itself rather than a result. */
void cli_warn(const cli_common *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Returns a progress callback that draws a bar on a terminal after one second. Its report is NULL if no
 * bar is wanted. */
kspec_progress cli_progress(const cli_common *c);
void cli_progress_end(void);

/* Returns the wall-clock time in seconds since a fixed point. */
double cli_now(void);

/*
 * After this call, a signal that ends the tool first removes unfinished files. The exit status is 128 + the
 * number of the signal.
 */
void cli_catch_signals(void);
/* Makes a signal that ends the tool end this child process as well; pid 0 ends this. */
void cli_guard_child(int pid);

/* ---- input and output files ---- */

/*
 * Reads the command's INPUTs, with its options for them, and notes them for the JSON object. On failure
 * prints a message and returns the exit status. Rejects infinite entries.
 */
int cli_read(const cli_common *c, kspec_dataset **d);

/* Fails if a memory-mapped file changed after it was read: results would mix old numbers with new ones. */
int cli_check_mapped(const cli_common *c);

/*
 * Reports a failed call on d, like cli_fail(). If d is on a GPU and unfit, reads the numbers on the host, and
 * prints the message of cli_read(), which names the entry.
 */
int cli_fail_of(const cli_common *c, const kspec_dataset *d, kspec_status st, const kspec_error *err);

/*
 * A recording: one matrix, with all INPUTs that are its trials. `name` is its label, or its first INPUT. The
 * struct owns words that did not come from the command line.
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

/* Sorts the INPUTs of a command line into recordings. INPUTs after a label are trials of one recording.
 * INPUTs without a label are trials of one recording too, or with `each` one recording each. An INPUT
 * "@FILE" gives one recording per line of the file. Tabs separate the words of a line: INPUT, or LABEL
 * INPUT... Free the result, also after a failure. */
int cli_recordings_make(const cli_common *c, const cli_labels *labels, int each, cli_recordings *r);
/*
 * Reads the recordings. In the JSON object, a single recording is the input itself, and several are its list
 * "matrices".
 */
int cli_recordings_read(const cli_common *c, cli_recordings *r, int centered);
/* Fails if rows (or columns) with missing values were omitted from this recording alone: recordings that
 * share their rows must omit the same ones. */
int cli_check_paired(const cli_recording *r, int rows, int cols);
void cli_recordings_free(cli_recordings *r);
/* Returns the command's arguments with this recording as the only input, for cli_print_shape() and the
 * like. */
cli_common cli_of_recording(const cli_common *c, const cli_recording *r);

/* Reads some INPUTs, trials of one matrix; notes them under `role`, or as the input itself (role NULL). */
int cli_read_inputs(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    kspec_dataset **d);

/* Reads one more file with one matrix; notes it under `role`, such as "target", or as the input (NULL). */
int cli_read_one(const cli_common *c, const char *role, const char *path, const kspec_read_opts *how,
                 kspec_dataset **d);

/* Returns views of all trials of a data set, which the caller frees. NULL: no memory */
kspec_matrix *cli_trials(const kspec_dataset *d);

/* Prints the printable bytes of a name, or the end of a long name, padded to `width` letters. */
void cli_print_name(FILE *f, const char *name, int width);
int cli_name_width(const char *name);

/* Prints "10 trials × 640 rows × 50 columns" (trials only if several), and "; how" unless that is NULL. */
void cli_print_shape(FILE *f, const cli_common *c, const kspec_dataset *d, const char *how);

/* Writes rows x cols numbers to a file: .npy, .csv or .json by its suffix. */
kspec_status cli_write_array(const char *path, const double *x, size_t rows, size_t cols, kspec_error *err);

/* The matrices Sigma and Sigma_x of an RBF kernel, from the files of --sigma and --sigma-x. Without a
 * file, the matrix is the identity. */
typedef struct {
    /* dim x dim each; empty without a file */
    kspec_matrix sigma, sigma_x;
    /* The eta_count positive eigenvalues of Sigma_x Sigma^-1 */
    double *eta;
    size_t eta_count;
    kspec_dataset *data[2];
} cli_covariances;

/*
 * Reads and checks covariances. Prints a message on failure, and returns the exit status. *dim is 0, or the
 * required dimension.
 */
int cli_read_covariances(const cli_common *common, const char *sigma, const char *sigma_x, size_t *dim,
                         cli_covariances *c);
void cli_covariances_free(cli_covariances *c);

/* ---- results ---- */

/*
 * Ends every command. Prints the table to standard output or -o. With --json, prints a JSON object instead:
 * the command's keys in the envelope. With --plot, draws that object. `result` is passed to both functions.
 * print is NULL for a command without a table.
 */
int cli_done(const cli_common *c, void (*print)(FILE *f, const void *result),
             json_t *(*keys)(const void *result), const void *result);

/* Returns 1 if --json, --plot or a host needs the JSON object. */
static inline int cli_wants_object(const cli_common *c) { return c->json || c->plot || cli_hosted; }

/* ---- the envelope: the keys of every JSON object ---- */

/* Creates c->input, c->doubts and c->warnings; returns 0 without memory. */
int cli_envelope_open(cli_common *c, const cli_command *command);
void cli_envelope_close(cli_common *c);

/* Returns the command whose envelope this thread opened last, or NULL if no envelope is open. */
const cli_common *cli_running(void);

/* Adds one more word to the command line, which every object contains. */
void cli_remember(const char *word);
/* Saves the command line while another command runs inside this command. */
char *cli_line_take(void);
void cli_line_give(char *line);

/* Adds a file that was read to the envelope. how and d are NULL if the file is not a matrix. */
void cli_note_input(const cli_common *c, const char *role, const char *const *paths, size_t count,
                    const kspec_read_opts *how, const kspec_dataset *d);
/* Adds to the envelope whether the input was centred and normalised. */
void cli_note_treatment(const cli_common *c, const char *role, int centered, int normalized);

/* Builds the object with all keys; takes ownership of `keys`. */
json_t *cli_envelope(const cli_common *c, json_t *keys);

/* Returns the words of the command line that cli_remember() has collected. */
const char *cli_line(void);

/* ---- ranks: the tool under mpirun ---- */

/* Finds the other processes of a launcher. At the end, all processes agree on the exit status. */
int cli_ranks_begin(char **argv);
int cli_ranks_end(int status);

/* Returns the number of this rank; 0 without a launcher. */
int cli_rank(void);
/* Did mpirun or srun start this process, alone or with others? */
int cli_is_launched(void);
/* Every rank but rank 0 is quiet: it stores its first message, and rank 0 prints the message. */
int cli_is_quiet_rank(void);
void cli_ranks_note(const char *text);

/* Returns 1 if this rank has no work in this command. */
int cli_ranks_skip(const cli_command *c);
/* Removes the outputs that only rank 0 writes. */
void cli_ranks_outputs(cli_common *c);

/* Checks that all ranks read the same input. */
int cli_ranks_input(const cli_common *c, const char *path, const kspec_dataset *d);
/* Checks that all ranks read the same bytes of a small file, such as labels or a list. */
int cli_ranks_bytes(const cli_common *c, const char *path, const void *bytes, size_t count);

/* Returns the team whose ranks read files together, or NULL. */
kspec_team *cli_ranks_reading(const cli_common *c);
/* After all input was read, makes the team that divides the work, or NULL, and opens the checkpoint. */
kspec_status cli_team(const cli_common *c, kspec_team **out, kspec_error *err);

/* ---- devices ---- */

/* The option --device in a table of options. FIELD(device) is the offset of an int. */
#define CLI_DEVICE_OPTION(FIELD)                                                                         \
    {                                                                                                    \
        "device", 0, OPT_DEVICE, FIELD(device), "WHERE",                                                 \
            "auto (the default: a GPU where that is faster), cpu, gpu or gpu:K", cli_devices, .aside = 1 \
    }
extern const cli_choice cli_devices[];

/* Adds the keys "device" and "device_reason". */
void cli_device_keys(const kspec_device_used *d, json_t *to);
/* Prints a line "on gpu:0 ..." unless the device is the CPU. */
void cli_device_print(FILE *f, const kspec_device_used *d);

/* Return the escape sequences that start and end bold text; "" unless the table goes to a terminal. */
const char *cli_bold(const cli_common *c);
const char *cli_plain(const cli_common *c);
