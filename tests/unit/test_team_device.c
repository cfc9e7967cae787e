/*
 * A team whose ranks have a GPU each: the bits of one process, and work that is shared out, not repeated. On
 * the plain plugin, which counts, and on CUDA's where there is a GPU, which the ranks then share.
 */
#include "device/device.h"
#include "help/team_job.h"
#include "team/store.h"
#include "test.h"

#include <dlfcn.h>
#include <libgen.h>
#include <limits.h>

/* start rows, and parts of products, that the plain plugin has made; NULL: CUDA, which does not count */
static size_t *made;

static const struct {
    size_t P, Q, trials;
    unsigned estimators;
    int nmax, no_stderr, shared, large;
} cases[] = {
    {40, 30, 1, KSPEC_ESTIMATOR_PATH, 6, 0, 1, 0},
    {40, 30, 1, KSPEC_ESTIMATOR_PATH, 6, 1, 1, 0},
    {33, 41, 2, KSPEC_ESTIMATOR_PATH, 4, 0, 1, 0},
    {300, 9, 1, KSPEC_ESTIMATOR_PATH, 4, 1, 1, 0}, /* more start rows than there are parts */
    {3, 50, 2, KSPEC_ESTIMATOR_PATH, 3, 0, 1, 0},  /* fewer of them than ranks */
    {1, 1, 1, KSPEC_ESTIMATOR_PATH, 1, 1, 1, 0},
    /* several parts with error bars on CUDA's; the plain plugin would take too long */
    {9100, 33, 1, KSPEC_ESTIMATOR_PATH, 3, 0, 1, 1},
    {40, 30, 1, KSPEC_ESTIMATOR_EXACT | KSPEC_ESTIMATOR_NAIVE | KSPEC_ESTIMATOR_KV_ROW, 4, 0, 0, 0},
};

TEST(moments_have_the_same_bits) {
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        const size_t P = cases[c].P, Q = cases[c].Q;
        kspec_matrix phi[2];
        if (cases[c].large && made) continue;
        for (size_t t = 0; t < cases[c].trials; t++)
            phi[t] = (kspec_matrix){random_matrix(P * Q, 100 * c + t + 1), P, Q, Q, 1};
        kspec_moments_opts o = {.size = sizeof o,
                                .estimators = cases[c].estimators,
                                .nmax = cases[c].nmax,
                                .no_stderr = cases[c].no_stderr,
                                .side = KSPEC_SIDE_GIVEN,
                                .device = KSPEC_DEVICE_GPU,
                                .threads = 1};
        kspec_moments_result *alone;
        kspec_error err;
        const size_t before = made ? *made : 0;
        CHECK_MSG(kspec_moments(phi, cases[c].trials, &o, &alone, &err) == KSPEC_OK, "%zu: %s", c, err.msg);
        const size_t once = made ? *made - before : 0;
        for (size_t k = 0; k < RANK_COUNTS && alone; k++) {
            team_job m[MAX_RANKS] = {0};
            const size_t start = made ? *made : 0;
            for (int r = 0; r < rank_counts[k]; r++)
                m[r] = (team_job){.phi = phi, .trials = cases[c].trials, .o = o};
            run_team(rank_counts[k], m);
            if (made && cases[c].shared)
                CHECK_MSG(*made - start == once, "case %zu: %zu, not %zu", c, *made - start, once);
            for (int r = 0; r < rank_counts[k]; r++) {
                CHECK_MSG(!m[r].status && same_estimates(alone, m[r].r), "case %zu, rank %d of %d: %s", c, r,
                          rank_counts[k], m[r].err.msg);
                kspec_free(m[r].r);
            }
        }
        kspec_free(alone);
        for (size_t t = 0; t < cases[c].trials; t++) free((void *)phi[t].data);
    }
}

TEST(norms_have_the_same_bits) {
    const size_t n = made ? 301 : 1501, p = 5;
    const kspec_matrix x = {random_matrix(n * p, 3), n, p, p, 1};
    kspec_norm_opts o = {.size = sizeof o, .device = KSPEC_DEVICE_GPU, .threads = 2, .sigma = 1};
    o.methods = KSPEC_NORM_METHOD_LANCZOS | KSPEC_NORM_METHOD_POWER | KSPEC_NORM_METHOD_NYSTROM;
    kspec_norm_result *alone;
    kspec_error err;
    const size_t before = made ? *made : 0;
    CHECK_MSG(kspec_norm(&x, &o, &alone, &err) == KSPEC_OK, "%s", err.msg);
    const size_t once = made ? *made - before : 0;
    for (size_t k = 0; k < RANK_COUNTS && alone; k++) {
        team_job m[MAX_RANKS] = {0};
        const size_t start = made ? *made : 0;
        for (int r = 0; r < rank_counts[k]; r++) m[r] = (team_job){.phi = &x, .norm = o};
        run_team(rank_counts[k], m);
        if (made) CHECK_MSG(*made - start == once, "%zu parts, not %zu", *made - start, once);
        for (int r = 0; r < rank_counts[k]; r++) {
            CHECK_MSG(!m[r].status, "rank %d of %d: %s", r, rank_counts[k], m[r].err.msg);
            for (size_t e = 0; e < alone->count && m[r].n; e++)
                CHECK_MSG(memcmp(&alone->entries[e]->value, &m[r].n->entries[e]->value, sizeof(double)) == 0,
                          "entry %zu, rank %d of %d", e, r, rank_counts[k]);
            kspec_free(m[r].n);
        }
    }
    kspec_free(alone);
    free((void *)x.data);
}

/* ---- predictions: every rank makes some numbers of features; with a checkpoint, and searching, all ---- */

enum { ROWS = 70, COLS = 6 };

typedef struct {
    const double *x;
    const char *checkpoint;
    kspec_status status;
    kspec_error err;
    kspec_ridge_result *path, *best;
} ridge_job;

static void predict(const kspec_comm *comm, void *ctx) {
    static const double lambda[] = {1, 1e-3};
    static const size_t features[] = {20, 5, 90};
    ridge_job *m = ctx;
    kspec_team *team = NULL;
    kspec_ridge *plan = NULL;
    const kspec_matrix X = {m->x, ROWS, COLS - 1, COLS, 1}, Y = {m->x + COLS - 1, ROWS, 1, COLS, 1};
    kspec_ridge_opts o = {.size = sizeof o, .test_noise = 0.1, .device = KSPEC_DEVICE_GPU, .threads = 1};
    m->status = comm ? kspec_team_open(comm, &team, &m->err) : KSPEC_OK;
    if (!m->status && m->checkpoint)
        m->status = kspec_team_checkpoint(team, m->checkpoint, "test 1\n", &m->err);
    o.team = team;
    if (!m->status) m->status = kspec_ridge_open(&X, &Y, NULL, NULL, &o, &plan, &m->err);
    if (!m->status) m->status = kspec_ridge_predict(plan, features, 3, lambda, 2, &m->path, &m->err);
    if (!m->status) m->status = kspec_ridge_best_lambda(plan, 20, 1e-3, 1, &m->best, &m->err);
    kspec_ridge_close(plan);
    kspec_team_close(team);
}

static int same_point(const kspec_ridge_point *a, const kspec_ridge_point *b) {
    return a->lambda == b->lambda && a->delta_cos == b->delta_cos && a->test_mse == b->test_mse &&
           a->train_columns[0] == b->train_columns[0] && a->test_columns[0] == b->test_columns[0];
}

TEST(predictions_have_the_same_bits) {
    double *x = random_matrix((size_t)ROWS * COLS, 5);
    ridge_job alone = {.x = x};
    char dir[] = "/tmp/kspec-team-device-XXXXXX";
    CHECK(mkdtemp(dir) != NULL);
    ks_store_interval = 0;
    predict(NULL, &alone);
    CHECK_MSG(!alone.status && strncmp(alone.best->device.name, "gpu:0 ", 6) == 0, "%s", alone.err.msg);
    for (int round = 0; round < 3 && !alone.status; round++) { /* the last one finds all in the checkpoint */
        const int ranks = round ? 3 : 2;
        ridge_job m[3] = {{0}};
        for (int r = 0; r < ranks; r++) m[r] = (ridge_job){.x = x, .checkpoint = round ? dir : NULL};
        run_jobs(ranks, predict, m, sizeof *m);
        for (int r = 0; r < ranks; r++) {
            CHECK_MSG(!m[r].status, "rank %d of %d: %s", r, ranks, m[r].err.msg);
            for (int k = 0; k < 6 && m[r].path; k++)
                CHECK(same_point(m[r].path->points[k], alone.path->points[k]));
            if (m[r].best) CHECK(same_point(m[r].best->points[0], alone.best->points[0]));
            kspec_free(m[r].path), kspec_free(m[r].best);
        }
    }
    ks_store_interval = 1;
    remove_all(dir);
    kspec_free(alone.path), kspec_free(alone.best);
    free(x);
}

/* Stopped by one rank, it ends for all; other ranks go on from the checkpoint to the same bits. */
TEST(stops_and_goes_on) {
    const size_t P = 120, Q = 30;
    const kspec_matrix phi = {random_matrix(P * Q, 7), P, Q, Q, 1};
    char dir[] = "/tmp/kspec-team-device-XXXXXX";
    kspec_moments_result *alone;
    kspec_error err;
    kspec_moments_opts o = {.size = sizeof o,
                            .estimators = KSPEC_ESTIMATOR_PATH,
                            .nmax = 4,
                            .no_stderr = 1,
                            .side = KSPEC_SIDE_GIVEN,
                            .device = KSPEC_DEVICE_GPU};
    CHECK(mkdtemp(dir) != NULL);
    ks_store_interval = 0; /* everything is kept */
    CHECK_MSG(kspec_moments(&phi, 1, &o, &alone, &err) == KSPEC_OK, "%s", err.msg);
    for (int round = 0; round < 2; round++) {
        const int ranks = round ? 3 : 2;
        team_job m[MAX_RANKS] = {0};
        for (int r = 0; r < ranks; r++)
            m[r] = (team_job){.phi = &phi, .trials = 1, .o = o, .checkpoint = dir};
        if (round == 0) m[1].cancel_at = made ? 40 : 1;
        const size_t before = made ? *made : 0;
        run_team(ranks, m);
        if (round && made) CHECK_MSG(*made - before <= P / 2, "%zu start rows again", *made - before);
        for (int r = 0; r < ranks; r++) {
            if (round == 0)
                CHECK_MSG(m[r].status == KSPEC_E_CANCELLED && !m[r].r, "%d %s", (int)m[r].status,
                          m[r].err.msg);
            else
                CHECK_MSG(!m[r].status && same_estimates(alone, m[r].r), "rank %d: %s", r, m[r].err.msg);
            kspec_free(m[r].r);
        }
    }
    ks_store_interval = 1;
    remove_all(dir);
    kspec_free(alone);
    free((void *)phi.data);
}

/* A device that runs out of memory on the way: everybody hears of it. */
TEST(a_failing_device_ends_all) {
    const kspec_matrix phi = {random_matrix(1200, 7), 40, 30, 30, 1};
    team_job m[3] = {0};
    for (int r = 0; r < 3; r++) {
        m[r] = (team_job){.phi = &phi, .trials = 1};
        m[r].o = (kspec_moments_opts){.size = sizeof m[r].o, .estimators = KSPEC_ESTIMATOR_PATH, .nmax = 3};
        m[r].o.device = KSPEC_DEVICE_GPU;
    }
    setenv("PLAIN_PLUGIN", "second-is-small", 1);
    run_team(3, m);
    setenv("PLAIN_PLUGIN", "fine", 1);
    for (int r = 0; r < 3; r++) {
        CHECK_MSG(m[r].status == KSPEC_E_NOMEM && !m[r].r, "%d %s", (int)m[r].status, m[r].err.msg);
        CHECK_MSG(strncmp(m[r].err.msg, "rank 1: gpu:1 Plain 1: ", 23) == 0, "%s", m[r].err.msg);
    }
    free((void *)phi.data);
}

/* An argument: on CUDA's plugin alone, as under its sanitizer */
int main(int argc, char **argv) {
    char exe[PATH_MAX] = "", plain[PATH_MAX + 32];
    ks_placement placement;
    kspec_error err;
    if (readlink("/proc/self/exe", exe, sizeof exe - 1) < 0) return 1;
    snprintf(plain, sizeof plain, "%s/plain_plugin.so", dirname(exe));
    setenv("PLAIN_PLUGIN", "fine", 1);
    (void)argv;
    for (int k = argc > 1; k < 2; k++) {
        ks_plugin_use(k ? NULL : plain);
        if (ks_placement_open(&placement, KSPEC_DEVICE_GPU, &err)) {
            printf("no other GPU: %s\n", err.msg);
            continue;
        }
        ks_placement_close(&placement);
        void *library = k ? NULL : dlopen(plain, RTLD_NOW | RTLD_LOCAL);
        made = library ? dlsym(library, "plain_made") : NULL;
        RUN(moments_have_the_same_bits);
        RUN(norms_have_the_same_bits);
        RUN(predictions_have_the_same_bits);
        RUN(stops_and_goes_on);
        if (!k) RUN(a_failing_device_ends_all);
        if (library) dlclose(library);
    }
    return test_done();
}
