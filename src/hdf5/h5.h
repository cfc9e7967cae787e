/* The shared functions of the HDF5 reader: the kind of an object, and its conversion to an array. */
#pragma once

#include "hdf5/reader.h"

#include <hdf5.h>

typedef struct {
    int ndim, column_major;
    size_t shape[3];
} layout;

/* The error in HDF5's own words */
const char *reason(void);

/* Reads the MATLAB class of an object ("double", "cell", ...). Returns 0 if the object has none. */
int matlab_class(hid_t object, char name[32]);

/* Returns the reason why the data set cannot be read; or NULL, and sets the layout. */
const char *unfit_dataset(hid_t data, layout *l);

/* Reads a data set that can be read into room; ends the process if HDF5 fails. */
void read_values(hid_t data, const char *key, double *to);

/* ---- sparse matrices: groups of data, indices and indptr, or of MATLAB's data, ir and jc ---- */

int is_sparse(hid_t group);
const char *unfit_sparse(hid_t group, layout *l);
_Noreturn void read_sparse(hid_t group, const char *key);

/* ---- MATLAB's cells and struct arrays: data sets of references ---- */

int is_cell(hid_t data);

/* As in stack_cells() */
const char *unfit_cells(hid_t data, layout *l);
_Noreturn void read_cells(hid_t data, const char *key);

/*
 * Opens an object such as "exp.spikes", "exp(2).spikes" or "runs{3}", counted from 1. Negative if the object
 * does not exist
 */
hid_t open_matlab(hid_t file, const char *key);
