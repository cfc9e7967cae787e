/*
 * The answer of the HDF5 reader, whatever it is: the program `reader` beside this one takes its place, and
 * answers with the bytes of the file that it is asked for.
 */

#include "fuzz.h"
#include "formats/child.h"
#include "kspec/files.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const unsigned char signature[8] = "\211HDF\r\n\032\n";
static char folder[64], file[80];

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    char reader[4096 + 8], link[96];
    ssize_t n = readlink("/proc/self/exe", reader, 4096 - 1);
    reader[n > 0 ? n : 0] = 0;
    char *slash = strrchr(reader, '/');
    if (!slash) abort();
    strcpy(slash, "/reader");
    snprintf(folder, sizeof folder, "/dev/shm/kspec-fuzz-child-%ld", (long)getpid());
    snprintf(link, sizeof link, "%s/%s", folder, KS_CHILD_PROGRAM);
    snprintf(file, sizeof file, "%s/x.h5", folder);
    mkdir(folder, 0700);
    unlink(link);
    if (symlink(reader, link) != 0) abort();
    setenv("KSPEC_LIBEXEC", folder, 1);
    return 0;
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    FILE *f = fopen(file, "wb");
    if (!f || fwrite(signature, 1, 8, f) != 8 || fwrite(data, 1, size, f) != size || fclose(f) != 0) abort();
    const char *const inputs[] = {file};
    const kspec_read_opts o = {.size = sizeof o, .nan = KSPEC_NAN_KEEP};
    kspec_dataset *d;
    kspec_error err;
    kspec_status st = kspec_read(inputs, 1, &o, &d, &err);
    if (st ? d || !err.msg[0] || strchr(err.msg, '\n') : !d) __builtin_trap();
    volatile double sum = 0;
    for (size_t i = 0; !st && i < d->trials * d->rows * d->cols; i++) sum += d->data[i];
    (void)sum;
    kspec_free(d);
    return 0;
}
