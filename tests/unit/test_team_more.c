/*
 * Every call that takes a team: the same bytes of its results at any number of ranks, and one end for all
 * where one rank fails. Ranks are threads.
 */
#include "device/device.h"
#include "help/spectrum.h"
#include "help/threads_comm.h"
#include "team/store.h"
#include "test.h"
#include "kspec/host.h"

#include <dirent.h>
#include <libgen.h>
#include <limits.h>
#include <unistd.h>

/* ---- one rank: what it is given, and what comes of it ---- */

typedef struct rank_job rank_job;
typedef kspec_status (*call_fn)(rank_job *r);

struct rank_job {
    call_fn call;
    kspec_team *team;
    int threads, size;
    const char *checkpoint;
    /* this rank's input is bad; it cancels at this report; its allocation of this number fails; 0: not */
    int broken, cancel_at, reports, starve_at;
    unsigned char *found;
    size_t count, room;
    /* loops that it has shared out */
    uint64_t loops;
    kspec_status status;
    kspec_error err;
};

static void keep(rank_job *r, const void *bytes, size_t count) {
    while (r->room < r->count + count) r->found = realloc(r->found, r->room = 2 * r->room + count + 64);
    memcpy(r->found + r->count, bytes, count);
    r->count += count;
}

static void keep_number(rank_job *r, double x) {
    if (isnan(x)) x = NAN; /* of whatever sign */
    keep(r, &x, sizeof x);
}

static int report(void *ctx, double fraction) {
    rank_job *r = ctx;
    (void)fraction;
    return r->cancel_at && ++r->reports >= r->cancel_at;
}

/* ---- memory that ends, for one rank ---- */

static _Thread_local int allocations, starve_at;

static void *scarce(void *ctx, size_t size, size_t align) {
    void *p = NULL;
    (void)ctx;
    if (starve_at && ++allocations == starve_at) return NULL;
    return posix_memalign(&p, align < sizeof p ? sizeof p : align, size ? size : 1) ? NULL : p;
}

static void release(void *ctx, void *p) {
    (void)ctx;
    free(p);
}

/* ---- ranks ---- */

static void work(const kspec_comm *comm, void *ctx) {
    rank_job *r = ctx;
    r->status = kspec_team_open(comm, &r->team, &r->err);
    if (!r->status && r->checkpoint)
        r->status = kspec_team_checkpoint(r->team, r->checkpoint, "test 1\n", &r->err);
    allocations = 0, starve_at = r->starve_at;
    if (!r->status) r->status = r->call(r);
    starve_at = 0;
    r->loops = r->team ? r->team->loops : 0;
    kspec_team_close(r->team);
}

static void run_all(int ranks, rank_job *r) {
    alarm(300); /* a rank that waits for ever fails the test */
    run_jobs(ranks, work, r, sizeof *r);
    alarm(0);
}

/* ---- data ---- */

static double *numbers(size_t count, uint64_t seed, int broken) {
    double *x = malloc(count * sizeof *x);
    kspec_random_normal(seed, 1, 0, count, x);
    if (broken) x[count / 7] = NAN;
    return x;
}

static kspec_matrix matrix(const double *x, size_t rows, size_t cols) {
    return (kspec_matrix){x, rows, cols, (ptrdiff_t)cols, 1};
}

/* ---- the calls: `size` chooses among sizes ---- */

static kspec_status norm(rank_job *r) {
    /* rows and columns; bytes that K and Z may take; the last is a Gram matrix */
    static const size_t shapes[][3] = {{1, 1, 0},   {5, 3, 0},     {300, 4, 0},
                                       {600, 3, 1}, {700, 130, 0}, {90, 90, 0}};
    const size_t *s = shapes[r->size];
    const int gram = r->size == 5;
    double *x = numbers(s[0] * s[1], 7, r->broken);
    if (gram)
        for (size_t i = 0; i < s[0]; i++)
            for (size_t j = 0; j < s[0]; j++)
                x[i * s[0] + j] = exp(-0.01 * ((double)i - (double)j) * ((double)i - (double)j));
    if (gram && r->broken) x[7] = NAN;
    const kspec_matrix m = matrix(x, s[0], s[1]);
    kspec_norm_opts o = {.size = sizeof o,
                         .methods = gram ? KSPEC_NORM_METHOD_EIGEN | KSPEC_NORM_METHOD_POWER |
                                               KSPEC_NORM_METHOD_LANCZOS | KSPEC_NORM_METHOD_NYSTROM
                                         : 127,
                         .sigma = gram ? 0 : 2,
                         .gram = gram,
                         .features = 70,
                         .sample = s[0] < 40 ? s[0] : 40,
                         .repeats = 2,
                         .updates = 30,
                         .memory = s[2],
                         .threads = r->threads,
                         .progress = {report, r},
                         .team = r->team};
    kspec_norm_result *out;
    kspec_status st = kspec_norm(&m, &o, &out, &r->err);
    for (size_t k = 0; !st && k < out->count; k++) {
        const kspec_norm_entry *e = out->entries[k];
        const double all[] = {e->value,      e->ci_low,   e->ci_high, e->spread,
                              e->iterations, e->residual, e->debiased};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) keep_number(r, all[i]);
    }
    if (!st) kspec_free(out);
    CHECK(!st || !out);
    free(x);
    return st;
}

static kspec_status ridge(rank_job *r) {
    static const size_t shapes[][2] = {{1, 1}, {7, 3}, {400, 130}, {140, 300}};
    const size_t n = shapes[r->size][0], nt = shapes[r->size][1];
    double *x = numbers(n * 3, 1, r->broken), *y = numbers(n * 2, 2, 0), *xt = numbers(nt * 3, 3, 0),
           *yt = numbers(nt * 2, 4, 0);
    const kspec_matrix X = matrix(x, n, 3), Y = matrix(y, n, 2), Xt = matrix(xt, nt, 3),
                       Yt = matrix(yt, nt, 2);
    const kspec_ridge_opts o = {
        .size = sizeof o, .sigma = 1.5, .threads = r->threads, .progress = {report, r}, .team = r->team};
    const double lambda[] = {1, 1e-3, 0.1};
    kspec_ridge *plan;
    const size_t features[] = {10, 3, 40, 7, 1}; /* a path each, or shared out with its points */
    kspec_ridge_result *p = NULL, *best = NULL, *grid = NULL;
    kspec_ridge_empirical_result *e = NULL;
    kspec_status st = kspec_ridge_open(&X, &Y, &Xt, &Yt, &o, &plan, &r->err);
    if (!st) st = kspec_ridge_predict(plan, &(size_t){10}, 1, lambda, 3, &p, &r->err);
    if (!st) st = kspec_ridge_empirical(plan, 4, lambda, 3, 5, &e, &r->err);
    if (!st) st = kspec_ridge_best_lambda(plan, 10, 1e-2, 1, &best, &r->err);
    const double before = r->team ? r->team->received : 0;
    if (!st) st = kspec_ridge_predict(plan, features, 5, lambda, 2, &grid, &r->err);
    const double received = r->team ? r->team->received - before : 0;
    if (!st && received && !r->team->store) CHECK(received < 1e5); /* whole paths are shared out */
    for (size_t k = 0; k < 10 && !st; k++) {
        const double *columns = grid->points[0]->train_columns;
        CHECK(grid->points[k]->train_columns == columns + 4 * k);
        CHECK(grid->points[k]->test_columns == columns + 4 * k + 2);
    }
    for (size_t k = 0; k < 14 && !st; k++) {
        const kspec_ridge_point *q = k < 3 ? p->points[k] : k < 4 ? best->points[0] : grid->points[k - 4];
        const double all[] = {q->lambda,   q->delta_cos, q->delta_sin,        q->train_mse,
                              q->test_mse, q->residual,  q->kernel_train_mse, q->kernel_test_mse};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) keep_number(r, all[i]);
        keep(r, q->train_columns, 2 * sizeof(double));
        keep(r, q->test_columns, 2 * sizeof(double));
        if (k < 3) keep(r, e->points[k], sizeof *e->points[k]);
    }
    kspec_free(p);
    kspec_free(best);
    kspec_free(grid);
    kspec_free(e);
    kspec_ridge_close(plan);
    free(x), free(y), free(xt), free(yt);
    return st;
}

static kspec_status learn(rank_job *r) {
    static const size_t widths[] = {4, 9, 6};
    double *x = numbers(30 * 6, 5, 0), labels[30];
    for (int i = 0; i < 30; i++) labels[i] = i % 3;
    for (int i = 0; i < 180; i++) x[i] = fabs(x[i]);
    const kspec_matrix X = matrix(x, 30, 6), Y = matrix(labels, 30, 1);
    kspec_learn_data *data;
    const kspec_learn_data_opts how = {.size = sizeof how};
    kspec_status st = kspec_learn_open(&X, &Y, &X, &Y, &how, &data, &r->err);
    CHECK(!st);
    const kspec_learn_opts o = {.size = sizeof o,
                                .seeds = r->size ? 2 : 1,
                                .epochs = 3,
                                .subsample = 3,
                                .threads = r->threads,
                                .progress = {report, r},
                                .team = r->team};
    kspec_learn_result *out = NULL;
    st = kspec_learn(r->broken ? NULL : data, widths, r->size ? 3 : 1, &o, &out, &r->err);
    for (size_t k = 0; !st && k < out->count; k++)
        for (size_t e = 0; e < out->runs[k]->epoch_count; e++) {
            const kspec_learn_epoch *at = out->runs[k]->epochs[e];
            const double all[] = {(double)at->epoch, at->loss, at->accuracy, at->test_accuracy};
            keep(r, all, sizeof all);
            for (int sub = 0; sub < 2; sub++) {
                const kspec_learn_moments *m = sub ? at->subsample : at->moments;
                for (size_t i = 0; m && i < m->count; i++) {
                    keep_number(r, m->estimates[i]->value);
                    keep_number(r, m->estimates[i]->std_error);
                    keep_number(r, m->ratio_error[i]);
                }
            }
        }
    kspec_free(out);
    kspec_learn_close(data);
    free(x);
    return st;
}

static kspec_status spectrum(rank_job *r) {
    enum { P = 60, Q = 50, T = 3 };
    double *x = numbers(T * P * Q, 11, r->broken), *common = numbers(P * Q, 12, 0);
    kspec_matrix phi[T];
    for (size_t i = 0; i < T * P * Q; i++) x[i] = 0.3 * x[i] + common[i % (P * Q)] / (1.0 + (double)(i % Q));
    for (size_t t = 0; t < T; t++) phi[t] = matrix(x + t * P * Q, P, Q);
    const kspec_spectrum_method methods[] = {KSPEC_SPECTRUM_METHOD_FIT, KSPEC_SPECTRUM_METHOD_MOMENTS,
                                             KSPEC_SPECTRUM_METHOD_CVPCA};
    kspec_spectrum_opts o = {.size = sizeof o,
                             .method = methods[r->size],
                             .draws = r->size == 1 ? 5 : 0,
                             .threads = r->threads,
                             .progress = {report, r},
                             .device = KSPEC_DEVICE_CPU,
                             .team = r->team};
    kspec_moments_opts how = {.size = sizeof how, .nmax = r->size == 1 ? 3 : 0};
    kspec_spectrum_result *out = NULL;
    kspec_status st = spectrum_of(phi, r->size == 2 ? T : 1, &how, &o, &out, &r->err);
    for (size_t k = 0; !st && k < out->rank && k < P; k++) {
        keep_number(r, out->eigenvalues[k]);
        keep_number(r, out->std_error[k]);
        keep_number(r, out->ci_low[k]);
    }
    if (!st) keep_number(r, out->participation_ratio);
    kspec_free(out);
    free(x), free(common);
    return st;
}

static void keep_points(rank_job *r, const kspec_wls_result *w) {
    for (size_t k = 0; k < w->count; k++) {
        const kspec_wls_point *q = w->points[k];
        const double all[] = {(double)q->p, q->alpha,    q->error,   q->error_noise,
                              q->variance,  q->error_se, q->accuracy};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) keep_number(r, all[i]);
    }
}

static kspec_status wls(rank_job *r) {
    const size_t p[] = {30, 5, 12, 19, 20, 3}, count = r->size ? 6 : 1, N = 20;
    const kspec_wls_opts o = {.size = sizeof o,
                              .P = 40,
                              .alpha = r->broken ? NAN : 0.5,
                              .gamma = 1,
                              .noise = 0.1,
                              .threads = r->threads,
                              .progress = {report, r},
                              .team = r->team};
    kspec_wls_result *w[4] = {NULL};
    kspec_status st = kspec_wls_theory(N, p, count, &o, &w[0], &r->err);
    if (!st) st = kspec_wls_empirical(N, p, count, r->size ? 9 : 2, &o, &w[1], &r->err);
    if (!st) st = kspec_wls_best_p(N, p, count, &o, &w[2], &r->err);
    if (!st) st = kspec_wls_best_weight(N, 12, 0, 2, &o, &w[3], &r->err);
    for (int k = 0; k < 4; k++) {
        if (!st) keep_points(r, w[k]);
        kspec_free(w[k]);
    }
    return st;
}

static kspec_status dimension(rank_job *r) {
    static const size_t shapes[][2] = {{5, 3}, {70, 40}, {300, 260}};
    const size_t P = shapes[r->size][0], Q = shapes[r->size][1];
    double *x = numbers(P * Q, 21, r->broken), *y = numbers(P * Q, 22, 0);
    const kspec_matrix X = matrix(x, P, Q), Y = matrix(y, P, Q);
    const kspec_dimension_opts o = {.size = sizeof o,
                                    .curve = r->size == 1 ? 3 : 0,
                                    .threads = r->threads,
                                    .progress = {report, r},
                                    .team = r->team};
    const kspec_compare_opts c = {.size = sizeof c,
                                  .paired = KSPEC_PAIRED_ROWS,
                                  .threads = r->threads,
                                  .progress = {report, r},
                                  .team = r->team};
    kspec_dimension_result *d = NULL;
    kspec_compare_result *e = NULL;
    kspec_status st = kspec_dimension(&X, 1, &o, &d, &r->err);
    if (!st) st = kspec_compare(&X, 1, &Y, 1, &c, &e, &r->err);
    if (!st) {
        const double all[] = {d->dimension,        d->std_error,       d->naive,
                              d->second_moment,    e->alignment,       e->dimension,
                              e->alignment_ci_low, e->alignment_biased};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) keep_number(r, all[i]);
        for (size_t k = 0; k < e->count; k++) {
            keep_number(r, e->differences[k]->value);
            keep_number(r, e->differences[k]->p);
        }
    }
    kspec_free(d);
    kspec_free(e);
    free(x), free(y);
    return st;
}

/* Files: text with a header and ragged trials, which rank 0 sends; .npy, which all read */
static const char *const files[] = {"team-a.csv", "team-b.csv", "team-c.npy"};

static void write_files(void) {
    double x[] = {1, 2, 3, 4, 5, 6};
    for (int k = 0; k < 2; k++) {
        FILE *f = fopen(files[k], "w");
        fprintf(f, "one,two words,three\n%d,2,3\n4,5,6\n7,8,%s\n", k, k ? "3" : "9.5");
        fclose(f);
    }
    kspec_writer *w;
    CHECK(!kspec_write_open(files[2], 2, (size_t[]){3, 2}, &w, NULL) && !kspec_write_values(w, x, 6, NULL) &&
          !kspec_write_close(w, NULL));
}

/* A column of a table as labels; rank 1 names another file, which it does not read */
static kspec_status read_labels(rank_job *r, int missing) {
    const kspec_read_opts o = {.size = sizeof o, .select_cols = "three", .team = r->team};
    const char *name = r->team && r->team->comm.rank == 1 ? files[1] : files[0];
    kspec_labels *l;
    kspec_status st = kspec_read_labels(missing ? "team-none.csv" : name, &o, &l, &r->err);
    CHECK(!st || !l);
    if (st) return st;
    const size_t counts[] = {l->count, l->groups, l->column, l->columns};
    keep(r, counts, sizeof counts);
    keep(r, l->of, l->count * sizeof *l->of);
    kspec_free(l);
    return st;
}

static kspec_status reading(rank_job *r) {
    if (r->size == 4) return read_labels(r, 1);
    const char *missing[] = {"team-none.csv"}, *text[] = {files[0], files[1]}, *array[] = {files[2]};
    kspec_read_opts o = {
        .size = sizeof o, .nan = r->size == 1 ? KSPEC_NAN_RAGGED_TRIALS : KSPEC_NAN_ERROR, .team = r->team};
    if (r->broken) o.nan = (kspec_nan)99;
    kspec_dataset *d;
    kspec_status st = r->size == 3   ? kspec_read(missing, 1, &o, &d, &r->err)
                      : r->size == 2 ? kspec_read(array, 1, &o, &d, &r->err)
                                     : kspec_read(text, 2, &o, &d, &r->err);
    CHECK(!st || !d);
    if (st) return st;
    const size_t shape[] = {
        d->trials,  d->rows,           d->cols,          (size_t)d->has_header, (size_t)d->array_dims,
        d->missing, d->array_shape[0], d->array_shape[1]};
    keep(r, shape, sizeof shape);
    keep(r, d->data, d->trials * d->rows * d->cols * sizeof(double));
    for (size_t j = 0; d->col_names && j < d->cols; j++)
        keep(r, d->col_names[j], strlen(d->col_names[j]) + 1);
    if (d->row_trials) keep(r, d->row_trials, d->rows * sizeof *d->row_trials);
    kspec_free(d);
    return r->size < 2 ? read_labels(r, 0) : st;
}

/* ---- the tests ---- */

static const struct {
    const char *name;
    call_fn call;
    int sizes;
} calls[] = {{"norm", norm, 6},         {"ridge", ridge, 4}, {"learn", learn, 2},
             {"spectrum", spectrum, 3}, {"wls", wls, 2},     {"dimension", dimension, 3},
             {"reading", reading, 3}};
enum { CALLS = sizeof calls / sizeof *calls };

static int same(const rank_job *a, const rank_job *b) {
    return !a->status && !b->status && a->count == b->count && memcmp(a->found, b->found, a->count) == 0;
}

TEST(the_same_bytes_at_any_number_of_ranks) {
    for (int c = 0; c < CALLS; c++)
        for (int size = 0; size < calls[c].sizes; size++) {
            rank_job alone = {.call = calls[c].call, .size = size, .threads = 2};
            alone.status = alone.call(&alone);
            CHECK_MSG(!alone.status && alone.count > 0, "%s %d: %s", calls[c].name, size, alone.err.msg);
            for (size_t k = 0; k < RANK_COUNTS; k++) {
                rank_job r[MAX_RANKS] = {0};
                for (int i = 0; i < rank_counts[k]; i++)
                    r[i] = (rank_job){.call = calls[c].call, .size = size, .threads = 1 + i % 3};
                run_all(rank_counts[k], r);
                for (int i = 0; i < rank_counts[k]; i++) {
                    CHECK_MSG(same(&alone, &r[i]), "%s %d, rank %d of %d: %s", calls[c].name, size, i,
                              rank_counts[k], r[i].err.msg);
                    CHECK_MSG(r[i].loops > 0 || rank_counts[k] == 1 || calls[c].call == reading,
                              "%s shares nothing out", calls[c].name);
                    free(r[i].found);
                }
            }
            free(alone.found);
        }
}

/* All ranks have the same status and message; where one alone fails, the message says which. */
static void check_alike(const char *name, const rank_job *r, int ranks, kspec_status want) {
    for (int i = 0; i < ranks; i++) {
        CHECK_MSG(r[i].status == want, "%s, rank %d: %d %s", name, i, (int)r[i].status, r[i].err.msg);
        CHECK_MSG(strcmp(r[i].err.msg, r[0].err.msg) == 0, "%s: '%s', '%s'", name, r[i].err.msg,
                  r[0].err.msg);
        free(r[i].found);
    }
}

TEST(a_bad_input_of_one_rank_ends_all) {
    for (int c = 0; c < CALLS; c++) {
        if (calls[c].call == reading) continue; /* which rank 0 alone does */
        rank_job r[3];
        for (int i = 0; i < 3; i++)
            r[i] = (rank_job){.call = calls[c].call, .size = 1, .threads = 1, .broken = i == 2};
        run_all(3, r);
        const kspec_status want = r[0].status;
        CHECK_MSG(want == KSPEC_E_DATA || want == KSPEC_E_ARG, "%s: %d", calls[c].name, (int)want);
        CHECK_MSG(strncmp(r[0].err.msg, "rank 2: ", 8) == 0, "%s: %s", calls[c].name, r[0].err.msg);
        check_alike(calls[c].name, r, 3, want);
    }
}

TEST(what_rank_0_cannot_read_nobody_can) {
    for (int size = 3; size <= 4; size++) {
        rank_job r[3], alone = {.call = reading, .size = size};
        alone.status = alone.call(&alone);
        CHECK(alone.status != KSPEC_OK);
        for (int i = 0; i < 3; i++) r[i] = (rank_job){.call = reading, .size = size};
        run_all(3, r);
        CHECK_MSG(strcmp(r[2].err.msg, alone.err.msg) == 0, "%s", r[2].err.msg);
        check_alike("reading", r, 3, alone.status);
    }
}

TEST(a_rank_that_cancels_ends_all) {
    for (int c = 0; c < CALLS; c++) {
        if (calls[c].call == reading) continue;
        rank_job r[3];
        for (int i = 0; i < 3; i++)
            r[i] = (rank_job){.call = calls[c].call, .size = 1, .threads = 1, .cancel_at = i == 1 ? 2 : 0};
        run_all(3, r);
        check_alike(calls[c].name, r, 3, KSPEC_E_CANCELLED);
    }
}

/* The k-th allocation of one rank fails, for some k: all end alike, or none notices. */
TEST(a_rank_without_memory_ends_all) {
    kspec_set_allocator(&(kspec_allocator){scarce, release, NULL});
    for (int c = 0; c < CALLS; c++) {
        int failed = 0;
        for (int at = 1, more = 1; more && at < 4000; at += 1 + at / 3) {
            rank_job r[3];
            for (int i = 0; i < 3; i++)
                r[i] =
                    (rank_job){.call = calls[c].call, .size = 1, .threads = 1, .starve_at = i == 1 ? at : 0};
            if (calls[c].call == learn && at < 60) continue; /* its data, which are opened without a team */
            run_all(3, r);
            more = r[0].status != KSPEC_OK;
            failed += more;
            check_alike(calls[c].name, r, 3, more ? KSPEC_E_NOMEM : KSPEC_OK);
        }
        CHECK_MSG(failed > 2, "%s: %d", calls[c].name, failed);
    }
    kspec_set_allocator(NULL);
}

/* ---- checkpoints ---- */

/* Cancelled later and later, by other numbers of ranks each time, a call comes to the same bytes. */
TEST(checkpoints_go_on_where_they_stopped) {
    const char *dir = "team-more-checkpoint";
    ks_store_interval = 0;
    for (int c = 0; c < CALLS; c++) {
        if (calls[c].call == reading) continue;
        rank_job alone = {.call = calls[c].call, .size = 1, .threads = 1};
        alone.status = alone.call(&alone);
        remove_all(dir);
        int finished = 0, tries = 0;
        for (; !finished && tries < 40; tries++) {
            const int ranks = 1 + tries % 3;
            rank_job r[3] = {0};
            for (int i = 0; i < ranks; i++)
                r[i] = (rank_job){.call = calls[c].call, .size = 1, .threads = 1 + i, .checkpoint = dir};
            r[ranks - 1].cancel_at = tries < 30 ? 3 + 2 * tries : 0;
            run_all(ranks, r);
            finished = !r[0].status;
            for (int i = 0; i < ranks; i++) {
                CHECK_MSG(finished ? same(&alone, &r[i]) : r[i].status == KSPEC_E_CANCELLED, "%s, try %d: %s",
                          calls[c].name, tries, r[i].err.msg);
                free(r[i].found);
            }
        }
        CHECK_MSG(finished, "%s", calls[c].name);
        /* and once more, from what is there */
        rank_job again[2] = {{.call = calls[c].call, .size = 1, .threads = 1, .checkpoint = dir}};
        again[1] = again[0];
        run_all(2, again);
        for (int i = 0; i < 2; i++) {
            CHECK_MSG(same(&alone, &again[i]), "%s again: %s", calls[c].name, again[i].err.msg);
            free(again[i].found);
        }
        free(alone.found);
        remove_all(dir);
    }
    ks_store_interval = 1;
}

/* ---- GPUs: each rank has its own, by its number on its machine ---- */

static kspec_status on_gpu(rank_job *r) {
    double *x = numbers(40 * 30, 31, 0);
    const kspec_matrix X = matrix(x, 40, 30);
    const kspec_moments_opts o = {.size = sizeof o,
                                  .estimators = KSPEC_ESTIMATOR_PATH | KSPEC_ESTIMATOR_EXACT,
                                  .nmax = 4,
                                  .device = r->size ? KSPEC_DEVICE_GPU : KSPEC_DEVICE_AUTO,
                                  .threads = r->threads,
                                  .team = r->team};
    kspec_moments_result *m;
    kspec_status st = kspec_moments(&X, 1, &o, &m, &r->err);
    for (size_t k = 0; !st && k < m->count; k++) {
        keep_number(r, m->estimates[k]->value);
        keep_number(r, m->estimates[k]->std_error);
    }
    if (!st) snprintf(r->err.msg, sizeof r->err.msg, "%s", m->device.name);
    kspec_free(m);
    free(x);
    return st;
}

/* The plain plugin has two. */
TEST(ranks_have_gpus_of_their_own) {
    static char plain[PATH_MAX + 32];
    char exe[PATH_MAX] = "";
    CHECK(readlink("/proc/self/exe", exe, sizeof exe - 1) > 0);
    snprintf(plain, sizeof plain, "%s/plain_plugin.so", dirname(exe));
    ks_plugin_use(plain);
    rank_job alone = {.call = on_gpu, .size = 1, .threads = 1}, r[3];
    alone.status = alone.call(&alone);
    for (int i = 0; i < 3; i++) r[i] = (rank_job){.call = on_gpu, .size = 1, .threads = 1};
    run_all(3, r);
    for (int i = 0; i < 3; i++) {
        const char *want[] = {"gpu:0 Plain 0", "gpu:1 Plain 1", "gpu:0 Plain 0"};
        CHECK_MSG(strcmp(r[i].err.msg, want[i]) == 0, "rank %d: %s", i, r[i].err.msg);
        CHECK_MSG(same(&alone, &r[i]), "rank %d", i);
        free(r[i].found);
    }
    free(alone.found);
    ks_plugin_use(NULL);
}

int main(void) {
    write_files();
    RUN(the_same_bytes_at_any_number_of_ranks);
    RUN(a_bad_input_of_one_rank_ends_all);
    RUN(what_rank_0_cannot_read_nobody_can);
    RUN(a_rank_that_cancels_ends_all);
    RUN(a_rank_without_memory_ends_all);
    RUN(checkpoints_go_on_where_they_stopped);
    RUN(ranks_have_gpus_of_their_own);
    for (size_t k = 0; k < sizeof files / sizeof *files; k++) unlink(files[k]);
    return test_done();
}
