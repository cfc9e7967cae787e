/*
 * make_nested FILE DEPTH: an HDF5 file of so many groups in each other, the innermost with a 2 x 2 data set x
 * and a hard link back to the root.
 */
#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    hid_t file = H5Fcreate(argv[1], H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), group = file;
    for (int k = atoi(argv[2]); k > 0; k--) {
        hid_t inner = H5Gcreate2(group, "g", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group != file) H5Gclose(group);
        group = inner;
    }
    const hsize_t shape[2] = {2, 2};
    const double x[4] = {1, 2, 3, 5};
    hid_t space = H5Screate_simple(2, shape, NULL);
    hid_t data = H5Dcreate2(group, "x", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, x);
    H5Lcreate_hard(file, "/", group, "loop", H5P_DEFAULT, H5P_DEFAULT);
    H5Dclose(data);
    return H5Fclose(file) < 0;
}
