/* Sparse matrices in HDF5, as AnnData, h5sparse, 10x Genomics and MATLAB write them. */
#include "hdf5/h5.h"
#include "formats/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_ATTRIBUTE = 64 };

/* A string attribute, or "" */
static void word_of(hid_t object, const char *attribute, char word[MOST_ATTRIBUTE]) {
    *word = 0;
    if (H5Aexists(object, attribute) <= 0) return;
    hid_t a = H5Aopen(object, attribute, H5P_DEFAULT), stored = H5Aget_type(a), type = H5Tcopy(H5T_C_S1);
    if (H5Tget_class(stored) != H5T_STRING || H5Sget_simple_extent_npoints(H5Aget_space(a)) != 1) return;
    if (H5Tis_variable_str(stored) > 0) {
        char *text = NULL;
        H5Tset_size(type, H5T_VARIABLE);
        H5Tset_cset(type, H5Tget_cset(stored));
        if (H5Aread(a, type, &text) >= 0 && text) strncpy(word, text, MOST_ATTRIBUTE - 1);
    } else {
        H5Tset_size(type, MOST_ATTRIBUTE);
        H5Tset_cset(type, H5Tget_cset(stored));
        H5Aread(a, type, word);
    }
    word[MOST_ATTRIBUTE - 1] = 0;
}

static int has_part(hid_t group, const char *name) {
    if (H5Lexists(group, name, H5P_DEFAULT) <= 0) return 0;
    hid_t object = H5Oopen(group, name, H5P_DEFAULT);
    int is = object >= 0 && H5Iget_type(object) == H5I_DATASET;
    if (object >= 0) H5Oclose(object);
    return is;
}

static int is_matlab(hid_t group) { return H5Aexists(group, "MATLAB_sparse") > 0; }

int is_sparse(hid_t group) {
    return is_matlab(group) ||
           (has_part(group, "data") && has_part(group, "indices") && has_part(group, "indptr"));
}

/* Reads a data set of one axis as doubles; NULL if the data set is different */
static double *vector(hid_t group, const char *name, size_t *count) {
    *count = 0;
    if (!has_part(group, name)) return NULL;
    hid_t data = H5Dopen2(group, name, H5P_DEFAULT);
    layout l;
    if (unfit_dataset(data, &l)) return NULL;
    size_t n = 1, longest = 0;
    for (int k = 0; k < l.ndim; k++) {
        if (l.shape[k] > longest) longest = l.shape[k];
        if (__builtin_mul_overflow(n, l.shape[k], &n)) return NULL;
    }
    double *to = n == longest ? calloc(n, sizeof *to) : NULL;
    if (!to || H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0) return NULL;
    *count = n;
    return to;
}

/* Two numbers, from an attribute or a data set */
static int shape_of(hid_t group, double shape[2]) {
    static const char *const names[] = {"shape", "h5sparse_shape"};
    for (int k = 0; k < 2; k++) {
        if (H5Aexists(group, names[k]) <= 0) continue;
        hid_t a = H5Aopen(group, names[k], H5P_DEFAULT);
        return H5Sget_simple_extent_npoints(H5Aget_space(a)) == 2 &&
               H5Aread(a, H5T_NATIVE_DOUBLE, shape) >= 0;
    }
    size_t n;
    double *from = vector(group, "shape", &n);
    if (!from || n != 2) return 0;
    memcpy(shape, from, 2 * sizeof *shape);
    return 1;
}

/*
 * Returns the reason why the matrix cannot be read, or NULL. with_values: also reads the index and the values
 */
static const char *open_sparse(hid_t group, int with_values, ks_sparse *s) {
    double shape[2] = {0}, rows = 0;
    char kind[MOST_ATTRIBUTE], other[MOST_ATTRIBUTE];
    int matlab = is_matlab(group);
    *s = (ks_sparse){0};
    s->start = vector(group, matlab ? "jc" : "indptr", &s->starts);
    if (!s->start) return "is a sparse matrix without its parts";
    if (matlab) {
        hid_t a = H5Aopen(group, "MATLAB_sparse", H5P_DEFAULT);
        if (H5Sget_simple_extent_npoints(H5Aget_space(a)) != 1 || H5Aread(a, H5T_NATIVE_DOUBLE, &rows) < 0)
            return "is a sparse matrix without a shape";
        shape[0] = rows, shape[1] = (double)s->starts - 1;
        s->by_columns = 1;
    } else if (!shape_of(group, shape)) {
        return "is a sparse matrix without a shape";
    }
    if (!(shape[0] >= 1 && shape[0] < 1e15 && shape[1] >= 1 && shape[1] < 1e15)) return "is empty";
    s->rows = (size_t)shape[0], s->cols = (size_t)shape[1];
    if (!matlab) {
        word_of(group, "encoding-type", kind);
        word_of(group, "h5sparse_format", other);
        int csr = !strncmp(kind, "csr", 3) || !strncmp(other, "csr", 3),
            csc = !strncmp(kind, "csc", 3) || !strncmp(other, "csc", 3);
        if (!csr && !csc) csr = s->starts == s->rows + 1, csc = s->starts == s->cols + 1;
        if (csr == csc) return "is a sparse matrix that does not say whether it is by rows or by columns";
        s->by_columns = csc;
    }
    if (!with_values) return NULL;
    s->index = vector(group, matlab ? "ir" : "indices", &s->indices);
    s->value = vector(group, "data", &s->values);
    return ks_sparse_unfit(s);
}

const char *unfit_sparse(hid_t group, layout *l) {
    ks_sparse s;
    const char *why = open_sparse(group, 0, &s);
    *l = (layout){.ndim = 2, .shape = {s.rows, s.cols}};
    return why;
}

void read_sparse(hid_t group, const char *key) {
    ks_sparse s;
    const char *why = open_sparse(group, 1, &s);
    if (why) refuse("%.100s %s", key, why);
    /* New pages are zero, so only the stored entries are written. */
    ks_sparse_expand(&s, make_room(2, (size_t[]){s.rows, s.cols}));
    finish(0);
}
