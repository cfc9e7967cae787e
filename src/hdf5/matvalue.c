/* Variables of MATLAB files before v7.3: numbers, cells of one shape, sparse matrices, fields of structs. */
#include "hdf5/mat.h"
#include "formats/sparse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

size_t class_size(enum matio_classes class) {
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

/*
 * The values of s bytes may lie at the end of the room for count doubles. Value i is then read at byte (8-s)
 * count + s i >= 8 i, so that no value is overwritten before it is read.
 */
#define WIDEN(T)                                                   \
    for (size_t i = 0; i < count; i++) {                           \
        T x;                                                       \
        memcpy(&x, (const char *)from + i * sizeof(T), sizeof(T)); \
        to[i] = (double)x;                                         \
    }

void widen(double *to, const void *from, size_t count, enum matio_classes class) {
    switch (class) {
    case MAT_C_SINGLE: WIDEN(float) break;
    case MAT_C_INT8: WIDEN(int8_t) break;
    case MAT_C_UINT8: WIDEN(uint8_t) break;
    case MAT_C_INT16: WIDEN(int16_t) break;
    case MAT_C_UINT16: WIDEN(uint16_t) break;
    case MAT_C_INT32: WIDEN(int32_t) break;
    case MAT_C_UINT32: WIDEN(uint32_t) break;
    case MAT_C_INT64: WIDEN(int64_t) break;
    case MAT_C_UINT64: WIDEN(uint64_t) break;
    default: memmove(to, from, count * sizeof *to); break; /* double */
    }
}

/* ---- readable variables ---- */

static size_t count_of(const matvar_t *v) {
    size_t n = 1;
    for (int k = 0; k < v->rank; k++)
        if (__builtin_mul_overflow(n, v->dims[k], &n)) return 0;
    return n;
}

/* As in stack_cells() */
static const char *unfit_cells(matvar_t *v, mat_layout *l) {
    size_t count = count_of(v);
    matvar_t **cell = v->data;
    mat_layout one = {0}, first = {0};
    if (!count || !cell || v->nbytes / sizeof *cell < count) return "is an empty MATLAB cell array";
    for (size_t k = 0; k < count; k++) {
        if (!cell[k] || !class_size(cell[k]->class_type) || unfit_variable(cell[k], &one) || one.ndim > 2)
            return "is a MATLAB cell array whose cells are not all matrices of numbers; name one as in c{1}";
        if (k && (one.ndim != first.ndim || memcmp(one.shape, first.shape, sizeof one.shape) != 0))
            return "is a MATLAB cell array whose cells differ in shape; name one as in c{1}";
        first = one;
    }
    size_t rows = one.shape[0], cols = one.ndim > 1 ? one.shape[1] : 1;
    l->ndim = stack_cells(count, rows, cols, l->shape);
    return NULL;
}

const char *unfit_variable(matvar_t *v, mat_layout *l) {
    static char text[80];
    switch (v->class_type) {
    case MAT_C_EMPTY: return "is empty";
    case MAT_C_CELL: return unfit_cells(v, l);
    case MAT_C_STRUCT:
        if (count_of(v) == 1) return "is a MATLAB struct";
        snprintf(text, sizeof text, "is a MATLAB struct array of %zu; name one as in s(1)", count_of(v));
        return text;
    case MAT_C_OBJECT: return "is a MATLAB object, not numbers";
    case MAT_C_CHAR: return "is a MATLAB char array, not numbers";
    case MAT_C_FUNCTION: return "is a MATLAB function handle, not numbers";
    case MAT_C_OPAQUE: return "is opaque data, not numbers";
    default: break;
    }
    if (v->isComplex) return "is complex; real numbers are read";
    if (v->rank < 1 || v->rank > 3) {
        snprintf(text, sizeof text, "has %d axes; 1 to 3 are read", v->rank);
        return text;
    }
    *l = (mat_layout){.ndim = v->rank};
    for (int k = 0; k < v->rank; k++) {
        if (v->dims[k] == 0) return "is empty";
        l->shape[k] = v->dims[k];
    }
    return NULL;
}

/* ---- paths ---- */

void list_variable(catalog *c, const char *name, matvar_t *v) {
    mat_layout l;
    if (v->class_type == MAT_C_STRUCT && count_of(v) == 1) {
        char *const *fields = Mat_VarGetStructFieldnames(v);
        unsigned n = Mat_VarGetNumberOfFields(v);
        for (unsigned k = 0; fields && k < n; k++) {
            matvar_t *field = Mat_VarGetStructFieldByIndex(v, k, 0);
            char path[256];
            if (!field || !fields[k]) continue;
            /* Such a long path belongs to a loop, or is too long to be useful. */
            if (snprintf(path, sizeof path, "%s.%s", name, fields[k]) >= (int)sizeof path) continue;
            list_variable(c, path, field);
        }
        return;
    }
    const char *why = unfit_variable(v, &l);
    if (why)
        catalog_unfit(c, name, why);
    else
        catalog_add(c, name, l.ndim, l.shape);
}

matvar_t *follow_path(matvar_t *v, const char *p) {
    size_t element = 1; /* the index of an element of a struct array, until the path names a field */
    while (v && *p) {
        size_t count = count_of(v);
        if (*p != '.') {
            size_t k = take_index(&p);
            if (!k || k > count) return NULL;
            if (v->class_type == MAT_C_STRUCT)
                element = k;
            else
                v = v->class_type == MAT_C_CELL && v->data ? ((matvar_t **)v->data)[k - 1] : NULL;
            continue;
        }
        char name[128];
        size_t n = strcspn(++p, ".({");
        if (n == 0 || n >= sizeof name || v->class_type != MAT_C_STRUCT || element > count) return NULL;
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n;
        v = Mat_VarGetStructFieldByName(v, name, element - 1);
        element = 1;
    }
    return v;
}

/* ---- values ---- */

static void copy_numbers(const matvar_t *v, const char *key, size_t count, double *to) {
    size_t size = class_size(v->class_type);
    if (!size || !v->data || v->nbytes / size < count || (size_t)v->data_size != size)
        refuse("%.100s cannot be read: the file is damaged", key);
    widen(to, v->data, count, v->class_type);
}

_Noreturn static void give_cells(matvar_t *v, const char *key, const mat_layout *l) {
    matvar_t **cell = v->data;
    size_t rows = cell[0]->dims[0], cols = cell[0]->rank > 1 ? cell[0]->dims[1] : 1;
    double *values = make_room(l->ndim, l->shape), *one = calloc(rows * cols, sizeof *one);
    if (!one) refuse("%.100s is too large", key);
    for (size_t k = 0, count = count_of(v); k < count; k++) {
        copy_numbers(cell[k], key, rows * cols, one);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++) values[(k * rows + i) * cols + j] = one[j * rows + i];
    }
    finish(0);
}

static double *doubles(const void *from, size_t count, enum matio_classes class) {
    double *to = from ? calloc(count + 1, sizeof *to) : NULL;
    if (to) widen(to, from, count, class);
    return to;
}

_Noreturn static void give_sparse(const matvar_t *v, const char *key) {
    const mat_sparse_t none = {0}, *m = v->data ? v->data : &none;
    enum matio_classes class = v->data_type == MAT_T_SINGLE  ? MAT_C_SINGLE
                               : v->data_type == MAT_T_INT8  ? MAT_C_INT8
                               : v->data_type == MAT_T_UINT8 ? MAT_C_UINT8
                                                             : MAT_C_DOUBLE;
    if (!m->jc || v->rank != 2 || (class == MAT_C_DOUBLE && v->data_type != MAT_T_DOUBLE))
        refuse("%.100s is a sparse matrix that cannot be read", key);
    ks_sparse s = {.rows = v->dims[0],
                   .cols = v->dims[1],
                   .by_columns = 1,
                   .start = doubles(m->jc, m->njc, MAT_C_UINT32),
                   .starts = m->njc,
                   .index = doubles(m->ir, m->nir, MAT_C_UINT32),
                   .indices = m->nir,
                   .value = doubles(m->data, m->ndata, class),
                   .values = m->ndata};
    if (!s.start || (s.indices && !s.index) || (s.values && !s.value))
        refuse("%.100s is a sparse matrix that cannot be read", key);
    const char *why = ks_sparse_unfit(&s);
    if (why) refuse("%.100s %s", key, why);
    /* New pages are zero, so only the stored entries are written. */
    ks_sparse_expand(&s, make_room(2, (size_t[]){s.rows, s.cols}));
    finish(0);
}

void give_variable(matvar_t *v, const char *key) {
    mat_layout l;
    const char *why = unfit_variable(v, &l);
    if (why) refuse("%.100s %s", key, why);
    if (v->class_type == MAT_C_CELL) give_cells(v, key, &l);
    if (v->class_type == MAT_C_SPARSE) give_sparse(v, key);
    copy_numbers(v, key, count_of(v), make_room(l.ndim, l.shape));
    finish(1);
}
