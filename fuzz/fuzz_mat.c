/*
 * The program kspec-hdf5, all of it but its start: the first line of the input is the key, the rest the file.
 * matio and HDF5 crash on damaged files, and kspec-hdf5 frees nothing, so each input gets a process: a copy
 * of this one, which hands its counters back. A crash in a library is what that program is there
 * for; one in our own code is a fault, and so is an answer that the library would have to refuse.
 */
#include "formats/child.h"

#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <hdf5.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);
int kspec_hdf5_main(int argc, char **argv);

enum { OURS = 78, THEIRS };
static char file[64];

/* ---- what a process has counted: libFuzzer's edges, or in a build for coverage the compiler's lines ---- */

void __real___sanitizer_cov_8bit_counters_init(unsigned char *begin, unsigned char *end);
void __wrap___sanitizer_cov_8bit_counters_init(unsigned char *begin, unsigned char *end);
unsigned char *__llvm_profile_begin_counters(void) __attribute__((weak));
unsigned char *__llvm_profile_end_counters(void) __attribute__((weak));
static unsigned char *counters, *kept;
static size_t size_of_counters;

void __wrap___sanitizer_cov_8bit_counters_init(unsigned char *begin, unsigned char *end) {
    counters = begin;
    size_of_counters = (size_t)(end - begin);
    __real___sanitizer_cov_8bit_counters_init(begin, end);
}

static void share_counters(void) {
    if (!counters && __llvm_profile_begin_counters) {
        counters = __llvm_profile_begin_counters();
        size_of_counters = (size_t)(__llvm_profile_end_counters() - counters);
    }
    kept = mmap(NULL, size_of_counters + 1, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (kept == MAP_FAILED) abort();
}

_Noreturn void __real__exit(int status);
_Noreturn void __wrap__exit(int status);
void __wrap__exit(int status) {
    if (counters) memcpy(kept, counters, size_of_counters);
    __real__exit(status);
}

/*
 * ---- whose crash it is: that of the first frame outside of the C library and the sanitizer's, which do as
 * they are told. Our own code has a section to itself (section.h); what else is in this program is the
 * sanitizer's. ----
 */

extern const char __start_kspec_hdf5[], __stop_kspec_hdf5[];

static int is_ours(void) {
    void *frame[32];
    Dl_info self, at;
    int n = backtrace(frame, 32);
    if (!dladdr((void *)(uintptr_t)is_ours, &self)) return 1;
    for (int k = 1; k < n; k++) {
        const char *pc = frame[k];
        if (pc >= __start_kspec_hdf5 && pc < __stop_kspec_hdf5) return 1;
        if (dladdr(pc, &at) && at.dli_fbase != self.dli_fbase && !strstr(at.dli_fname, "/libc.so")) return 0;
    }
    return 0;
}

/* abort() is how the C library tells of a heap that matio or HDF5 has overwritten */
static void crashed(int signal) { __wrap__exit(signal != SIGABRT && is_ours() ? OURS : THEIRS); }

/* AddressSanitizer has found something; it ends the process */
void __asan_on_error(void);
void __asan_on_error(void) {
    if (!is_ours()) __wrap__exit(THEIRS);
}

/* matio asks for what a file tells it to: it is to see that there is no such memory. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allocator_may_return_null=1"; }

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    void *frame[1];
    backtrace(frame, 1); /* loads its library here, rather than in the ruins */
    H5open();            /* once, rather than in each process */
    snprintf(file, sizeof file, "/dev/shm/kspec-fuzz-mat-%ld", (long)getpid());
    share_counters();
    return 0;
}

_Noreturn static void be_the_program(int memory, char *key, const char *kind) {
    static const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT};
    for (size_t k = 0; k < sizeof signals / sizeof *signals; k++) signal(signals[k], crashed);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    /* the library would stop it after KSPEC_READER_TIMEOUT: matio counts to 2³² where a file tells it to */
    const struct itimerval limit = {.it_value.tv_usec = 100000};
    if (setitimer(ITIMER_PROF, &limit, NULL) != 0 || dup2(memory, KS_CHILD_FD) < 0) abort();
    char name[] = "kspec-hdf5", as[8];
    snprintf(as, sizeof as, "%s", kind);
    char *argv[] = {name, file, key, as, NULL};
    __wrap__exit(kspec_hdf5_main(4, argv));
}

/* What take() of formats/hdf5.c asks of an answer, of a program that did not crash */
static int is_sound(int memory) {
    ks_child_header h;
    struct stat st;
    if (fstat(memory, &st) != 0 || pread(memory, &h, sizeof h, 0) != (ssize_t)sizeof h) return 0;
    if (h.magic != KS_CHILD_MAGIC || h.version != KS_CHILD_VERSION) return 0;
    if (h.status == KS_CHILD_UNFIT || h.status == KS_CHILD_NOMEM)
        return h.message[0] && memchr(h.message, 0, sizeof h.message);
    if (h.status != KS_CHILD_DONE || h.ndim < 1 || h.ndim > 3 || h.column_major > 1) return 0;
    size_t bytes = sizeof(double);
    for (uint32_t k = 0; k < h.ndim; k++)
        if (!h.shape[k] || __builtin_mul_overflow(bytes, (size_t)h.shape[k], &bytes)) return 0;
    return (size_t)st.st_size == bytes + KS_CHILD_DATA;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static const unsigned char signature[8] = {0x89, 'H', 'D', 'F', '\r', '\n', 0x1a, '\n'};
    const unsigned char *end = memchr(data, '\n', size);
    char key[100];
    size_t n = end ? (size_t)(end - data) : sizeof key;
    if (n >= sizeof key) return 0;
    memcpy(key, data, n);
    key[n] = 0;
    data += n + 1, size -= n + 1;
    const char *kind = size >= 8 && memcmp(data, signature, 8) == 0 ? "hdf5" : "mat";

    const ks_child_header none = {0};
    int memory = memfd_create("kspec-array", MFD_ALLOW_SEALING), status = 0;
    FILE *f = fopen(file, "wb");
    if (!f || fwrite(data, 1, size, f) != size || fclose(f) != 0 || ftruncate(memory, KS_CHILD_DATA) != 0 ||
        pwrite(memory, &none, sizeof none, 0) != (ssize_t)sizeof none)
        abort();
    pid_t child = fork();
    if (child == 0) be_the_program(memory, key, kind);
    while (child >= 0 && waitpid(child, &status, 0) != child) /* libFuzzer's alarm interrupts it */
        if (errno != EINTR) abort();
    if (child < 0) abort();
    if (counters) memcpy(counters, kept, size_of_counters);
    int theirs = WIFSIGNALED(status) || WEXITSTATUS(status) == THEIRS;
    if (!theirs && (WEXITSTATUS(status) != 0 || !is_sound(memory))) __builtin_trap();
    close(memory);
    return 0;
}
