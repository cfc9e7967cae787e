/* The fallbacks of what only Linux has, compiled here as on another system. */
#define KSPEC_PORTABLE
#define ks_memory_file    portable_file
#define ks_memory_file_of portable_file_of
#include "../../src/base/memfile.c"
#include "../../src/hdf5/sandbox.c"
#include "test.h"

TEST(a_file_without_a_name_is_shared_with_a_child) {
    const int fd = portable_file();
    CHECK(fd >= 0 && sandbox_is_called(fd) && (fcntl(fd, F_GETFD) & FD_CLOEXEC));
    CHECK(ftruncate(fd, 4096) == 0);
    int *x = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    CHECK(x != MAP_FAILED);
    pid_t child = fork();
    if (child == 0) {
        x[7] = 42;
        _exit(0);
    }
    CHECK(waitpid(child, NULL, 0) == child && x[7] == 42);
    munmap(x, 4096);
    close(fd);
    CHECK(portable_file_of((long)getpid(), fd) == -1);
}

TEST(no_folder_no_file) {
    const char *before = getenv("TMPDIR");
    setenv("TMPDIR", "/no/such/folder", 1);
    CHECK(portable_file() == -1);
    before ? setenv("TMPDIR", before, 1) : unsetenv("TMPDIR");
}

TEST(a_descriptor_of_another_kind_is_refused) {
    const int null = open("/dev/null", O_RDONLY);
    CHECK(!sandbox_is_called(null) && !sandbox_is_called(-1));
    close(null);
}

TEST(without_a_filter_the_sandbox_says_so) {
    sandbox_end_with_caller();
    CHECK(!sandbox_enter(2) && !sandbox_holds());
}

int main(void) {
    RUN(a_file_without_a_name_is_shared_with_a_child);
    RUN(no_folder_no_file);
    RUN(a_descriptor_of_another_kind_is_refused);
    RUN(without_a_filter_the_sandbox_says_so);
    return test_done();
}
