/*
 * HDF5 files, and MATLAB's v7.3 files, which are HDF5 files whose objects carry MATLAB_ attributes. MATLAB
 * counts the first index fastest and HDF5 the last, so that an r x c variable lies in the file as c x r.
 */
#include "hdf5/reader.h"
#include "hdf5/walk.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static herr_t keep_first(unsigned n, const H5E_error2_t *e, void *text) {
    if (n == 0 && e->desc) snprintf(text, 200, "%s", e->desc);
    return 0;
}

/* The error in HDF5's own words: the innermost entry of its error stack. */
static const char *reason(void) {
    static char text[200];
    snprintf(text, sizeof text, "damaged file");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
    return text;
}

/* The MATLAB class of an object ("double", "cell", ...); 0 if it carries none. */
static int matlab_class(hid_t object, char name[32]) {
    if (H5Aexists(object, "MATLAB_class") <= 0) return 0;
    hid_t attribute = H5Aopen(object, "MATLAB_class", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    snprintf(name, 32, "unknown");
    hid_t stored = H5Aget_type(attribute);
    /* one string of fixed length: HDF5 writes as many as there are, whatever room we have */
    if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) != 0 ||
        H5Sget_simple_extent_npoints(H5Aget_space(attribute)) != 1)
        return 0;
    if (H5Tset_size(type, 32) >= 0) H5Aread(attribute, type, name);
    name[31] = 0;
    return 1;
}

/* h5py writes booleans as an enumeration of FALSE = 0 and TRUE = 1. Any other is a set of labels. */
static int is_bool(hid_t type) {
    char name[2][8] = {"", ""};
    return H5Tget_size(type) == 1 && H5Tget_nmembers(type) == 2 &&
           H5Tenum_nameof(type, &(signed char){0}, name[0], 8) >= 0 &&
           H5Tenum_nameof(type, &(signed char){1}, name[1], 8) >= 0 && strcmp(name[0], "FALSE") == 0 &&
           strcmp(name[1], "TRUE") == 0;
}

static int is_complex(hid_t type) {
    return H5Tget_nmembers(type) == 2 && H5Tget_member_class(type, 0) == H5T_FLOAT &&
           H5Tget_member_class(type, 1) == H5T_FLOAT &&
           ((H5Tget_member_index(type, "real") == 0 && H5Tget_member_index(type, "imag") == 1) ||
            (H5Tget_member_index(type, "r") == 0 && H5Tget_member_index(type, "i") == 1));
}

static const char *unfit_type(hid_t type) {
    switch (H5Tget_class(type)) {
    case H5T_INTEGER:
    case H5T_FLOAT: return NULL;
    case H5T_ENUM: return is_bool(type) ? NULL : "is an enumeration, not numbers";
    case H5T_COMPOUND:
        return is_complex(type) ? "is complex; real numbers are read" : "is a table of records, not numbers";
    case H5T_STRING: return "is text, not numbers";
    case H5T_REFERENCE: return "is references to other objects, not numbers";
    case H5T_VLEN: return "has entries of varying length, not numbers";
    case H5T_ARRAY: return "has arrays as entries, not numbers";
    case H5T_BITFIELD: return "is bit fields, not numbers";
    case H5T_OPAQUE: return "is opaque data, not numbers";
    case H5T_TIME: return "is times, not numbers";
    default: return "is of an unknown type";
    }
}

typedef struct {
    int ndim, column_major;
    size_t shape[3];
} layout;

/* Why the data set cannot be read; NULL, and its layout, where it can. */
static const char *unfit_dataset(hid_t data, layout *l) {
    static char text[200];
    char class[32];
    hid_t space = H5Dget_space(data), type = H5Dget_type(data), plist = H5Dget_create_plist(data);
    if (space < 0 || type < 0 || plist < 0) {
        snprintf(text, sizeof text, "cannot be read: %.150s", reason());
        return text;
    }
    int matlab = matlab_class(data, class);
    if (matlab && (strcmp(class, "char") == 0 || strcmp(class, "cell") == 0 || strcmp(class, "struct") == 0 ||
                   strcmp(class, "function_handle") == 0)) {
        snprintf(text, sizeof text, "is a MATLAB %s array, not numbers", class);
        return text;
    }
    if (matlab && H5Aexists(data, "MATLAB_empty") > 0) return "is empty";
    const char *why = unfit_type(type);
    if (why) return why;

    int ndim = H5Sget_simple_extent_ndims(space);
    if (H5Sget_simple_extent_type(space) == H5S_NULL) return "is empty";
    if (ndim == 0) return "is a single number, not an array";
    if (ndim < 0 || ndim > 3) {
        snprintf(text, sizeof text, "has %d axes; 1 to 3 are read", ndim);
        return text;
    }
    hsize_t dims[3];
    H5Sget_simple_extent_dims(space, dims, NULL);
    *l = (layout){.ndim = ndim, .column_major = matlab};
    for (int k = 0; k < ndim; k++) {
        if (dims[k] == 0) return "is empty";
        if (dims[k] > PTRDIFF_MAX) return "is too large for the address space";
        l->shape[matlab ? ndim - 1 - k : k] = (size_t)dims[k];
    }

    /* missing source files would read as fill values, silently */
    if (H5Pget_layout(plist) == H5D_VIRTUAL) return "is a virtual data set, whose values are in other files";
    if (H5Pget_layout(plist) == H5D_CONTIGUOUS && H5Pget_external_count(plist) > 0)
        return "keeps its values in other files, which are not read";
    int nfilters = H5Pget_nfilters(plist);
    for (int k = 0; k < nfilters; k++) {
        char name[64] = "";
        unsigned flags, config;
        size_t nvalues = 0;
        H5Z_filter_t id =
            H5Pget_filter2(plist, (unsigned)k, &flags, &nvalues, NULL, sizeof name, name, &config);
        if (id < 0 || H5Zfilter_avail(id) > 0) continue;
        snprintf(text, sizeof text, "is compressed with filter %d (%.63s), which this HDF5 library lacks",
                 (int)id, name[0] ? name : "unnamed");
        return text;
    }
    return NULL;
}

/* The end of a path, which tells it from others */
static const char *last(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static int visit(hid_t object, const char *path, void *context) {
    catalog *c = context;
    H5I_type_t kind = H5Iget_type(object);
    layout l;
    if (kind == H5I_DATASET) {
        const char *why = unfit_dataset(object, &l);
        if (why)
            catalog_unfit(c, path, why);
        else
            catalog_add(c, path, l.ndim, l.shape);
    }
    if (kind != H5I_GROUP) return 0;
    /* MATLAB keeps a sparse matrix as a group of its three parts, and the contents of cells in #refs# */
    int sparse = H5Aexists(object, "MATLAB_sparse") > 0;
    if (sparse) catalog_unfit(c, path, "is a MATLAB sparse matrix; full ones are read");
    return sparse || strcmp(last(path), "#refs#") == 0 || strcmp(last(path), "#subsystem#") == 0;
}

static catalog list_group(hid_t group, const char *prefix) {
    catalog c = {.kind = "data set"};
    walk_tree(group, prefix, visit, &c);
    return c;
}

void read_hdf5(int64_t access, const char *key, int matlab) {
    hid_t file = H5Fopen("/file", H5F_ACC_RDONLY, access); /* by the driver, which has no use for a name */
    if (file < 0) refuse("cannot be opened as HDF5: %s", reason());
    const char *root = matlab ? "" : "/"; /* as one writes names in MATLAB, and paths in HDF5 */
    if (!key[0]) {
        catalog all = list_group(file, root);
        key = catalog_only(&all);
    }

    hid_t data = H5Oopen(file, key, H5P_DEFAULT);
    if (data < 0) {
        char why[240] = "is not there";
        if (H5Lexists(file, key, H5P_DEFAULT) > 0)
            snprintf(why, sizeof why, "cannot be opened: %s", reason());
        catalog all = list_group(file, root);
        catalog_refuse(&all, key, why);
    }
    if (H5Iget_type(data) != H5I_DATASET) {
        if (H5Aexists(data, "MATLAB_sparse") > 0)
            refuse("%.100s is a MATLAB sparse matrix; full ones are read", key);
        if (H5Iget_type(data) != H5I_GROUP) refuse("%.100s is a named type, not a data set", key);
        char prefix[256], class[32];
        snprintf(prefix, sizeof prefix, "%.254s%s", key, key[strlen(key) - 1] == '/' ? "" : "/");
        catalog members = list_group(data, prefix);
        catalog_refuse(&members, key, matlab_class(data, class) ? "is a MATLAB struct" : "is a group");
    }
    layout l;
    const char *why = unfit_dataset(data, &l);
    if (why) refuse("%.100s %s", key, why);
    double *values = make_room(l.ndim, l.shape);
    if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values) < 0)
        refuse("%.100s cannot be read: %s", key, reason());
    finish(l.column_major);
}
