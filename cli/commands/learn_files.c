/* Reads the images of `kspec learn`, and stores its checkpoints and activations. */
#include "commands/learn.h"
#include "kspec/host.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- images and labels ---- */

/* Reads images, which are the rows of a matrix or the matrices of a 3-D array. The call states the axes
 * of a 3-D array, because kspec_read() would otherwise take the images for trials. */
static int read_images(const cli_common *c, const char *role, const char *name, kspec_dataset **data,
                       kspec_matrix *x) {
    kspec_read_opts plain = {.size = sizeof plain, .team = cli_ranks_reading(c)}, three = plain;
    three.axes = "trials,rows,cols";
    kspec_error err, second;
    kspec_status st = kspec_read(&name, 1, &plain, data, &err);
    if (st == KSPEC_E_IO && kspec_read(&name, 1, &three, data, &second) == KSPEC_OK) st = KSPEC_OK;
    if (st) return cli_fail(st, &err);
    const kspec_dataset *d = *data;
    size_t each = d->rows * d->cols;
    *x = d->array_dims == 3 ? (kspec_matrix){d->data, d->trials, each, (ptrdiff_t)each, 1}
                            : kspec_dataset_trial(d, 0);
    cli_note_input(c, role, &name, 1, &plain, d);
    return cli_ranks_input(c, name, d);
}

static int read_labels(const cli_common *c, const char *role, const char *name, kspec_dataset **d,
                       kspec_matrix *y) {
    const kspec_read_opts how = {.size = sizeof how};
    int status = cli_read_one(c, role, name, &how, d);
    if (!status) *y = kspec_dataset_trial(*d, 0);
    return status;
}

int learn_read(const learn_args *a, kspec_learn_data **data) {
    enum { IMAGES, LABELS, TEST_IMAGES, TEST_LABELS, FILES };
    kspec_dataset *d[FILES] = {NULL};
    kspec_matrix m[FILES];
    const cli_common *c = &a->common;
    int status = read_images(c, NULL, a->images, &d[IMAGES], &m[IMAGES]);
    if (!status) status = read_labels(c, "labels", a->labels, &d[LABELS], &m[LABELS]);
    if (!status) status = read_images(c, "test_images", a->test_images, &d[TEST_IMAGES], &m[TEST_IMAGES]);
    if (!status && a->test_labels)
        status = read_labels(c, "test_labels", a->test_labels, &d[TEST_LABELS], &m[TEST_LABELS]);
    if (!status) {
        int centered = a->pixels == KSPEC_PIXELS_UNIT;
        cli_note_treatment(c, NULL, centered, 1);
        cli_note_treatment(c, "test_images", centered, 1);
        kspec_learn_data_opts o = {.size = sizeof o,
                                   .pixels = (kspec_pixels)a->pixels,
                                   .train_count = a->train_count,
                                   .probe = a->probe,
                                   .classes = a->classes};
        kspec_error err;
        kspec_status st = kspec_learn_open(&m[IMAGES], &m[LABELS], &m[TEST_IMAGES],
                                           a->test_labels ? &m[TEST_LABELS] : NULL, &o, data, &err);
        if (st) status = cli_fail_data(st, &err);
    }
    for (int k = 0; k < FILES; k++) kspec_free(d[k]);
    return status;
}

/* ---- checkpoints and activations ---- */

/* The path DIR/width-32-seed-0SUFFIX */
static char *path_of(const char *dir, size_t width, uint64_t seed, const char *suffix) {
    size_t size = strlen(dir) + strlen(suffix) + 64;
    char *path = malloc(size);
    if (path) snprintf(path, size, "%s/width-%zu-seed-%llu%s", dir, width, (unsigned long long)seed, suffix);
    return path;
}

static kspec_status failure(kspec_error *err, kspec_status st, const char *what, const char *path) {
    err->code = st;
    snprintf(err->msg, sizeof err->msg, "%s%s%.400s", what, path ? " " : "", path ? path : "");
    return st;
}

static kspec_status save(void *ctx, size_t width, uint64_t seed, const void *bytes, size_t count,
                         kspec_error *err) {
    learn_files *f = ctx;
    char *path = path_of(f->a->checkpoint, width, seed, ".ckpt");
    if (!path) return failure(err, KSPEC_E_NOMEM, "out of memory", NULL);
    kspec_status st = kspec_write_text(path, bytes, count, err);
    f->failed |= st != KSPEC_OK;
    free(path);
    return st;
}

void learn_store_close(learn_files *f) {
    if (f->loading) fclose(f->loading);
    f->loading = NULL;
}

/* Finds the length of the checkpoint, and keeps the file open because another process may replace it at
 * any time. */
static kspec_status open_checkpoint(learn_files *f, const char *path, size_t *count, kspec_error *err) {
    struct stat s;
    learn_store_close(f);
    *count = 0;
    f->loading = fopen(path, "rb");
    if (!f->loading && errno == ENOENT) return KSPEC_OK;
    if (!f->loading || fstat(fileno(f->loading), &s) != 0 || !S_ISREG(s.st_mode) || s.st_size == 0)
        return failure(err, KSPEC_E_IO, "not a checkpoint:", path);
    *count = (size_t)s.st_size;
    return KSPEC_OK;
}

static kspec_status load(void *ctx, size_t width, uint64_t seed, void *bytes, size_t *count,
                         kspec_error *err) {
    learn_files *f = ctx;
    char *path = path_of(f->a->checkpoint, width, seed, ".ckpt");
    if (!path) return failure(err, KSPEC_E_NOMEM, "out of memory", NULL);
    kspec_status st = KSPEC_OK;
    if (!bytes)
        st = open_checkpoint(f, path, count, err);
    else if (!f->loading || fread(bytes, 1, *count, f->loading) != *count)
        st = failure(err, KSPEC_E_IO, "cannot read", path);
    if (bytes || st) learn_store_close(f);
    free(path);
    return st;
}

static kspec_status activations(void *ctx, size_t width, uint64_t seed, size_t epoch, const kspec_matrix *phi,
                                kspec_error *err) {
    learn_files *f = ctx;
    char suffix[40];
    snprintf(suffix, sizeof suffix, "-epoch-%03zu.npy", epoch);
    char *path = path_of(f->a->activations, width, seed, suffix);
    if (!path) return failure(err, KSPEC_E_NOMEM, "out of memory", NULL);
    kspec_status st = cli_write_array(path, phi->data, phi->rows, phi->cols, err);
    f->failed |= st != KSPEC_OK;
    free(path);
    return st;
}

/* Creates the directory if needed, and checks that files can be written to it. */
static int make_directory(const char *option, const char *dir) {
    struct stat s;
    int exists = mkdir(dir, 0777) == 0 || (errno == EEXIST && stat(dir, &s) == 0);
    if (exists && stat(dir, &s) == 0 && !S_ISDIR(s.st_mode))
        return cli_error(EXIT_FAILED, "%s: %s is not a directory", option, dir);
    if (!exists || access(dir, W_OK | X_OK) != 0)
        return cli_error(EXIT_FAILED, "%s: cannot write to %s: %s", option, dir, strerror(errno));
    /* The check also removes the temporary files of a killed run. */
    char *path = path_of(dir, 0, 0, "");
    if (!path) return cli_no_memory();
    kspec_error err;
    kspec_status st = kspec_write_check(path, 0, &err);
    free(path);
    return st ? cli_fail_writing(st, &err) : EXIT_DONE;
}

int learn_store(learn_files *f, kspec_learn_store *s) {
    *s = (kspec_learn_store){.ctx = f};
    int status = f->a->checkpoint ? make_directory("--checkpoint", f->a->checkpoint) : EXIT_DONE;
    if (!status && f->a->activations) status = make_directory("--save-activations", f->a->activations);
    if (f->a->checkpoint) s->save = save, s->load = load;
    if (f->a->activations) s->activations = activations;
    return status;
}
