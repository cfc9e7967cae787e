#define _XOPEN_SOURCE 700 /* realpath */
#include "io/temp.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/*
 * The temporary files in flight, in static memory so that a signal handler can read it. A name is in the
 * table from before its file is made until after it is renamed or removed.
 */
enum { SLOTS = 16, FREE = 0, TAKEN, MAKING, LIVE };
static struct {
    atomic_int state;
    pthread_t maker; /* while MAKING */
    char path[PATH_MAX];
} slots[SLOTS];

/*
 * While one thread is in the handler the others go on, and may make a file just after its name was looked
 * for. So a thread says that it is about to (MAKING) before it asks whether the process is ending, and the
 * handler the other way round: one of them sees the other. The handler waits for a file that is being made,
 * unless it is its own thread that it has interrupted there.
 */
static atomic_int ending;
enum { PATIENCE = 500 }; /* milliseconds */

void kspec_write_discard_all(void) {
    atomic_store(&ending, 1);
    for (int i = 0; i < SLOTS; i++) {
        for (int k = 0; k < PATIENCE && atomic_load(&slots[i].state) == MAKING; k++) {
            if (pthread_equal(slots[i].maker, pthread_self())) break;
            poll(NULL, 0, 1);
        }
        if (atomic_load(&slots[i].state) >= MAKING) unlink(slots[i].path);
    }
}

/*
 * open(), with the slot MAKING meanwhile. A process that is ending will have ended before the wait is over.
 */
static int create(int slot) {
    slots[slot].maker = pthread_self();
    atomic_store(&slots[slot].state, MAKING);
    if (atomic_load(&ending)) {
        atomic_store(&slots[slot].state, TAKEN);
        poll(NULL, 0, PATIENCE);
        atomic_store(&ending, 0);
        atomic_store(&slots[slot].state, MAKING);
    }
    int fd = open(slots[slot].path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    /* where it was not made it is not our file: a handler must not remove it */
    atomic_store(&slots[slot].state, fd >= 0 ? LIVE : TAKEN);
    return fd;
}

static int take_slot(void) {
    for (int i = 0; i < SLOTS; i++) {
        int expected = FREE;
        if (atomic_compare_exchange_strong(&slots[i].state, &expected, TAKEN)) return i;
    }
    return -1;
}

static kspec_status cannot(const char *path, int code, kspec_error *err) {
    return ks_fail(err, KSPEC_E_IO, "cannot write %s: %s", path, strerror(code));
}

static int is_stdout(const char *path) { return strcmp(path, "-") == 0 || strcmp(path, "/dev/stdout") == 0; }

int ks_temp_is_direct(const char *path) {
    struct stat st;
    return is_stdout(path) || (stat(path, &st) == 0 && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode));
}

/*
 * Makes the temporary file, with the mode that open() gives a new file (0666 less the umask; mkstemp() gives
 * 0600), in a slot. Returns 0 or an errno.
 */
static int make(ks_temp *t) {
    static atomic_uint serial;
    char *path = slots[t->slot].path;
    for (int attempt = 0; attempt < 100; attempt++) {
        int n = snprintf(path, PATH_MAX, "%s.%ld-%u.tmp", t->target, (long)getpid(),
                         atomic_fetch_add(&serial, 1));
        if (n >= PATH_MAX) return ENAMETOOLONG;
        t->fd = create(t->slot);
        if (t->fd >= 0) return 0;
        if (errno != EEXIST) return errno;
    }
    return EEXIST;
}

kspec_status ks_temp_open(ks_temp *t, const char *path, kspec_error *err) {
    *t = (ks_temp){.fd = -1, .slot = -1};
    if (strlen(path) >= sizeof t->target) return cannot(path, ENAMETOOLONG, err);
    strcpy(t->target, path);
    if (ks_temp_is_direct(path)) {
        t->fd = is_stdout(path) ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
        return t->fd < 0 ? cannot(path, errno, err) : KSPEC_OK;
    }
    struct stat st;
    int exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode)) return cannot(path, EISDIR, err);
    if (exists && access(path, W_OK) != 0) return cannot(path, errno, err); /* a rename would not mind */
    /* a symbolic link stays one: what it points to is replaced */
    if (exists && !realpath(path, t->target)) return cannot(path, errno, err);

    t->slot = take_slot();
    if (t->slot < 0)
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: %d other files are being written", path, SLOTS);
    int code = make(t);
    if (code) {
        ks_temp_discard(t);
        return cannot(path, code, err);
    }
    if (exists)
        fchmod(t->fd, st.st_mode & 0777); /* as it was; where this is not allowed the default will do */
    return KSPEC_OK;
}

kspec_status ks_temp_write(ks_temp *t, const void *bytes, size_t count, kspec_error *err) {
    for (const char *p = bytes; count;) {
        ssize_t done = write(t->fd, p, count);
        if (done < 0 && errno == EINTR) continue;
        if (done < 0) return cannot(t->target, errno, err);
        p += done;
        count -= (size_t)done;
    }
    return KSPEC_OK;
}

/* Returns 0 or an errno. */
static int close_file(ks_temp *t) {
    int fd = t->fd;
    t->fd = -1;
    return fd < 0 || fd == STDOUT_FILENO || close(fd) == 0 ? 0 : errno;
}

kspec_status ks_temp_commit(ks_temp *t, kspec_error *err) {
    int code = 0;
    if (t->slot >= 0 && fsync(t->fd) != 0) code = errno; /* a full disk may show only now */
    int closing = close_file(t);
    if (!code) code = closing;
    if (!code && t->slot >= 0 && rename(slots[t->slot].path, t->target) != 0) code = errno;
    if (!code && t->slot >= 0) {
        atomic_store(&slots[t->slot].state, FREE);
        t->slot = -1;
    }
    ks_temp_discard(t);
    return code ? cannot(t->target, code, err) : KSPEC_OK;
}

void ks_temp_discard(ks_temp *t) {
    close_file(t);
    if (t->slot < 0) return;
    if (atomic_load(&slots[t->slot].state) == LIVE) unlink(slots[t->slot].path);
    atomic_store(&slots[t->slot].state, FREE);
    t->slot = -1;
}

kspec_status kspec_write_text(const char *path, const char *text, size_t length, kspec_error *err) {
    ks_clear(err);
    if (!path || (length && !text))
        return ks_fail(err, KSPEC_E_ARG, "no %s to write (NULL)", path ? "text" : "path");
    ks_temp t;
    kspec_status status = ks_temp_open(&t, path, err);
    if (status == KSPEC_OK) status = ks_temp_write(&t, text, length, err);
    if (status == KSPEC_OK) return ks_temp_commit(&t, err);
    ks_temp_discard(&t);
    return status;
}
