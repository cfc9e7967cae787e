/*
 * Data sets: decides which can be read as an array of numbers, and finds their layout. In MATLAB the first
 * index runs fastest and in HDF5 the last, so an r x c variable is stored as c x r.
 */
#include "hdf5/h5.h"

#include <hdf5.h>
#include <stdio.h>
#include <string.h>

static herr_t keep_first(unsigned n, const H5E_error2_t *e, void *text) {
    if (n == 0 && e->desc) snprintf(text, 200, "%s", e->desc);
    return 0;
}

/* The innermost entry of HDF5's error stack */
const char *reason(void) {
    static char text[200];
    snprintf(text, sizeof text, "damaged file");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_first, text);
    return text;
}

int matlab_class(hid_t object, char name[32]) {
    if (H5Aexists(object, "MATLAB_class") <= 0) return 0;
    hid_t attribute = H5Aopen(object, "MATLAB_class", H5P_DEFAULT), type = H5Tcopy(H5T_C_S1);
    snprintf(name, 32, "unknown");
    hid_t stored = H5Aget_type(attribute);
    /*
     * Accepts a single string of fixed length only, because HDF5 would write further strings past the end of
     * the buffer.
     */
    if (H5Tget_class(stored) != H5T_STRING || H5Tis_variable_str(stored) != 0 ||
        H5Sget_simple_extent_npoints(H5Aget_space(attribute)) != 1)
        return 0;
    if (H5Tset_size(type, 32) >= 0) H5Aread(attribute, type, name);
    name[31] = 0;
    return 1;
}

/*
 * h5py writes booleans as an enumeration of FALSE = 0 and TRUE = 1. Any other enumeration is a set of labels.
 */
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

const char *unfit_dataset(hid_t data, layout *l) {
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

    /* Values from missing source files would silently become fill values. */
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

void read_values(hid_t data, const char *key, double *to) {
    if (H5Dread(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, to) < 0)
        refuse("%.100s cannot be read: %s", key, reason());
}
