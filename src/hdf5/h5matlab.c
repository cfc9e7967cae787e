/*
 * Structs and cell arrays of MATLAB v7.3. A struct is a group of its fields. A cell array, or a field of a
 * struct array, is a data set of references to its elements.
 */
#include "hdf5/h5.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int is_cell(hid_t data) {
    char class[32];
    return matlab_class(data, class) && strcmp(class, "cell") == 0;
}

/* Returns the number of references in a data set; 0 if its elements are not references */
static size_t count_of(hid_t data) {
    hssize_t n = H5Sget_simple_extent_npoints(H5Dget_space(data));
    hid_t type = H5Dget_type(data);
    return n > 0 && H5Tget_class(type) == H5T_REFERENCE && H5Tequal(type, H5T_STD_REF_OBJ) > 0 ? (size_t)n
                                                                                               : 0;
}

static hobj_ref_t *references(hid_t data, size_t count) {
    hobj_ref_t *r = calloc(count, sizeof *r);
    if (!r || H5Dread(data, H5T_STD_REF_OBJ, H5S_ALL, H5S_ALL, H5P_DEFAULT, r) < 0) return NULL;
    return r;
}

static hid_t follow(hid_t data, const hobj_ref_t *r) {
    return H5Rdereference2(data, H5P_DEFAULT, H5R_OBJECT, r);
}

/* Returns the reason why the cells cannot be read as one array; or NULL, and sets the layout of one cell */
static const char *unfit_each(hid_t data, const hobj_ref_t *r, size_t count, layout *one) {
    for (size_t k = 0; k < count; k++) {
        layout l;
        hid_t cell = follow(data, &r[k]);
        if (cell < 0 || H5Iget_type(cell) != H5I_DATASET || unfit_dataset(cell, &l) || l.ndim > 2)
            return "is a MATLAB cell array whose cells are not all matrices of numbers; name one as in c{1}";
        H5Oclose(cell);
        if (k && (l.ndim != one->ndim || memcmp(l.shape, one->shape, sizeof l.shape) != 0))
            return "is a MATLAB cell array whose cells differ in shape; name one as in c{1}";
        *one = l;
    }
    return NULL;
}

static const char *open_cells(hid_t data, layout *l, layout *one, hobj_ref_t **r) {
    size_t count = count_of(data);
    *r = count ? references(data, count) : NULL;
    if (!*r) return "is an empty MATLAB cell array";
    const char *why = unfit_each(data, *r, count, one);
    if (why) return why;
    size_t rows = one->shape[0], cols = one->ndim > 1 ? one->shape[1] : 1;
    *l = (layout){0};
    l->ndim = stack_cells(count, rows, cols, l->shape);
    return NULL;
}

const char *unfit_cells(hid_t data, layout *l) {
    layout one;
    hobj_ref_t *r;
    return open_cells(data, l, &one, &r);
}

void read_cells(hid_t data, const char *key) {
    layout l, one;
    hobj_ref_t *r;
    const char *why = open_cells(data, &l, &one, &r);
    if (why) refuse("%.100s %s", key, why);
    size_t rows = one.shape[0], cols = one.ndim > 1 ? one.shape[1] : 1;
    double *values = make_room(l.ndim, l.shape), *cell = calloc(rows * cols, sizeof *cell);
    if (!cell) refuse("%.100s is too large", key);
    for (size_t k = 0, count = count_of(data); k < count; k++) {
        read_values(follow(data, &r[k]), key, cell);
        for (size_t i = 0; i < rows; i++)
            for (size_t j = 0; j < cols; j++)
                values[(k * rows + i) * cols + j] = cell[one.column_major ? j * rows + i : i * cols + j];
    }
    finish(0);
}

/* ---- paths ---- */

/*
 * Opens the k-th object (from 1) of a data set of references. Negative if the data set has fewer references
 */
static hid_t pick(hid_t data, size_t k) {
    size_t count = H5Iget_type(data) == H5I_DATASET ? count_of(data) : 0;
    hobj_ref_t *r = k && k <= count ? references(data, count) : NULL;
    return r ? follow(data, &r[k - 1]) : -1;
}

hid_t open_matlab(hid_t file, const char *key) {
    hid_t at = file;
    size_t element = 0; /* the index of an element of a struct array, until the path names a field */
    const char *p = key + strspn(key, "/");
    while (*p && at >= 0) {
        char name[128];
        size_t n = strcspn(p, ".({");
        if (n == 0 || n >= sizeof name) return -1;
        snprintf(name, sizeof name, "%.*s", (int)n, p);
        p += n;
        if (H5Iget_type(at) != H5I_GROUP && H5Iget_type(at) != H5I_FILE) return -1;
        if (H5Lexists(at, name, H5P_DEFAULT) <= 0) return -1;
        at = H5Oopen(at, name, H5P_DEFAULT);
        if (at >= 0 && element) at = pick(at, element), element = 0;
        for (size_t k; at >= 0 && (k = take_index(&p));) {
            if (H5Iget_type(at) == H5I_DATASET)
                at = pick(at, k);
            else
                element = k;
        }
        if (*p == '.' && p[1])
            p++;
        else if (*p)
            return -1;
    }
    return element ? -1 : at;
}
