/* Paths and cell arrays of MATLAB, for every version of the file format. */
#include "hdf5/reader.h"

#include <ctype.h>
#include <stdlib.h>

size_t take_index(const char **p) {
    char open = **p, *end;
    if (open != '(' && open != '{') return 0;
    unsigned long long k = strtoull(*p + 1, &end, 10);
    if (!isdigit((unsigned char)(*p)[1]) || *end != (open == '(' ? ')' : '}')) return 0;
    *p = end + 1;
    return (size_t)k;
}

int stack_cells(size_t count, size_t rows, size_t cols, size_t shape[3]) {
    int vectors = rows == 1 || cols == 1, stacked = count > 1 && !vectors;
    shape[0] = count > 1 ? count : rows;
    shape[1] = count == 1 ? cols : vectors ? rows * cols : rows;
    if (stacked) shape[2] = cols;
    return stacked ? 3 : 2;
}
