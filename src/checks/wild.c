/*
 * Finds entries, rows and columns that decide the result alone, and marks of missing values read as numbers.
 */
#include "checks/parts.h"

#include "base/error.h"
#include "base/matrix.h"

#include <math.h>
#include <stdlib.h>

/* ---- marks of missing values ---- */

/*
 * The values that instruments and formats write for "missing". Their float32 forms also count, and so does
 * NetCDF's value with the six digits that text has.
 */
static const double marks[] = {999,  -999, 9999, -9999, -32768, 9.9692099683868690e36, -9.9692099683868690e36,
                               1e20, -1e20};
enum { MARKS = sizeof marks / sizeof *marks, COLUMNS = 16 };

static const kspec_matrix *given(const ks_checked *c) { return c->raw ? c->raw : c->phi; }

static int is(double x, double mark) {
    return x == mark || x == (double)(float)mark || (fabs(mark) > 9e36 && x == copysign(9.96921e36, mark));
}

/*
 * Where a mark occurs: how often, its first row and column, and the first few columns that contain the mark
 */
typedef struct {
    size_t count, row, col, columns, column[COLUMNS];
} found;

static void find(const ks_checked *c, double mark, found *f) {
    for (size_t t = 0; t < c->ntrials; t++)
        for (size_t i = 0; i < c->phi->rows; i++)
            for (size_t j = 0; j < c->phi->cols && ks_is_seen(c, t, i); j++) {
                if (!is(ks_at(&given(c)[t], i, j), mark)) continue;
                if (!f->count++) f->row = i, f->col = j;
                size_t k = 0;
                while (k < f->columns && f->column[k] != j) k++;
                if (k == f->columns && k < COLUMNS) f->column[f->columns++] = j;
            }
}

/* Is the mark farther from all other entries of the column than these are from each other? */
static int is_far(const ks_checked *c, size_t j, double mark) {
    double low = INFINITY, high = -INFINITY;
    for (size_t t = 0; t < c->ntrials; t++)
        for (size_t i = 0; i < c->phi->rows; i++) {
            const double x = ks_is_seen(c, t, i) ? ks_at(&given(c)[t], i, j) : mark;
            if (is(x, mark) || isnan(x)) continue;
            low = fmin(low, x), high = fmax(high, x);
        }
    return low <= high && fmax(mark - high, low - mark) > high - low;
}

static int doubt_marks(ks_doubts to, const char *where, const ks_checked *c) {
    int any = 0;
    for (int k = 0; k < MARKS; k++) {
        found f = {0};
        size_t far = 0;
        char value[32];
        find(c, marks[k], &f);
        for (size_t n = 0; n < f.columns; n++) far += (size_t)is_far(c, f.column[n], marks[k]);
        if (!f.count || 2 * far < f.columns) continue;
        any = 1;
        ks_doubt(to, KSPEC_DOUBT_FILL_VALUE, where, NULL, (double)f.count, marks[k], (double)f.row,
                 (double)f.col);
        ks_print(value, sizeof value, "%.7g", marks[k]);
        ks_doubt_set(to, value);
    }
    return any;
}

/* ---- outlying parts ---- */

/*
 * A part of the sum of squares stands out if it is a large share of the total, and many times the mean of the
 * other parts. Heavy-tailed data (Student's t with 3 degrees) exceed these bounds in 1 of 1,000 matrices.
 */
static const double ENTRY = 0.3, ENTRY_TIMES = 1000, ROW = 0.5, ROW_TIMES = 50, COLUMN = 0.95, HALF = 0.5;

static int stands_out(double part, double all, size_t parts, double share, double times) {
    return part > share * all && part * (double)(parts - 1) > times * (all - part);
}

static size_t most_of(const double *x, size_t n) {
    size_t k = 0;
    for (size_t i = 1; i < n; i++)
        if (x[i] > x[k]) k = i;
    return k;
}

/* Finds the largest entry of row i: its column, its trial, and the square of its distance from the centre */
static double largest_of(const ks_checked *c, const ks_scan *s, size_t i, size_t *col, size_t *trial) {
    double most = -1;
    for (size_t t = 0; t < c->ntrials && ks_is_seen(c, t, i); t++)
        for (size_t j = 0; j < s->Q; j++) {
            const double d = (ks_at(&c->phi[t], i, j) - s->center[j]) * s->scale;
            if (d * d > most) most = d * d, *col = j, *trial = t;
        }
    return most;
}

/*
 * Several entries that stand out together. They lie within a factor of 10 of the largest one, are few, do not
 * fill a row or a column, and have a gap of another factor of 10 below them. Tails have no gap. If most
 * entries are 0, the few others are the measurement.
 */
typedef struct {
    double most, sum; /* of squares */
    size_t count, gap, zeros, row, col;
} few;

static few find_few(const ks_checked *c, const ks_scan *s, size_t row, size_t col, double most) {
    few f = {.most = most};
    for (size_t t = 0; t < c->ntrials; t++)
        for (size_t i = 0; i < s->P; i++)
            for (size_t j = 0; j < s->Q && ks_is_seen(c, t, i); j++) {
                const double x = ks_at(&c->phi[t], i, j), d = (x - s->center[j]) * s->scale;
                f.zeros += x == 0;
                if (d * d >= most / 100)
                    f.count++, f.sum += d * d, f.row += i == row, f.col += j == col;
                else
                    f.gap += d * d >= most / 1e4;
            }
    return f;
}

static int few_stand_out(const ks_checked *c, const ks_scan *s, size_t row, size_t col, double most, few *f) {
    const size_t all = c->ntrials * s->P * s->Q;
    if (most * (double)(1 + all / 500) < ENTRY * s->all) return 0;
    *f = find_few(c, s, row, col, most);
    return f->count > 1 && f->count <= 1 + all / 500 && 10 * f->gap <= f->count && 2 * f->zeros < all &&
           f->sum > ENTRY * s->all && f->row <= 1 + s->Q / 10 && f->col <= 1 + s->P / 10;
}

/* Prints as many digits as needed to read the same number again */
static void print_shortest(char *text, size_t size, double x) {
    for (int digits = 15; digits <= 17; digits++) {
        ks_print(text, size, "%.*g", digits, x);
        if (strtod(text, NULL) == x) return;
    }
}

void ks_check_wild(ks_doubts to, const char *where, const ks_checked *c, const ks_scan *s) {
    enum { ROWS = 10, ENTRIES = 40 };
    const char *what = c->center == KSPEC_CENTER_NONE ? "sum of squares" : "variance";
    const size_t P = s->P, Q = s->Q, i = most_of(s->row, P), j = most_of(s->col, Q);
    if ((s->marked || given(c) != c->phi) && doubt_marks(to, where, c)) return;
    if (!(s->all > 0)) return;
    if (P >= 3 && Q >= 2 && P * Q >= ENTRIES) {
        size_t col = 0, trial = 0;
        const double most = largest_of(c, s, i, &col, &trial);
        if (stands_out(most, s->all, P * Q, ENTRY, ENTRY_TIMES) && most > HALF * s->row[i] &&
            most > HALF * s->col[col]) {
            char value[32];
            const double x = ks_at(&c->phi[trial], i, col);
            ks_doubt(to, KSPEC_DOUBT_WILD_ENTRY, where, what, (double)i, (double)col, x, most / s->all);
            print_shortest(value, sizeof value, x);
            ks_doubt_set(to, value);
            return;
        }
        few f;
        if (few_stand_out(c, s, i, col, most, &f)) {
            ks_doubt(to, KSPEC_DOUBT_WILD_ENTRIES, where, what, (double)f.count, (double)i, (double)col,
                     f.sum / s->all);
            return;
        }
    }
    if (P >= ROWS && stands_out(s->row[i], s->all, P, ROW, ROW_TIMES))
        ks_doubt(to, KSPEC_DOUBT_WILD_ROW, where, what, (double)i, s->row[i] / s->all);
    else if (Q >= 3 && P > 2 && stands_out(s->col[j], s->all, Q, COLUMN, ROW_TIMES))
        ks_doubt(to, KSPEC_DOUBT_WILD_COLUMN, where, what, (double)j, s->col[j] / s->all);
}
