/* Runs a public call that predicts points: chooses the device, computes, and adds doubts. */
#include "ridge/call.h"

#include "base/clock.h"
#include "base/doubt.h"
#include "base/error.h"
#include "base/result.h"
#include "device/device.h"
#include "ridge/activation.h"
#include "ridge/result.h"
#include "ridge/device.h"
#include "team/team.h"

/*
 * Returns the multiply-adds of a call: the resolvents, the factor of the kernel, and the errors on test
 * rows.
 */
static double work_of(const kspec_ridge *r) {
    enum { STEPS = 5 };
    const double n = (double)r->n, nt = (double)r->nt;
    return (1.5 * STEPS + 1.0 / 6) * n * n * n + 1.5 * n * n * nt;
}

static kspec_status decide(const kspec_ridge *r, const ks_ridge_task *t, ks_placement *placement,
                           kspec_error *err) {
    const double work = r->one || r->mix ? 0 : t->solved * work_of(r);
    kspec_status st = ks_placement_decide(placement, work, NULL, err);
    return st || !placement->device ? st : ks_placement_fit(placement, ks_ridge_device_bytes(r), err);
}

static kspec_status compute(kspec_ridge *r, const ks_run *run, const ks_ridge_task *t,
                            kspec_ridge_result *result, kspec_error *err) {
    ks_ridge_device on_device;
    if (!run->device) return t->make(r, run, t->ctx, result, err);
    kspec_status st = ks_ridge_device_open(&on_device, r, run, err);
    if (!st) st = t->make(r, run, t->ctx, result, err);
    ks_ridge_device_close(r, run);
    return st;
}

/* ---- doubts ---- */

int ks_ridge_constant_target(const kspec_ridge *r) {
    for (size_t k = r->m; k < r->n * r->m; k++)
        if (r->Y[k] != r->Y[k - r->m]) return 0;
    return 1;
}

static kspec_status add_doubts(const kspec_ridge *r, kspec_ridge_result *result, kspec_error *err) {
    /* Rows at this distance, in units of sigma, count as unrelated: exp(-d^2/(2 sigma^2)) is below 3e-4. */
    enum { FAR = 4 };
    /* One column hides the others if it has more than this share of the total variance. */
    const double MOST = 0.9;
    const ks_doubts to = KS_DOUBTS(result);
    const double n = (double)r->n;
    if (result->device.unusable) ks_doubt(to, KSPEC_DOUBT_GPU_UNUSED, NULL, result->device.why, 0);
    if (r->distance > FAR * r->sigma && ks_activation_of_differences(r->o.activation))
        ks_doubt(to, KSPEC_DOUBT_SIGMA_SMALL, NULL, NULL, r->sigma, r->distance);
    if (ks_ridge_constant_target(r)) ks_doubt(to, KSPEC_DOUBT_CONSTANT_TARGET, NULL, NULL, n);
    if (r->target_mean > MOST) ks_doubt(to, KSPEC_DOUBT_TARGET_MEAN, NULL, NULL, r->target_mean);
    if (r->widest_share > MOST)
        ks_doubt(to, KSPEC_DOUBT_WIDEST_COLUMN, NULL, NULL, (double)r->widest, r->widest_share);
    for (size_t k = 0; k < result->count; k++) {
        const kspec_ridge_point *p = result->points[k];
        char where[80];
        ks_print(where, sizeof where, "N = %zu, lambda = %g", p->N, p->lambda);
        if (p->state == KSPEC_RIDGE_STATE_DIVERGENT)
            ks_doubt(to, KSPEC_DOUBT_NO_LIMIT, where, ks_activation_width(r->o.activation) == 1 ? "N" : "2N",
                     n);
        else if (p->state == KSPEC_RIDGE_STATE_UNFINISHED)
            ks_doubt(to, KSPEC_DOUBT_NOT_CONVERGED, where, "steps", p->iterations, p->residual);
        else if (p->delta_error > 1e-6)
            ks_doubt(to, KSPEC_DOUBT_DELTA_ROUNDING, where, NULL, p->delta_error);
        if (result->at_low || result->at_high)
            ks_doubt(to, KSPEC_DOUBT_SEARCH_END, where, result->at_low ? "low" : "high", 0);
    }
    return to.arena->failed ? ks_nomem(err, "the list of doubts", to.arena->failed) : KSPEC_OK;
}

/* ---- the call ---- */

typedef struct {
    kspec_ridge *r;
    const ks_ridge_task *task;
    kspec_ridge_result *result;
} call;

static kspec_status attempt(void *ctx, ks_placement *placement, kspec_error *err) {
    call *c = ctx;
    ks_run run;
    kspec_ridge_result *result = NULL;
    c->r->part[0] = 0, c->r->part[1] = c->r->o.check_draws ? 0.5 : 1;
    kspec_status st = ks_ridge_result(c->r, c->task->points, &result, err);
    if (!st && !(st = ks_ridge_enter(c->r, &run, err))) {
        st = decide(c->r, c->task, placement, err);
        run.device = placement->device;
        if (!st) st = compute(c->r, &run, c->task, result, err);
        ks_ridge_exit();
    }
    if (!st) ks_placement_describe(placement, &result->device);
    if (!st) {
        result->rows = c->r->n, result->test_rows = c->r->nt;
        result->mean_train_mse = c->r->mean_train, result->mean_test_mse = c->r->mean_test;
        st = add_doubts(c->r, result, err);
    }
    if (!st) { /* The real draws count as part of this call, not as a separate call. */
        ks_team_within(c->r->o.team, 1);
        st = ks_ridge_check(c->r, result, err);
        ks_team_within(c->r->o.team, -1);
    }
    return ks_hand_over(st, result, &c->result);
}

kspec_status ks_ridge_call(kspec_ridge *r, const ks_ridge_task *t, kspec_ridge_result **out,
                           kspec_error *err) {
    ks_placement placement;
    kspec_team *team = r->o.team;
    call c = {r, t, NULL};
    const double start = ks_now();
    kspec_status st = ks_placement_open(&placement, ks_device_of_rank(r->o.device, team), err);
    st = ks_placement_run(&placement, st, team, attempt, &c, err);
    r->part[0] = r->part[1] = 0;
    return ks_end(st, c.result, start, out);
}
