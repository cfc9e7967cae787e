/* Teams: the same bits and the same failures at any number of ranks; checkpoints that go on. */
#include "base/clock.h"
#include "base/error.h"
#include "help/team_job.h"
#include "team/store.h"
#include "test.h"
#include "kspec/host.h"

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- moments ---- */

static const struct {
    size_t P, Q, trials;
    unsigned estimators;
    int nmax, no_stderr, permutations, center;
} cases[] = {
    {40, 30, 1, KSPEC_ESTIMATOR_PATH, 6, 0, 0, 0},
    {40, 30, 1, KSPEC_ESTIMATOR_PATH, 6, 1, 3, 0},
    {7, 300, 1, KSPEC_ESTIMATOR_PATH, 4, 1, 0, 0},
    {300, 7, 2, KSPEC_ESTIMATOR_PATH, 4, 0, 0, 0},
    {1, 1, 1, KSPEC_ESTIMATOR_PATH, 1, 1, 0, 0},
    {33, 1, 1, KSPEC_ESTIMATOR_AUTO, 1, 0, 0, 0},
    {600, 620, 1, KSPEC_ESTIMATOR_NAIVE, 5, 0, 0, 0},
    {600, 620, 1, KSPEC_ESTIMATOR_EXACT, 4, 0, 0, 0},
    {50, 40, 3, KSPEC_ESTIMATOR_AUTO, 5, 0, 0, 0},
    {60, 50, 1, KSPEC_ESTIMATOR_EXACT, 5, 0, 0, 0},
    {530, 540, 2, KSPEC_ESTIMATOR_EXACT, 3, 0, 0, KSPEC_CENTER_ROWS},
    {300, 310, 1, KSPEC_ESTIMATOR_KV_ROW | KSPEC_ESTIMATOR_KV_COL, 4, 0, 0, 0},
};

TEST(moments_have_the_same_bits_at_any_number_of_ranks) {
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        kspec_matrix phi[3];
        for (size_t t = 0; t < cases[c].trials; t++)
            phi[t] = (kspec_matrix){random_matrix(cases[c].P * cases[c].Q, 100 * c + t + 1), cases[c].P,
                                    cases[c].Q, cases[c].Q, 1};
        kspec_moments_opts o = {.size = sizeof o,
                                .estimators = cases[c].estimators,
                                .nmax = cases[c].nmax,
                                .no_stderr = cases[c].no_stderr,
                                .permutations = cases[c].permutations,
                                .center = (kspec_center)cases[c].center,
                                .device = KSPEC_DEVICE_CPU,
                                .threads = 1};
        kspec_moments_result *alone;
        kspec_error err;
        CHECK_MSG(kspec_moments(phi, cases[c].trials, &o, &alone, &err) == KSPEC_OK, "case %zu: %s", c,
                  err.msg);
        for (size_t k = 0; k < RANK_COUNTS && alone; k++) {
            team_job m[MAX_RANKS] = {0};
            for (int r = 0; r < rank_counts[k]; r++) {
                m[r] = (team_job){.phi = phi, .trials = cases[c].trials, .o = o};
                m[r].o.threads = 1 + r % 3;
            }
            run_team(rank_counts[k], m);
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

/* One rank has a bad input, or is cancelled: all fail alike, and nobody waits. */
TEST(a_failure_of_one_rank_is_everybodys) {
    const size_t P = 200, Q = 50;
    double *x = random_matrix(P * Q, 5), *bad = random_matrix(P * Q, 5);
    bad[17] = NAN;
    const kspec_matrix good = {x, P, Q, Q, 1}, holed = {bad, P, Q, Q, 1};
    for (int how = 0; how < 3; how++) {
        team_job m[3] = {0};
        for (int r = 0; r < 3; r++) {
            m[r] = (team_job){.phi = how == 0 && r == 2 ? &holed : &good, .trials = 1};
            m[r].o = (kspec_moments_opts){.size = sizeof m[r].o,
                                          .estimators = KSPEC_ESTIMATOR_PATH,
                                          .device = KSPEC_DEVICE_CPU,
                                          .nmax = how == 1 ? 100000 : 5};
            if (how == 2 && r == 1) m[r].cancel_at = 2;
        }
        run_team(3, m);
        const kspec_status want[] = {KSPEC_E_DATA, KSPEC_E_ARG, KSPEC_E_CANCELLED};
        for (int r = 0; r < 3; r++) {
            CHECK_MSG(m[r].status == want[how], "%d: %d %s", how, (int)m[r].status, m[r].err.msg);
            CHECK(m[r].r == NULL);
            CHECK_MSG(strcmp(m[r].err.msg, m[0].err.msg) == 0, "%s", m[r].err.msg);
            /* where all ranks fail alike, the message is that of one process */
            CHECK_MSG((strncmp(m[r].err.msg, "rank 2: ", 8) == 0) == (how == 0), "%s", m[r].err.msg);
        }
    }
    free(x);
    free(bad);
}

/* ---- checkpoints ---- */

static int count_parts(const char *dir, char *first, size_t size) {
    int n = 0;
    DIR *d = opendir(dir);
    for (struct dirent *e; d && (e = readdir(d));)
        if (strstr(e->d_name, ".part") && ++n && first) snprintf(first, size, "%s/%s", dir, e->d_name);
    if (d) closedir(d);
    return n;
}

/* Cancelled again and again, by other numbers of ranks each time, it comes to the same bits in the end. */
TEST(a_checkpoint_goes_on_where_it_stopped) {
    const size_t P = 200, Q = 180;
    double *x = random_matrix(P * Q, 9);
    const kspec_matrix phi = {x, P, Q, Q, 1};
    kspec_moments_opts o = {.size = sizeof o,
                            .estimators = KSPEC_ESTIMATOR_PATH,
                            .nmax = 5,
                            .device = KSPEC_DEVICE_CPU,
                            .threads = 1};
    kspec_moments_result *alone;
    kspec_error err;
    CHECK(kspec_moments(&phi, 1, &o, &alone, &err) == KSPEC_OK);
    const char *dir = "team-checkpoint";
    remove_all(dir);
    ks_store_interval = 0;
    int finished = 0, before = 0, tries = 0;
    while (!finished && tries++ < 60) {
        team_job m[MAX_RANKS] = {0};
        int ranks = 1 + tries % 4;
        for (int r = 0; r < ranks; r++) {
            m[r] = (team_job){.phi = &phi, .trials = 1, .o = o, .checkpoint = dir};
            m[r].cancel_at = tries < 50 && r == ranks - 1 ? 3 : 0;
        }
        run_team(ranks, m);
        int parts = count_parts(dir, NULL, 0);
        finished = !m[0].status;
        CHECK_MSG(finished || m[0].status == KSPEC_E_CANCELLED, "%s", m[0].err.msg);
        CHECK_MSG(finished || parts >= before, "%d parts, %d before", parts, before);
        before = parts;
        for (int r = 0; r < ranks; r++) {
            CHECK(!m[r].r || same_estimates(alone, m[r].r));
            kspec_free(m[r].r);
        }
    }
    CHECK_MSG(finished && tries > 2, "%d tries", tries);

    /* what is there is not computed again: no report comes before the end */
    team_job again = {.phi = &phi, .trials = 1, .o = o, .checkpoint = dir};
    run_team(1, &again);
    CHECK(!again.status && same_estimates(alone, again.r));
    kspec_free(again.r);

    /* a part that is damaged, and a checkpoint of another run, are refused by name */
    char part[600];
    CHECK(count_parts(dir, part, sizeof part) > 0);
    FILE *f = fopen(part, "r+b");
    CHECK(f != NULL);
    if (f) {
        fseek(f, 60, SEEK_SET);
        fputc(255, f);
        fclose(f);
    }
    team_job two[2] = {{.phi = &phi, .trials = 1, .o = o, .checkpoint = dir},
                       {.phi = &phi, .trials = 1, .o = o, .checkpoint = dir}};
    run_team(2, two);
    for (int r = 0; r < 2; r++) {
        CHECK_MSG(two[r].status == KSPEC_E_IO && strstr(two[r].err.msg, part) &&
                      strstr(two[r].err.msg, "damaged"),
                  "%s", two[r].err.msg);
    }
    kspec_team *team;
    CHECK(kspec_team_open(NULL, &team, &err) == KSPEC_OK);
    CHECK_FAILS(kspec_team_checkpoint(team, dir, "test 2\n", &err), KSPEC_E_IO, err,
                "'test 1', not 'test 2'");
    kspec_team_close(team);
    ks_store_interval = 1;
    remove_all(dir);
    kspec_free(alone);
    free(x);
}

/* A step's results come from the checkpoint, on every rank, and it is not taken again. */
typedef struct {
    double result[2];
    int taken;
} step_rank;

static kspec_status take_step(void *ctx, const ks_run *run, kspec_error *err) {
    step_rank *s = ctx;
    (void)run, (void)err;
    s->taken++, s->result[0] = 0.1, s->result[1] = -7;
    return KSPEC_OK;
}

static void step_work(const kspec_comm *comm, void *ctx) {
    step_rank *s = ctx;
    kspec_error err = {0};
    ks_run run = {.threads = 1};
    const ks_share result = {s->result, sizeof(double), 2, 2};
    CHECK(kspec_team_open(comm, &run.team, &err) == KSPEC_OK);
    CHECK(kspec_team_checkpoint(run.team, "team-step", "test 1\n", &err) == KSPEC_OK);
    CHECK_MSG(ks_team_step(&run, "step", take_step, s, &result, 1, &err) == KSPEC_OK, "%s", err.msg);
    kspec_team_close(run.team);
}

TEST(a_step_is_kept) {
    remove_all("team-step");
    ks_store_interval = 0;
    for (int turn = 0; turn < 3; turn++) {
        step_rank s[3] = {0};
        void *ctx[] = {&s[0], &s[1], &s[2]};
        run_ranks(1 + turn, step_work, ctx);
        for (int r = 0; r <= turn; r++)
            CHECK_MSG(s[r].taken == !turn && s[r].result[0] == 0.1 && s[r].result[1] == -7, "%d: %d, %g %g",
                      turn, s[r].taken, s[r].result[0], s[r].result[1]);
    }
    ks_store_interval = 1;
    remove_all("team-step");
}

/* ---- chunks for whoever is free ---- */

enum { CHUNKS = 41, TURNS = 3 };

static atomic_int made;

typedef struct {
    int rank, own, turn, fail_at;
    double result[CHUNKS], progress;
    kspec_status status;
} free_rank;

/* Rank 0 is held up in its first chunk until the others have made the rest. */
static kspec_status square(void *ctx, size_t c, const ks_worker *worker) {
    free_rank *f = ctx;
    const double until = ks_now() + 60;
    while (f->rank == 0 && !f->fail_at && atomic_load(&made) % CHUNKS < CHUNKS - 1 && ks_now() < until)
        usleep(100);
    f->result[c] = (double)(c * c + (size_t)f->turn);
    f->own++;
    atomic_fetch_add(&made, 1);
    return f->fail_at && c >= (size_t)f->fail_at ? ks_fail(worker->err, KSPEC_E_NUMERIC, "chunk") : KSPEC_OK;
}

static int rises(void *ctx, double fraction) {
    free_rank *f = ctx;
    CHECK(fraction >= f->progress && fraction <= 1);
    f->progress = fraction;
    return 0;
}

static void free_work(const kspec_comm *comm, void *ctx) {
    free_rank *f = ctx;
    kspec_error err = {0};
    ks_run run = {.threads = 1, .progress = {rises, f}, .to = 1};
    const ks_share result = {f->result, sizeof(double), CHUNKS, 1};
    f->rank = comm->rank;
    CHECK(kspec_team_open(comm, &run.team, &err) == KSPEC_OK);
    for (f->turn = 0; f->turn < TURNS && !f->status; f->turn++) {
        f->own = 0, f->progress = 0;
        f->status = ks_team_for_falling(&run, "squares", CHUNKS, square, f, &result, 1, &err);
        for (size_t c = 0; c < CHUNKS && !f->status; c++)
            CHECK(f->result[c] == (double)(c * c + (size_t)f->turn));
        if (f->rank == 0 && !f->fail_at) CHECK_MSG(f->own <= 1, "%d", f->own);
    }
    kspec_team_close(run.team);
}

TEST(a_rank_that_is_held_up_makes_less) {
    for (int ranks = 2; ranks <= 4; ranks++) {
        free_rank f[4] = {{0}};
        atomic_store(&made, 0);
        run_jobs(ranks, free_work, f, sizeof *f);
        for (int r = 0; r < ranks; r++) CHECK(f[r].status == KSPEC_OK);
        memset(f, 0, sizeof f);
        for (int r = 0; r < ranks; r++) f[r].fail_at = 20;
        run_jobs(ranks, free_work, f, sizeof *f);
        for (int r = 0; r < ranks; r++) CHECK(f[r].status == KSPEC_E_NUMERIC);
    }
}

/* ---- meetings ---- */

static void differ(const kspec_comm *comm, void *ctx) {
    kspec_error *err = ctx;
    kspec_team *team;
    kspec_status st = kspec_team_open(comm, &team, err);
    if (!st) st = kspec_team_same(team, "file", comm->rank == 1, err);
    CHECK(st == KSPEC_E_DATA);
    kspec_team_close(team);
}

TEST(another_file_is_noticed) {
    kspec_error err[3];
    void *ctx[] = {&err[0], &err[1], &err[2]};
    run_ranks(3, differ, ctx);
    for (int r = 0; r < 3; r++)
        CHECK_MSG(strcmp(err[r].msg, "rank 1: its file differs from that of rank 0") == 0, "%s", err[r].msg);
}

int main(void) {
    RUN(moments_have_the_same_bits_at_any_number_of_ranks);
    RUN(a_failure_of_one_rank_is_everybodys);
    RUN(a_checkpoint_goes_on_where_it_stopped);
    RUN(a_step_is_kept);
    RUN(a_rank_that_is_held_up_makes_less);
    RUN(another_file_is_noticed);
    return test_done();
}
