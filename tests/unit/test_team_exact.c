/*
 * exact, naive and Kong-Valiant in a team, whose ranks hold strips of every matrix: the same bits as in one
 * process, for every form and on sizes with fewer strips than ranks; failures of one rank are everybody's.
 */
#include "device/ranks.h"
#include "help/failing_alloc.h"
#include "help/team_job.h"
#include "linalg/linalg.h"
#include "exact/exact.h"
#include "team/area.h"
#include "team/store.h"
#include "test.h"
#include "kspec/host.h"

#include <dirent.h>
#include <unistd.h>

/* ---- operations ---- */

/* One operation on whole matrices: by one process, and by ranks that have strips of them */
typedef struct {
    ks_mat_product p;
    ks_mat_expression e;
    ks_tile_result what;
    enum { PRODUCT, EXPRESSION, SYMMETRISE, DIAGONAL } kind;
    /* of p or e: which operands every rank has whole */
    int whole;
    const double *C; /* as it was */
    size_t rows, cols;
    double *want;
    int threads;
} operation;

static void alone(const operation *o) {
    const ks_run run = {.threads = 2};
    const ks_backend *cpu = ks_backend_of(&run);
    kspec_status st = KSPEC_OK;
    memcpy(o->want, o->C, o->rows * o->cols * sizeof *o->want);
    ks_mat_product p = o->p;
    p.C = ks_mat_of(o->want);
    switch (o->kind) {
    case PRODUCT: st = cpu->product(&run, &p, NULL); break;
    case EXPRESSION: st = cpu->expression(&run, &o->e, o->what, NULL, o->want, NULL); break;
    case SYMMETRISE: st = cpu->symmetrise(&run, o->rows, ks_mat_of(o->want), NULL); break;
    case DIAGONAL: st = cpu->diagonal(&run, o->want, ks_mat_of(o->C), o->rows, NULL); break;
    }
    CHECK(st == KSPEC_OK);
}

/* A matrix as this rank has it */
static ks_mat *shared(const ks_run *run, const double *x, size_t rows, size_t cols, int whole) {
    const ks_backend *at = &ks_ranks_backend;
    const ks_mat *brought;
    ks_mat *held;
    if (whole) {
        CHECK(at->copy_in(run, x, rows, cols, "a test", &brought, NULL) == KSPEC_OK);
        return (ks_mat *)brought;
    }
    CHECK(at->hold(run, rows, cols, "a test", &held, NULL) == KSPEC_OK);
    const ks_range own = ks_strip_rows(rows, KS_STRIP, ks_team_rank(run), ks_team_ranks(run));
    memcpy(ks_strips_at(held)->own, x + own.from * cols, ks_range_size(own) * cols * sizeof *x);
    return held;
}

static int same_rows(const ks_run *run, const ks_mat *held, const double *want) {
    const ks_strips *x = ks_strips_at(held);
    const ks_range own = ks_strip_rows(x->rows, KS_STRIP, ks_team_rank(run), ks_team_ranks(run));
    return memcmp(x->own, want + own.from * x->cols, ks_range_size(own) * x->cols * sizeof *want) == 0;
}

static void operation_work(const kspec_comm *comm, void *ctx) {
    const operation *o = ctx;
    const ks_backend *at = &ks_ranks_backend;
    kspec_team *team;
    kspec_error err = {0};
    CHECK(kspec_team_open(comm, &team, &err) == KSPEC_OK);
    const ks_run run = {.threads = 1 + comm->rank % 3, .team = team, .to = 1};
    ks_mat *used[KS_TILE_FACTORS] = {0}, *out = NULL;
    double *sums = NULL;
    ks_mat_product p = o->p;
    ks_mat_expression e = o->e;
    kspec_status st;
    if (o->kind == PRODUCT) {
        used[0] = shared(&run, ks_mat_address(p.A), p.ta ? p.k : p.m, p.ta ? p.m : p.k, o->whole & 1);
        used[1] = p.B == p.A
                      ? NULL
                      : shared(&run, ks_mat_address(p.B), p.tb ? p.n : p.k, p.tb ? p.k : p.n, o->whole & 2);
        p.B = used[1] ? used[1] : used[0], p.A = used[0];
        p.C = out = shared(&run, o->C, p.m, p.n, 0);
        st = at->product(&run, &p, &err);
    } else if (o->kind == EXPRESSION) {
        for (int k = 0; k < e.count; k++) {
            const int t = e.factor[k].transposed;
            used[k] =
                shared(&run, ks_mat_address(e.factor[k].x), t ? e.n : e.m, t ? e.m : e.n, o->whole >> k & 1);
            e.factor[k].x = used[k];
        }
        if (o->what < KS_TILE_ROW_SUMS) out = shared(&run, o->C, e.m, e.n, 0);
        sums = malloc((e.m + e.n) * sizeof *sums);
        st = at->expression(&run, &e, o->what, out, sums, &err);
    } else if (o->kind == SYMMETRISE) {
        out = shared(&run, o->C, o->rows, o->rows, 0);
        st = at->symmetrise(&run, o->rows, out, &err);
    } else {
        used[0] = shared(&run, o->C, o->rows, o->rows, o->whole & 1);
        sums = malloc(o->rows * sizeof *sums);
        st = at->diagonal(&run, sums, used[0], o->rows, &err);
    }
    const size_t n = o->kind == DIAGONAL ? o->rows : o->what == KS_TILE_ROW_SUMS ? e.m : e.n;
    CHECK_MSG(
        st == KSPEC_OK &&
            (out ? same_rows(&run, out, o->want) : memcmp(sums, o->want, n * sizeof *sums) == 0),
        "operation %d of %zu x %zu, ta %d tb %d k %zu symmetric %d, what %d, whole %d: rank %d of %d %s",
        (int)o->kind, o->rows, o->cols, p.ta, p.tb, p.k, p.symmetric, (int)o->what, o->whole, comm->rank,
        comm->ranks, err.msg);
    for (int k = 0; k < KS_TILE_FACTORS; k++) at->drop(&run, used[k]);
    at->drop(&run, out);
    free(sums);
    kspec_team_close(team);
}

/* By two numbers of ranks, other ones for the next case */
static void everywhere(const operation *o) {
    static int turn;
    alone(o);
    for (int k = turn++ % RANK_COUNTS, twice = 0; twice < 2; twice++, k = (k + 2) % RANK_COUNTS) {
        void *ctx[MAX_RANKS];
        for (int r = 0; r < MAX_RANKS; r++) ctx[r] = (void *)o;
        ks_area_most = (turn + twice) % 2 ? SIZE_MAX : 0; /* in shared memory, or by messages */
        run_ranks(rank_counts[k], operation_work, ctx);
    }
    ks_area_most = SIZE_MAX;
}

TEST(products_have_the_same_bits) {
    static const size_t shapes[][3] = {{1, 1, 1},      {257, 300, 513}, {600, 1030, 40},
                                       {255, 256, 70}, {1100, 3, 300},  {20, 30, 16500}};
    for (size_t s = 0; s < 6; s++) {
        const size_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        double *A = random_matrix(m * k, 1), *B = random_matrix(k * n, 2), *C = random_matrix(m * n, 3),
               *want = malloc(m * n * sizeof *want);
        for (int how = 0; how < 16; how++) {
            const int ta = how & 1, tb = how >> 1 & 1;
            operation o = {.kind = PRODUCT, .whole = how >> 2, .C = C, .rows = m, .cols = n, .want = want};
            o.p = (ks_mat_product){.ta = ta,
                                   .tb = tb,
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .alpha = 0.7,
                                   .A = ks_mat_of(A),
                                   .lda = ta ? m : k,
                                   .B = ks_mat_of(B),
                                   .ldb = tb ? k : n,
                                   .beta = how % 3,
                                   .ldc = n};
            everywhere(&o);
        }
        free(A), free(B), free(C), free(want);
    }
}

TEST(symmetric_products_have_the_same_bits) {
    /* of the last two the strips come in several windows; of the last the inner index is in two pieces */
    static const size_t shapes[][2] = {{1, 1},    {255, 300}, {513, 20},   {1025, 270},
                                       {1300, 3}, {4400, 2},  {530, 16400}};
    for (size_t s = 0; s < 7; s++) {
        const size_t n = shapes[s][0], k = shapes[s][1];
        double *A = random_matrix(n * k, 4), *B = malloc(n * k * sizeof *B), *C = random_matrix(n * n, 5),
               *want = malloc(n * n * sizeof *want);
        for (int how = 0; how < 16; how += s < 5 ? 1 : 5) {
            const int ta = how & 1, weighted = how >> 1 & 1;
            /* weights of the inner index on one side: still symmetric */
            for (size_t i = 0; i < n * k; i++) B[i] = A[i] * (1 + 0.5 * (double)(ta ? i / n : i % k));
            operation o = {.kind = PRODUCT, .whole = how >> 2, .C = C, .rows = n, .cols = n, .want = want};
            o.p = (ks_mat_product){.ta = ta,
                                   .tb = !ta,
                                   .m = n,
                                   .n = n,
                                   .k = k,
                                   .alpha = 1.3,
                                   .A = ks_mat_of(A),
                                   .lda = ta ? n : k,
                                   .B = ks_mat_of(weighted ? B : A),
                                   .ldb = ta ? n : k,
                                   .ldc = n,
                                   .symmetric = 1};
            everywhere(&o);
        }
        free(A), free(B), free(C), free(want);
    }
}

/* ---- one product after the other ---- */

enum { SERIES = 6 };

static int stop(void *ctx, double fraction) {
    (void)fraction;
    return *(const int *)ctx;
}

/* Products of different sizes in one team: what they share grows and is used again; one is cancelled. */
static void series_work(const kspec_comm *comm, void *ctx) {
    const operation *o = ctx;
    const ks_backend *at = &ks_ranks_backend;
    kspec_team *team;
    kspec_error err = {0};
    CHECK(kspec_team_open(comm, &team, &err) == KSPEC_OK);
    int stopped = 0;
    const ks_run run = {.threads = 1 + comm->rank % 2, .progress = {stop, &stopped}, .team = team, .to = 1};
    for (int k = 0; k < 2 * SERIES; k++) {
        const operation *now = &o[k % SERIES];
        const int cancelled = k == SERIES / 2;
        ks_mat_product p = now->p;
        ks_mat *A = shared(&run, ks_mat_address(p.A), p.ta ? p.k : p.m, p.ta ? p.m : p.k, k % 5 == 0);
        ks_mat *B = p.B == p.A
                        ? NULL
                        : shared(&run, ks_mat_address(p.B), p.tb ? p.n : p.k, p.tb ? p.k : p.n, k % 3 == 0);
        ks_mat *C = shared(&run, now->C, p.m, p.n, 0);
        p.A = A, p.B = B ? B : A, p.C = C;
        stopped = cancelled && comm->rank == comm->ranks - 1;
        kspec_status st = at->product(&run, &p, &err);
        stopped = 0;
        CHECK_MSG(cancelled ? st == KSPEC_E_CANCELLED : st == KSPEC_OK && same_rows(&run, C, now->want),
                  "product %d, rank %d of %d: %s", k, comm->rank, comm->ranks, err.msg);
        if (k % 4 == 3 || cancelled) CHECK(ks_team_end(team, st, &err) == st); /* the end of a call */
        at->drop(&run, A), at->drop(&run, B), at->drop(&run, C);
    }
    kspec_team_close(team);
}

TEST(products_follow_each_other) {
    static const size_t shapes[SERIES][3] = {{300, 300, 40}, {700, 700, 30}, {300, 520, 70},
                                             {520, 520, 20}, {800, 60, 10},  {700, 700, 50}};
    operation o[SERIES];
    double *held[4 * SERIES];
    for (int s = 0; s < SERIES; s++) {
        const size_t m = shapes[s][0], n = shapes[s][1], k = shapes[s][2];
        double *A = held[4 * s] = random_matrix(m * k, 20), *B = held[4 * s + 1] = random_matrix(k * n, 21);
        o[s] = (operation){.kind = PRODUCT, .rows = m, .cols = n};
        o[s].C = held[4 * s + 2] = random_matrix(m * n, 22);
        o[s].want = held[4 * s + 3] = random_matrix(m * n, 23);
        o[s].p = (ks_mat_product){
            .tb = m == n, .m = m, .n = n, .k = k, .alpha = 1, .A = ks_mat_of(A), .lda = k, .ldc = n};
        o[s].p.symmetric = m == n;
        o[s].p.B = ks_mat_of(m == n ? A : B), o[s].p.ldb = m == n ? k : n;
        alone(&o[s]);
    }
    void *ctx[MAX_RANKS];
    for (int r = 0; r < MAX_RANKS; r++) ctx[r] = o;
    for (int ranks = 2; ranks <= 4; ranks++) run_ranks(ranks, series_work, ctx);
    for (int k = 0; k < 4 * SERIES; k++) free(held[k]);
}

TEST(expressions_have_the_same_bits) {
    static const size_t shapes[][2] = {{1, 1}, {257, 300}, {40, 1030}, {900, 129}, {1800, 1}};
    for (size_t s = 0; s < 5; s++) {
        const size_t m = shapes[s][0], n = shapes[s][1];
        double *F = random_matrix(m * n, 6), *T = random_matrix(n * m, 7),
               *C = random_matrix(m * n + m + n, 8), *row = random_matrix(m, 9), *col = random_matrix(n, 10),
               *want = malloc((m * n + m + n) * sizeof *want);
        for (int how = 0; how < 32; how++) {
            operation o = {.kind = EXPRESSION,
                           .what = (ks_tile_result)(how & 3),
                           .whole = how >> 2,
                           .C = C,
                           .rows = m,
                           .cols = n,
                           .want = want};
            o.e = (ks_mat_expression){m, n, -1.5, how & 4 ? row : NULL, how & 8 ? col : NULL, 3};
            o.e.factor[0] = (ks_mat_factor){ks_mat_of(F), 0, 1};
            o.e.factor[1] = (ks_mat_factor){ks_mat_of(T), 1, 2};
            o.e.factor[2] = (ks_mat_factor){ks_mat_of(F), 0, 1};
            everywhere(&o);
        }
        free(F), free(T), free(C), free(row), free(col), free(want);
    }
    for (size_t n = 1; n < 1500; n = 2 * n + 255) {
        double *X = random_matrix(n * n, 11), *want = malloc(n * n * sizeof *want);
        for (int how = 0; how < 3; how++) {
            operation o = {
                .kind = how ? DIAGONAL : SYMMETRISE, .whole = how == 2, .C = X, .rows = n, .want = want};
            o.cols = n;
            everywhere(&o);
        }
        free(X), free(want);
    }
}

/* ---- exact ---- */

typedef struct {
    size_t P, Q, trials;
    int nmax, no_stderr;
    kspec_center center;
    kspec_sampled sampled;
    uint64_t population_rows, population_cols;
    unsigned estimators; /* 0: exact */
} form;

static const form forms[] = {
    {1, 1, 1, 1, 0, 0, 0, 0, 0},
    {1, 300, 1, 1, 1, 0, 0, 0, 0},
    {4, 700, 1, 4, 0, 0, 0, 0, 0},
    {257, 30, 2, 4, 0, 0, 0, 0, 0},
    {513, 520, 1, 4, 0, 0, 0, 0, 0},
    {600, 300, 2, 4, 0, 0, 0, 0, 0},
    {600, 300, 1, 4, 1, 0, 0, 0, 0},
    {257, 270, 1, 4, 0, KSPEC_CENTER_ROWS, 0, 0, 0},
    {300, 260, 2, 3, 0, KSPEC_CENTER_COLS, 0, 0, 0},
    {300, 513, 1, 3, 0, KSPEC_CENTER_BOTH, 0, 0, 0},
    {280, 300, 1, 4, 0, 0, 0, 400, 0},
    {280, 300, 2, 3, 0, KSPEC_CENTER_ROWS, 0, 400, 900},
    {600, 300, 1, 4, 0, 0, KSPEC_SAMPLED_ROWS, 0, 0},
    {300, 600, 2, 4, 0, 0, KSPEC_SAMPLED_COLS, 0, 0},
    {90, 80, 1, 5, 0, 0, 0, 0, 0},
    {60, 110, 2, 5, 1, 0, 0, 0, 0},
    {130, 40, 1, 5, 0, 0, KSPEC_SAMPLED_COLS, 0, 0},
    {1, 1, 1, 1, 0, 0, 0, 0, 0, KSPEC_ESTIMATOR_NAIVE},
    {600, 257, 1, 5, 0, 0, 0, 0, 0, KSPEC_ESTIMATOR_NAIVE},
    {270, 600, 2, 6, 1, 0, 0, 0, 0, KSPEC_ESTIMATOR_NAIVE},
    {600, 300, 1, 4, 0, 0, 0, 0, 0, KSPEC_ESTIMATOR_KV_ROW | KSPEC_ESTIMATOR_KV_COL},
    {257, 3, 2, 3, 1, 0, 0, 0, 0, KSPEC_ESTIMATOR_KV_ROW | KSPEC_ESTIMATOR_KV_COL},
};

static kspec_moments_opts options(const form *f) {
    return (kspec_moments_opts){.size = sizeof(kspec_moments_opts),
                                .estimators = f->estimators ? f->estimators : KSPEC_ESTIMATOR_EXACT,
                                .nmax = f->nmax,
                                .no_stderr = f->no_stderr,
                                .center = f->center,
                                .sampled = f->sampled,
                                .population_rows = f->population_rows,
                                .population_cols = f->population_cols,
                                .device = KSPEC_DEVICE_CPU,
                                .threads = 2};
}

TEST(moments_have_the_same_bits_at_any_number_of_ranks) {
    for (size_t c = 0; c < sizeof forms / sizeof *forms; c++) {
        const form *f = &forms[c];
        kspec_matrix phi[2];
        for (size_t t = 0; t < f->trials; t++)
            phi[t] =
                (kspec_matrix){random_matrix(f->P * f->Q, 100 * c + t + 1), f->P, f->Q, (ptrdiff_t)f->Q, 1};
        kspec_moments_opts o = options(f);
        kspec_moments_result *alone_result = NULL;
        kspec_error err;
        CHECK_MSG(kspec_moments(phi, f->trials, &o, &alone_result, &err) == KSPEC_OK, "form %zu: %s", c,
                  err.msg);
        for (int k = 0; k < RANK_COUNTS && alone_result; k++) {
            team_job m[MAX_RANKS] = {0};
            for (int r = 0; r < rank_counts[k]; r++) {
                m[r] = (team_job){.phi = phi, .trials = f->trials, .o = o};
                m[r].o.threads = 1 + r % 2;
            }
            run_team(rank_counts[k], m);
            for (int r = 0; r < rank_counts[k]; r++) {
                CHECK_MSG(!m[r].status && same_estimates(alone_result, m[r].r), "form %zu, rank %d of %d: %s",
                          c, r, rank_counts[k], m[r].err.msg);
                CHECK_MSG((m[r].received > 0) == (rank_counts[k] > 1), "form %zu: %g bytes", c,
                          m[r].received);
                kspec_free(m[r].r);
            }
        }
        kspec_free(alone_result);
        for (size_t t = 0; t < f->trials; t++) free((void *)phi[t].data);
    }
}

/* ---- memory ---- */

TEST(a_rank_holds_its_share) {
    ks_exact_plan plan = {.P = 6000, .Q = 6000, .threads = 1};
    double work, less;
    size_t one, four, sixteen;
    kspec_team team = {.comm = {.ranks = 4}};
    CHECK(ks_exact_cost(&plan, 4, 1, &work, &one, NULL) == KSPEC_OK);
    ks_exact_share(&plan, &team, 1);
    CHECK(ks_exact_cost(&plan, 4, 1, &less, &four, NULL) == KSPEC_OK && less == work);
    team.comm.ranks = 16;
    ks_exact_share(&plan, &team, 1);
    CHECK(ks_exact_cost(&plan, 4, 1, &less, &sixteen, NULL) == KSPEC_OK);
    CHECK_MSG(four < one / 2 && 5.5 * (double)sixteen < (double)one, "%zu, %zu, %zu bytes", one, four,
              sixteen);
    ks_exact_plan_free(&plan);
}

/* ---- failures ---- */

static _Thread_local long allowed = -1; /* allocations of this thread; -1: all */
static atomic_long live;

static void *take(void *ctx, size_t size, size_t align) {
    (void)ctx;
    if (allowed == 0) return NULL;
    if (allowed > 0) allowed--;
    void *p = aligned_alloc(align, (size + align - 1) / align * align);
    if (p) atomic_fetch_add(&live, 1);
    return p;
}

static void give(void *ctx, void *p) {
    (void)ctx;
    if (p) atomic_fetch_sub(&live, 1);
    free(p);
}

typedef struct {
    team_job of;
    long allowed, left;
} poor_rank;

static void poor_work(const kspec_comm *comm, void *ctx) {
    poor_rank *p = ctx;
    kspec_team *team = NULL;
    CHECK(kspec_team_open(comm, &team, &p->of.err) == KSPEC_OK);
    p->of.o.team = team;
    allowed = p->allowed;
    p->of.status = kspec_moments(p->of.phi, 1, &p->of.o, &p->of.r, &p->of.err);
    p->left = allowed;
    allowed = -1;
    kspec_free(p->of.r);
    kspec_team_close(team);
}

/*
 * Rank 1 has memory for so many allocations: all ranks fail alike, hold nothing afterwards, and none waits.
 */
TEST(a_rank_without_memory_ends_all) {
    const size_t P = 300, Q = 280;
    double *x = random_matrix(P * Q, 21);
    const kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    const form f = {.P = P, .Q = Q, .nmax = 3};
    const kspec_allocator a = {take, give, NULL};
    kspec_set_allocator(&a);
    long k = 0, failures = 0;
    for (int done = 0; !done && k < 4000; k += SANITIZED ? 41 : k < 60 ? 1 : 7) {
        poor_rank p[3];
        void *ctx[3];
        for (int r = 0; r < 3; r++) {
            p[r] = (poor_rank){.of = {.phi = &phi, .o = options(&f)}, .allowed = r == 1 ? k : -1};
            p[r].of.o.threads = 1;
            ctx[r] = &p[r];
        }
        alarm(60);
        run_ranks(3, poor_work, ctx);
        alarm(0);
        CHECK_MSG(atomic_load(&live) == 0, "%ld leaked at %ld", atomic_load(&live), k);
        for (int r = 0; r < 3; r++)
            CHECK_MSG(p[r].of.status == p[0].of.status && strcmp(p[r].of.err.msg, p[0].of.err.msg) == 0,
                      "%ld: rank %d: %s / %s", k, r, p[r].of.err.msg, p[0].of.err.msg);
        done = !p[0].of.status;
        CHECK_MSG(done || (p[0].of.status == KSPEC_E_NOMEM && strncmp(p[0].of.err.msg, "rank 1: ", 8) == 0),
                  "%ld: %s", k, p[0].of.err.msg);
        failures += !done;
    }
    CHECK_MSG(failures > (SANITIZED ? 4 : 80), "%ld failures", failures);
    kspec_set_allocator(NULL);
    free(x);
}

TEST(a_rank_that_is_cancelled_ends_all) {
    const size_t P = 300, Q = 280;
    double *x = random_matrix(P * Q, 22);
    const kspec_matrix phi = {x, P, Q, (ptrdiff_t)Q, 1};
    const form f = {.P = P, .Q = Q, .nmax = 4};
    int finished = 0;
    for (int at = 1; !finished && at < 4000; at += 1 + at / 5) {
        team_job m[4] = {0};
        for (int r = 0; r < 4; r++)
            m[r] = (team_job){.phi = &phi, .trials = 1, .o = options(&f), .cancel_at = r == 2 ? at : 0};
        alarm(60);
        run_team(4, m);
        alarm(0);
        finished = !m[0].status;
        for (int r = 0; r < 4; r++) {
            CHECK_MSG(m[r].status == m[0].status, "%d: rank %d: %d %s", at, r, (int)m[r].status,
                      m[r].err.msg);
            CHECK_MSG(finished || (m[r].status == KSPEC_E_CANCELLED && !m[r].r), "%s", m[r].err.msg);
            kspec_free(m[r].r);
        }
    }
    CHECK(finished);
    free(x);
}

/* ---- checkpoints ---- */

/* Cancelled again and again, by other numbers of ranks each time, it comes to the same bits in the end. */
TEST(a_checkpoint_goes_on_where_it_stopped) {
    const char *dir = "team-exact-checkpoint";
    const form some[] = {{.P = 300, .Q = 520, .nmax = 4}, {.P = 70, .Q = 60, .nmax = 5}};
    ks_store_interval = 0;
    for (int c = 0; c < 2; c++) {
        double *x = random_matrix(some[c].P * some[c].Q, 23);
        const kspec_matrix phi = {x, some[c].P, some[c].Q, (ptrdiff_t)some[c].Q, 1};
        kspec_moments_opts o = options(&some[c]);
        o.threads = 1;
        kspec_moments_result *whole = NULL;
        kspec_error err;
        CHECK(kspec_moments(&phi, 1, &o, &whole, &err) == KSPEC_OK);
        remove_all(dir);
        int finished = 0, tries = 0;
        while (!finished && tries++ < 60) {
            team_job m[MAX_RANKS] = {0};
            const int ranks = 1 + tries % 4;
            for (int r = 0; r < ranks; r++)
                m[r] = (team_job){.phi = &phi,
                                  .trials = 1,
                                  .o = o,
                                  .checkpoint = dir,
                                  .cancel_at = tries < 50 && r == ranks - 1 ? 12 * tries : 0};
            alarm(120);
            run_team(ranks, m);
            alarm(0);
            finished = !m[0].status;
            for (int r = 0; r < ranks; r++) {
                CHECK_MSG(m[r].status == KSPEC_OK || m[r].status == KSPEC_E_CANCELLED, "%s", m[r].err.msg);
                CHECK(!m[r].r || same_estimates(whole, m[r].r));
                kspec_free(m[r].r);
            }
        }
        CHECK_MSG(finished && tries > 2, "%d tries", tries);
        kspec_free(whole);
        remove_all(dir);
        free(x);
    }
    ks_store_interval = 1;
}

int main(void) {
    CHECK(ks_blas_enter(1, NULL) == KSPEC_OK); /* as every call of the library does */
    ks_ranks_least = 0;
    RUN(products_have_the_same_bits);
    RUN(symmetric_products_have_the_same_bits);
    RUN(products_follow_each_other);
    RUN(expressions_have_the_same_bits);
    RUN(moments_have_the_same_bits_at_any_number_of_ranks);
    RUN(a_rank_holds_its_share);
    RUN(a_rank_without_memory_ends_all);
    RUN(a_rank_that_is_cancelled_ends_all);
    RUN(a_checkpoint_goes_on_where_it_stopped);
    ks_blas_exit();
    return test_done();
}
