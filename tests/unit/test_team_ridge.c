/* Ranks that share out the numbers of features of a grid: what the data do not allow. */
#include "help/threads_comm.h"
#include "kspec.h"
#include "test.h"

typedef struct {
    kspec_status status;
    kspec_error err;
} job;

/* 4 different rows among 12: lambda 0 has no limit where 2N is above 4. */
static void impossible(const kspec_comm *comm, void *ctx) {
    enum { ROWS = 12, DIFFERENT = 4, COLS = 3 };
    static const size_t features[] = {1, 3, 4, 1};
    job *m = ctx;
    const double zero = 0;
    double *x = random_matrix((size_t)ROWS * COLS, 1), *y = random_matrix(ROWS, 2);
    for (size_t i = DIFFERENT; i < ROWS; i++)
        memcpy(x + COLS * i, x + COLS * (i % DIFFERENT), COLS * sizeof *x);
    const kspec_matrix X = {x, ROWS, COLS, COLS, 1}, Y = {y, ROWS, 1, 1, 1};
    kspec_ridge_opts o = {.size = sizeof o, .sigma = 1.5, .threads = 1};
    kspec_ridge *plan = NULL;
    kspec_ridge_result *p = NULL;
    m->status = comm ? kspec_team_open(comm, &o.team, &m->err) : KSPEC_OK;
    if (!m->status) m->status = kspec_ridge_open(&X, &Y, NULL, NULL, &o, &plan, &m->err);
    if (!m->status) m->status = kspec_ridge_predict(plan, features, 4, &zero, 1, &p, &m->err);
    CHECK(p == NULL);
    kspec_ridge_close(plan);
    kspec_team_close(o.team);
    free(x), free(y);
}

/* It is said as by one process, whoever came upon it: with a path a rank, with more, and all at one path. */
TEST(a_grid_fails_as_by_one_process) {
    job alone;
    impossible(NULL, &alone);
    CHECK_MSG(alone.status == KSPEC_E_NUMERIC && strstr(alone.err.msg, "2N = 6"), "%s", alone.err.msg);
    for (int ranks = 2; ranks <= 5; ranks++) {
        job m[5];
        run_jobs(ranks, impossible, m, sizeof *m);
        for (int r = 0; r < ranks; r++)
            CHECK_MSG(m[r].status == KSPEC_E_NUMERIC && strcmp(m[r].err.msg, alone.err.msg) == 0,
                      "rank %d of %d: %s", r, ranks, m[r].err.msg);
    }
}

int main(void) {
    RUN(a_grid_fails_as_by_one_process);
    return test_done();
}
