/* Writes a file under a temporary name and renames it at the end. */
#include "write/temp.h"

#include "base/error.h"
#include "write/target.h"
#include "kspec/host.h"

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
 * The temporary files that are being written, in static memory so that a signal handler can read it. The
 * table contains a name from before its file is created until after it is renamed or removed.
 */
enum { SLOTS = 16, FREE = 0, TAKEN, MAKING, LIVE };
static struct {
    atomic_int state;
    pthread_t maker; /* while MAKING */
    char path[PATH_MAX];
} slots[SLOTS];

/*
 * While one thread runs the handler, the other threads go on. They may create a file just after the handler
 * has looked for its name. So a thread first announces the file (MAKING) and then asks whether the process is
 * ending; the handler does these steps in the opposite order. So either the thread sees that the process is
 * ending, or the handler sees the announcement. The handler then waits until the file exists, unless it
 * interrupted the very thread that creates the file.
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
 * Calls open() while the slot is in state MAKING. If the process is ending, the call waits, and the process
 * ends first.
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
    /* If open() failed, another process may own the file, and the handler must not remove it. */
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
 * Creates the temporary file in a slot, with the mode that open() gives a new file (0666 without the bits of
 * the umask; mkstemp() gives 0600). Returns 0 or an errno.
 */
static int make(ks_temp *t) {
    static atomic_uint serial;
    char *path = slots[t->slot].path;
    for (int attempt = 0; attempt < 100; attempt++) {
        int code = ks_target_temporary(path, t->target, atomic_fetch_add(&serial, 1));
        if (code) return code;
        t->fd = create(t->slot);
        if (t->fd < 0 && errno != EEXIST) return errno;
        if (t->fd >= 0 && ks_target_hold(t->fd)) return 0;
        if (t->fd >= 0) close(t->fd);
        t->fd = -1;
        atomic_store(&slots[t->slot].state, TAKEN);
    }
    return EEXIST;
}

kspec_status ks_temp_open(ks_temp *t, const char *path, kspec_error *err) {
    *t = (ks_temp){.fd = -1, .slot = -1};
    if (ks_temp_is_direct(path)) {
        if (strlen(path) >= sizeof t->target) return cannot(path, ENAMETOOLONG, err);
        strcpy(t->target, path);
        t->fd = is_stdout(path) ? STDOUT_FILENO : open(path, O_WRONLY | O_CLOEXEC);
        return t->fd < 0 ? cannot(path, errno, err) : KSPEC_OK;
    }
    struct stat st;
    t->replaces = stat(path, &st) == 0;
    if (t->replaces && S_ISDIR(st.st_mode)) return cannot(path, EISDIR, err);
    /* A rename would ignore this permission. */
    if (t->replaces && access(path, W_OK) != 0) return cannot(path, errno, err);
    /* A symbolic link stays a link. Its target is replaced or created. */
    int code = ks_target_resolve(t->target, path);
    if (code) return cannot(path, code, err);
    if (t->replaces) t->mode = st.st_mode & 0777, t->uid = st.st_uid, t->gid = st.st_gid;

    t->slot = take_slot();
    if (t->slot < 0)
        return ks_fail(err, KSPEC_E_ARG, "cannot write %s: %d other files are being written", path, SLOTS);
    ks_target_sweep(t->target);
    code = make(t);
    if (code) {
        ks_temp_discard(t);
        return cannot(path, code, err);
    }
    /* The new file gets the mode of the old one. If that is not allowed, the default mode will do. */
    if (t->replaces) fchmod(t->fd, t->mode);
    return KSPEC_OK;
}

kspec_status ks_temp_check(const char *path, kspec_error *err) {
    /* Opening a pipe could wait for its reader, or end the reader's input. */
    if (ks_temp_is_direct(path))
        return is_stdout(path) || access(path, W_OK) == 0 ? KSPEC_OK : cannot(path, errno, err);
    ks_temp t;
    kspec_status status = ks_temp_open(&t, path, err);
    ks_temp_discard(&t);
    return status;
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

/*
 * Sets the owner of the replaced file, if permitted, and the mode again, which a change of owner may have
 * cleared.
 */
static void keep_owner(ks_temp *t) {
    struct stat st;
    if (!t->replaces || fstat(t->fd, &st) != 0 || (st.st_uid == t->uid && st.st_gid == t->gid)) return;
    if (fchown(t->fd, t->uid, t->gid) != 0 && fchown(t->fd, (uid_t)-1, t->gid) != 0) return;
    fchmod(t->fd, t->mode);
}

/*
 * Renames the file while it is locked, so that no other run takes it for a leftover. Returns 0 or an errno.
 */
static int give_name(ks_temp *t) {
    if (fsync(t->fd) != 0) return errno; /* On a full disk, the error may appear only here. */
    keep_owner(t);
    if (rename(slots[t->slot].path, t->target) != 0) return errno;
    atomic_store(&slots[t->slot].state, FREE);
    t->slot = -1;
    return ks_target_flush(t->target);
}

kspec_status ks_temp_commit(ks_temp *t, kspec_error *err) {
    int code = t->slot >= 0 ? give_name(t) : 0, closing = 0;
    if (!code) closing = close_file(t);
    ks_temp_discard(t);
    code = code ? code : closing;
    return code ? cannot(t->target, code, err) : KSPEC_OK;
}

void ks_temp_discard(ks_temp *t) {
    if (t->slot >= 0) {
        if (atomic_load(&slots[t->slot].state) == LIVE) unlink(slots[t->slot].path);
        atomic_store(&slots[t->slot].state, FREE);
        t->slot = -1;
    }
    close_file(t);
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
