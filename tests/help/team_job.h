/* What a rank computes in a test, moments or a norm: with a checkpoint, or until it is cancelled. */
#ifndef KSPEC_TESTS_TEAM_JOB_H
#define KSPEC_TESTS_TEAM_JOB_H

#include "help/threads_comm.h"
#include "team/team.h"

typedef struct {
    const kspec_matrix *phi;
    size_t trials;
    /* what is asked for, where its `size` is set */
    kspec_moments_opts o;
    kspec_norm_opts norm;
    const char *checkpoint;
    /* cancels at this report; 0: never */
    int cancel_at, reports;
    kspec_status status;
    kspec_error err;
    kspec_moments_result *r;
    kspec_norm_result *n;
    /* bytes by messages */
    double received;
} team_job;

static inline int maybe_cancel(void *ctx, double fraction) {
    team_job *m = ctx;
    (void)fraction;
    return m->cancel_at && ++m->reports >= m->cancel_at;
}

static inline void team_work(const kspec_comm *comm, void *ctx) {
    team_job *m = ctx;
    kspec_team *team = NULL;
    m->status = kspec_team_open(comm, &team, &m->err);
    if (!m->status && m->checkpoint)
        m->status = kspec_team_checkpoint(team, m->checkpoint, "test 1\n", &m->err);
    m->o.team = m->norm.team = team;
    m->o.progress = m->norm.progress = (kspec_progress){maybe_cancel, m};
    if (!m->status && m->norm.size) m->status = kspec_norm(m->phi, &m->norm, &m->n, &m->err);
    if (!m->status && m->o.size) m->status = kspec_moments(m->phi, m->trials, &m->o, &m->r, &m->err);
    if (team) m->received = team->received;
    kspec_team_close(team);
    m->o.team = m->norm.team = NULL;
}

/* As that many ranks at once */
static inline void run_team(int ranks, team_job *m) { run_jobs(ranks, team_work, m, sizeof *m); }

#endif
