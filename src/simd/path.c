/* Runs the path recursion on one cell of the matrix. */
#include "simd/path.h"
#include "simd/vec.h"

/*
 * The recursion processes several rows at a time. The recursion loads and stores A[n] of a column once for
 * two multiply-adds a row, and keeps R[n] of those rows in registers. Registers hold up to GROUP orders at
 * once, with as many rows as the remaining registers allow. The code divides more orders into groups, and
 * processes ROWS rows at a time, lowest group first. The next group needs the highest R of the previous
 * group, as it was before each column. `edge` stores these values.
 */
#if defined(KS_FOR_AVX512)
enum { REGISTERS = 32, GROUP = 8, ROWS = 3 };
#define BIG_GROUPS(_) _(4) _(5) _(6) _(7) _(8) /* group sizes nearly equal */
#define ALL_GROUPS(_) _(1) _(2) _(3) BIG_GROUPS(_)
#else
enum { REGISTERS = 16, GROUP = 4, ROWS = 2 };
#define BIG_GROUPS(_) _(2) _(3) _(4)
#define ALL_GROUPS(_) _(1) BIG_GROUPS(_)
#endif
enum { MOST_ROWS = 6 };

/*
 * Returns the number of rows that fit into the registers with g orders. Each row takes g registers for R and
 * one per trial. Three registers stay free.
 */
#define FIT(g, trials)        ((REGISTERS - 3) / ((g) + (trials)))
#define ROWS_ALONE(g, trials) (FIT(g, trials) > MOST_ROWS ? MOST_ROWS : FIT(g, trials))

/* Some rows of a cell, and one group of orders. */
typedef struct {
    size_t cols;
    /*
     * next_col and next_row are the distances between neighbouring columns of A and between neighbouring rows
     * of R, in doubles.
     */
    ptrdiff_t next_col, next_row;
    double *A, *R; /* sums of the lowest order */
    /*
     * x and y contain the scaled entries of the rows in the order of the walk. Each row has KS_PATH_COLS
     * places.
     */
    const double *x, *y;
    double *edge; /* edge contains values for the next group, with MOST_ROWS vectors for each column. */
} strip;

/*
 * Updates R and A for g orders from `lo` on. If first is 1, lo is 1. If last is 1, the group also updates
 * A[nmax]. If two is 0, y is x.
 */
KS_INLINE void group(const int rows, const int g, const int two, const int first, const int last,
                     const strip *s) {
    const size_t cols = s->cols;
    const ptrdiff_t next_col = s->next_col;
    const double *px = s->x, *py = s->y;
    vd R[MOST_ROWS][GROUP];
    KS_UNROLL for (int j = 0; j < rows; j++) {
        KS_UNROLL for (int k = 0; k < g; k++) R[j][k] = vd_load(s->R + j * s->next_row + k * VL);
    }
    double *A = s->A, *edge = s->edge;
    for (size_t b = 0; b < cols; b++, A += next_col) {
        vd x[MOST_ROWS], y[MOST_ROWS], below[MOST_ROWS];
        KS_UNROLL for (int j = 0; j < rows; j++) {
            x[j] = vd_set(px[j * KS_PATH_COLS + b]);
            y[j] = two ? vd_set(py[j * KS_PATH_COLS + b]) : x[j];
            if (!first) below[j] = vd_load(edge + j * VL);
            if (!last) vd_store(edge + j * VL, R[j][g - 1]);
        }
        edge += MOST_ROWS * VL;
        if (last) {
            vd a = vd_load(A + g * VL);
            KS_UNROLL for (int j = 0; j < rows; j++) a = vd_fma(R[j][g - 1], x[j], a);
            vd_store(A + g * VL, a);
        }
        KS_UNROLL for (int k = g - 1; k >= 0; k--) {
            vd a = vd_load(A + k * VL);
            KS_UNROLL for (int j = 0; j < rows; j++) {
                R[j][k] = vd_fma(a, y[j], R[j][k]);
                if (k > 0) a = vd_fma(R[j][k - 1], x[j], a);
                if (k == 0 && !first) a = vd_fma(below[j], x[j], a);
            }
            if (k > 0 || !first) vd_store(A + k * VL, a);
        }
    }
    KS_UNROLL for (int j = 0; j < rows; j++) {
        KS_UNROLL for (int k = 0; k < g; k++) vd_store(s->R + j * s->next_row + k * VL, R[j][k]);
    }
}

/* Runs the code for one kind of group (only, lowest, middle or highest), for one row or for several. */
static void alone(int g, int one, int two, const strip *s) {
#define ALONE(G)                                    \
    case G:                                         \
        if (one)                                    \
            group(1, G, 1, 1, 1, s);                \
        else if (two)                               \
            group(ROWS_ALONE(G, 2), G, 1, 1, 1, s); \
        else                                        \
            group(ROWS_ALONE(G, 1), G, 0, 1, 1, s); \
        break;
    switch (g) { ALL_GROUPS(ALONE) }
}

KS_INLINE void placed(const int first, const int last, int g, int one, int two, const strip *s) {
#define PLACED(G)                              \
    case G:                                    \
        if (one)                               \
            group(1, G, 1, first, last, s);    \
        else if (two)                          \
            group(ROWS, G, 1, first, last, s); \
        else                                   \
            group(ROWS, G, 0, first, last, s); \
        break;
    switch (g) { BIG_GROUPS(PLACED) }
}

static void lowest(int g, int one, int two, const strip *s) { placed(1, 0, g, one, two, s); }
static void middle(int g, int one, int two, const strip *s) { placed(0, 0, g, one, two, s); }
static void highest(int g, int one, int two, const strip *s) { placed(0, 1, g, one, two, s); }

/* Copies the scaled entries of one row to a buffer, in the order of the walk. */
static void copy_entries(const double *from, const ks_path_cell *c, double *restrict copy) {
    const double scale = c->scale;
    const size_t cols = c->cols;
    if (c->dir > 0) {
        for (size_t b = 0; b < cols; b++) copy[b] = scale * from[b];
    } else {
        for (size_t b = 0; b < cols; b++) copy[b] = scale * *(from - b);
    }
}

/*
 * Prefetches the entries of the next rows. A tile's part of a row is too short for the processor's own
 * prefetcher.
 */
static void prefetch(const double *from, const ks_path_cell *c, size_t a, size_t rows) {
    for (size_t j = a; j < a + rows && j < c->rows; j++) {
        const double *row = from + c->dir * (ptrdiff_t)(j * c->ld);
        for (size_t b = 0; b < c->cols; b += 8) __builtin_prefetch(row + c->dir * (ptrdiff_t)b);
    }
}

KS_DECLARE(path_sweep);
void KS_K(ks_path_sweep)(const ks_path_cell *c) {
    _Alignas(64) double edge[KS_PATH_COLS * MOST_ROWS * VL];
    _Alignas(64) double x[MOST_ROWS][KS_PATH_COLS], y[MOST_ROWS][KS_PATH_COLS];
    const int K = c->nmax - 1, groups = (K + GROUP - 1) / GROUP, two = c->y != c->x;
    const size_t most = groups > 1 ? ROWS : (size_t)ROWS_ALONE(K, 1 + two);
    strip s = {.cols = c->cols, .next_col = c->dir * c->nmax * VL, .next_row = c->dir * K * VL, .edge = edge};
    s.x = x[0], s.y = two ? y[0] : x[0];
    size_t rows;
    for (size_t a = 0; a < c->rows; a += rows) {
        rows = c->rows - a < most ? 1 : most;
        for (size_t j = 0; j < rows; j++) {
            ptrdiff_t at = c->dir * (ptrdiff_t)((a + j) * c->ld);
            copy_entries(c->x + at, c, x[j]);
            if (two) copy_entries(c->y + at, c, y[j]);
        }
        prefetch(c->x, c, a + rows, most);
        if (two) prefetch(c->y, c, a + rows, most);
        for (int i = 0, lo = 0, g; i < groups; i++, lo += g) {
            g = (K - lo) / (groups - i);
            s.A = c->A + lo * VL;
            s.R = c->R + (ptrdiff_t)a * s.next_row + lo * VL;
            if (groups == 1)
                alone(g, rows == 1, two, &s);
            else if (i == 0)
                lowest(g, rows == 1, two, &s);
            else if (i < groups - 1)
                middle(g, rows == 1, two, &s);
            else
                highest(g, rows == 1, two, &s);
        }
    }
}

KS_DECLARE(path_close);
void KS_K(ks_path_close)(size_t cols, int nmax, int orders, const double *A, const double *last,
                         double *sum) {
    for (int n = 0; n < orders; n++) {
        vd s = vd_load(sum + n * VL);
        for (size_t b = 0; b < cols; b++)
            s = vd_fma(vd_load(A + (b * (size_t)nmax + (size_t)n) * VL), vd_load(last + b * VL), s);
        vd_store(sum + n * VL, s);
    }
}
