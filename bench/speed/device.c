/* The estimators on a GPU, beside its DGEMM and beside the processor. */
#include "bench/speed/speed.h"

#include <math.h>

static const bench_gpu_contest contests[] = {
    {"path n=8", KSPEC_ESTIMATOR_PATH, 8, 0, 0},
    {"path n=4", KSPEC_ESTIMATOR_PATH, 4, 0, 0},
    {"path n=8, two trials", KSPEC_ESTIMATOR_PATH, 8, 1, 0},
    {"path n=8, error bars", KSPEC_ESTIMATOR_PATH, 8, 0, 1},
    {"naive n=8, error bars", KSPEC_ESTIMATOR_NAIVE, 8, 0, 1},
    {"kv-row n=8, error bars", KSPEC_ESTIMATOR_KV_ROW, 8, 0, 1},
    {"exact n<=4", KSPEC_ESTIMATOR_EXACT, 4, 0, 0},
    {"exact n<=4, error bars", KSPEC_ESTIMATOR_EXACT, 4, 0, 1},
    {"exact n<=4, two trials", KSPEC_ESTIMATOR_EXACT, 4, 1, 0},
};

int bench_device(const bench_args *a, int exact, char name[144], bench_list *list) {
    for (size_t k = 0; k < sizeof contests / sizeof *contests; k++) {
        const bench_gpu_contest *c = &contests[k];
        bench_gpu_result r;
        kspec_error err;
        if ((c->method == KSPEC_ESTIMATOR_EXACT) != exact) continue;
        kspec_status st =
            bench_gpu((kspec_device)a->device, c, a->rows, a->cols, a->repeat, a->common.threads, &r, &err);
        if (st) return cli_fail(st, &err);
        if (r.difference > 1e-6)
            return cli_error(EXIT_FAILED, "bench: %s differs from the processor's by %.2g", c->name,
                             r.difference);
        snprintf(name, 144, "%s", r.device);
        double own = r.seconds - r.copying;
        bench_entry *e = bench_add(list, c->name, own, r.multiply_adds / own, r.gemm, NAN);
        if (!e) return EXIT_FAILED;
        e->cpu_seconds = r.cpu_seconds, e->copying = r.copying;
        size_t n = (size_t)snprintf(e->note, sizeof e->note, "copying the data: %.3g s", r.copying);
        if (isfinite(r.cpu_seconds))
            snprintf(e->note + n, sizeof e->note - n, "; the processor: %.4g s, %.3g times as long as both",
                     r.cpu_seconds, r.cpu_seconds / r.seconds);
    }
    return EXIT_DONE;
}
