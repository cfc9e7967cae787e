/* HDF5 files, and MATLAB's v7.3 files, which are HDF5 files whose objects carry MATLAB_ attributes. */
#include "hdf5/h5.h"
#include "hdf5/walk.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

/* The end of a path, which is its specific part */
static const char *last(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Lists the readable objects, in MATLAB's notation for a MATLAB file: exp.spikes */
static void list_one(catalog *c, const char *path, const char *why, const layout *l) {
    char *name = strdup(path);
    if (!name) return;
    for (char *p = name; c->matlab && *p; p++)
        if (*p == '/') *p = '.';
    if (why)
        catalog_unfit(c, name, why);
    else
        catalog_add(c, name, l->ndim, l->shape);
}

static int visit(hid_t object, const char *path, void *context) {
    catalog *c = context;
    H5I_type_t kind = H5Iget_type(object);
    layout l;
    if (kind == H5I_DATASET) {
        const char *why = is_cell(object) ? unfit_cells(object, &l) : unfit_dataset(object, &l);
        list_one(c, path, why, &l);
    }
    if (kind != H5I_GROUP) return 0;
    int sparse = is_sparse(object);
    if (sparse) {
        const char *why = unfit_sparse(object, &l);
        list_one(c, path, why, &l);
    }
    /* MATLAB stores the contents of cells in #refs# */
    return sparse || strcmp(last(path), "#refs#") == 0 || strcmp(last(path), "#subsystem#") == 0;
}

static catalog list_group(hid_t group, const char *prefix, int matlab) {
    catalog c = {.kind = "data set", .matlab = matlab};
    walk_tree(group, prefix, visit, &c);
    return c;
}

/* Describes the contents of a group that is not a matrix */
_Noreturn static void refuse_group(hid_t group, const char *key, int matlab) {
    char prefix[256], class[32];
    snprintf(prefix, sizeof prefix, "%.254s%s", key, key[strlen(key) - 1] == '/' ? "" : "/");
    catalog members = list_group(group, prefix, matlab);
    catalog_refuse(&members, key, matlab_class(group, class) ? "is a MATLAB struct" : "is a group");
}

void read_hdf5(int64_t access, const char *key, int matlab) {
    hid_t file = H5Fopen("/file", H5F_ACC_RDONLY, access); /* The driver ignores this name. */
    if (file < 0) refuse("cannot be opened as HDF5: %s", reason());
    const char *root = matlab ? "" : "/"; /* the notation of the user: names in MATLAB, paths in HDF5 */
    if (!key[0]) {
        catalog all = list_group(file, root, matlab);
        key = catalog_only(&all);
    }

    hid_t data = H5Oopen(file, key, H5P_DEFAULT);
    if (data < 0 && matlab) data = open_matlab(file, key);
    if (data < 0) {
        char why[240] = "is not there";
        if (H5Lexists(file, key, H5P_DEFAULT) > 0)
            snprintf(why, sizeof why, "cannot be opened: %s", reason());
        catalog all = list_group(file, root, matlab);
        catalog_refuse(&all, key, why);
    }
    if (H5Iget_type(data) == H5I_GROUP && is_sparse(data)) read_sparse(data, key);
    if (H5Iget_type(data) == H5I_GROUP) refuse_group(data, key, matlab);
    if (H5Iget_type(data) != H5I_DATASET) refuse("%.100s is a named type, not a data set", key);
    if (is_cell(data)) read_cells(data, key);
    layout l;
    const char *why = unfit_dataset(data, &l);
    if (why) refuse("%.100s %s", key, why);
    read_values(data, key, make_room(l.ndim, l.shape));
    finish(l.column_major);
}
