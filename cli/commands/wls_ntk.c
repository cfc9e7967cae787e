/* Computes NTK features of the rows of INPUT, for `kspec wls features --ntk M`. */
#include "commands/wls.h"

#include <stdlib.h>

int wls_ntk_make(const wls_args *a, const kspec_matrix *x, wls_ntk *to) {
    const size_t cols = a->ntk * x->cols;
    double *psi = x->cols && cols / x->cols != a->ntk ? NULL : malloc(x->rows * cols * sizeof *psi);
    to->psi = psi, to->start = malloc(x->rows * sizeof *to->start);
    if (!psi || !to->start)
        return cli_error(EXIT_FAILED, "out of memory for %zu features of %zu rows", cols, x->rows);
    kspec_error err;
    kspec_status st =
        kspec_wls_ntk(x, a->ntk, a->ntk_scale > 0 ? a->ntk_scale : 1, a->common.seed, psi, to->start, &err);
    if (st) return cli_fail_data(st, &err);
    to->view = (kspec_matrix){psi, x->rows, cols, (ptrdiff_t)cols, 1};
    return EXIT_DONE;
}

int wls_ntk_rest(const wls_ntk *of, const kspec_matrix *y, double **rest) {
    *rest = malloc(y->rows * y->cols * sizeof **rest);
    if (!*rest) return cli_no_memory();
    for (size_t i = 0; i < y->rows; i++)
        for (size_t k = 0; k < y->cols; k++)
            (*rest)[i * y->cols + k] =
                y->data[(ptrdiff_t)i * y->row_stride + (ptrdiff_t)k * y->col_stride] - of->start[i];
    return EXIT_DONE;
}

void wls_ntk_free(wls_ntk *n) {
    free(n->psi);
    free(n->start);
}
