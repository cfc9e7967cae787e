/*
 * Expressions of one or two matrices, and their estimates by definition: sums over all tuples of indices, in
 * integers. A matrix has its rows on axis 0; X has its columns on axis 1, and Y on axis 2.
 */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* entries of the expressions that ein_all() lists, and of any */
enum { EIN_FACTORS = 6, EIN_MOST = 10, EIN_AXES = 3, EIN_SIZE = 7 };

typedef struct {
    int factors;
    /* of each factor: 0 for X, 1 for Y; its indices */
    int matrix[EIN_MOST], row[EIN_MOST], col[EIN_MOST];
    int indices[EIN_AXES]; /* of each axis */
} ein_form;

typedef struct {
    int size[EIN_AXES];
    /* of each factor, by rows; the same for all of a matrix but with trials */
    const int *data[EIN_MOST];
    int complete[EIN_AXES];
    /* 0, or how many indices the axis is a sample of; tuples of these may coincide */
    int population[EIN_AXES];
    /* labels of rows, which then come from different groups, and how many rows a tuple has at least; NULL */
    const uint64_t *group;
    int together;
} ein_data;

static inline int ein_axis(const ein_form *f, int k) { return 1 + f->matrix[k]; }

/* All tuples of `count` indices of an axis, for free(). label: NULL, or no two are equal */
static inline int8_t *ein_tuples(int count, int size, int complete, const uint64_t *label, size_t *tuples) {
    size_t room = 1;
    for (int k = 0; k < count; k++) room *= (size_t)(complete ? size : size > k ? size - k : 0);
    int8_t *list = malloc(room * EIN_MOST + 1), at[EIN_MOST + 1] = {0};
    for (*tuples = 0; room;) {
        int fine = 1, k = 0;
        for (int i = 0; i < count && !complete; i++)
            for (int j = 0; j < i; j++) fine &= at[i] != at[j] && !(label && label[at[i]] == label[at[j]]);
        if (fine) memcpy(list + EIN_MOST * (*tuples)++, at, EIN_MOST);
        while (k < count && ++at[k] == size) at[k++] = 0;
        if (k == count) break;
    }
    return list;
}

/* The sum over all tuples, and how many tuples each axis has */
static inline int64_t ein_sum(const ein_form *f, const ein_data *d, size_t tuples[EIN_AXES]) {
    int8_t *list[EIN_AXES];
    int64_t sum = 0;
    for (int x = 0; x < EIN_AXES; x++) {
        const int more = x == 0 && d->together > f->indices[0];
        list[x] = ein_tuples(more ? d->together : f->indices[x], d->size[x], d->complete[x],
                             x ? NULL : d->group, &tuples[x]);
    }
    for (size_t a = 0; a < tuples[0]; a++)
        for (size_t b = 0; b < tuples[1]; b++)
            for (size_t c = 0; c < tuples[2]; c++) {
                const int8_t *row = list[0] + EIN_MOST * a;
                const int8_t *col[2] = {list[1] + EIN_MOST * b, list[2] + EIN_MOST * c};
                const int *size = d->size;
                int64_t value = 1;
                for (int k = 0; k < f->factors; k++)
                    value *= d->data[k][row[f->row[k]] * size[ein_axis(f, k)] + col[f->matrix[k]][f->col[k]]];
                sum += value;
            }
    for (int x = 0; x < EIN_AXES; x++) free(list[x]);
    return sum;
}

static inline int64_t ein_falling(int n, int count) {
    int64_t product = 1;
    for (int k = 0; k < count; k++) product *= n - k;
    return product;
}

/* The form with index k of axis x renamed to[k] */
static inline ein_form ein_renamed(const ein_form *f, int x, const int *to, int indices) {
    ein_form g = *f;
    for (int k = 0; k < f->factors; k++) {
        if (x == 0) g.row[k] = to[f->row[k]];
        if (x == ein_axis(f, k)) g.col[k] = to[f->col[k]];
    }
    g.indices[x] = indices;
    return g;
}

/*
 * r indices drawn with replacement from N coincide in b blocks with probability (N)_b / N^r, in each way to
 * do so; distinct indices of the sample then estimate the mean. Sums over all ways, on all axes from x on;
 * below: N^r (P)_r for each axis, or its tuples.
 */
static inline int64_t ein_drawn(const ein_form *f, const ein_data *d, int x, size_t tuples[EIN_AXES]) {
    const int r = x < EIN_AXES ? f->indices[x] : 0, N = x < EIN_AXES ? d->population[x] : 0;
    int to[EIN_MOST] = {0};
    int64_t sum = 0;
    if (x == EIN_AXES) return ein_sum(f, d, tuples);
    if (!N || !r) return ein_drawn(f, d, x + 1, tuples);
    for (int k = 0; k < r;) {
        int blocks = 0, fine = 1;
        for (int j = 0; j < r; j++) { /* each block has the number of its first index's place among blocks */
            fine &= to[j] <= blocks;
            blocks += to[j] == blocks;
        }
        const ein_form g = ein_renamed(f, x, to, blocks);
        if (fine)
            sum += ein_falling(N, blocks) * ein_falling(d->size[x] - blocks, r - blocks) *
                   ein_drawn(&g, d, x + 1, tuples);
        for (k = 0; k < r && ++to[k] == r; k++) to[k] = 0;
    }
    tuples[x] = (size_t)ein_falling(d->size[x], r);
    for (int j = 0; j < r; j++) tuples[x] *= (size_t)N;
    return sum;
}

/* The mean over all tuples, NaN where there are none */
static inline double ein_mean(const ein_form *f, const ein_data *d) {
    size_t tuples[EIN_AXES];
    const int64_t sum = ein_drawn(f, d, 0, tuples);
    return (double)sum / ((double)tuples[0] * (double)tuples[1] * (double)tuples[2]);
}

/*
 * Centred over rows: each factor has its row, or less an own one, by all subsets of factors. Subsets that
 * give the same expression are counted together. All terms get one denominator.
 */
static inline double ein_centred(const ein_form *f, const ein_data *d) {
    ein_form term[1 << EIN_FACTORS];
    int weight[1 << EIN_FACTORS], terms = 0, most = 0;
    for (unsigned set = 0; set < 1u << f->factors; set++) {
        ein_form g = *f;
        int to[EIN_MOST], rows = 0, k = 0;
        memset(to, -1, sizeof to);
        for (int e = 0; e < f->factors; e++) {
            int *at = &to[f->row[e]];
            if (!(set >> e & 1) && *at < 0) *at = rows++;
            g.row[e] = set >> e & 1 ? rows++ : *at;
        }
        g.indices[0] = rows;
        most = rows > most ? rows : most;
        while (k < terms && memcmp(&term[k], &g, sizeof g) != 0) k++;
        if (k == terms) term[terms] = g, weight[terms++] = 0;
        weight[k] += __builtin_popcount(set) & 1 ? -1 : 1;
    }
    int64_t sum = 0;
    size_t tuples[EIN_AXES] = {0};
    ein_data all = *d;
    if (d->group) all.together = most;
    for (int k = 0; k < terms; k++) {
        if (!weight[k]) continue;
        const int rows = term[k].indices[0];
        sum += weight[k] * ein_sum(&term[k], &all, tuples) *
               (d->group ? 1 : ein_falling(d->size[0] - rows, most - rows));
    }
    const double rows = d->group ? (double)tuples[0] : (double)ein_falling(d->size[0], most);
    return (double)sum / (rows * (double)tuples[1] * (double)tuples[2]);
}

/* As text; names: of X and Y, or with halves, X1, X2, X1 ... by factor */
static inline const char *ein_text(const ein_form *f, int halves, char *out, size_t size) {
    static const char *const rows[] = {"i", "j", "k"}, *const cols[] = {"abc", "def"};
    size_t used = 0;
    out[0] = 0;
    for (int k = 0; k < f->factors; k++)
        used += (size_t)snprintf(out + used, size - used, "%s%c%s[%s,%c]", k ? " " : "", "XY"[f->matrix[k]],
                                 !halves ? ""
                                 : k & 1 ? "2"
                                         : "1",
                                 rows[f->row[k]], cols[f->matrix[k]][f->col[k]]);
    return out;
}

/* Does every row index have two entries or more, so that centring leaves something? */
static inline int ein_can_centre(const ein_form *f) {
    int count[EIN_MOST] = {0}, fine = 1;
    for (int k = 0; k < f->factors; k++) count[f->row[k]]++;
    for (int r = 0; r < f->indices[0]; r++) fine &= count[r] > 1;
    return fine;
}

/* ---- which expressions ---- */

/* The multiplicities of a form of one matrix, the least over all orders of rows and columns, as a number */
static inline uint64_t ein_code(int m[3][3], int rows, int cols) {
    static const int orders[6][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
    uint64_t best = UINT64_MAX;
    for (int p = 0; p < 6; p++)
        for (int q = 0; q < 6; q++) {
            uint64_t code = (uint64_t)(rows * 4 + cols);
            int fits = 1;
            for (int r = 0; r < 3; r++) fits &= (orders[p][r] < rows) == (r < rows);
            for (int c = 0; c < 3; c++) fits &= (orders[q][c] < cols) == (c < cols);
            for (int r = 0; r < rows && fits; r++)
                for (int c = 0; c < cols; c++) code = code * 8 + (uint64_t)m[orders[p][r]][orders[q][c]];
            if (fits && code < best) best = code;
        }
    return best;
}

static inline int ein_connected(int m[3][3], int rows, int cols) {
    unsigned row = 1, col = 0;
    for (int pass = 0; pass < 6; pass++)
        for (int r = 0; r < rows; r++)
            for (int c = 0; c < cols; c++) {
                if (!m[r][c]) continue;
                if (row >> r & 1) col |= 1u << c;
                if (col >> c & 1) row |= 1u << r;
            }
    return row == (1u << rows) - 1 && col == (1u << cols) - 1;
}

/* All connected forms of X with up to 3 rows, 3 columns and 6 entries, each once; returns how many */
static inline int ein_all(ein_form *out, int room) {
    uint64_t *code = calloc((size_t)room, sizeof *code);
    int count = 0;
    for (int rows = 1; rows <= 3; rows++)
        for (int cols = 1; cols <= 3; cols++) {
            int m[3][3] = {{0}}, cells = rows * cols, total = 0;
            for (;;) {
                int k = 0;
                while (k < cells) { /* the next list of multiplicities */
                    int *at = &m[k / cols][k % cols];
                    if (total < EIN_FACTORS) {
                        ++*at, total++;
                        break;
                    }
                    total -= *at, *at = 0;
                    k++;
                }
                if (k == cells) break;
                if (!ein_connected(m, rows, cols)) continue;
                const uint64_t c = ein_code(m, rows, cols);
                int known = 0;
                for (int j = 0; j < count; j++) known |= code[j] == c;
                if (known || count == room) continue;
                code[count] = c;
                ein_form *f = &out[count++];
                *f = (ein_form){.indices = {rows, cols, 0}};
                for (int r = 0; r < rows; r++)
                    for (int q = 0; q < cols; q++)
                        for (int e = 0; e < m[r][q]; e++) f->row[f->factors] = r, f->col[f->factors++] = q;
            }
        }
    free(code);
    return count;
}
