/* Opens an input given as "path" or "path:key", and finds its array. */
#include "io/read.h"

#include "base/error.h"
#include "base/memory.h"
#include "formats/foreign.h"
#include "formats/inflate.h"
#include "formats/printable.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static int is_file(const char *path) {
    struct stat st;
    return strcmp(path, "-") == 0 || stat(path, &st) == 0;
}

/* Splits "path:key" at the last colon whose left side names an existing file. A file name may contain a
 * colon, so the function first tries the whole input as a path. The caller frees *path with ks_free().
 * *key points into `input`, or is NULL. */
static kspec_status split(const char *input, char **path, const char **key, kspec_error *err) {
    size_t len = strlen(input);
    *key = NULL;
    *path = ks_alloc(len + 1, 1);
    if (!*path) return ks_nomem(err, "file name", len + 1);
    strcpy(*path, input);
    if (is_file(input)) return KSPEC_OK;
    for (size_t i = len; i-- > 0;) {
        if (input[i] != ':') continue;
        (*path)[i] = 0;
        if (is_file(*path)) {
            *key = input + i + 1;
            return KSPEC_OK;
        }
    }
    strcpy(*path, input);
    return KSPEC_OK;
}

/* If reading as text fails and the suffix names another format, the file is probably a damaged file of
 * the other format. */
static void add_suspicion(const char *path, kspec_error *err) {
    static const struct {
        const char *suffix, *kind;
    } known[] = {{".npy", "an npy"},
                 {".npz", "an npz"},
                 {".h5", "an HDF5"},
                 {".hdf5", "an HDF5"},
                 {".mat", "a MATLAB (v5 or later)"}};
    const char *suffix = strrchr(path, '.');
    if (!err || !suffix) return;
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        if (strcmp(suffix, known[k].suffix) != 0) continue;
        size_t used = strlen(err->msg);
        snprintf(err->msg + used, sizeof err->msg - used, " (it is not %s file, whatever its suffix says)",
                 known[k].kind);
    }
}

/* Recognises the format by the first bytes of the file, and parses the file. */
static kspec_status parse(ks_bytes *bytes, const char *path, const char *key, const char *select_cols,
                          const char *name, ks_array *out, kspec_error *err) {
    /* Compressed idx files are excluded, because the reader of idx decompresses them itself. */
    int packed = ks_gzip_match(bytes) && !ks_idx_match(bytes);
    if (packed) {
        kspec_status st = ks_gunzip_bytes(bytes, name, err);
        if (st) return st;
    }
    const char *foreign = ks_foreign(bytes);
    if (foreign) return ks_foreign_refuse(foreign, name, err);
    if (ks_npz_match(bytes)) return ks_npz_parse(bytes, key, name, out, err);
    int hdf5 = ks_hdf5_match(bytes), mat = ks_mat_match(bytes);
    if ((hdf5 || mat) && packed)
        return ks_fail(err, KSPEC_E_IO, "%s is %s inside gzip; unpack it first", name,
                       hdf5 ? "an HDF5 file" : "a MATLAB file");
    if (hdf5 || mat) {
        if (strcmp(path, "-") == 0)
            return ks_fail(err, KSPEC_E_IO, "standard input is %s, which kspec reads from files only",
                           hdf5 ? "an HDF5 file" : "a MATLAB file");
        /* A MATLAB file of version 7.3 is an HDF5 file after a header of MATLAB. */
        int matlab = mat || memcmp(bytes->data, "MATLAB", 6) == 0;
        ks_bytes_close(bytes);
        if (ks_host_reads_hdf5() && !ks_hdf5_can_read())
            return ks_host_hdf5(path, key ? key : "", name, out, err);
        return ks_hdf5_read(path, key ? key : "", matlab, name, out, err);
    }
    int npy = ks_npy_match(bytes), idx = !npy && ks_idx_match(bytes);
    if (key) {
        ks_name file;
        char shown[64];
        ks_display_name(file, path);
        ks_printable(shown, sizeof shown, key, strlen(key));
        if (npy || idx)
            return ks_fail(err, KSPEC_E_ARG, "%s is an %s file, which has no named arrays; leave out ':%s'",
                           file, npy ? "npy" : "idx", shown);
        return ks_fail(err, KSPEC_E_IO,
                       "%s is not an npz, HDF5 or MATLAB (v5 or later) file, so it has no array '%s'", file,
                       shown);
    }
    if (npy) return ks_npy_parse(bytes, name, out, err);
    if (idx) return ks_idx_parse(bytes, name, out, err);
    kspec_status st = ks_text_parse(bytes, select_cols, name, out, err);
    if (st && st != KSPEC_E_NOMEM) add_suspicion(path, err);
    return st;
}

kspec_status ks_input_read(const char *input, const char *select_cols, const char *name, ks_array *out,
                           kspec_error *err) {
    *out = (ks_array){0};
    if (ks_is_borrowed(input)) return ks_borrowed_read(input, name, 0, out, err);
    char *path;
    const char *key;
    kspec_status st = split(input, &path, &key, err);
    if (!st && key && !*key) st = ks_fail(err, KSPEC_E_ARG, "%s: nothing follows the colon", name);
    ks_bytes bytes = {0};
    const char *folder = st ? NULL : ks_foreign_folder(path);
    if (folder) st = ks_foreign_refuse(folder, name, err);
    if (!st) st = ks_bytes_open(&bytes, path, err);
    if (!st) st = parse(&bytes, path, key, select_cols, name, out, err);
    if (!st) st = ks_bytes_check(out->storage.map ? &out->storage : &bytes, err);
    if (st) ks_array_free(out);
    ks_bytes_close(&bytes);
    ks_free(path);
    return st;
}
