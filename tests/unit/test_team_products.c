/* Products that a team shares out, to the bit; and teams whose ranks lose each other. */
#include "help/threads_comm.h"
#include "linalg/linalg.h"
#include "linalg/svd.h"
#include "team/team.h"
#include "test.h"

/* ---- products ---- */

enum { M = 530, N = 515, K = 400 }; /* enough work to be shared, and odd sizes */

typedef struct {
    const double *A, *B;
    double *C;
    int symmetric, transposed;
    /* what became of it: the ranks are threads, and checks are the main thread's */
    kspec_status status;
    kspec_error err;
    double received;
} product_rank;

static void multiply(const ks_run *run, product_rank *p) {
    kspec_error *err = &p->err;
    const int t = p->transposed;
    p->status =
        p->symmetric
            ? ks_gemm_symmetric_tiled(run, t, !t, M, K, 0.5, p->A, t ? M : K, p->A, t ? M : K, p->C, M, err)
            : ks_gemm_tiled(run, t, t, M, N, K, 0.5, p->A, t ? M : K, p->B, t ? K : N, 0, p->C, N, err);
}

static void multiply_rank(const kspec_comm *comm, void *ctx) {
    product_rank *p = ctx;
    ks_run run = {.threads = 1, .to = 1};
    if ((p->status = kspec_team_open(comm, &run.team, &p->err))) return;
    multiply(&run, p);
    p->received = run.team->received;
    kspec_team_close(run.team);
}

/* An entry of it, one product after the other */
static double entry(const product_rank *p, size_t i, size_t j) {
    double sum = 0;
    const double *B = p->symmetric ? p->A : p->B;
    for (size_t k = 0; k < K; k++) {
        const double a = p->transposed ? p->A[k * M + i] : p->A[i * K + k];
        const double b = p->symmetric ? (p->transposed ? B[k * M + j] : B[j * K + k])
                                      : (p->transposed ? B[j * K + k] : B[k * N + j]);
        sum += 0.5 * a * b;
    }
    return sum;
}

TEST(products_are_shared_to_the_bit) {
    double *A = random_matrix(M * K, 1), *B = random_matrix(K * N, 2), *alone = random_matrix(M * M, 3);
    kspec_error err = {0};
    CHECK(ks_blas_enter(4, &err) == KSPEC_OK);
    for (int kind = 0; kind < 4; kind++) {
        product_rank p = {.A = A, .B = B, .C = alone, .symmetric = kind / 2, .transposed = kind % 2};
        const size_t cols = p.symmetric ? M : N;
        multiply(&(ks_run){.threads = 2, .to = 1}, &p);
        CHECK_MSG(p.status == KSPEC_OK, "%s", p.err.msg);
        for (size_t at = 0; at < M * cols; at += 997)
            CHECK_MSG(fabs(alone[at] - entry(&p, at / cols, at % cols)) < 1e-12, "kind %d, at %zu", kind, at);
        for (int ranks = 1; ranks <= 4; ranks++) {
            product_rank each[MAX_RANKS];
            void *ctx[MAX_RANKS];
            for (int r = 0; r < ranks; r++) {
                each[r] = p, ctx[r] = &each[r];
                each[r].C = random_matrix(M * M, 4);
            }
            run_ranks(ranks, multiply_rank, ctx);
            for (int r = 0; r < ranks; r++) {
                CHECK_MSG(each[r].status == KSPEC_OK, "%s", each[r].err.msg);
                CHECK_MSG(ranks == 1 || each[r].received > 8.0 * M, "%g bytes", each[r].received);
                CHECK_MSG(memcmp(each[r].C, alone, M * cols * sizeof *alone) == 0,
                          "kind %d, rank %d of %d differs", kind, r, ranks);
                free(each[r].C);
            }
        }
    }
    ks_blas_exit();
    free(A), free(B), free(alone);
}

/* Sizes that BLAS and LAPACK cannot count are refused before anything is touched. */
TEST(sizes_beyond_an_int) {
    const ks_run run = {.threads = 1, .to = 1};
    const size_t large = (size_t)1 << 31;
    kspec_error err = {0};
    CHECK_FAILS(ks_gemm_tiled(&run, 0, 0, 1, 1, 1, 1, NULL, large, NULL, 1, 0, NULL, 1, &err), KSPEC_E_ARG,
                err, "2147483648 columns exceeds the limit of BLAS, 2147483647");
    CHECK_FAILS(ks_gemm_tiled(&run, 0, 0, 1, 1, 1, 1, NULL, 1, NULL, large, 0, NULL, 1, &err), KSPEC_E_ARG,
                err, "2147483648 columns");
    CHECK_FAILS(ks_gemm_symmetric_tiled(&run, 0, 1, 1, 1, 1, NULL, 1, NULL, 1, NULL, large, &err),
                KSPEC_E_ARG, err, "2147483648 columns");
    CHECK_FAILS(ks_svd(16001, 16001, NULL, NULL, NULL, NULL, &err), KSPEC_E_ARG, err,
                "16001 x 16001 exceeds LAPACK's integers");
}

/* ---- ranks that are lost ---- */

/* The other rank says what this one says, as often as `good` tells, and is gone then. */
typedef struct {
    int good, calls;
} echo;

static int echo_gather(void *context, const void *mine, void *all, const size_t *bytes) {
    echo *e = context;
    if (e->calls++ >= e->good) return 1;
    memcpy(all, mine, bytes[0]);
    memcpy((char *)all + bytes[0], mine, bytes[1] < bytes[0] ? bytes[1] : bytes[0]);
    return 0;
}
static int echo_broadcast(void *context, int root, void *data, size_t bytes) {
    echo *e = context;
    (void)root, (void)data, (void)bytes;
    return e->calls++ >= e->good;
}
static int echo_exchange(void *context, const void *from, const size_t *send, void *to,
                         const size_t *receive) {
    echo *e = context;
    (void)from, (void)send, (void)to, (void)receive;
    return e->calls++ >= e->good;
}

static kspec_comm echo_comm(echo *e) {
    return (kspec_comm){.size = sizeof(kspec_comm),
                        .ranks = 2,
                        .local_ranks = 2,
                        .context = e,
                        .broadcast = echo_broadcast,
                        .gather = echo_gather,
                        .exchange = echo_exchange};
}

/* Whenever it happens: one message, no result, and no call afterwards waits for anybody. */
TEST(the_other_ranks_are_gone) {
    const size_t P = 40, Q = 30;
    double *x = random_matrix(P * Q, 5);
    const kspec_matrix phi = {x, P, Q, Q, 1};
    int failed = 0;
    for (int good = 0; good < 60; good++) {
        echo e = {.good = good};
        const kspec_comm comm = echo_comm(&e);
        kspec_error err = {0};
        kspec_moments_opts o = {.size = sizeof o,
                                .nmax = 3,
                                .estimators = KSPEC_ESTIMATOR_PATH,
                                .device = KSPEC_DEVICE_CPU,
                                .threads = 1};
        kspec_moments_result *r = NULL;
        if (good == 0) {
            CHECK_FAILS(kspec_team_open(&comm, &o.team, &err), KSPEC_E_IO, err, "cannot be reached");
            CHECK(o.team == NULL);
            continue;
        }
        CHECK(kspec_team_open(&comm, &o.team, &err) == KSPEC_OK);
        kspec_status st = kspec_moments(&phi, 1, &o, &r, &err);
        CHECK((r == NULL) == (st != KSPEC_OK));
        kspec_free(r);
        if (st) {
            failed++;
            CHECK_FAILS(st, KSPEC_E_IO, err, "rank 0: the other ranks cannot be reached");
            const int calls = e.calls;
            CHECK_FAILS(kspec_moments(&phi, 1, &o, &r, &err), KSPEC_E_IO, err, "cannot be reached");
            CHECK_MSG(r == NULL && e.calls == calls, "%d calls, %d before", e.calls, calls);
        }
        kspec_team_close(o.team);
    }
    CHECK_MSG(failed > 1 && failed < 58, "%d failed", failed);
    free(x);
}

/* A broadcast, and an exchange, that fail */
TEST(every_way_to_lose_them) {
    for (int way = 0; way < 2; way++) {
        echo e = {.good = 1};
        const kspec_comm comm = echo_comm(&e);
        kspec_error err = {0};
        kspec_team *t;
        double x[2] = {1, 2}, y[2];
        const size_t bytes[2] = {8, 8};
        CHECK(kspec_team_open(&comm, &t, &err) == KSPEC_OK);
        CHECK_FAILS(way ? ks_team_broadcast(t, 0, x, 8, &err) : ks_team_exchange(t, x, bytes, y, bytes, &err),
                    KSPEC_E_IO, err, "rank 0: the other ranks cannot be reached");
        CHECK_FAILS(ks_team_synchronise(t, KS_AT_SAME, KSPEC_OK, "number", 1, &err), KSPEC_E_IO, err,
                    "cannot be reached");
        CHECK(ks_team_synchronise(t, KS_AT_SAME, KSPEC_OK, "number", 1, NULL) == KSPEC_E_IO);
        kspec_team_close(t);
    }
}

/* Ranks that are at different places say so, instead of taking each other's numbers. */
typedef struct {
    ks_sync_point at;
    kspec_error err;
    kspec_status status;
} place;

static void go_to(const kspec_comm *comm, void *ctx) {
    place *p = ctx;
    kspec_team *t;
    p->status = kspec_team_open(comm, &t, &p->err);
    if (!p->status) p->status = ks_team_synchronise(t, p->at, KSPEC_OK, "number", 7, &p->err);
    kspec_team_close(t);
}

TEST(ranks_at_different_places) {
    place p[2] = {{.at = KS_AT_SAME}, {.at = KS_AT_LOOP}};
    run_ranks(2, go_to, (void *[]){&p[0], &p[1]});
    for (int r = 0; r < 2; r++)
        CHECK_FAILS(p[r].status, KSPEC_E_NUMERIC, p[r].err, "rank 1 is at step 2.0, rank 0 at 1.0");
}

int main(void) {
    RUN(products_are_shared_to_the_bit);
    RUN(sizes_beyond_an_int);
    RUN(the_other_ranks_are_gone);
    RUN(every_way_to_lose_them);
    RUN(ranks_at_different_places);
    return test_done();
}
