/*
 * Runs gnuplot as a child process, with one pipe for its script, one for the picture and one for its
 * messages.
 */
#include "plot/plot.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* ---- finding gnuplot ---- */

static int is_program(const char *path) {
    struct stat s;
    return stat(path, &s) == 0 && S_ISREG(s.st_mode) && access(path, X_OK) == 0;
}

/* Writes the path of the gnuplot program to `path`. Returns 0 if the program is not found. */
static int look_for(const char *name, char *path, size_t size) {
    if (strchr(name, '/')) {
        snprintf(path, size, "%s", name);
        return strlen(name) < size && is_program(path);
    }
    for (const char *dir = getenv("PATH"); dir;) {
        size_t n = strcspn(dir, ":");
        int length = snprintf(path, size, "%.*s/%s", (int)n, n ? dir : ".", name);
        if (length > 0 && (size_t)length < size && is_program(path)) return 1;
        dir = dir[n] ? dir + n + 1 : NULL;
    }
    return 0;
}

int plot_has_gnuplot(void) {
    const char *given = getenv("KSPEC_GNUPLOT");
    char path[4096];
    return (given && *given) || look_for("gnuplot", path, sizeof path);
}

/* Finds gnuplot, or prints a message and returns status 1. */
static int find_gnuplot(char *path, size_t size) {
    const char *given = getenv("KSPEC_GNUPLOT");
    if (look_for(given && *given ? given : "gnuplot", path, size)) return EXIT_DONE;
    if (given && *given)
        return cli_error(EXIT_FAILED, "KSPEC_GNUPLOT=%s is not an executable program", given);
    return cli_error(EXIT_FAILED,
                     "gnuplot, which draws the pictures, is not installed: apt-get install gnuplot-nox");
}

/* Reads the time limit in seconds. */
static int patience(double *limit) {
    const char *given = getenv("KSPEC_GNUPLOT_TIMEOUT");
    *limit = 60;
    if (!given || !*given || (cli_parse_double(given, limit) && *limit > 0)) return EXIT_DONE;
    return cli_error(EXIT_USAGE, "KSPEC_GNUPLOT_TIMEOUT=%s is not a positive number of seconds", given);
}

int plot_find_gnuplot(void) {
    char path[4096];
    double limit;
    int status = find_gnuplot(path, sizeof path);
    return status ? status : patience(&limit);
}

/* ---- running gnuplot ---- */

typedef struct {
    char *data;
    size_t size, room;
    int fd;
} sink;

typedef enum { GOING, ENDED, NO_MEMORY, UNREADABLE, TOO_LONG } state;

/* Reads all bytes that have arrived in a pipe. */
static state drain(sink *s) {
    if (s->size + 65536 > s->room) {
        size_t room = 2 * s->room + 131072;
        char *more = realloc(s->data, room);
        if (!more) return NO_MEMORY;
        s->data = more, s->room = room;
    }
    ssize_t n = read(s->fd, s->data + s->size, s->room - s->size - 1);
    if (n < 0) return errno == EINTR || errno == EAGAIN ? GOING : UNREADABLE;
    s->size += (size_t)n;
    s->data[s->size] = 0;
    return n > 0 ? GOING : ENDED;
}

static void shut(int *fd) {
    if (*fd >= 0) close(*fd);
    *fd = -1;
}

/* The number of bytes kept of gnuplot's messages. */
enum { SAID = 4000 };

/* Returns the milliseconds until the time `end`, but at most a minute, since the caller polls again. */
static int left(double end) {
    double ms = 1000 * (end - cli_now());
    return ms <= 0 ? 0 : ms > 60000 ? 60000 : (int)ms + 1;
}

/*
 * Sends the script and collects both outputs until all pipes are closed, the time is up, or an error occurs.
 */
static state converse(int in, const char *script, size_t length, sink *out, sink *err, double end) {
    size_t sent = 0;
    state st = GOING;
    while (st == GOING && (out->fd >= 0 || err->fd >= 0)) {
        struct pollfd p[3] = {
            {in, POLLOUT, 0}, {out->fd, POLLIN, 0}, {err->fd, POLLIN, 0}}; /* poll() skips -1 */
        int ready = poll(p, 3, left(end));
        if (ready < 0 && errno != EINTR) st = UNREADABLE;
        if (ready <= 0 && st == GOING && left(end) == 0) st = TOO_LONG;
        if (ready <= 0) continue;
        if (p[0].revents) {
            ssize_t n = write(in, script + sent, length - sent);
            if (n > 0) sent += (size_t)n;
            if (sent == length || (n < 0 && errno != EINTR && errno != EAGAIN)) shut(&in);
        }
        sink *both[2] = {out, err};
        for (int k = 0; k < 2 && st == GOING; k++)
            if (p[k + 1].revents) {
                state more = drain(both[k]);
                if (k == 1 && err->size > SAID) err->size = SAID, err->data[SAID] = 0;
                if (more == ENDED) shut(&both[k]->fd);
                if (more > ENDED) st = more;
            }
    }
    int why = errno;
    shut(&in);
    shut(&out->fd);
    shut(&err->fd);
    errno = why;
    return st == GOING ? ENDED : st;
}

/* Waits for the child. Kills the child after a failure, or if the child takes too long. */
static state wait_for_end(pid_t child, state st, double end, int *ended) {
    for (pid_t r; st == ENDED && (r = waitpid(child, ended, WNOHANG)) <= 0;) {
        if (r < 0 && errno != EINTR) return st;
        if (r == 0 && left(end) == 0) st = TOO_LONG;
        if (r == 0) poll(NULL, 0, 1);
    }
    if (st == ENDED) return st;
    kill(child, SIGKILL);
    while (waitpid(child, ended, 0) < 0 && errno == EINTR) {
    }
    return st;
}

static int start(const char *program, int in[2], int out[2], int err[2], pid_t *child) {
    /* the option -d makes gnuplot ignore the settings in ~/.gnuplot */
    char *argv[] = {"gnuplot", "-d", "-", NULL};
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attr;
    sigset_t reset;
    sigemptyset(&reset);
    sigaddset(&reset, SIGPIPE); /* kspec ignores these */
    sigaddset(&reset, SIGXFSZ);
    if (posix_spawn_file_actions_init(&files)) return -1;
    if (posix_spawnattr_init(&attr)) {
        posix_spawn_file_actions_destroy(&files);
        return -1;
    }
    posix_spawn_file_actions_adddup2(&files, in[0], 0);
    posix_spawn_file_actions_adddup2(&files, out[1], 1);
    posix_spawn_file_actions_adddup2(&files, err[1], 2);
    posix_spawnattr_setsigdefault(&attr, &reset);
    posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGDEF);
    int failure = posix_spawn(child, program, &files, &attr, argv, environ);
    posix_spawnattr_destroy(&attr);
    posix_spawn_file_actions_destroy(&files);
    errno = failure;
    return failure ? -1 : 0;
}

/* Returns the line of gnuplot's messages that gives the reason ("line 0: ..."), or else the first line. */
static const char *complaint(char *text) {
    char *why = NULL, *save = NULL;
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        line += strspn(line, " \t");
        if (!why || strncmp(line, "line ", 5) == 0) why = line;
        if (strncmp(line, "line ", 5) == 0) break;
    }
    return why ? why : "";
}

int plot_run(const char *script, size_t length, char **picture, size_t *size) {
    char program[4096];
    int status = find_gnuplot(program, sizeof program), in[2], out[2], err[2], ended = 0;
    pid_t child;
    double limit;
    *picture = NULL;
    if (!status) status = patience(&limit);
    if (status) return status;
    if (pipe2(in, O_CLOEXEC)) return cli_error(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
    if (pipe2(out, O_CLOEXEC)) {
        status = cli_error(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
        close(in[0]), close(in[1]);
        return status;
    }
    if (pipe2(err, O_CLOEXEC)) {
        status = cli_error(EXIT_FAILED, "cannot make a pipe: %s", strerror(errno));
        close(in[0]), close(in[1]), close(out[0]), close(out[1]);
        return status;
    }
    int failure = start(program, in, out, err, &child) ? errno : 0;
    close(in[0]), close(out[1]), close(err[1]);
    if (failure) {
        close(in[1]), close(out[0]), close(err[0]);
        return cli_error(EXIT_FAILED, "cannot run %s: %s", program, strerror(failure));
    }
    cli_guard_child((int)child);
    fcntl(in[1], F_SETFL, O_NONBLOCK);
    sink result = {NULL, 0, 0, out[0]}, said = {NULL, 0, 0, err[0]};
    double end = cli_now() + limit;
    state st = converse(in[1], script, length, &result, &said, end);
    int why = errno;
    st = wait_for_end(child, st, end, &ended);
    cli_guard_child(0);
    if (st == NO_MEMORY)
        status = cli_error(EXIT_FAILED, "out of memory for the picture");
    else if (st == UNREADABLE)
        status = cli_error(EXIT_FAILED, "cannot read what gnuplot draws: %s", strerror(why));
    else if (st == TOO_LONG)
        status = cli_error(EXIT_FAILED,
                           "gnuplot took longer than %g s (KSPEC_GNUPLOT_TIMEOUT) and was stopped", limit);
    else if (WIFSIGNALED(ended))
        status = cli_error(EXIT_FAILED, "gnuplot was ended by signal %d (%s)", WTERMSIG(ended),
                           strsignal(WTERMSIG(ended)));
    else if (WEXITSTATUS(ended))
        status = cli_error(EXIT_FAILED, "gnuplot failed with status %d%s%.300s", WEXITSTATUS(ended),
                           said.size ? ": " : "", said.size ? complaint(said.data) : "");
    else if (result.size == 0)
        status = cli_error(EXIT_FAILED, "gnuplot drew nothing%s%.300s", said.size ? ": " : "",
                           said.size ? complaint(said.data) : "");
    free(said.data);
    if (status) {
        free(result.data);
        return status;
    }
    *picture = result.data, *size = result.size;
    return EXIT_DONE;
}
