/* Writers: what they write can be read back to the last bit, and a target is replaced whole or not at all. */
#include "help/failing_alloc.h"
#include "help/locale.h"
#include "formats/array.h"
#include "kspec.h"
#include "test.h"
#include "kspec/host.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* The library's calls of fsync() come here, to be counted. */
static int flushed_files, flushed_folders;
int fsync(int fd) {
    struct stat st;
    if (fstat(fd, &st) == 0) S_ISDIR(st.st_mode) ? flushed_folders++ : flushed_files++;
    return (int)syscall(SYS_fsync, fd);
}

static char dir[] = "/tmp/kspec-test-XXXXXX";

static const char *in_dir(const char *name) {
    static char path[4][512];
    static int turn;
    turn = (turn + 1) % 4;
    snprintf(path[turn], sizeof path[turn], "%s/%s", dir, name);
    return path[turn];
}

static int files_in_dir(void) {
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* The whole file as a string, to be freed. */
static char *contents(const char *path) {
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    char *text = calloc(1, 1 << 20);
    fread(text, 1, (1 << 20) - 1, f);
    fclose(f);
    return text;
}

static const double awkward[] = {
    0,    -0.0, 1,    -1,     0.1,  1.0 / 3, 1e300,  -2.5e-308,        5e-324,
    1e15, 1e16, 1e-5, 123456, 1e22, 0.3,     -65536, 9007199254740993, 2.2250738585072014e-308};
enum { COUNT = sizeof awkward / sizeof *awkward };

static kspec_status write_array(const char *path, int ndim, const size_t *shape, const double *v,
                                size_t count, size_t band, kspec_error *err) {
    kspec_writer *w;
    kspec_status status = kspec_write_open(path, ndim, shape, &w, err);
    if (status) {
        CHECK(w == NULL);
        return status;
    }
    for (size_t at = 0; at < count && status == KSPEC_OK; at += band)
        status = kspec_write_values(w, v + at, count - at < band ? count - at : band, err);
    if (status) {
        kspec_write_abort(w);
        return status;
    }
    return kspec_write_close(w, err);
}

TEST(npy_reads_back) {
    const size_t shapes[][3] = {{2, 9, 0}, {3, 2, 3}, {1, 18, 0}, {18, 1, 1}};
    for (int s = 0; s < 4; s++)
        for (size_t band = 1; band <= COUNT; band += 5) {
            int ndim = shapes[s][2] ? 3 : 2;
            kspec_error err = {0};
            CHECK_MSG(write_array(in_dir("x.npy"), ndim, shapes[s], awkward, COUNT, band, &err) == KSPEC_OK,
                      "%s", err.msg);
            ks_bytes b;
            ks_array a;
            CHECK(ks_bytes_open(&b, in_dir("x.npy"), &err) == KSPEC_OK && b.size == 128 + 8 * COUNT);
            CHECK(b.data[127] == '\n' && b.data[126] == ' ' && b.data[6] == 1);
            CHECK_MSG(ks_npy_parse(&b, "x", &a, &err) == KSPEC_OK, "%s", err.msg);
            CHECK(a.storage.map != NULL && a.ndim == ndim &&
                  memcmp(a.shape, shapes[s], sizeof(size_t) * 2) == 0);
            CHECK(memcmp(a.data, awkward, sizeof awkward) == 0);
            ks_array_free(&a);
            unlink(in_dir("x.npy"));
            CHECK(files_in_dir() == 0);
        }
}

TEST(csv_reads_back) {
    const size_t shape[] = {3, 6};
    kspec_error err = {0};
    CHECK_MSG(write_array(in_dir("x.csv"), 2, shape, awkward, COUNT, 7, &err) == KSPEC_OK, "%s", err.msg);
    char *text = contents(in_dir("x.csv")), *p = text;
    for (size_t k = 0; k < COUNT; k++) {
        double v = strtod(p, &p);
        CHECK_MSG(memcmp(&v, &awkward[k], sizeof v) == 0, "%.17g", v);
        CHECK(*p++ == (k % 6 == 5 ? '\n' : ','));
    }
    CHECK(*p == 0);
    free(text);
    const double few[] = {0.1, NAN, -INFINITY, 0.5};
    const size_t two[] = {2, 2};
    CHECK(write_array(in_dir("x.csv"), 2, two, few, 4, 4, &err) == KSPEC_OK);
    text = contents(in_dir("x.csv"));
    CHECK_MSG(strcmp(text, "0.1,nan\n-inf,0.5\n") == 0, "%s", text);
    free(text);
    unlink(in_dir("x.csv"));
}

TEST(json_is_nested) {
    const double v[] = {0.1, NAN, INFINITY, 4, 5, 6, 7, 1e-7};
    const size_t cube[] = {2, 2, 2}, flat[] = {2, 4};
    kspec_error err = {0};
    CHECK(write_array(in_dir("x.json"), 3, cube, v, 8, 3, &err) == KSPEC_OK);
    char *text = contents(in_dir("x.json"));
    CHECK_MSG(strcmp(text, "[[[0.1,null],\n[null,4]],\n[[5,6],\n[7,1e-07]]]\n") == 0, "%s", text);
    free(text);
    CHECK(write_array(in_dir("x.json"), 2, flat, v, 8, 8, &err) == KSPEC_OK);
    text = contents(in_dir("x.json"));
    CHECK_MSG(strcmp(text, "[[0.1,null,null,4],\n[5,6,7,1e-07]]\n") == 0, "%s", text);
    free(text);
    unlink(in_dir("x.json"));
}

/* More than a buffer of text, against one fprintf per number. */
TEST(long_csv) {
    enum { ROWS = 700, COLS = 13 };
    const size_t shape[] = {ROWS, COLS};
    static double v[ROWS * COLS];
    kspec_random_normal(1, 0, 0, ROWS * COLS, v);
    kspec_error err = {0};
    CHECK(write_array(in_dir("x.csv"), 2, shape, v, ROWS * COLS, 1000, &err) == KSPEC_OK);
    char *text = contents(in_dir("x.csv")), *p = text;
    int wrong = 0;
    for (size_t k = 0; k < ROWS * COLS; k++) {
        wrong += strtod(p, &p) != v[k];
        wrong += *p++ != (k % COLS == COLS - 1 ? '\n' : ',');
    }
    CHECK_MSG(!wrong && *p == 0, "%d wrong", wrong);
    free(text);
    unlink(in_dir("x.csv"));
}

TEST(wrong_arguments) {
    const size_t shape[] = {2, 3, 4}, none[] = {2, 0}, huge[] = {SIZE_MAX / 2, 3};
    kspec_writer *w;
    kspec_error err = {0};
    CHECK_FAILS(kspec_write_open(in_dir("x.txt"), 2, shape, &w, &err), KSPEC_E_ARG, err,
                "the suffix must be one of .npy, .csv, .json");
    CHECK_FAILS(kspec_write_open(in_dir("x"), 2, shape, &w, &err), KSPEC_E_ARG, err, "suffix");
    CHECK_FAILS(kspec_write_open("a.npy/x", 2, shape, &w, &err), KSPEC_E_ARG, err, "suffix");
    CHECK_FAILS(kspec_write_open(in_dir("x.csv"), 3, shape, &w, &err), KSPEC_E_ARG, err,
                "csv takes 2 axes, not 3");
    CHECK_FAILS(kspec_write_open(in_dir("x.npy"), 1, shape, &w, &err), KSPEC_E_ARG, err,
                "1 axes, not 2 or 3");
    CHECK_FAILS(kspec_write_open(in_dir("x.npy"), 2, none, &w, &err), KSPEC_E_ARG, err,
                "axis 1 has length 0");
    CHECK_FAILS(kspec_write_open(in_dir("x.npy"), 2, huge, &w, &err), KSPEC_E_ARG, err, "too large");
    CHECK_FAILS(kspec_write_open(in_dir("no/x.npy"), 2, shape, &w, &err), KSPEC_E_IO, err, "No such file");
    mkdir(in_dir("d.npy"), 0700);
    CHECK_FAILS(kspec_write_open(in_dir("d.npy"), 2, shape, &w, &err), KSPEC_E_IO, err, "Is a directory");
    rmdir(in_dir("d.npy"));
    char longest[5000];
    memset(longest, 'a', sizeof longest);
    strcpy(longest + sizeof longest - 5, ".npy");
    CHECK_FAILS(kspec_write_open(longest, 2, shape, &w, &err), KSPEC_E_IO, err, "cannot write aaa");
    CHECK_FAILS(kspec_write_open(NULL, 2, shape, &w, &err), KSPEC_E_ARG, err, "no path");
    CHECK_FAILS(kspec_write_open(in_dir("x.npy"), 2, NULL, &w, &err), KSPEC_E_ARG, err, "no shape");
    CHECK_FAILS(kspec_write_values(NULL, &(double){1}, 1, &err), KSPEC_E_ARG, err, "no writer");
    CHECK_FAILS(kspec_write_text(NULL, "x", 1, &err), KSPEC_E_ARG, err, "no path");
    CHECK_FAILS(kspec_write_text(in_dir("x"), NULL, 1, &err), KSPEC_E_ARG, err, "no text");
    CHECK(kspec_write_open(in_dir("x.npy"), 2, shape, &w, &err) == KSPEC_OK);
    CHECK_FAILS(kspec_write_values(w, NULL, 1, &err), KSPEC_E_ARG, err, "no values");
    kspec_write_abort(w);
    kspec_write_abort(NULL);
    CHECK(kspec_write_close(NULL, &err) == KSPEC_OK);
    CHECK(files_in_dir() == 0);
}

TEST(too_few_and_too_many_values) {
    const size_t shape[] = {2, 3};
    const double v[7] = {0};
    kspec_error err = {0};
    CHECK_FAILS(write_array(in_dir("x.npy"), 2, shape, v, 5, 5, &err), KSPEC_E_ARG, err,
                "5 of 6 values were given");
    CHECK_FAILS(write_array(in_dir("x.npy"), 2, shape, v, 7, 4, &err), KSPEC_E_ARG, err,
                "3 values where 2 of 6 are left");
    kspec_writer *w;
    CHECK(kspec_write_open(in_dir("x.npy"), 2, shape, &w, &err) == KSPEC_OK);
    CHECK(kspec_write_values(w, v, 7, NULL) == KSPEC_E_ARG);
    CHECK_FAILS(kspec_write_values(w, v, 1, &err), KSPEC_E_ARG, err, "7 values where 6 of 6 are left");
    CHECK_FAILS(kspec_write_close(w, &err), KSPEC_E_ARG, err, "7 values where 6 of 6 are left");
    CHECK(files_in_dir() == 0);
}

TEST(the_target_is_untouched_until_close) {
    const size_t shape[] = {2, 2};
    const double v[4] = {1, 2, 3, 4};
    kspec_error err = {0};
    kspec_writer *w;
    CHECK(kspec_write_text(in_dir("x.csv"), "old", 3, &err) == KSPEC_OK);
    chmod(in_dir("x.csv"), 0640);
    symlink("x.csv", in_dir("link.csv"));
    for (int way = 0; way < 3; way++) { /* abort, close, close through a link */
        const char *path = in_dir(way == 2 ? "link.csv" : "x.csv");
        CHECK(kspec_write_open(path, 2, shape, &w, &err) == KSPEC_OK);
        CHECK(kspec_write_values(w, v, 4, &err) == KSPEC_OK);
        CHECK(files_in_dir() == 3);
        char *text = contents(path);
        CHECK(strcmp(text, way < 2 ? "old" : "1,2\n3,4\n") == 0);
        free(text);
        if (way == 0)
            kspec_write_abort(w);
        else
            CHECK(kspec_write_close(w, &err) == KSPEC_OK);
        text = contents(path);
        CHECK(strcmp(text, way ? "1,2\n3,4\n" : "old") == 0);
        free(text);
        CHECK(files_in_dir() == 2);
    }
    struct stat st;
    CHECK(stat(in_dir("x.csv"), &st) == 0 && (st.st_mode & 0777) == 0640); /* the mode is kept, */
    CHECK(lstat(in_dir("link.csv"), &st) == 0 && S_ISLNK(st.st_mode));     /* and the link */
    unlink(in_dir("link.csv"));
    chmod(in_dir("x.csv"), 0400);
    if (geteuid() != 0)
        CHECK_FAILS(kspec_write_text(in_dir("x.csv"), "new", 3, &err), KSPEC_E_IO, err, "Permission denied");
    unlink(in_dir("x.csv"));

    mode_t before = umask(027);
    CHECK(kspec_write_text(in_dir("new"), "", 0, &err) == KSPEC_OK);
    umask(before);
    CHECK(stat(in_dir("new"), &st) == 0 && (st.st_mode & 0777) == 0640 && st.st_size == 0);
    unlink(in_dir("new"));
}

/* The link stays, also where it points to nothing yet. */
TEST(links_are_followed) {
    kspec_error err = {0};
    struct stat st;
    mkdir(in_dir("sub"), 0777);
    symlink("sub/made", in_dir("second"));
    symlink(in_dir("second"), in_dir("first"));
    CHECK_MSG(kspec_write_text(in_dir("first"), "new", 3, &err) == KSPEC_OK, "%s", err.msg);
    CHECK(lstat(in_dir("first"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(in_dir("second"), &st) == 0 && S_ISLNK(st.st_mode));
    CHECK(lstat(in_dir("sub/made"), &st) == 0 && S_ISREG(st.st_mode) && st.st_size == 3);
    symlink("loop", in_dir("loop"));
    CHECK_FAILS(kspec_write_text(in_dir("loop"), "new", 3, &err), KSPEC_E_IO, err, "symbolic links");
    symlink("none/made", in_dir("astray"));
    CHECK_FAILS(kspec_write_text(in_dir("astray"), "new", 3, &err), KSPEC_E_IO, err, "No such file");
    CHECK_FAILS(kspec_write_check(in_dir("astray"), 0, &err), KSPEC_E_IO, err, "No such file");
    unlink(in_dir("first")), unlink(in_dir("second")), unlink(in_dir("loop")), unlink(in_dir("astray"));
    unlink(in_dir("sub/made"));
    rmdir(in_dir("sub"));
    CHECK(files_in_dir() == 0);
}

TEST(a_replaced_file_keeps_its_owner) {
    struct stat st;
    kspec_error err = {0};
    CHECK(kspec_write_text(in_dir("x"), "old", 3, &err) == KSPEC_OK);
    chmod(in_dir("x"), 0664);
    int given = chown(in_dir("x"), 12345, 54321) == 0;
    CHECK(kspec_write_text(in_dir("x"), "newer", 5, &err) == KSPEC_OK);
    CHECK(stat(in_dir("x"), &st) == 0 && st.st_size == 5 && (st.st_mode & 07777) == 0664);
    if (given) CHECK_MSG(st.st_uid == 12345 && st.st_gid == 54321, "%d:%d", (int)st.st_uid, (int)st.st_gid);
    unlink(in_dir("x"));
    if (!given) SKIP("only root can give a file away; run the tests as root");
}

TEST(the_file_and_its_directory_are_flushed) {
    flushed_files = flushed_folders = 0;
    CHECK(kspec_write_text(in_dir("x"), "text", 4, NULL) == KSPEC_OK);
    CHECK_MSG(flushed_files == 1 && flushed_folders == 1, "%d, %d", flushed_files, flushed_folders);
    unlink(in_dir("x"));
}

TEST(what_can_be_written_is_known_before) {
    kspec_error err = {0};
    CHECK(kspec_write_check(in_dir("x.npy"), 0, &err) == KSPEC_OK);
    CHECK(kspec_write_check(in_dir("x.npy"), 3, &err) == KSPEC_OK);
    CHECK(kspec_write_check("-", 0, &err) == KSPEC_OK && kspec_write_check("/dev/null", 2, &err) == KSPEC_OK);
    CHECK(files_in_dir() == 0);
    CHECK(kspec_write_text(in_dir("x.csv"), "old", 3, &err) == KSPEC_OK);
    CHECK(kspec_write_check(in_dir("x.csv"), 2, &err) == KSPEC_OK);
    char *text = contents(in_dir("x.csv"));
    CHECK(text && strcmp(text, "old") == 0 && files_in_dir() == 1);
    free(text);
    CHECK_FAILS(kspec_write_check(in_dir("x.csv/y"), 0, &err), KSPEC_E_IO, err, "Not a directory");
    CHECK_FAILS(kspec_write_check(in_dir("no/x"), 0, &err), KSPEC_E_IO, err, "No such file or directory");
    CHECK_FAILS(kspec_write_check(dir, 0, &err), KSPEC_E_IO, err, "Is a directory");
    CHECK_FAILS(kspec_write_check(in_dir("x.csv"), 3, &err), KSPEC_E_ARG, err, "csv takes 2 axes");
    CHECK_FAILS(kspec_write_check(in_dir("x.txt"), 2, &err), KSPEC_E_ARG, err, "suffix must be one of");
    CHECK_FAILS(kspec_write_check(in_dir("x.npy"), 1, &err), KSPEC_E_ARG, err, "1 axes, not 2 or 3");
    CHECK_FAILS(kspec_write_check(NULL, 0, &err), KSPEC_E_ARG, err, "no path");
    unlink(in_dir("x.csv"));
    /* a pipe without a reader is not waited for */
    mkfifo(in_dir("pipe"), 0600);
    CHECK(kspec_write_check(in_dir("pipe"), 0, &err) == KSPEC_OK);
    unlink(in_dir("pipe"));
}

/* A process that has begun sub/x.npy; it ends when it reads a byte, or is killed. */
static pid_t start_writing(int wait_for, int say) {
    const size_t shape[] = {2, 2};
    const double v[4] = {1, 2, 3, 4};
    pid_t child = fork();
    if (child) return child;
    kspec_writer *w;
    char byte = 'x';
    if (kspec_write_open(in_dir("sub/x.npy"), 2, shape, &w, NULL)) _exit(1);
    if (kspec_write_values(w, v, 4, NULL) || write(say, &byte, 1) != 1) _exit(2);
    if (read(wait_for, &byte, 1) != 1) _exit(3);
    _exit(kspec_write_close(w, NULL) ? 4 : 0);
}

static int files_in_sub(void) {
    int n = 0;
    DIR *d = opendir(in_dir("sub"));
    for (struct dirent *e; (e = readdir(d));) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

TEST(what_a_killed_process_left_is_removed) {
    int go[2], begun[2], status;
    char byte;
    mkdir(in_dir("sub"), 0777);
    CHECK(pipe(go) == 0 && pipe(begun) == 0);
    pid_t killed = start_writing(go[0], begun[1]), alive = start_writing(go[0], begun[1]);
    CHECK(read(begun[0], &byte, 1) == 1 && read(begun[0], &byte, 1) == 1);
    kill(killed, SIGKILL);
    CHECK(waitpid(killed, &status, 0) == killed && WIFSIGNALED(status));
    /* files of the user's, however like ours */
    CHECK(close(open(in_dir("sub/a.kspec-1-.tmp"), O_CREAT | O_WRONLY, 0600)) == 0);
    CHECK(close(open(in_dir("sub/.kspec-1-1.tmp"), O_CREAT | O_WRONLY, 0600)) == 0);
    CHECK(close(open(in_dir("sub/a.kspec-1-1.tmp2"), O_CREAT | O_WRONLY, 0600)) == 0);
    CHECK(mkfifo(in_dir("sub/a.kspec-1-1.tmp"), 0600) == 0);
    CHECK(files_in_sub() == 5);
    CHECK(kspec_write_text(in_dir("sub/other"), "text", 4, NULL) == KSPEC_OK);
    CHECK_MSG(files_in_sub() == 5, "%d files", files_in_sub()); /* one more, the leftover less */
    CHECK(write(go[1], "x", 1) == 1);
    CHECK(waitpid(alive, &status, 0) == alive && WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(access(in_dir("sub/x.npy"), R_OK) == 0);
    for (int k = 0; k < 2; k++) close(go[k]), close(begun[k]);
    char command[600];
    snprintf(command, sizeof command, "rm -r %s/sub", dir);
    CHECK(system(command) == 0);
}

TEST(a_full_disk) {
    kspec_error err = {0};
    const size_t shape[] = {100, 100};
    static double v[10000];
    CHECK_FAILS(kspec_write_text("/dev/full", "text", 4, &err), KSPEC_E_IO, err,
                "cannot write /dev/full: No space left on device");
    CHECK_FAILS(write_array("/dev/full", 2, shape, v, 10000, 1000, &err), KSPEC_E_IO, err, "No space left");

    /* the same for a regular file: no more than 5000 bytes are allowed */
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 5000;
    signal(SIGXFSZ, SIG_IGN);
    CHECK(kspec_write_text(in_dir("x.csv"), "old", 3, &err) == KSPEC_OK);
    for (int i = 0; i < 2; i++) {
        kspec_writer *w;
        setrlimit(RLIMIT_FSIZE, &small);
        CHECK(kspec_write_open(in_dir(i ? "x.npy" : "x.csv"), 2, shape, &w, &err) == KSPEC_OK);
        kspec_status status = kspec_write_values(w, v, 10000, &err);
        if (i) CHECK(status == KSPEC_E_IO && files_in_dir() == 1); /* gone at once; csv fails at the flush */
        CHECK_FAILS(kspec_write_close(w, &err), KSPEC_E_IO, err, "File too large");
        setrlimit(RLIMIT_FSIZE, &before);
        CHECK(files_in_dir() == 1);
    }
    char *text = contents(in_dir("x.csv"));
    CHECK(strcmp(text, "old") == 0);
    free(text);
    unlink(in_dir("x.csv"));
}

TEST(devices_and_pipes_are_written_directly) {
    kspec_error err = {0};
    const size_t shape[] = {1, 2};
    const double v[] = {1, 2};
    CHECK(kspec_write_text("/dev/null", "text", 4, &err) == KSPEC_OK);
    CHECK(write_array("/dev/null", 2, shape, v, 2, 2, &err) == KSPEC_OK);
    struct stat st;
    CHECK(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));

    CHECK(mkfifo(in_dir("pipe.csv"), 0600) == 0);
    int fd = open(in_dir("pipe.csv"), O_RDONLY | O_NONBLOCK);
    CHECK_MSG(write_array(in_dir("pipe.csv"), 2, shape, v, 2, 1, &err) == KSPEC_OK, "%s", err.msg);
    char got[16] = "";
    CHECK(read(fd, got, sizeof got - 1) == 4 && strcmp(got, "1,2\n") == 0);
    close(fd);
    unlink(in_dir("pipe.csv"));
    CHECK(files_in_dir() == 0);

    const char *const names[] = {"-", "/dev/stdout"}; /* standard output, to a file */
    for (int i = 0; i < 2; i++) {
        fflush(stdout);
        int before = dup(STDOUT_FILENO), out = open(in_dir("out"), O_RDWR | O_CREAT | O_TRUNC, 0600);
        dup2(out, STDOUT_FILENO);
        kspec_status one = kspec_write_text(names[i], "before", 6, &err);
        kspec_status two = write_array(names[i], 2, shape, v, 2, 2, &err);
        dup2(before, STDOUT_FILENO);
        CHECK(one == KSPEC_OK && two == KSPEC_OK);
        char text[200];
        CHECK(pread(out, text, sizeof text, 0) == 6 + 128 + 16);
        CHECK(memcmp(text, "before\x93NUMPY", 12) == 0 && memcmp(text + 6 + 128, v, 16) == 0);
        close(before);
        close(out);
        unlink(in_dir("out"));
    }
}

static void on_signal(int sig) {
    kspec_write_discard_all();
    _exit(sig);
}

TEST(a_signal_handler_can_clean_up) {
    const size_t shape[] = {2, 2};
    pid_t child = fork();
    if (child == 0) {
        kspec_writer *w[3];
        signal(SIGTERM, on_signal);
        for (int i = 0; i < 3; i++)
            if (kspec_write_open(in_dir(i == 0   ? "a.npy"
                                        : i == 1 ? "b.csv"
                                                 : "c.json"),
                                 2, shape, &w[i], NULL))
                _exit(1);
        if (files_in_dir() != 3) _exit(2);
        kspec_write_abort(w[1]);
        raise(SIGTERM);
        _exit(3);
    }
    int status;
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_MSG(WEXITSTATUS(status) == SIGTERM, "exit status %d", WEXITSTATUS(status));
    CHECK(files_in_dir() == 0);
    CHECK(kspec_write_text(in_dir("x"), "kept", 4, NULL) == KSPEC_OK);
    kspec_write_discard_all(); /* a file that is complete is not touched */
    CHECK(files_in_dir() == 1);
    unlink(in_dir("x"));
}

TEST(sixteen_at_once) {
    const size_t shape[] = {2, 2};
    kspec_writer *w[17];
    kspec_error err = {0};
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 16; i++) /* all to one name: the last to close wins */
            CHECK_MSG(kspec_write_open(in_dir("x.npy"), 2, shape, &w[i], &err) == KSPEC_OK, "%s", err.msg);
        CHECK(files_in_dir() == 16);
        CHECK_FAILS(kspec_write_open(in_dir("x.npy"), 2, shape, &w[16], &err), KSPEC_E_ARG, err,
                    "16 other files are being written");
        for (int i = 0; i < 16; i++) kspec_write_abort(w[i]);
        CHECK(files_in_dir() == 0);
    }
}

TEST(the_locale_does_not_matter) {
    if (!set_comma_locale()) SKIP(NO_COMMA_LOCALE);
    const size_t shape[] = {1, 2};
    const double v[] = {0.5, 1.5};
    kspec_error err = {0};
    CHECK(write_array(in_dir("x.csv"), 2, shape, v, 2, 2, &err) == KSPEC_OK);
    setlocale(LC_ALL, "C");
    char *text = contents(in_dir("x.csv"));
    CHECK_MSG(strcmp(text, "0.5,1.5\n") == 0, "%s", text);
    free(text);
    unlink(in_dir("x.csv"));
}

TEST(failing_memory) {
    const size_t shape[] = {1, 2};
    const double v[] = {1, 2};
    failing_alloc_install();
    failing_alloc_arm(0);
    kspec_error err = {0};
    CHECK_FAILS(write_array(in_dir("x.npy"), 2, shape, v, 2, 2, &err), KSPEC_E_NOMEM, err, "memory");
    CHECK(files_in_dir() == 0);
    failing_alloc_arm(1);
    CHECK(write_array(in_dir("x.npy"), 2, shape, v, 2, 2, &err) == KSPEC_OK);
    CHECK(failing_alloc_live() == 0);
    failing_alloc_uninstall();
    unlink(in_dir("x.npy"));
}

int main(void) {
    if (!mkdtemp(dir)) return 1;
    RUN(npy_reads_back);
    RUN(csv_reads_back);
    RUN(json_is_nested);
    RUN(long_csv);
    RUN(wrong_arguments);
    RUN(too_few_and_too_many_values);
    RUN(the_target_is_untouched_until_close);
    RUN(links_are_followed);
    RUN(a_replaced_file_keeps_its_owner);
    RUN(the_file_and_its_directory_are_flushed);
    RUN(what_can_be_written_is_known_before);
    RUN(what_a_killed_process_left_is_removed);
    RUN(a_full_disk);
    RUN(devices_and_pipes_are_written_directly);
    RUN(a_signal_handler_can_clean_up);
    RUN(sixteen_at_once);
    RUN(the_locale_does_not_matter);
    RUN(failing_memory);
    rmdir(dir);
    return test_done();
}
