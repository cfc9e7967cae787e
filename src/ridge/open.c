/* kspec_ridge_open(): checks and copies the data and computes the kernel matrices. */
#include "base/error.h"
#include "device/device.h"
#include "features/kernel.h"
#include "linalg/linalg.h"
#include "ridge/data.h"
#include "ridge/kernels.h"
#include "ridge/mix.h"
#include "ridge/one.h"
#include "team/team.h"

#include <math.h>

kspec_status ks_ridge_enter(const kspec_ridge *r, ks_run *run, kspec_error *err) {
    kspec_status st = ks_run_init(run, r->o.threads, r->o.progress, err);
    run->team = r->o.team;
    if (!st && r->part[1] > 0) *run = ks_run_part(run, r->part[0], r->part[1]);
    return st ? st : ks_blas_enter(run->threads, err);
}

void ks_ridge_exit(void) { ks_blas_exit(); }

/* ---- checks ---- */

static ks_bandwidth bandwidth(const kspec_ridge_opts *o) {
    return (ks_bandwidth){.sigma = o->sigma, .median = o->median_sigma};
}

static kspec_status check_kernel(kspec_ridge_opts *o, kspec_error *err) {
    ks_kernel k = {.kind = o->kernel, .nu = o->nu};
    kspec_status st = ks_kernel_check(&k, err);
    o->nu = k.nu;
    if (st || k.kind == KSPEC_KERNEL_GAUSSIAN) return st;
    if (k.kind != KSPEC_KERNEL_MATERN)
        return ks_refuse(
            err, KSPEC_E_ARG, "kernel", NULL,
            "ridge takes the Gaussian and the Matern kernel; frequencies of the Laplace and the Cauchy "
            "kernel have a random scale in each coordinate");
    if (o->activation != KSPEC_RIDGE_ACTIVATION_FOURIER && o->activation != KSPEC_RIDGE_ACTIVATION_PHASES &&
        o->activation != KSPEC_RIDGE_ACTIVATION_COS)
        return ks_refuse(err, KSPEC_E_ARG, "kernel", NULL,
                         "a Matern kernel is that of Fourier features, of phases and of cos");
    if ((int)o->device > 0)
        return ks_refuse(err, KSPEC_E_ARG, "kernel", NULL,
                         "features of a Matern kernel are computed on the processor, not on a GPU");
    return KSPEC_OK;
}

static kspec_status check_options(kspec_ridge_opts *o, kspec_error *err) {
    if (o->solver != KSPEC_RIDGE_SOLVER_NEWTON && o->solver != KSPEC_RIDGE_SOLVER_FIXED_POINT)
        return ks_fail(err, KSPEC_E_ARG, "unknown solver %d", (int)o->solver);
    if (o->tolerance == 0) o->tolerance = 1e-12;
    if (o->max_iterations == 0) o->max_iterations = o->solver == KSPEC_RIDGE_SOLVER_NEWTON ? 200 : 100000;
    if (!(o->tolerance > 0 && o->tolerance < 1))
        return ks_fail(err, KSPEC_E_ARG, "tolerance %g is not between 0 and 1", o->tolerance);
    if (o->max_iterations < 1)
        return ks_fail(err, KSPEC_E_ARG, "max_iterations %d is below 1", o->max_iterations);
    if (!(o->test_noise >= 0 && isfinite(o->test_noise)))
        return ks_fail(err, KSPEC_E_ARG, "test_noise %g is not finite and at least 0", o->test_noise);
    if (!(o->test_fraction >= 0 && o->test_fraction < 1))
        return ks_refuse(err, KSPEC_E_ARG, "test_fraction", NULL, "test_fraction %g is not between 0 and 1",
                         o->test_fraction);
    if (!(o->check_work >= 0))
        return ks_fail(err, KSPEC_E_ARG, "check_work %g is not 0 or above", o->check_work);
    if (!isfinite(o->slope)) return ks_fail(err, KSPEC_E_ARG, "slope %g is not finite", o->slope);
    if (o->slope == 0) o->slope = 0.1;
    if (o->intercept) o->center_target = 1;
    kspec_status known = ks_activation_check(o->activation, err);
    if (known) return known;
    if (o->activation != KSPEC_RIDGE_ACTIVATION_FOURIER && (int)o->device > 0)
        return ks_refuse(err, KSPEC_E_ARG, "activation", NULL,
                         "features other than Fourier's are computed on the "
                         "processor, not on a GPU");
    if (o->solver != KSPEC_RIDGE_SOLVER_NEWTON && o->activation != KSPEC_RIDGE_ACTIVATION_FOURIER &&
        o->kernel != KSPEC_KERNEL_MATERN)
        return ks_refuse(err, KSPEC_E_ARG, "solver", NULL,
                         "features with one fixed point are solved by Newton's method only");
    ks_bandwidth b = bandwidth(o);
    kspec_status st = ks_bandwidth_check(&b, err);
    if (!st) st = check_kernel(o, err);
    if (st) return st;
    /* Fails if the caller names a GPU that does not exist. */
    ks_placement placement;
    st = ks_placement_open(&placement, ks_device_of_rank(o->device, o->team), err);
    ks_placement_close(&placement);
    return st;
}

/* ---- the data ---- */

static kspec_status allocate(kspec_ridge *r, kspec_error *err) {
    size_t n = r->n, nt = r->nt, square = ks_size(n, n), cross = ks_size(nt, n);
    size_t rows = ks_size(ks_size_add(n, nt), ks_size_add(ks_size(2, r->p), r->m));
    size_t doubles = ks_size_add(ks_size(4, square), ks_size_add(ks_size(3, cross), rows));
    const int mixed = r->o.kernel == KSPEC_KERNEL_MATERN;
    const int simple = !mixed && r->o.activation != KSPEC_RIDGE_ACTIVATION_FOURIER;
    if (mixed) doubles = ks_size_add(ks_mix_size(r), rows);
    if (simple) doubles = ks_size_add(ks_one_size(n, nt, r->m, r->p), rows);
    kspec_status st = ks_check_memory(err, ks_size(doubles, sizeof(double)),
                                      "a prediction for %zu training and %zu test rows", n, nt);
    if (st) return st;
    ks_arena *a = &r->arena;
    r->X = ks_arena_alloc(a, ks_size(n, r->p), sizeof *r->X);
    r->Xt = ks_arena_alloc(a, ks_size(nt, r->p), sizeof *r->Xt);
    r->Y = ks_arena_alloc(a, ks_size(n, r->m), sizeof *r->Y);
    r->Yt = ks_arena_alloc(a, ks_size(nt, r->m), sizeof *r->Yt);
    for (int c = 0; c < 2; c++) r->variance[c] = ks_arena_alloc(a, r->m, sizeof(double));
    r->target_means = ks_arena_alloc(a, r->m, sizeof(double));
    if (simple) {
        r->one = ks_arena_zalloc(a, 1, sizeof *r->one);
        if (r->one) {
            *r->one = (ks_one){.n = n, .nt = nt, .m = r->m, .f = {r->o.activation, r->o.slope}};
            r->one->intercept = r->o.intercept;
            r->one->Y = r->Y, r->one->Yt = r->Yt;
            ks_one_alloc(r->one, a);
        }
        return a->failed ? ks_nomem(err, "a prediction", a->failed) : KSPEC_OK;
    }
    if (mixed) {
        ks_mix_alloc(r);
        return a->failed ? ks_nomem(err, "a prediction", a->failed) : KSPEC_OK;
    }
    for (int c = COS; c <= SIN; c++) {
        r->K[c] = ks_arena_alloc(a, square, sizeof(double));
        r->Kt[c] = ks_arena_alloc(a, cross, sizeof(double));
        r->own[c] = ks_arena_alloc(a, nt, sizeof(double));
    }
    r->Q = ks_arena_alloc(a, square, sizeof *r->Q);
    r->work = ks_arena_alloc(a, square, sizeof *r->work);
    r->H = ks_arena_alloc(a, cross, sizeof *r->H);
    return a->failed ? ks_nomem(err, "a prediction", a->failed) : KSPEC_OK;
}

kspec_status kspec_ridge_open(const kspec_matrix *x, const kspec_matrix *y, const kspec_matrix *x_test,
                              const kspec_matrix *y_test, const kspec_ridge_opts *opts, kspec_ridge **out,
                              kspec_error *err) {
    if (ks_begin(err, out)) return KSPEC_E_ARG;
    kspec_ridge_opts o;
    const ks_ridge_data d = {x, y, x_test, y_test};
    ks_run run;
    kspec_status st = ks_take_opts(&o, sizeof o, opts, err);
    if (st) return st;
    kspec_ridge *r = ks_zalloc(1, sizeof *r);
    if (r)
        r->o = o;
    else
        st = ks_nomem(err, "a prediction", sizeof *r);
    if (!st) st = ks_simd_choose(&r->simd, err);
    if (!st) st = check_options(&r->o, err);
    if (!st) st = ks_ridge_check_data(r, &d, err);
    if (!st) st = allocate(r, err);
    if (!st) st = ks_ridge_copy_data(r, &d, err);
    if (!st) st = ks_ridge_enter(r, &run, err);
    if (!st) {
        st = ks_ridge_divide_by_sigma(r, err);
        if (!st)
            st = r->one   ? ks_one_make(r->one, &(ks_one_rows){r->X, r->Xt, r->p}, err)
                 : r->mix ? ks_mix_make(r, &run, err)
                          : ks_ridge_kernels(r, &run, err);
        ks_ridge_exit();
    }
    st = ks_team_end(o.team, st, err);
    if (st)
        kspec_ridge_close(r);
    else
        *out = r;
    return st;
}

void kspec_ridge_close(kspec_ridge *r) {
    if (!r) return;
    ks_arena_free(&r->arena);
    ks_free(r);
}

double kspec_ridge_sigma(const kspec_ridge *r) { return r ? r->sigma : NAN; }
