/*
 * kspec_accumulator_*: rows in batches and merges of any sizes against one call with all of them; large
 * means; the sample of rows; bytes; refusals that leave the state as it was.
 */
#include "kspec.h"
#include "dimension/accumulator.h"
#include "test.h"

enum { MOST_ROWS = 160, MOST_COLS = 24 };

/* A kernel of few dimensions with noise; `offset` times the spread is added to every column */
static void draw(uint64_t seed, size_t P, size_t Q, double offset, double *x) {
    double rows[MOST_ROWS * 3], cols[MOST_COLS * 3], means[MOST_COLS];
    kspec_random_normal(7, 20 + seed, 0, P * Q, x); /* rows are those of seed % 2: two matrices share them */
    kspec_random_normal(7, 5 + seed % 2, 0, 3 * P, rows);
    kspec_random_normal(7, 20 + seed, 1 << 20, 3 * Q, cols);
    kspec_random_normal(7, 20 + seed, 2 << 20, Q, means);
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++) {
            x[i * Q + k] = 0.4 * x[i * Q + k] + offset * (1 + 0.3 * means[k]);
            for (size_t l = 0; l < 3; l++) x[i * Q + k] += rows[3 * i + l] * cols[3 * k + l];
        }
}

static kspec_matrix view(const double *x, size_t P, size_t Q) {
    return (kspec_matrix){x, P, Q, (ptrdiff_t)Q, 1};
}

static uint64_t pick(uint64_t *at, uint64_t count) {
    double u;
    kspec_random_uniform(99, 9, (*at)++, 1, &u);
    return (uint64_t)(u * (double)count);
}

typedef struct {
    size_t P, Q, R;
    double x[MOST_ROWS * MOST_COLS], y[MOST_ROWS * MOST_COLS];
} data;

static void check_dimension(const kspec_dimension_result *a, const kspec_dimension_result *b, double tol) {
    CHECK(a->P == b->P && a->Q == b->Q && a->center == b->center && a->trials == 1);
    CHECK_CLOSE(a->trace, b->trace, tol);
    CHECK_CLOSE(a->trace_squared, b->trace_squared, tol);
    CHECK_CLOSE(a->second_moment, b->second_moment, tol);
    CHECK_CLOSE(a->naive, b->naive, tol);
    CHECK(isnan(a->dimension) == isnan(b->dimension));
    if (isnan(a->dimension)) return;
    CHECK_CLOSE(a->dimension, b->dimension, tol);
    CHECK(isnan(a->std_error) == isnan(b->std_error));
    if (isnan(b->std_error)) return;
    CHECK(fabs(a->std_error - b->std_error) <= 1e3 * tol * b->dimension); /* a difference of nearly equals */
    CHECK_CLOSE(a->ci_low, b->ci_low, 1e4 * tol);
    CHECK_CLOSE(a->ci_high, b->ci_high, 1e4 * tol);
}

static void check_compare(const kspec_compare_result *a, const kspec_compare_result *b, double tol) {
    CHECK(a->P == b->P && a->Q == b->Q && a->other_Q == b->other_Q && a->count == b->count);
    CHECK(isnan(a->alignment) == isnan(b->alignment));
    CHECK_CLOSE(a->alignment_biased, b->alignment_biased, tol);
    if (isnan(b->alignment)) return;
    CHECK_CLOSE(a->alignment, b->alignment, tol);
    CHECK_CLOSE(a->alignment_ci_low, b->alignment_ci_low, 1e4 * tol);
    CHECK_CLOSE(a->alignment_ci_high, b->alignment_ci_high, 1e4 * tol);
    for (size_t k = 0; k < a->count; k++) {
        const kspec_difference *d = a->differences[k], *e = b->differences[k];
        if (!(e->std_error > 1e-9 * b->dimension)) continue; /* rounding alone: large means, not centred */
        CHECK_MSG(fabs(d->value - e->value) <= 1e3 * tol * (fabs(e->value) + e->std_error), "%s %d", d->what,
                  d->n);
        CHECK_CLOSE(d->std_error, e->std_error, 1e4 * tol);
        CHECK(!(d->p < e->p * 0.999)); /* without quarters p is not smaller */
    }
}

static kspec_accumulator *open_one(const data *d, kspec_accumulator_opts o) {
    kspec_accumulator *a;
    kspec_error err;
    o.size = sizeof o;
    o.other_features = d->R;
    CHECK_MSG(kspec_accumulator_open(d->Q, &o, &a, &err) == KSPEC_OK, "%s", err.msg);
    return a;
}

static void feed(kspec_accumulator *a, const data *d, size_t from, size_t count) {
    kspec_error err;
    const kspec_matrix x = view(d->x + from * d->Q, count, d->Q), y = view(d->y + from * d->R, count, d->R);
    CHECK_MSG(kspec_accumulator_update(a, &x, d->R ? &y : NULL, NULL, &err) == KSPEC_OK, "%s", err.msg);
}

/* Rows from ... from + count - 1 in batches, some of them by way of a second accumulator */
static kspec_accumulator *gather(const data *d, const kspec_accumulator_opts *o, size_t from, size_t count,
                                 int depth, uint64_t *at) {
    kspec_error err;
    kspec_accumulator *a = open_one(d, *o);
    size_t split = depth && count > 1 ? 1 + pick(at, count - 1) : count;
    for (size_t i = 0; i < split;) {
        const size_t batch = 1 + pick(at, split - i);
        feed(a, d, from + i, batch);
        i += batch;
    }
    if (split < count) {
        kspec_accumulator *b = gather(d, o, from + split, count - split, depth - 1, at);
        const int swap = pick(at, 2);
        kspec_accumulator *into = swap ? b : a, *gone = swap ? a : b;
        CHECK_MSG(kspec_accumulator_merge(into, gone, &err) == KSPEC_OK, "%s", err.msg);
        kspec_accumulator_close(gone);
        a = into;
    }
    return a;
}

TEST(batches_and_merges_of_any_size_give_what_one_call_gives) {
    static data d;
    uint64_t at = 0;
    kspec_error err;
    for (int k = 0; k < 200; k++) {
        static const kspec_center centers[2] = {KSPEC_CENTER_ROWS, KSPEC_CENTER_NONE};
        kspec_accumulator_opts o = {.center = centers[pick(&at, 3) == 0],
                                    .sampled = (kspec_sampled)pick(&at, 3),
                                    .reservoir = MOST_ROWS};
        d = (data){.P = 6 + pick(&at, MOST_ROWS - 6), .Q = 3 + pick(&at, MOST_COLS - 3)};
        d.R = pick(&at, 2) ? 3 + pick(&at, MOST_COLS - 3) : 0;
        const double offset = (const double[]){0, 3, 1e6}[pick(&at, 3)];
        draw(2 * (uint64_t)k, d.P, d.Q, offset, d.x);
        draw(2 * (uint64_t)k + 2, d.P, d.R, offset, d.y);
        ks_accumulator_block = 1 + pick(&at, 60);
        kspec_accumulator *a = gather(&d, &o, 0, d.P, (int)pick(&at, 4), &at);
        CHECK(kspec_accumulator_describe(a)->rows == d.P);
        const kspec_matrix x = view(d.x, d.P, d.Q), y = view(d.y, d.P, d.R);
        for (int which = 0; which < (d.R ? 2 : 1); which++) {
            kspec_dimension_result *mine, *whole;
            const kspec_dimension_opts all = {.size = sizeof all, .center = o.center, .sampled = o.sampled};
            CHECK_MSG(!kspec_accumulator_dimension(a, which, &mine, &err), "%s", err.msg);
            CHECK_MSG(!kspec_dimension(which ? &y : &x, 1, &all, &whole, &err), "%s", err.msg);
            check_dimension(mine, whole, 1e-10);
            kspec_free(mine);
            kspec_free(whole);
        }
        if (d.R) {
            kspec_compare_result *mine, *whole;
            const kspec_compare_opts all = {
                .size = sizeof all, .center = o.center, .sampled = o.sampled, .no_shared = 1};
            CHECK_MSG(!kspec_accumulator_compare(a, &mine, &err), "%s", err.msg);
            CHECK_MSG(!kspec_compare(&x, 1, &y, 1, &all, &whole, &err), "%s", err.msg);
            check_compare(mine, whole, 1e-10);
            kspec_free(mine);
            kspec_free(whole);
        }
        kspec_accumulator_close(a);
    }
    ks_accumulator_block = 1024;
}

/* Of n rows, of which the sample holds few, the interval is that of all but for the sample's noise. */
TEST(a_sample_of_the_rows_gives_the_interval) {
    enum { P = 4000, Q = 40 };
    kspec_error err;
    double *x = malloc(P * Q * sizeof *x), *y = malloc(P * Q * sizeof *y),
           *weights = malloc(Q * 6 * sizeof *x);
    double *inputs = malloc(P * 6 * sizeof *x);
    kspec_random_normal(3, 5, 0, P * Q, x);
    kspec_random_normal(3, 6, 0, P * 6, inputs);
    kspec_random_normal(3, 7, 0, Q * 6, weights);
    for (size_t i = 0; i < P; i++)
        for (size_t k = 0; k < Q; k++) {
            x[i * Q + k] *= 0.3;
            for (size_t l = 0; l < 6; l++) x[i * Q + k] += inputs[6 * i + l] * weights[6 * k + l];
            y[i * Q + k] = x[i * Q + k] * x[i * Q + k];
        }
    const kspec_matrix X = view(x, P, Q), Y = view(y, P, Q);
    for (int rows = 0; rows < 2; rows++) {
        const kspec_sampled sampled = rows ? KSPEC_SAMPLED_ROWS : KSPEC_SAMPLED_BOTH;
        const kspec_accumulator_opts o = {
            .size = sizeof o, .other_features = Q, .reservoir = 1000, .stream = 5, .sampled = sampled};
        const kspec_compare_opts all = {.size = sizeof all, .sampled = sampled, .no_shared = 1};
        const kspec_dimension_opts one = {.size = sizeof one, .sampled = sampled};
        kspec_accumulator *a;
        kspec_compare_result *c, *w;
        kspec_dimension_result *d, *v;
        CHECK(!kspec_accumulator_open(Q, &o, &a, &err) && !kspec_accumulator_update(a, &X, &Y, NULL, &err));
        CHECK(!kspec_accumulator_compare(a, &c, &err) && !kspec_compare(&X, 1, &Y, 1, &all, &w, &err));
        CHECK(!kspec_accumulator_dimension(a, 0, &d, &err) && !kspec_dimension(&X, 1, &one, &v, &err));
        CHECK_CLOSE(d->dimension, v->dimension, 1e-11);
        CHECK_CLOSE(d->ci_high - d->ci_low, v->ci_high - v->ci_low, 0.05); /* one sample in 20 has 5% */
        CHECK_CLOSE(c->alignment, w->alignment, 1e-11);
        CHECK_CLOSE(c->alignment_ci_high - c->alignment_ci_low, w->alignment_ci_high - w->alignment_ci_low,
                    0.05);
        kspec_free(c), kspec_free(w), kspec_free(d), kspec_free(v);
        kspec_accumulator_close(a);
    }
    free(x), free(y), free(weights), free(inputs);
}

/* Which rows are kept does not depend on how they came together; they are a uniform sample. */
TEST(the_sample_of_rows_does_not_depend_on_the_order) {
    enum { STREAMS = 3, ROWS = 300, KEEP = 64 };
    static const int orders[][STREAMS] = {{0, 1, 2}, {2, 1, 0}, {1, 2, 0}};
    kspec_error err;
    double from[3] = {0}, first = 0;
    for (int k = 0; k < 3; k++) {
        kspec_accumulator *a[STREAMS];
        for (int s = 0; s < STREAMS; s++) {
            const kspec_accumulator_opts o = {.size = sizeof o,
                                              .reservoir = KEEP,
                                              .stream = (uint64_t)s + 1,
                                              .sampled = KSPEC_SAMPLED_ROWS};
            CHECK(!kspec_accumulator_open(1, &o, &a[s], &err));
            for (int i = 0; i < ROWS; i++) {
                const double x = i + ROWS * s;
                const kspec_matrix m = view(&x, 1, 1);
                CHECK(!kspec_accumulator_update(a[s], &m, NULL, NULL, &err));
            }
        }
        kspec_accumulator *all = a[orders[k][0]];
        for (int s = 1; s < STREAMS; s++) CHECK(!kspec_accumulator_merge(all, a[orders[k][s]], &err));
        double sum = 0;
        for (size_t i = 0; i < all->sample.count; i++) {
            const double x = all->sample.rows[i];
            sum += x * x;
            if (k == 0) from[(int)x / ROWS]++;
        }
        CHECK(all->sample.count == KEEP);
        if (k == 0) first = sum;
        CHECK(sum == first);
        for (int s = 0; s < STREAMS; s++) kspec_accumulator_close(a[s]);
    }
    for (int s = 0; s < STREAMS; s++) /* 21 of each, standard deviation 3.7: once in 10,000 seeds */
        CHECK_MSG(fabs(from[s] - KEEP / 3.0) < 15, "%g", from[s]);
}

/* Data of any scale, rows that dwarf those before them, and constant ones */
TEST(any_scale_will_do) {
    static data d;
    kspec_error err;
    static const double scales[] = {1e-200, 1e200, 1e-3};
    d = (data){.P = 90, .Q = 8};
    for (int k = 0; k < 4; k++) {
        kspec_accumulator_opts o = {.sampled = KSPEC_SAMPLED_ROWS};
        kspec_dimension_result *mine, *whole;
        draw(4, d.P, d.Q, 1, d.x);
        for (size_t i = 0; i < d.P * d.Q; i++)
            d.x[i] *= k < 3 ? scales[k] : i < 10 * d.Q ? 0 : i < 400 ? 1e-60 : 1e60;
        const kspec_matrix x = view(d.x, d.P, d.Q);
        ks_accumulator_block = 7;
        kspec_accumulator *a = open_one(&d, o), *b = open_one(&d, o);
        feed(a, &d, 0, 40);
        feed(b, &d, 40, d.P - 40);
        CHECK(!kspec_accumulator_merge(k & 1 ? a : b, k & 1 ? b : a, &err));
        CHECK_MSG(!kspec_accumulator_dimension(k & 1 ? a : b, 0, &mine, &err), "%s", err.msg);
        const kspec_dimension_opts all = {.size = sizeof all, .sampled = o.sampled};
        CHECK(!kspec_dimension(&x, 1, &all, &whole, &err));
        CHECK_CLOSE(mine->dimension, whole->dimension, 1e-10);
        CHECK_CLOSE(mine->ci_low, whole->ci_low, 1e-6);
        kspec_free(mine), kspec_free(whole);
        kspec_accumulator_close(a), kspec_accumulator_close(b);
    }
    ks_accumulator_block = 1024;
}

/* The bytes of a state; the caller's */
static unsigned char *packed(const kspec_accumulator *a, size_t *size) {
    kspec_error err;
    CHECK(!kspec_accumulator_pack(a, NULL, size, &err));
    unsigned char *bytes = malloc(*size);
    CHECK_MSG(!kspec_accumulator_pack(a, bytes, size, &err), "%s", err.msg);
    return bytes;
}

TEST(bytes_give_the_same_accumulator_and_damage_is_found) {
    static data d;
    kspec_error err;
    size_t size, same;
    d = (data){.P = 50, .Q = 5, .R = 4};
    draw(2, d.P, d.Q, 1, d.x);
    draw(4, d.P, d.R, 1, d.y);
    ks_accumulator_block = 16;
    kspec_accumulator *a = open_one(&d, (kspec_accumulator_opts){.reservoir = 20}), *b, *none;
    feed(a, &d, 0, 30);
    unsigned char *bytes = packed(a, &size);
    ks_accumulator_block = 1024;
    CHECK_MSG(!kspec_accumulator_unpack(bytes, size, &b, &err), "%s", err.msg);
    feed(a, &d, 30, 20);
    feed(b, &d, 30, 20);
    kspec_compare_result *r[2];
    CHECK(!kspec_accumulator_compare(a, &r[0], &err) && !kspec_accumulator_compare(b, &r[1], &err));
    CHECK(r[0]->alignment == r[1]->alignment && r[0]->alignment_ci_low == r[1]->alignment_ci_low);
    CHECK_FAILS(kspec_accumulator_merge(a, b, &err), KSPEC_E_ARG, err, "rows of stream");
    for (size_t k = 0; k < size; k += 1 + size / 200) {
        bytes[k] ^= 4;
        CHECK_MSG(kspec_accumulator_unpack(bytes, size, &none, &err) == KSPEC_E_DATA && !none, "byte %zu", k);
        bytes[k] ^= 4;
    }
    for (size_t k = 0; k < size; k += 1 + size / 100)
        CHECK(kspec_accumulator_unpack(bytes, k, &none, &err) == KSPEC_E_DATA && !none);
    same = size - 1;
    CHECK_FAILS(kspec_accumulator_pack(a, bytes, &same, &err), KSPEC_E_ARG, err,
                "bytes were given for a state of");
    free(bytes);
    bytes = packed(a, &size);
    unsigned char *others = packed(b, &same);
    CHECK(size == same && memcmp(bytes, others, size) == 0);
    free(bytes), free(others);
    kspec_free(r[0]), kspec_free(r[1]);
    kspec_accumulator_close(a), kspec_accumulator_close(b);
}

/* Each is refused in words, and the state is as before to the last bit. */
TEST(what_is_refused_does_no_damage) {
    static data d;
    kspec_error err;
    kspec_dimension_result *r;
    d = (data){.P = 40, .Q = 4};
    draw(2, d.P, d.Q, 1, d.x);
    kspec_accumulator *a = open_one(&d, (kspec_accumulator_opts){.seed = 3}), *b, *none;
    feed(a, &d, 0, 4);
    CHECK_FAILS(kspec_accumulator_dimension(a, 0, &r, &err), KSPEC_E_ARG, err,
                "4 rows so far are too few: 5");
    feed(a, &d, 4, 20);
    size_t size, after;
    unsigned char *before = packed(a, &size);
    kspec_matrix x = view(d.x, 3, 5);
    CHECK_FAILS(kspec_accumulator_update(a, &x, NULL, NULL, &err), KSPEC_E_ARG, err,
                "the batch has 5 columns, the accumulator 4");
    x = view(d.x, 0, 4);
    CHECK_FAILS(kspec_accumulator_update(a, &x, NULL, NULL, &err), KSPEC_E_ARG, err, "the batch has 0 rows");
    x = view(d.x, 3, 4);
    CHECK_FAILS(kspec_accumulator_update(a, &x, &x, NULL, &err), KSPEC_E_ARG, err, "no second matrix");
    d.x[9] = NAN;
    CHECK_FAILS(kspec_accumulator_update(a, &x, NULL, NULL, &err), KSPEC_E_DATA, err,
                "row 2, column 1 (from 0) is NaN");
    CHECK(strcmp(err.option, "omit_nan") == 0);
    d.x[9] = INFINITY;
    CHECK_FAILS(kspec_accumulator_update(a, &x, NULL, NULL, &err), KSPEC_E_DATA, err, "is infinite");
    CHECK_FAILS(kspec_accumulator_dimension(a, 1, &r, &err), KSPEC_E_ARG, err, "matrix 1 does not exist");
    kspec_compare_result *c;
    CHECK_FAILS(kspec_accumulator_compare(a, &c, &err), KSPEC_E_ARG, err, "no second matrix");
    static const struct {
        kspec_accumulator_opts o;
        const char *why;
    } others[] = {{{.seed = 4}, "seed 3 and 4"},
                  {{.seed = 3, .reservoir = 9}, "reservoir 4096 and 9"},
                  {{.seed = 3, .center = KSPEC_CENTER_NONE}, "center"},
                  {{.seed = 3, .sampled = KSPEC_SAMPLED_ROWS}, "sampled"},
                  {{.seed = 3, .omit_nan = 1}, "omit_nan"}};
    for (size_t k = 0; k < sizeof others / sizeof *others; k++) {
        b = open_one(&d, others[k].o);
        CHECK_FAILS(kspec_accumulator_merge(a, b, &err), KSPEC_E_ARG, err, others[k].why);
        kspec_accumulator_close(b);
    }
    CHECK_FAILS(kspec_accumulator_merge(a, a, &err), KSPEC_E_ARG, err, "rows of stream");
    unsigned char *now = packed(a, &after);
    CHECK(size == after && memcmp(before, now, size) == 0);
    free(before), free(now);
    kspec_accumulator_close(a);
    static const struct {
        kspec_accumulator_opts o;
        size_t features;
        const char *why;
    } bad[] = {{{.size = 0}, 0, "below 1"},
               {{.center = KSPEC_CENTER_BOTH}, 3, "not over both sides"},
               {{.sampled = (kspec_sampled)7}, 3, "unknown sampled 7"},
               {{.reservoir = 1}, 3, "a reservoir of 1 row is below 2"}};
    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        kspec_accumulator_opts o = bad[k].o;
        o.size = sizeof o;
        CHECK_FAILS(kspec_accumulator_open(bad[k].features, &o, &none, &err), KSPEC_E_ARG, err, bad[k].why);
    }
    CHECK_FAILS(kspec_accumulator_open(3000000, NULL, &none, &err), KSPEC_E_NOMEM, err,
                "3000000 x 3000000 products of columns");
}

TEST(rows_with_nan_are_left_out_and_counted) {
    static data d, kept;
    kspec_error err;
    d = (data){.P = 60, .Q = 6};
    draw(2, d.P, d.Q, 1, d.x);
    kept = (data){.Q = 6};
    for (size_t i = 0; i < d.P; i++) {
        if (i % 7 == 0)
            d.x[i * d.Q + i % d.Q] = NAN;
        else
            memcpy(kept.x + kept.P++ * d.Q, d.x + i * d.Q, d.Q * sizeof *d.x);
    }
    kspec_accumulator *a = open_one(&d, (kspec_accumulator_opts){.omit_nan = 1, .stream = 2}),
                      *b = open_one(&d, (kspec_accumulator_opts){.omit_nan = 1, .stream = 2});
    feed(a, &d, 0, d.P);
    feed(b, &kept, 0, kept.P);
    kspec_dimension_result *r[2];
    CHECK(!kspec_accumulator_dimension(a, 0, &r[0], &err) && !kspec_accumulator_dimension(b, 0, &r[1], &err));
    CHECK(r[0]->dimension == r[1]->dimension && r[0]->ci_high == r[1]->ci_high);
    const kspec_accumulator_shape *shape = kspec_accumulator_describe(a);
    CHECK(shape->rows == kept.P && shape->omitted == d.P - kept.P && shape->features == d.Q &&
          shape->stream == 2);
    kspec_free(r[0]), kspec_free(r[1]);
    kspec_accumulator_close(a), kspec_accumulator_close(b);
}

/* The same bits at any number of threads, and however the rows are cut into batches */
TEST(threads_and_batches_do_not_change_a_bit) {
    enum { P = 2100, Q = 300 };
    kspec_error err;
    double *x = malloc(P * Q * sizeof *x), first[2] = {0};
    kspec_random_normal(3, 5, 0, P * Q, x);
    for (size_t k = 0; k < P * Q; k++) x[k] += (double)(k / Q % 7) * (double)(k % 5); /* not noise alone */
    for (int threads = 1; threads <= 3; threads++) {
        const kspec_accumulator_opts o = {.size = sizeof o, .threads = threads, .stream = 1};
        kspec_accumulator *a;
        kspec_dimension_result *r;
        CHECK(!kspec_accumulator_open(Q, &o, &a, &err));
        for (size_t i = 0, n; i < P; i += n) {
            n = threads == 1 ? P : i + 97 < P ? 97 : P - i;
            const kspec_matrix part = view(x + i * Q, n, Q);
            CHECK(!kspec_accumulator_update(a, &part, NULL, NULL, &err));
        }
        CHECK(!kspec_accumulator_dimension(a, 0, &r, &err));
        if (threads == 1) first[0] = r->dimension, first[1] = r->ci_low;
        CHECK(r->dimension == first[0] && r->ci_low == first[1]);
        kspec_free(r);
        kspec_accumulator_close(a);
    }
    free(x);
}

int main(void) {
    RUN(a_sample_of_the_rows_gives_the_interval);
    RUN(the_sample_of_rows_does_not_depend_on_the_order);
    RUN(any_scale_will_do);
    RUN(bytes_give_the_same_accumulator_and_damage_is_found);
    RUN(what_is_refused_does_no_damage);
    RUN(rows_with_nan_are_left_out_and_counted);
    RUN(threads_and_batches_do_not_change_a_bit);
    RUN(batches_and_merges_of_any_size_give_what_one_call_gives);
    return test_done();
}
