/*
 * Prepares the matrices of an expression. The code averages halves of trials, removes means and scales
 * entries.
 */
#include "einsum/data.h"

#include "base/error.h"
#include "base/matrix.h"
#include "base/streams.h"
#include "linalg/linalg.h"

#include <math.h>
#include <string.h>

/*
 * Subtracts from each line its mean, over the rows (side 0) or over the columns. The value of a centred
 * expression stays the same, but large means would cost digits.
 */
static void remove_mean(double *x, size_t rows, size_t cols, int side) {
    const size_t lines = side ? rows : cols, count = side ? cols : rows, line = side ? cols : 1,
                 next = side ? 1 : cols;
    for (size_t l = 0; l < lines; l++) {
        double *at = x + l * line, sum = 0, rest = 0;
        for (size_t k = 0; k < count; k++) sum += at[k * next];
        sum /= (double)count;
        for (size_t k = 0; k < count; k++) rest += at[k * next] -= sum;
        rest /= (double)count;
        for (size_t k = 0; k < count; k++) at[k * next] -= rest;
    }
}

/* Sets out[i,g] to 1 if row i is in group g, and otherwise to 0. */
static void set_members(const ks_groups *g, double *out) {
    memset(out, 0, ks_size(g->n, g->count) * sizeof *out);
    for (size_t i = 0; i < g->n; i++) out[i * g->count + g->of[i]] = 1;
}

/*
 * Sets out to the mean of the trials order[first ... first+count-1] of a matrix, centred and scaled like the
 * source.
 */
static kspec_status mean_of(const ks_data *d, int source, const size_t *order, size_t first, size_t count,
                            double *out, kspec_error *err) {
    const ks_source *s = &d->names->source[source];
    const kspec_operand *o = &d->operands[s->given];
    const size_t rows = o->trials->rows, cols = o->trials->cols;
    const double scale = ldexp(1, -d->exponent[s->given]);
    if (count == 1) {
        kspec_status st =
            ks_matrix_copy(&o->trials[order ? order[first] : first], 0, rows, o->name, out, err);
        if (st) return st;
    } else {
        memset(out, 0, rows * cols * sizeof *out);
        for (size_t t = first; t < first + count; t++) {
            const kspec_matrix *m = &o->trials[order[t]];
            kspec_status st = ks_matrix_finite(m, o->name, err);
            if (st) return st;
            for (size_t i = 0; i < rows; i++)
                for (size_t a = 0; a < cols; a++) out[i * cols + a] += ks_at(m, i, a) / (double)count;
        }
    }
    for (int side = 0; side < 2; side++)
        if (d->names->axis[s->axis[side]].centred) remove_mean(out, rows, cols, side);
    for (size_t k = 0; k < rows * cols && scale != 1; k++) out[k] *= scale;
    return KSPEC_OK;
}

/* Can the computation read the caller's own matrix? The scale may still require a copy. */
static int is_ready(const ks_data *d, int source) {
    const ks_source *s = &d->names->source[source];
    if (s->given == d->names->given) return 0;
    const kspec_matrix *m = d->operands[s->given].trials;
    return d->operands[s->given].ntrials == 1 && m->col_stride == 1 && m->row_stride == (ptrdiff_t)m->cols &&
           !d->names->axis[s->axis[0]].centred && !d->names->axis[s->axis[1]].centred;
}

/* Are all entries finite, and so near 1 that products of 10 entries stay within the range of a double? */
static int is_near(const double *x, size_t count) {
    const double sum = ks_dot(count, x, x);
    return sum < 0x1p60 && sum > (double)count * 0x1p-60;
}

/* Returns the binary exponent of the root mean square, or 0 if all entries are 0. */
static int exponent_of(const double *x, size_t count) {
    double most = 0, sum = 0;
    for (size_t k = 0; k < count; k++) most = fmax(most, fabs(x[k]));
    for (size_t k = 0; k < count && most > 0; k++) sum += x[k] / most * (x[k] / most);
    return most > 0 ? ilogb(most) + ilogb(sqrt(sum / (double)count)) : 0;
}

kspec_status ks_data_make(ks_data *d, const ks_given *given, size_t count, ks_arena *arena,
                          kspec_error *err) {
    size_t most = 1;
    for (size_t k = 0; k < count; k++) most = given[k].trials > most ? given[k].trials : most;
    d->order = ks_arena_alloc(arena, most, sizeof *d->order);
    for (int s = 0; s < d->names->sources; s++) {
        const ks_given *g = &given[d->names->source[s].given];
        d->random |= d->names->source[s].half && g->trials > 2;
        if (is_ready(d, s))
            d->matrix[s] = d->operands[d->names->source[s].given].trials->data;
        else
            d->matrix[s] = d->own[s] = ks_arena_alloc(arena, ks_size(g->size[0], g->size[1]), sizeof(double));
    }
    if (arena->failed) return ks_nomem(err, "a copy of the matrices", arena->failed);
    for (int s = 0; s < d->names->sources; s++) {
        const int g = d->names->source[s].given;
        if (g == d->names->given) {
            set_members(d->groups, d->own[s]);
            continue;
        }
        const size_t entries = given[g].size[0] * given[g].size[1];
        const kspec_operand *o = &d->operands[g];
        if (!d->own[s] && is_near(o->trials->data, entries)) continue;
        if (!d->own[s]) d->matrix[s] = d->own[s] = ks_arena_alloc(arena, entries, sizeof(double));
        if (!d->own[s]) return ks_nomem(err, "a copy of the matrices", arena->failed);
        kspec_status st = mean_of(d, s, NULL, 0, 1, d->own[s], err);
        if (st) return st;
        if (!d->exponent[g] && !is_near(d->own[s], entries)) d->exponent[g] = exponent_of(d->own[s], entries);
    }
    return KSPEC_OK;
}

kspec_status ks_data_split(ks_data *d, size_t r, kspec_error *err) {
    kspec_status st = KSPEC_OK;
    for (int s = 0; s < d->names->sources && !st; s++) {
        const int g = d->names->source[s].given, half = d->names->source[s].half;
        if (g == d->names->given) continue;
        const size_t T = d->operands[g].ntrials;
        /* With one trial, the matrix is complete, but may still need scaling. */
        if (T == 1) {
            const kspec_matrix *m = d->operands[g].trials;
            const double scale = d->done[s] || !d->own[s] ? 1 : ldexp(1, -d->exponent[g]);
            for (size_t k = 0; k < m->rows * m->cols && scale != 1; k++) d->own[s][k] *= scale;
            d->done[s] = 1;
            continue;
        }
        /*
         * Matrices with equal numbers of trials use the same order, so noise that they share stays in one
         * half.
         */
        if (T > 2) ks_random_permutation(d->seed, ks_stream(KS_STREAM_SPLIT, r), T, d->order);
        for (size_t t = 0; t < T && T <= 2; t++) d->order[t] = t;
        const size_t first = half == 2 ? T / 2 : 0, count = !half ? 1 : half == 2 ? T - T / 2 : T / 2;
        st = mean_of(d, s, d->order, first, count, d->own[s], err);
    }
    return st;
}
