/* Reads MATLAB files before v7.3 through matio. */
#define _DEFAULT_SOURCE /* pread */
#include "hdf5/mat.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static catalog list_variables(mat_t *mat) {
    catalog c = {.kind = "variable"};
    Mat_Rewind(mat);
    for (matvar_t *v; (v = Mat_VarReadNextInfo(mat)) != NULL; Mat_VarFree(v)) {
        if (v->name) list_variable(&c, v->name, v);
    }
    return c;
}

struct mat_file {
    mat_t *mat;
    FILE *raw; /* the file again, for check_mat5() */
};

/*
 * Checks the version first. For versions other than 5 to 7, matio reads only the header.
 */
mat_file *open_mat(const char *path, int fd) {
    static mat_file f;
    unsigned char end[4] = {0};
    if (pread(fd, end, sizeof end, 124) != sizeof end ||
        (memcmp(end, "\0\1IM", 4) != 0 && memcmp(end, "\1\0MI", 4) != 0))
        refuse("is not a MATLAB file of version 5 or later");
    f.mat = Mat_Open(path, MAT_ACC_RDONLY);
    f.raw = fdopen(fd, "rb");
    if (!f.mat || !f.raw || Mat_GetVersion(f.mat) != MAT_FT_MAT5)
        refuse("is neither an HDF5 file nor a MATLAB file that can be read");
    return &f;
}

/*
 * Finds the variable at the beginning of a path. Its name is the part of the path before the first dot,
 * parenthesis or brace, or the whole path if it has none.
 */
static matvar_t *find(mat_t *mat, const char *key) {
    Mat_Rewind(mat);
    matvar_t *v = Mat_VarReadInfo(mat, key);
    size_t n = strcspn(key, ".({");
    if (v || !key[n]) return v;
    char name[128];
    if (n >= sizeof name) return NULL;
    snprintf(name, sizeof name, "%.*s", (int)n, key);
    Mat_Rewind(mat);
    return Mat_VarReadInfo(mat, name);
}

_Noreturn static void refuse_struct(matvar_t *v, const char *key) {
    mat_layout l;
    const char *why = unfit_variable(v, &l);
    catalog members = {.kind = "variable"};
    list_variable(&members, key, v);
    catalog_refuse(&members, key, why);
}

void read_mat(mat_file *f, const char *key) {
    mat_t *mat = f->mat;
    check_mat5(f->raw);
    while (*key == '/') key++;
    if (!key[0]) {
        catalog all = list_variables(mat);
        key = catalog_only(&all);
    }
    matvar_t *v = find(mat, key), *at = v;
    if (v) at = follow_path(v, key + strlen(v->name));
    if (!at) {
        catalog all = list_variables(mat);
        catalog_refuse(&all, key, "is not there");
    }
    if (at && at->class_type == MAT_C_STRUCT) refuse_struct(at, key);
    mat_layout l;
    const char *why = unfit_variable(at, &l);
    if (why) refuse("%.100s %s", key, why);
    /* To follow the path, the whole variable must be in memory. */
    if (at != v || !class_size(at->class_type)) {
        if (Mat_VarReadDataAll(mat, v) != 0) refuse("%.100s cannot be read: the file is damaged", key);
        give_variable(follow_path(v, key + strlen(v->name)), key);
    }

    double *values = make_room(l.ndim, l.shape);
    size_t count = 1, size = class_size(v->class_type);
    for (int k = 0; k < v->rank; k++) count *= v->dims[k];
    if (count > INT_MAX)
        refuse("%.100s has %zu values; a file of this version holds at most %d", key, count, INT_MAX);
    char *raw = (char *)values + (8 - size) * count;
    if (Mat_VarReadDataLinear(mat, v, raw, 0, 1, (int)count) != 0)
        refuse("%.100s cannot be read: the file is damaged", key);
    widen(values, raw, count, v->class_type);
    finish(1);
}
