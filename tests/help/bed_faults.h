/* Work on a GPU again and again, each time with a fault a little later, until it comes to its end. */
#ifndef KSPEC_BED_FAULTS_H
#define KSPEC_BED_FAULTS_H

#include "bed.h"
#include "failing_alloc.h"

typedef kspec_status (*bed_work)(void *ctx, const ks_run *run, kspec_error *err);

/*
 * Every allocation of the device, or of the host, fails once: nothing is lost, and the message says so.
 * Returns how many there are. Between failing_alloc_install() and failing_alloc_uninstall().
 */
static inline long bed_failing(const bed *b, int device, bed_work work, void *ctx) {
    ks_device *d = b->run.device;
    const size_t before = ks_device_available(d);
    const long live = failing_alloc_live();
    long k = 0;
    for (;; k++) {
        kspec_error err = {0};
        if (device)
            d->plugin->fail_after(d->gpu, k);
        else
            failing_alloc_arm(k);
        kspec_status st = work(ctx, &b->run, &err);
        d->plugin->fail_after(d->gpu, -1);
        failing_alloc_disarm();
        CHECK_MSG(failing_alloc_live() == live, "%ld blocks are lost", failing_alloc_live() - live);
        if (is_plain(b)) CHECK(ks_device_available(d) == before);
        if (st == KSPEC_OK || k > 1000) break;
        CHECK_MSG(st == KSPEC_E_NOMEM && strstr(err.msg, "memory"), "%ld: %d %s", k, st, err.msg);
        if (device) CHECK_MSG(d->failed && strncmp(err.msg, "gpu:0", 5) == 0, "%s", err.msg);
        d->failed = 0;
    }
    return k;
}

/* Every report cancels once. Returns how many there are, `most` where it is that many or more. */
static inline long bed_cancelling(const bed *b, bed_work work, void *ctx, long most) {
    long at = 0, left;
    kspec_status st;
    do {
        left = at;
        ks_run run = b->run;
        run.progress = (kspec_progress){stop_at, &left};
        kspec_error err = {0};
        st = work(ctx, &run, &err);
        CHECK_MSG(st == KSPEC_OK || (st == KSPEC_E_CANCELLED && left == -1), "%d: %s", st, err.msg);
    } while (st && ++at < most);
    return at;
}

#endif
