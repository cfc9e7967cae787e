/*
 * kspec-hdf5 reads one array of one HDF5 or MATLAB file into the memory it shares with the library, and ends.
 * It is a separate process because the libraries it calls crash on damaged files. Hence its style: an error
 * ends the process where it is found, with a message; nothing is freed.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Ends the process with a one-line message for the user. */
_Noreturn void refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/*
 * Room in the shared memory for an array of this shape: 1 to 3 axes, none of them empty. Ends the process
 * where there is not enough memory. Then finish(), once it is filled.
 */
double *make_room(int ndim, const size_t *shape);
_Noreturn void finish(int column_major);

/* The arrays of a file: to choose the only one, or to list them for the user. */
typedef struct {
    const char *kind; /* what the format calls them: "data set", "variable" */
    int matlab;       /* paths are written exp.spikes, not exp/spikes */
    size_t count;     /* how many can be read */
    char *name;       /* the first of them */
    char list[256];   /* as many as fit: "x (4 x 3), y (10 x 2)" */
    char unfit[160];  /* the first that cannot be read, and why: "z is complex" */
} catalog;

void catalog_add(catalog *c, const char *name, int ndim, const size_t *shape);
void catalog_unfit(catalog *c, const char *name, const char *why);

/* The name of the only array; otherwise the process ends with a message that lists them. */
const char *catalog_only(const catalog *c);

/* Ends the process: `key` is not there (why = "is not there") or not an array ("is a group"). */
_Noreturn void catalog_refuse(const catalog *c, const char *key, const char *why);

/* "(12)" or "{12}" of a MATLAB path at *p: the number, with *p behind it; 0 where there is none */
size_t take_index(const char **p);

/*
 * Cells of one shape are an array with an axis more, the first: `count` matrices, or vectors as rows; one
 * cell is what it holds. Sets the shape, and returns how many axes it has.
 */
int stack_cells(size_t count, size_t rows, size_t cols, size_t shape[3]);

/*
 * The formats. Each has a part that opens the file, which is `fd` and `size` bytes long, before the sandbox
 * is entered, and one that parses it inside.
 */
int64_t driver_access(int fd, size_t size); /* how HDF5 gets at the file: a hid_t */
_Noreturn void read_hdf5(int64_t access, const char *key, int matlab);
typedef struct mat_file mat_file;
mat_file *open_mat(const char *path, int fd);
_Noreturn void read_mat(mat_file *f, const char *key);
void check_mat5(FILE *f); /* ends the process where the file is cut short or a checksum is wrong */
