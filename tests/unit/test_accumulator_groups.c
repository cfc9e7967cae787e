/*
 * Accumulators of groups of rows: against every tuple of rows from different groups, against one call with
 * all rows, in batches and merges of any kind; constants added to columns; the sample of groups; bytes and
 * refusals.
 */
#include "dimension/accumulator_groups.h"
#include "kspec.h"
#include "test.h"

enum { MOST_ROWS = 90, MOST_COLS = 12 };

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

static uint64_t pick(uint64_t *at, uint64_t count) {
    double u;
    kspec_random_uniform(98, 9, (*at)++, 1, &u);
    return (uint64_t)(u * (double)count);
}

/* Rows of two matrices; groups are contiguous, group k has the label 7 k + 3 */
typedef struct {
    size_t P, Q, R, groups, first[MOST_ROWS + 1];
    uint64_t of[MOST_ROWS];
    double x[MOST_ROWS * MOST_COLS], y[MOST_ROWS * MOST_COLS];
} data;

/* Rows of a group have a part in common; group sizes are 1 ... most, or all `most` */
static void draw(uint64_t seed, data *d, size_t groups, size_t most, int equal, double offset) {
    double common[3], row[3], cols[2][3 * MOST_COLS], noise[2][MOST_COLS], size;
    kspec_random_normal(seed, 1, 0, 3 * MOST_COLS, cols[0]);
    kspec_random_normal(seed, 2, 0, 3 * MOST_COLS, cols[1]);
    d->P = 0, d->groups = groups;
    for (size_t g = 0; g < groups; g++) {
        kspec_random_uniform(seed, 3, g, 1, &size);
        kspec_random_normal(seed, 4, 3 * g, 3, common);
        size_t n = equal ? most : 1 + (size_t)(size * (double)most);
        d->first[g] = d->P;
        for (size_t i = 0; i < n && d->P < MOST_ROWS; i++, d->P++) {
            const size_t at = d->P;
            kspec_random_normal(seed, 5, 3 * at, 3, row);
            kspec_random_normal(seed, 6, MOST_COLS * at, MOST_COLS, noise[0]);
            kspec_random_normal(seed, 7, MOST_COLS * at, MOST_COLS, noise[1]);
            d->of[at] = 7 * g + 3;
            for (size_t k = 0; k < d->Q; k++)
                d->x[at * d->Q + k] = offset * (double)(k + 1) + 0.4 * noise[0][k];
            for (size_t k = 0; k < d->R; k++)
                d->y[at * d->R + k] = offset * (double)(k + 2) + 0.4 * noise[1][k];
            for (size_t l = 0; l < 3; l++) {
                for (size_t k = 0; k < d->Q; k++)
                    d->x[at * d->Q + k] += (common[l] + row[l]) * cols[0][3 * k + l];
                for (size_t k = 0; k < d->R; k++)
                    d->y[at * d->R + k] += (common[l] - row[l]) * cols[1][3 * k + l];
            }
        }
    }
    d->first[groups] = d->P;
}

static kspec_accumulator *open_one(const data *d, kspec_accumulator_opts o) {
    kspec_accumulator *a;
    kspec_error err;
    o.size = sizeof o, o.other_features = d->R, o.grouped = 1;
    if (!o.reservoir) o.reservoir = MOST_ROWS;
    CHECK_MSG(kspec_accumulator_open(d->Q, &o, &a, &err) == KSPEC_OK, "%s", err.msg);
    return a;
}

/* Groups from ... to-1 in one batch, whose rows come in another order */
static void feed(kspec_accumulator *a, const data *d, size_t from, size_t to, uint64_t *at) {
    kspec_error err;
    double x[MOST_ROWS * MOST_COLS], y[MOST_ROWS * MOST_COLS];
    uint64_t of[MOST_ROWS];
    size_t row[MOST_ROWS], n = d->first[to] - d->first[from];
    for (size_t i = 0; i < n; i++) row[i] = d->first[from] + i;
    for (size_t i = n; i > 1 && to > from + 1; i--) {
        const size_t k = pick(at, i), other = row[k];
        row[k] = row[i - 1], row[i - 1] = other;
    }
    for (size_t i = 0; i < n; i++) {
        memcpy(x + i * d->Q, d->x + row[i] * d->Q, d->Q * sizeof *x);
        memcpy(y + i * d->R, d->y + row[i] * d->R, d->R * sizeof *y);
        of[i] = d->of[row[i]];
    }
    const kspec_matrix X = view(x, n, d->Q), Y = view(y, n, d->R);
    const int alone = to == from + 1 && pick(at, 2);
    CHECK_MSG(!kspec_accumulator_update(a, &X, d->R ? &Y : NULL, alone ? NULL : of, &err), "%s", err.msg);
}

/* In batches, some of them by way of a second accumulator */
static kspec_accumulator *gather(const data *d, const kspec_accumulator_opts *o, size_t from, size_t to,
                                 int depth, uint64_t *at) {
    kspec_error err;
    kspec_accumulator *a = open_one(d, *o);
    const size_t split = depth ? from + pick(at, to - from + 1) : to;
    for (size_t g = from; g < split;) {
        const size_t end = g + 1 + pick(at, split - g);
        feed(a, d, g, end, at);
        g = end;
    }
    if (split < to) {
        kspec_accumulator *b = gather(d, o, split, to, depth - 1, at);
        const int swap = pick(at, 2);
        kspec_accumulator *into = swap ? b : a, *gone = swap ? a : b;
        CHECK_MSG(kspec_accumulator_merge(into, gone, &err) == KSPEC_OK, "%s", err.msg);
        kspec_accumulator_close(gone);
        a = into;
    }
    return a;
}

/* ---- every tuple ---- */

/*
 * The sum over tuples of rows from different groups, and over pairs of columns (of one matrix: different ones
 * unless `own`), of a quarter of (x_i - x_j)(y_i - y_j)(x_k - x_l)(y_k - y_l); traces: (x_i - x_j)^2
 * (y_k - y_l)^2. Not centred: of x_i y_i x_k y_k, or of x_i^2 y_k^2.
 */
static long double brute(const data *d, int centered, int same, int own, int traces) {
    const double *y = same ? d->x : d->y;
    const size_t Q = d->Q, R = same ? d->Q : d->R;
    long double sum = 0, count = 0;
    for (size_t i = 0; i < d->P; i++)
        for (size_t j = 0; j < (centered ? d->P : 1); j++)
            for (size_t k = 0; k < d->P; k++)
                for (size_t l = 0; l < (centered ? d->P : 1); l++) {
                    const uint64_t *g = d->of;
                    if (g[i] == g[k]) continue;
                    if (centered &&
                        (g[i] == g[j] || g[i] == g[l] || g[j] == g[k] || g[j] == g[l] || g[k] == g[l]))
                        continue;
                    count++;
                    for (size_t a = 0; a < Q; a++)
                        for (size_t c = 0; c < R; c++) {
                            if (same && !own && a == c) continue;
                            const long double zero = 0, half = centered ? 0.25L : 1;
                            const long double xi = d->x[i * Q + a] - (centered ? d->x[j * Q + a] : zero),
                                              yi = y[i * R + c] - (centered ? y[j * R + c] : zero),
                                              xk = d->x[k * Q + a] - (centered ? d->x[l * Q + a] : zero),
                                              yk = y[k * R + c] - (centered ? y[l * R + c] : zero);
                            sum += half * (traces ? xi * xi * yk * yk : xi * yi * xk * yk);
                        }
                }
    return sum / count / ((double)Q * (double)(same && !own ? Q - 1 : R));
}

TEST(against_every_tuple_of_rows_from_different_groups) {
    static data d;
    uint64_t at = 0;
    kspec_error err;
    for (uint64_t seed = 1; seed <= 12; seed++) {
        d.Q = 3 + seed % 2, d.R = 3;
        draw(seed, &d, seed == 1 ? 5 : 5 + seed % 3, 2 + seed % 2, seed % 4 == 0, 0);
        for (int k = 0; k < 4; k++) {
            const int centered = k & 1, own = k >> 1;
            const kspec_accumulator_opts o = {.center = centered ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                              .sampled = own ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_BOTH};
            kspec_accumulator *a = gather(&d, &o, 0, d.groups, 1, &at);
            kspec_dimension_result *r;
            kspec_compare_result *c;
            CHECK_MSG(!kspec_accumulator_dimension(a, 0, &r, &err), "%s", err.msg);
            CHECK_MSG(!kspec_accumulator_compare(a, &c, &err), "%s", err.msg);
            CHECK(r->P == d.P && r->groups == d.groups && c->groups == d.groups);
            CHECK_CLOSE(r->second_moment, (double)brute(&d, centered, 1, own, 0), 1e-9);
            CHECK_CLOSE(r->trace_squared, (double)brute(&d, centered, 1, own, 1), 1e-10);
            kspec_dimension_result *other;
            CHECK(!kspec_accumulator_dimension(a, 1, &other, &err));
            if (r->second_moment > 0 && other->second_moment > 0)
                CHECK_CLOSE(c->alignment,
                            (double)brute(&d, centered, 0, 0, 0) /
                                sqrt(r->second_moment * other->second_moment),
                            1e-9);
            kspec_free(r), kspec_free(other), kspec_free(c);
            kspec_accumulator_close(a);
        }
    }
}

/* ---- one call ---- */

static void check_interval(double low, double high, double want_low, double want_high) {
    const double tol = 1e-6 * fmax(fabs(want_low), fabs(want_high));
    CHECK_MSG(fabs(low - want_low) <= tol && fabs(high - want_high) <= tol,
              "%.12g ... %.12g, not %.12g ... %.12g", low, high, want_low, want_high);
}

static void check_dimension(kspec_accumulator *a, int which, const data *d, const kspec_accumulator_opts *o) {
    kspec_error err;
    kspec_dimension_result *mine, *whole;
    const kspec_matrix x = which ? view(d->y, d->P, d->R) : view(d->x, d->P, d->Q);
    const kspec_dimension_opts all = {
        .size = sizeof all, .center = o->center, .sampled = o->sampled, .row_groups = d->of};
    CHECK_MSG(!kspec_accumulator_dimension(a, which, &mine, &err), "%s", err.msg);
    CHECK_MSG(!kspec_dimension(&x, 1, &all, &whole, &err), "%s", err.msg);
    CHECK(mine->P == whole->P && mine->groups == (whole->groups ? whole->groups : d->P));
    CHECK_CLOSE(mine->trace, whole->trace, 1e-10);
    CHECK_CLOSE(mine->trace_squared, whole->trace_squared, 1e-10);
    CHECK(fabs(mine->second_moment - whole->second_moment) <= 1e-10 * whole->trace_squared);
    CHECK_CLOSE(mine->naive, whole->naive, 1e-10);
    CHECK(isnan(mine->dimension) == isnan(whole->dimension));
    if (whole->second_moment > 1e-2 * whole->trace_squared) {
        CHECK_CLOSE(mine->dimension, whole->dimension, 1e-10);
        check_interval(mine->ci_low, mine->ci_high, whole->ci_low, whole->ci_high);
    }
    kspec_free(mine), kspec_free(whole);
}

TEST(batches_and_merges_give_what_one_call_gives) {
    static data d;
    uint64_t at = 0;
    kspec_error err;
    for (uint64_t k = 0; k < 100; k++) {
        kspec_accumulator_opts o = {.center = pick(&at, 3) ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                    .sampled = pick(&at, 2) ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_BOTH};
        d.Q = 3 + pick(&at, MOST_COLS - 3), d.R = pick(&at, 2) ? 3 + pick(&at, MOST_COLS - 3) : 0;
        const int equal = pick(&at, 2) == 0;
        const size_t most = 1 + pick(&at, equal ? 5 : 8);
        draw(100 + k, &d, 6 + pick(&at, 10), most, equal, (const double[]){0, 3, 1e6}[pick(&at, 3)]);
        kspec_accumulator *a = gather(&d, &o, 0, d.groups, (int)pick(&at, 4), &at);
        check_dimension(a, 0, &d, &o);
        if (d.R) {
            kspec_compare_result *mine, *whole;
            const kspec_matrix x = view(d.x, d.P, d.Q), y = view(d.y, d.P, d.R);
            const kspec_compare_opts all = {.size = sizeof all,
                                            .center = o.center,
                                            .sampled = o.sampled,
                                            .row_groups = d.of,
                                            .no_shared = 1};
            check_dimension(a, 1, &d, &o);
            CHECK_MSG(!kspec_accumulator_compare(a, &mine, &err), "%s", err.msg);
            CHECK_MSG(!kspec_compare(&x, 1, &y, 1, &all, &whole, &err), "%s", err.msg);
            CHECK(isnan(mine->alignment) == isnan(whole->alignment));
            if (whole->alignment > 0.1) {
                CHECK_CLOSE(mine->alignment, whole->alignment, 1e-9);
                check_interval(mine->alignment_ci_low, mine->alignment_ci_high, whole->alignment_ci_low,
                               whole->alignment_ci_high);
            }
            kspec_free(mine), kspec_free(whole);
        }
        kspec_accumulator_close(a);
    }
}

/* ---- without a group or a column ---- */

/* tr T T' of both matrices, in the data's units */
static double cross_of(const kspec_compare_result *c, double moment, double other) {
    return c->alignment * sqrt(moment) * sqrt(other);
}

/* The data without group g and without column k of either matrix (SIZE_MAX: none) */
static void reduce(const data *d, size_t g, size_t k, size_t other, data *out) {
    *out = (data){.Q = d->Q - (k < d->Q), .R = d->R - (other < d->R)};
    for (size_t i = 0; i < d->P; i++) {
        if (g < d->groups && i >= d->first[g] && i < d->first[g + 1]) continue;
        const size_t at = out->P++;
        out->of[at] = d->of[i];
        for (size_t j = 0, to = 0; j < d->Q; j++)
            if (j != k) out->x[at * out->Q + to++] = d->x[i * d->Q + j];
        for (size_t j = 0, to = 0; j < d->R; j++)
            if (j != other) out->y[at * out->R + to++] = d->y[i * d->R + j];
    }
}

static void check_lists(const data *d, const kspec_accumulator_opts *o, size_t at, const ks_second second[2],
                        const double *cross, int same_columns) {
    kspec_error err;
    kspec_dimension_result *r[2];
    kspec_compare_result *c;
    kspec_accumulator *a = open_one(d, *o);
    const kspec_matrix x = view(d->x, d->P, d->Q), y = view(d->y, d->P, d->R);
    CHECK_MSG(!kspec_accumulator_update(a, &x, &y, d->of, &err), "%s", err.msg);
    CHECK_MSG(!kspec_accumulator_compare(a, &c, &err), "%s", err.msg);
    for (int k = 0; k < 2; k++) {
        CHECK_MSG(!kspec_accumulator_dimension(a, k, &r[k], &err), "%s", err.msg);
        const double f = ldexp(1, 4 * second[k].exponent), scale = r[k]->trace_squared;
        if (!same_columns && at > second[0].P && (at > second[0].P + second[0].Q) != k) continue;
        const size_t own = same_columns || !k ? at : at - second[0].Q;
        CHECK_CLOSE(f * second[k].square[own], r[k]->trace_squared, 1e-9);
        CHECK(fabs(f * second[k].moment[own] - r[k]->second_moment) <= 1e-9 * scale);
        CHECK_CLOSE(ldexp(second[k].trace[own], 2 * second[k].exponent), r[k]->trace, 1e-9);
    }
    if (isfinite(c->alignment))
        CHECK(fabs(ldexp(cross[at], 4 * second[0].exponent) -
                   cross_of(c, r[0]->second_moment, r[1]->second_moment)) <=
              1e-9 * r[0]->trace * r[1]->trace);
    kspec_free(r[0]), kspec_free(r[1]), kspec_free(c);
    kspec_accumulator_close(a);
}

/* Each left-out value is the estimate from data without the group, or without the column. */
TEST(leaving_out_is_the_same_as_not_having_it) {
    static data d, less;
    uint64_t at = 0;
    kspec_error err;
    for (uint64_t seed = 1; seed <= 16; seed++) {
        const kspec_accumulator_opts o = {.center = seed % 2 ? KSPEC_CENTER_ROWS : KSPEC_CENTER_NONE,
                                          .sampled = seed / 2 % 2 ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_BOTH};
        d.Q = 4 + seed % 3, d.R = 4;
        draw(300 + seed, &d, 6 + seed % 4, seed % 8 < 4 ? 4 : 9, seed / 4 % 2 == 0, 1);
        kspec_accumulator *a = gather(&d, &o, 0, d.groups, 1, &at);
        ks_arena arena = {0};
        ks_second second[2];
        ks_lost lost;
        double *cross, whole;
        const double M = o.sampled == KSPEC_SAMPLED_ROWS ? 1 : INFINITY;
        const double population[2][2] = {{INFINITY, M > 1 ? M : (double)d.Q},
                                         {INFINITY, M > 1 ? M : (double)d.R}};
        CHECK_MSG(!ks_accumulator_groups(a, population, second, &cross, &lost, &whole, &arena, &err), "%s",
                  err.msg);
        CHECK(second[0].P == d.groups);
        for (size_t g = 0; g < d.groups; g++) {
            const size_t from = a->group_sample.kept[g].first;
            const double *row = a->group_sample.data + from * (d.Q + d.R);
            size_t found = SIZE_MAX;
            for (size_t k = 0; k < d.groups; k++) /* rows come in any order within their group */
                for (size_t i = d.first[k]; i < d.first[k + 1]; i++)
                    if (!memcmp(d.x + i * d.Q, row, d.Q * sizeof *row)) found = k;
            reduce(&d, found, SIZE_MAX, SIZE_MAX, &less);
            check_lists(&less, &o, 1 + g, second, cross, 1);
        }
        for (size_t k = 0; k < d.Q + d.R && o.sampled == KSPEC_SAMPLED_BOTH; k++) {
            reduce(&d, SIZE_MAX, k < d.Q ? k : SIZE_MAX, k < d.Q ? SIZE_MAX : k - d.Q, &less);
            check_lists(&less, &o, 1 + d.groups + k, second, cross, 0);
        }
        ks_arena_free(&arena);
        kspec_accumulator_close(a);
    }
}

/* A constant of each column changes nothing, whatever the sizes of the groups. */
TEST(a_constant_changes_nothing) {
    static data d, moved;
    uint64_t at = 0;
    kspec_error err;
    d.Q = moved.Q = 6, d.R = moved.R = 0;
    draw(5, &d, 12, 7, 0, 0);
    draw(5, &moved, 12, 7, 0, 1000);
    kspec_dimension_result *r[2];
    kspec_accumulator *a = gather(&d, &(kspec_accumulator_opts){0}, 0, d.groups, 2, &at),
                      *b = gather(&moved, &(kspec_accumulator_opts){0}, 0, d.groups, 2, &at);
    CHECK(!kspec_accumulator_dimension(a, 0, &r[0], &err) && !kspec_accumulator_dimension(b, 0, &r[1], &err));
    CHECK_CLOSE(r[0]->dimension, r[1]->dimension, 1e-9);
    CHECK_CLOSE(r[0]->ci_low, r[1]->ci_low, 1e-7);
    kspec_free(r[0]), kspec_free(r[1]);
    kspec_accumulator_close(a), kspec_accumulator_close(b);
}

/* ---- the sample ---- */

static double sum_of_sample(const kspec_accumulator *a) {
    double sum = 0, rows[MOST_ROWS * MOST_COLS];
    for (size_t k = 0; k < a->group_sample.count; k++) {
        const ks_kept_group *kept = &a->group_sample.kept[k];
        ks_group_sample_rows(&a->group_sample, kept, rows);
        for (size_t i = 0; i < kept->rows * a->sums.all; i++) sum += rows[i] * (double)(k + 1);
    }
    return sum;
}

/* The groups that are kept do not depend on the order of merges, and their interval is nearly that of all. */
TEST(a_sample_of_the_groups) {
    static data d;
    uint64_t at = 0;
    kspec_error err;
    double first = 0, width = 0;
    static const int orders[][3] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    d.Q = 4, d.R = 0;
    draw(6, &d, 30, 4, 0, 0);
    for (int k = 0; k < 3; k++) {
        kspec_accumulator *a[3];
        for (int s = 0; s < 3; s++) {
            a[s] = open_one(&d, (kspec_accumulator_opts){.reservoir = 40, .stream = (uint64_t)s + 1});
            for (size_t g = 10 * (size_t)s; g < 10 * (size_t)(s + 1); g++) feed(a[s], &d, g, g + 1, &at);
        }
        kspec_accumulator *all = a[orders[k][0]];
        for (int s = 1; s < 3; s++) CHECK(!kspec_accumulator_merge(all, a[orders[k][s]], &err));
        CHECK(all->group_sample.rows <= 40 && all->group_sample.rows > 30);
        if (k == 0) first = sum_of_sample(all);
        CHECK(sum_of_sample(all) == first);
        kspec_dimension_result *r;
        CHECK(!kspec_accumulator_dimension(all, 0, &r, &err));
        if (k == 0) width = log(r->ci_high / r->ci_low);
        kspec_free(r);
        for (int s = 0; s < 3; s++) kspec_accumulator_close(a[s]);
    }
    const kspec_matrix x = view(d.x, d.P, d.Q);
    const kspec_dimension_opts o = {.size = sizeof o, .row_groups = d.of};
    kspec_dimension_result *r;
    CHECK(!kspec_dimension(&x, 1, &o, &r, &err));
    /* half of the groups: a standard error of a fifth on this width, and four of them */
    CHECK_MSG(fabs(width / log(r->ci_high / r->ci_low) - 1) < 0.8, "%g", width);
    kspec_free(r);
}

/* ---- bytes and refusals ---- */

static unsigned char *packed(const kspec_accumulator *a, size_t *size) {
    kspec_error err;
    CHECK(!kspec_accumulator_pack(a, NULL, size, &err));
    unsigned char *bytes = malloc(*size);
    CHECK_MSG(!kspec_accumulator_pack(a, bytes, size, &err), "%s", err.msg);
    return bytes;
}

TEST(bytes_give_the_same_accumulator) {
    static data d;
    uint64_t at = 0;
    kspec_error err;
    for (int equal = 0; equal < 2; equal++) {
        size_t size, same;
        d.Q = 5, d.R = 3;
        draw(8, &d, 16, 4, equal, 10);
        kspec_accumulator *a = open_one(&d, (kspec_accumulator_opts){.reservoir = 25}), *b, *none;
        feed(a, &d, 0, 10, &at);
        unsigned char *bytes = packed(a, &size);
        CHECK_MSG(!kspec_accumulator_unpack(bytes, size, &b, &err), "%s", err.msg);
        const uint64_t order = at;
        feed(a, &d, 10, 16, &at);
        at = order;
        feed(b, &d, 10, 16, &at);
        kspec_compare_result *r[2];
        CHECK(!kspec_accumulator_compare(a, &r[0], &err) && !kspec_accumulator_compare(b, &r[1], &err));
        CHECK(r[0]->alignment == r[1]->alignment && r[0]->alignment_ci_low == r[1]->alignment_ci_low);
        for (size_t k = 0; k < size; k += 1 + size / 200) {
            bytes[k] ^= 4;
            CHECK_MSG(kspec_accumulator_unpack(bytes, size, &none, &err) == KSPEC_E_DATA && !none, "byte %zu",
                      k);
            bytes[k] ^= 4;
        }
        free(bytes);
        bytes = packed(a, &size);
        unsigned char *others = packed(b, &same);
        CHECK(size == same && memcmp(bytes, others, size) == 0);
        free(bytes), free(others);
        kspec_free(r[0]), kspec_free(r[1]);
        kspec_accumulator_close(a), kspec_accumulator_close(b);
    }
}

TEST(what_is_refused_does_no_damage) {
    static data d;
    uint64_t at = 0;
    kspec_error err;
    kspec_dimension_result *r;
    d.Q = 4, d.R = 0;
    draw(9, &d, 12, 4, 0, 0);
    kspec_accumulator *a = open_one(&d, (kspec_accumulator_opts){.reservoir = 5, .seed = 2}), *b;
    for (size_t g = 0; g < 4; g++) feed(a, &d, g, g + 1, &at);
    CHECK_FAILS(kspec_accumulator_dimension(a, 0, &r, &err), KSPEC_E_ARG, err,
                "4 groups so far are too few: 5 are needed");
    size_t size, after;
    unsigned char *before = packed(a, &size);
    const kspec_matrix x = view(d.x, 6, 4), few = view(d.x, 2, 4);
    CHECK_FAILS(kspec_accumulator_update(a, &x, NULL, NULL, &err), KSPEC_E_ARG, err,
                "a group of 6 rows exceeds the 5 rows that are kept");
    const kspec_accumulator_opts plain = {.size = sizeof plain, .reservoir = 5, .seed = 2};
    CHECK(!kspec_accumulator_open(4, &plain, &b, &err));
    CHECK_FAILS(kspec_accumulator_update(b, &few, NULL, d.of, &err), KSPEC_E_ARG, err,
                "the accumulator takes no groups");
    CHECK(strcmp(err.option, "grouped") == 0);
    CHECK_FAILS(kspec_accumulator_merge(a, b, &err), KSPEC_E_ARG, err, "grouped 1 and 0");
    kspec_accumulator_close(b);
    d.x[5] = NAN;
    CHECK_FAILS(kspec_accumulator_update(a, &few, NULL, d.of, &err), KSPEC_E_DATA, err, "is NaN");
    unsigned char *now = packed(a, &after);
    CHECK(size == after && memcmp(before, now, size) == 0);
    free(before), free(now);
    kspec_accumulator_close(a);
    const kspec_accumulator_opts cols = {.size = sizeof cols, .grouped = 1, .sampled = KSPEC_SAMPLED_COLS};
    CHECK_FAILS(kspec_accumulator_open(4, &cols, &a, &err), KSPEC_E_ARG, err,
                "groups and complete rows cannot be combined");
}

TEST(rows_with_nan_are_left_out_of_their_group) {
    static data d, kept;
    kspec_error err;
    d.Q = kept.Q = 4, d.R = kept.R = 0;
    draw(10, &d, 14, 4, 0, 0);
    kept = d, kept.P = 0;
    for (size_t i = 0; i < d.P; i++) {
        if (i % 9 == 4) {
            d.x[i * d.Q + i % d.Q] = NAN;
            continue;
        }
        memcpy(kept.x + kept.P * d.Q, d.x + i * d.Q, d.Q * sizeof *d.x);
        kept.of[kept.P++] = d.of[i];
    }
    kspec_accumulator *a = open_one(&d, (kspec_accumulator_opts){.omit_nan = 1, .stream = 2});
    const kspec_matrix x = view(d.x, d.P, d.Q), rest = view(kept.x, kept.P, d.Q);
    CHECK_MSG(!kspec_accumulator_update(a, &x, NULL, d.of, &err), "%s", err.msg);
    const kspec_dimension_opts o = {.size = sizeof o, .row_groups = kept.of};
    kspec_dimension_result *r, *whole;
    CHECK(!kspec_accumulator_dimension(a, 0, &r, &err) && !kspec_dimension(&rest, 1, &o, &whole, &err));
    CHECK_CLOSE(r->dimension, whole->dimension, 1e-10);
    const kspec_accumulator_shape *shape = kspec_accumulator_describe(a);
    CHECK(shape->rows == kept.P && shape->omitted == d.P - kept.P && shape->grouped &&
          shape->groups == whole->groups);
    kspec_free(r), kspec_free(whole);
    kspec_accumulator_close(a);
}

int main(void) {
    RUN(against_every_tuple_of_rows_from_different_groups);
    RUN(batches_and_merges_give_what_one_call_gives);
    RUN(leaving_out_is_the_same_as_not_having_it);
    RUN(a_constant_changes_nothing);
    RUN(a_sample_of_the_groups);
    RUN(bytes_give_the_same_accumulator);
    RUN(what_is_refused_does_no_damage);
    RUN(rows_with_nan_are_left_out_of_their_group);
    return test_done();
}
