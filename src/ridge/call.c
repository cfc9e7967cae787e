#include "ridge/call.h"

#include "base/clock.h"
#include "base/error.h"
#include "device/device.h"
#include "ridge/result.h"
#include "ridge/there.h"
#include "team/team.h"

/* Multiply-adds of a point: so many resolvents, the kernel's own factor, and the errors on test rows */
static double work_of(const kspec_ridge *r) {
    enum { STEPS = 5 };
    const double n = (double)r->n, nt = (double)r->nt;
    return (1.5 * STEPS + 1.0 / 6) * n * n * n + 1.5 * n * n * nt;
}

static kspec_status decide(const kspec_ridge *r, const ks_ridge_task *t, ks_place *place, int threads,
                           kspec_error *err) {
    kspec_status st = ks_place_decide(place, t->solved * work_of(r), NULL, threads, err);
    return st || !place->device ? st : ks_place_fit(place, ks_ridge_there_bytes(r), err);
}

static kspec_status compute(kspec_ridge *r, const ks_run *run, const ks_ridge_task *t,
                            kspec_ridge_result *result, kspec_error *err) {
    ks_ridge_there there;
    if (!run->device) return t->make(r, run, t->ctx, result, err);
    kspec_status st = ks_ridge_there_open(&there, r, run, err);
    if (!st) st = t->make(r, run, t->ctx, result, err);
    ks_ridge_there_close(r, run);
    return st;
}

typedef struct {
    kspec_ridge *r;
    const ks_ridge_task *task;
    kspec_ridge_result *result;
} call;

static kspec_status attempt(void *ctx, ks_place *place, kspec_error *err) {
    call *c = ctx;
    ks_run run;
    kspec_ridge_result *result = NULL;
    kspec_status st = ks_ridge_result(c->r, c->task->points, &result, err);
    if (!st && !(st = ks_ridge_enter(c->r, &run, err))) {
        st = decide(c->r, c->task, place, run.threads, err);
        run.device = place->device;
        if (!st) st = compute(c->r, &run, c->task, result, err);
        ks_ridge_leave();
    }
    if (st) {
        kspec_ridge_free(result);
        return st;
    }
    ks_place_tell(place, &result->device);
    c->result = result;
    return KSPEC_OK;
}

kspec_status ks_ridge_call(kspec_ridge *r, const ks_ridge_task *t, kspec_ridge_result **out,
                           kspec_error *err) {
    ks_place place;
    kspec_team *team = r->o.team;
    call c = {r, t, NULL};
    const double start = ks_now();
    kspec_status st = ks_place_make(&place, ks_device_of_rank(r->o.device, team), err);
    st = ks_place_run(&place, st, team, attempt, &c, err);
    if (st) {
        kspec_ridge_free(c.result);
        return st;
    }
    c.result->seconds = ks_now() - start;
    *out = c.result;
    return KSPEC_OK;
}
