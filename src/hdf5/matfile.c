/* MATLAB files before v7.3, through matio. */
#define _DEFAULT_SOURCE /* pread */
#include "hdf5/reader.h"

#include <limits.h>
#include <matio.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Why the variable cannot be read; NULL where it can. */
static const char *unfit(const matvar_t *v) {
    static char text[64];
    switch (v->class_type) {
    case MAT_C_EMPTY: return "is empty";
    case MAT_C_CELL: return "is a MATLAB cell array, not numbers";
    case MAT_C_STRUCT: return "is a MATLAB struct array, not numbers";
    case MAT_C_OBJECT: return "is a MATLAB object, not numbers";
    case MAT_C_CHAR: return "is a MATLAB char array, not numbers";
    case MAT_C_SPARSE: return "is a MATLAB sparse matrix; full ones are read";
    case MAT_C_FUNCTION: return "is a MATLAB function handle, not numbers";
    case MAT_C_OPAQUE: return "is opaque data, not numbers";
    default: break;
    }
    if (v->isComplex) return "is complex; real numbers are read";
    if (v->rank < 1 || v->rank > 3) {
        snprintf(text, sizeof text, "has %d axes; 1 to 3 are read", v->rank);
        return text;
    }
    for (int k = 0; k < v->rank; k++)
        if (v->dims[k] == 0) return "is empty";
    return NULL;
}

/*
 * Widens count values of one type, which lie at the end of the room for count doubles, to doubles from its
 * start: value i is read at byte (8-s) count + s i >= 8 i, so that none is overwritten before it is read.
 */
#define WIDEN(T)                                                                        \
    do {                                                                                \
        const char *from = (const char *)values + (sizeof(double) - sizeof(T)) * count; \
        for (size_t i = 0; i < count; i++) {                                            \
            T x;                                                                        \
            memcpy(&x, from + i * sizeof(T), sizeof(T));                                \
            values[i] = (double)x;                                                      \
        }                                                                               \
    } while (0)

static size_t class_size(enum matio_classes class) {
    switch (class) {
    case MAT_C_INT8:
    case MAT_C_UINT8: return 1;
    case MAT_C_INT16:
    case MAT_C_UINT16: return 2;
    case MAT_C_SINGLE:
    case MAT_C_INT32:
    case MAT_C_UINT32: return 4;
    case MAT_C_DOUBLE:
    case MAT_C_INT64:
    case MAT_C_UINT64: return 8;
    default: return 0;
    }
}

static void widen(double *values, size_t count, enum matio_classes class) {
    switch (class) {
    case MAT_C_SINGLE: WIDEN(float); break;
    case MAT_C_INT8: WIDEN(int8_t); break;
    case MAT_C_UINT8: WIDEN(uint8_t); break;
    case MAT_C_INT16: WIDEN(int16_t); break;
    case MAT_C_UINT16: WIDEN(uint16_t); break;
    case MAT_C_INT32: WIDEN(int32_t); break;
    case MAT_C_UINT32: WIDEN(uint32_t); break;
    case MAT_C_INT64: WIDEN(int64_t); break;
    case MAT_C_UINT64: WIDEN(uint64_t); break;
    default: break; /* double */
    }
}

static catalog list_variables(mat_t *mat) {
    catalog c = {.kind = "variable"};
    Mat_Rewind(mat);
    for (matvar_t *v; (v = Mat_VarReadNextInfo(mat)) != NULL; Mat_VarFree(v)) {
        if (!v->name) continue;
        const char *why = unfit(v);
        if (why)
            catalog_unfit(&c, v->name, why);
        else
            catalog_add(&c, v->name, v->rank, v->dims);
    }
    return c;
}

struct mat_file {
    mat_t *mat;
    FILE *raw; /* the same file, for check_mat5() */
};

/* matio reads no more of the file here than its header, which is that of version 5: this looks first. */
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

void read_mat(mat_file *f, const char *key) {
    mat_t *mat = f->mat;
    check_mat5(f->raw);
    while (*key == '/') key++;
    if (!key[0]) {
        catalog all = list_variables(mat);
        key = catalog_only(&all);
    }
    Mat_Rewind(mat);
    matvar_t *v = Mat_VarReadInfo(mat, key);
    const char *why = v ? unfit(v) : "is not there";
    if (!v) {
        catalog all = list_variables(mat);
        catalog_refuse(&all, key, why);
    }
    if (why) refuse("%.100s %s", key, why);

    double *values = make_room(v->rank, v->dims);
    size_t count = 1, size = class_size(v->class_type);
    for (int k = 0; k < v->rank; k++) count *= v->dims[k];
    if (size == 0) refuse("%.100s is of an unknown class (%d)", key, (int)v->class_type);
    if (count > INT_MAX)
        refuse("%.100s has %zu values; a file of this version holds at most %d", key, count, INT_MAX);
    if (Mat_VarReadDataLinear(mat, v, (char *)values + (8 - size) * count, 0, 1, (int)count) != 0)
        refuse("%.100s cannot be read: the file is damaged", key);
    widen(values, count, v->class_type);
    finish(1);
}
