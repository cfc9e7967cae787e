/* Prints the messages of the tool: errors, warnings about results, progress; and handles signals. */
#include "core/cli.h"
#include "kspec/host.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

_Thread_local const cli_host *cli_hosted;

static int on_terminal(int fd) { return isatty(fd) && !getenv("NO_COLOR"); }

int cli_error(int status, const char *fmt, ...) {
    char text[4096];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    /* A name may contain line breaks and escape sequences, but the message must be one line. */
    cli_make_printable(text, strlen(text), 0);
    if (cli_hosted) {
        cli_hosted->error(cli_hosted->ctx, status, text);
        return status;
    }
    cli_ranks_note(text);
    if (cli_is_quiet_rank()) return status;
    cli_progress_end();
    fprintf(stderr, on_terminal(2) ? "\033[31mkspec:\033[0m %s\n" : "kspec: %s\n", text);
    return status;
}

/*
 * Adds " (--select-cols 1-)": the flag of the library's option, if the command has one. The value follows,
 * unless the user gave the option. nmax becomes "-n 4".
 */
static void add_flag(const cli_common *c, const char *option, const char *setting, int always, char *text,
                     size_t size) {
    char flag[64];
    snprintf(flag, sizeof flag, "%s", option);
    for (char *p = flag; *p; p++)
        if (*p == '_') *p = '-';
    const int order = strcmp(flag, "nmax") == 0;
    if (order) snprintf(flag, sizeof flag, "n");
    /* a command without --select-cols reads the columns that --target names */
    if (c && strcmp(flag, "select-cols") == 0 && !cli_takes(c->command, flag))
        snprintf(flag, sizeof flag, "target"), setting = "COLUMN";
    if (!c || !*flag || !cli_takes(c->command, flag)) return;
    if (!setting || (!always && cli_given(c, flag))) setting = "";
    size_t n = strlen(text);
    snprintf(text + n, size - n, " (%s%s%s%s)", order ? "-" : "--", flag, *setting ? " " : "", setting);
}

static int fail(int status, kspec_status st, const kspec_error *err) {
    char text[640];
    snprintf(text, sizeof text, "%s", err->msg[0] ? err->msg : kspec_name(KSPEC_NAMES_STATUS, st));
    add_flag(cli_running(), err->option, err->setting, 0, text, sizeof text);
    if (cli_hosted) cli_hosted->failed(cli_hosted->ctx, st);
    return cli_error(status, "%s", text);
}

int cli_fail(kspec_status st, const kspec_error *err) {
    switch (st) {
    case KSPEC_E_ARG: return fail(EXIT_USAGE, st, err);
    case KSPEC_E_DATA:
    case KSPEC_E_IO: return fail(EXIT_INPUT, st, err);
    case KSPEC_E_CANCELLED: return fail(EXIT_INTERRUPTED, st, err);
    case KSPEC_OK:
    case KSPEC_E_NOMEM:
    case KSPEC_E_NUMERIC: break;
    }
    return fail(EXIT_FAILED, st, err);
}

int cli_fail_data(kspec_status st, const kspec_error *err) {
    /* A wrong option is an error of usage, not of the file. */
    return st == KSPEC_E_ARG && !err->option[0] ? fail(EXIT_INPUT, st, err) : cli_fail(st, err);
}

static int closed_pipe(const char *message) {
    const char *why = strerror(EPIPE);
    size_t n = strlen(message), m = strlen(why);
    return n >= m && strcmp(message + n - m, why) == 0;
}

int cli_fail_output(void) {
    if (errno == EPIPE) return EXIT_FAILED;
    return cli_error(EXIT_FAILED, "cannot write to standard output: %s", strerror(errno));
}

int cli_fail_writing(kspec_status st, const kspec_error *err) {
    if (st == KSPEC_E_IO && closed_pipe(err->msg)) return EXIT_FAILED;
    return st == KSPEC_E_IO ? fail(EXIT_FAILED, st, err) : cli_fail(st, err);
}

void cli_error_prefix(kspec_error *err, const char *name) {
    kspec_error plain = *err;
    snprintf(err->msg, sizeof err->msg, "%.160s: %.300s", name, plain.msg);
}

int cli_no_memory(void) { return cli_error(EXIT_FAILED, "out of memory"); }

/* Stores an object with code, severity and text. Without memory, these are missing (cli_memory_lost()). */
static void tell(const cli_common *c, json_t *doubt) {
    const char *severity = json_string_value(json_object_get(doubt, "severity")),
               *text = json_string_value(json_object_get(doubt, "text"));
    const json_t *known;
    size_t k;
    json_array_foreach(c->doubts, k, known) {
        if (!json_equal(known, doubt)) continue;
        json_decref(doubt);
        return;
    }
    if (json_array_append_new(c->doubts, doubt)) return; /* this releases it */
    if (!severity || !text || strcmp(severity, "note") == 0) return;
    json_array_append(c->warnings, json_object_get(doubt, "text"));
    if (!c->quiet && !cli_hosted && !cli_is_quiet_rank()) {
        cli_progress_end();
        fprintf(stderr, on_terminal(2) ? "\033[33mkspec: warning:\033[0m %s\n" : "kspec: warning: %s\n",
                text);
    }
}

void cli_warn(const cli_common *c, const char *fmt, ...) {
    char text[512];
    va_list ap;
    va_start(ap, fmt);
    vsnprintf(text, sizeof text, fmt, ap);
    va_end(ap);
    cli_make_printable(text, strlen(text), 0);
    tell(c, json_pack("{s:s, s:s, s:o}", "code", "tool", "severity", "warning", "text", cli_string(text)));
}

static void doubt_text(const cli_common *c, const kspec_doubt *d, char *text, size_t size) {
    kspec_doubt_text(d, text, size);
    if (d->option) add_flag(c, d->option, d->setting, d->code == KSPEC_DOUBT_LEFT_OUT, text, size);
}

void cli_doubts(const cli_common *c, const char *where, kspec_doubt *const *doubts, size_t count) {
    static const char *const severities[] = {"note", "warning", "serious"};
    for (size_t k = 0; k < count; k++) {
        kspec_doubt d = *doubts[k];
        char text[640];
        if (where) d.where = where;
        doubt_text(c, &d, text, sizeof text);
        json_t *o = json_pack("{s:s, s:s, s:o}", "code", kspec_name(KSPEC_NAMES_DOUBT, d.code), "severity",
                              severities[d.severity], "text", cli_string(text));
        if (d.where) json_object_set_new(o, "where", cli_string(d.where));
        if (d.what) json_object_set_new(o, "what", cli_string(d.what));
        if (d.option) json_object_set_new(o, "option", json_string(d.option));
        if (d.option && d.setting) json_object_set_new(o, "setting", cli_string(d.setting));
        for (size_t i = 0; i < d.count; i++) json_object_set_new(o, d.names[i], cli_real(d.values[i]));
        tell(c, o);
    }
}

void cli_left_out_print(FILE *f, const cli_common *c, kspec_doubt *const *doubts, size_t count) {
    for (size_t k = 0, first = 1; k < count; k++) {
        char text[640];
        const kspec_doubt *d = doubts[k];
        if (d->code != KSPEC_DOUBT_LEFT_OUT) continue;
        if (first) fputc('\n', f);
        first = 0;
        doubt_text(c, d, text, sizeof text);
        fprintf(f, "%s\n", text);
    }
}

void cli_doubts_of(const cli_common *c, const char *where, const json_t *object) {
    size_t k;
    const json_t *d;
    json_array_foreach(json_object_get(object, "doubts"), k, d) {
        json_t *copy = json_copy((json_t *)d);
        if (where) {
            json_object_set_new(copy, "text",
                                json_sprintf("%s: %s", where, json_string_value(json_object_get(d, "text"))));
            if (!json_object_get(d, "where")) json_object_set_new(copy, "where", cli_string(where));
        }
        tell(c, copy);
    }
}

/* ---- progress: a bar on stderr, after one second, ten times a second ---- */

static _Thread_local double started, drawn;

double cli_now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static int report(void *ctx, double fraction) {
    (void)ctx;
    double t = cli_now();
    if (t - started < 1 || t - drawn < 0.1) return 0;
    drawn = t;
    enum { WIDTH = 40 };
    char bar[WIDTH + 1];
    int full = (int)(fraction * WIDTH + 0.5);
    for (int i = 0; i < WIDTH; i++) bar[i] = i < full ? '=' : i == full ? '>' : ' ';
    bar[WIDTH] = 0;
    double left = fraction > 0.01 ? (t - started) * (1 - fraction) / fraction : -1;
    fprintf(stderr, "\r[%s] %3.0f%%", bar, 100 * fraction);
    if (left >= 0) fprintf(stderr, "  %.0f s left ", left);
    fputs("\033[K", stderr);
    fflush(stderr);
    return 0;
}

kspec_progress cli_progress(const cli_common *c) {
    started = cli_now();
    drawn = 0;
    if (cli_hosted) return cli_hosted->progress;
    if (c->quiet || !isatty(2) || cli_is_quiet_rank()) return (kspec_progress){NULL, NULL};
    return (kspec_progress){report, NULL};
}

void cli_progress_end(void) {
    if (drawn > 0) fputs("\r\033[K", stderr);
    drawn = 0;
}

/* ---- signals: unfinished files are removed, and the tool ends at once ---- */

/* The child process that a signal also ends, or 0 */
static volatile sig_atomic_t child;

void cli_guard_child(int pid) { child = pid; }

static void interrupted(int signal) {
    kspec_write_discard_all(); /* This function may only make async-signal-safe calls. */
    if (child > 0) kill((pid_t)child, SIGTERM);
    if (drawn > 0 && write(2, "\r\033[K", 4) < 0) _exit(128 + signal);
    _exit(128 + signal);
}

/* Ends the tool with a message if a memory-mapped input file shrinks, or cannot be read. */
static void bus_error(int signal) {
    static const char text[] = "kspec: an input file shrank or could not be read while in use\n";
    (void)signal;
    kspec_write_discard_all();
    if (write(2, text, sizeof text - 1) < 0) _exit(EXIT_INPUT);
    _exit(EXIT_INPUT);
}

/*
 * Catches every signal that ends the tool from outside: Ctrl-C, kill, a closing terminal (unless nohup
 * ignores it), the limit on CPU time, warnings of batch systems, timers inherited from the parent process.
 */
void cli_catch_signals(void) {
    static const int ends[] = {SIGINT,  SIGTERM, SIGHUP,  SIGQUIT,   SIGXCPU,
                               SIGUSR1, SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF};
    struct sigaction a, old;
    memset(&a, 0, sizeof a);
    sigemptyset(&a.sa_mask);
    a.sa_handler = interrupted;
    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        if (ends[k] == SIGINT || ends[k] == SIGTERM ||
            (sigaction(ends[k], NULL, &old) == 0 && old.sa_handler != SIG_IGN))
            sigaction(ends[k], &a, NULL);
    a.sa_handler = bus_error;
    sigaction(SIGBUS, &a, NULL);
    a.sa_handler = SIG_IGN;
    sigaction(SIGPIPE, &a, NULL); /* a closed pipe becomes a write error */
    sigaction(SIGXFSZ, &a, NULL); /* a file beyond the size limit also becomes a write error */
}
