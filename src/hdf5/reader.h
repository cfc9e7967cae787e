/*
 * kspec-hdf5 reads one array of one HDF5 or MATLAB file into the memory it shares with the library, and ends.
 * It is a separate process because the libraries it calls crash on damaged files. So its code is simple: an
 * error ends the process at once, with a message, and nothing is freed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Ends the process with a one-line message for the user. */
_Noreturn void refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Allocates shared memory for an array of this shape: 1 to 3 axes, none of them empty. Ends the process if
 * memory is out. Call finish() after filling it.
 */
double *make_room(int ndim, const size_t *shape);
_Noreturn void finish(int column_major);

/* The arrays of a file, to choose the only array or to list all of them for the user. */
typedef struct {
    const char *kind; /* how the format calls an array: "data set", "variable" */
    int matlab;       /* paths are written exp.spikes, not exp/spikes */
    size_t count;     /* the number of readable arrays */
    char *name;       /* the first readable array */
    char list[256];   /* as many names as fit: "x (4 x 3), y (10 x 2)" */
    char unfit[160];  /* the first unreadable array, and why: "z is complex" */
} catalog;

void catalog_add(catalog *c, const char *name, int ndim, const size_t *shape);
void catalog_unfit(catalog *c, const char *name, const char *why);

/* Returns the name of the only array. Otherwise the process ends with a message that lists all arrays. */
const char *catalog_only(const catalog *c);

/* Ends the process because of `key`: why = "is not there", or another kind of object ("is a group"). */
_Noreturn void catalog_refuse(const catalog *c, const char *key, const char *why);

/*
 * Reads an index "(12)" or "{12}" of a MATLAB path at *p, and moves *p behind it. Returns 0 if *p has no
 * index
 */
size_t take_index(const char **p);

/*
 * The shape of cells of equal size: an additional first axis counts them, so they give `count` matrices, or
 * vectors as rows. A single cell keeps its shape. Sets the shape, and returns its number of axes.
 */
int stack_cells(size_t count, size_t rows, size_t cols, size_t shape[3]);

/*
 * The formats. One function of each opens the file (`fd`, of `size` bytes) before the process enters the
 * sandbox, and another parses it inside.
 */
int64_t driver_access(int fd, size_t size); /* returns a hid_t that gives HDF5 access to the file */
_Noreturn void read_hdf5(int64_t access, const char *key, int matlab);
typedef struct mat_file mat_file;
mat_file *open_mat(const char *path, int fd);
_Noreturn void read_mat(mat_file *f, const char *key);
void check_mat5(FILE *f); /* ends the process if the file is truncated or a checksum is wrong */
