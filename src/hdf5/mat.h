/* What the parts of the reader of MATLAB's files before v7.3 share. */
#pragma once

#include "hdf5/reader.h"

#include <matio.h>

typedef struct {
    int ndim;
    size_t shape[3];
} mat_layout;

/* Why the variable cannot be read; NULL, and the array that it is, where it can. */
const char *unfit_variable(matvar_t *v, mat_layout *l);

/* Bytes of a number of a class; 0 where it has none */
size_t class_size(enum matio_classes class);

/* Makes `count` doubles of numbers of a class; `from` may be the end of the room at `to`. */
void widen(double *to, const void *from, size_t count, enum matio_classes class);

/* Puts the variable into the catalog, and of a struct its fields as v.field. */
void list_variable(catalog *c, const char *name, matvar_t *v);

/*
 * Follows a path behind a variable's name: ".field", "(2)" of a struct array, "{3}" of a cell array; NULL
 * where it is not there.
 */
matvar_t *follow_path(matvar_t *v, const char *path);

/* Hands over a variable whose data are in memory. */
_Noreturn void give_variable(matvar_t *v, const char *key);
