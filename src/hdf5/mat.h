/* The shared functions of the reader of MATLAB files before v7.3. */
#pragma once

#include "hdf5/reader.h"

#include <matio.h>

typedef struct {
    int ndim;
    size_t shape[3];
} mat_layout;

/* Returns the reason why the variable cannot be read; or NULL, and sets the layout. */
const char *unfit_variable(matvar_t *v, mat_layout *l);

/* Bytes of a number of a class; 0 for a class that is not numeric */
size_t class_size(enum matio_classes class);

/* Converts `count` numbers of a class to doubles; `from` may be the end of the room at `to`. */
void widen(double *to, const void *from, size_t count, enum matio_classes class);

/* Adds the variable to the catalog, and the fields of a struct as v.field. */
void list_variable(catalog *c, const char *name, matvar_t *v);

/*
 * Follows the path after the name of a variable: ".field", "(2)" for a struct array, "{3}" for a cell array.
 * NULL if the path does not exist.
 */
matvar_t *follow_path(matvar_t *v, const char *path);

/* Writes a variable whose data are in memory to the shared memory. */
_Noreturn void give_variable(matvar_t *v, const char *key);
