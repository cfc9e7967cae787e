/* Computes the spectrum of a kernel on the sphere for `kspec theory`. */
#include "commands/theory.h"

/* clang-format off */
const cli_choice theory_sphere_kernels[] = {
    {"gaussian",   KSPEC_SPHERE_GAUSSIAN},
    {"polynomial", KSPEC_SPHERE_POLYNOMIAL},
    {"ntk",        KSPEC_SPHERE_NTK},
    {0},
};

/* The member `option` names the parameter that only this kernel takes. */
static const struct {
    kspec_sphere kernel;
    const char *option, *title;
} kernels[] = {
    {KSPEC_SPHERE_GAUSSIAN,   "scale", "exp(-|x-y|²/s²) with s = %g"},
    {KSPEC_SPHERE_POLYNOMIAL, "power", "(1+<x,y>)^q with q = %g"},
    {KSPEC_SPHERE_NTK,        NULL,    "tangent kernel of a two-layer ReLU network"},
};
/* clang-format on */
enum { KERNELS = sizeof kernels / sizeof *kernels };

int theory_sphere(theory_args *a, theory_spectrum *s) {
    size_t which = 0;
    const char *name = cli_choice_name(theory_sphere_kernels, a->kernel);
    if (!cli_given(&a->common, "kernel"))
        return cli_error(EXIT_USAGE, "theory sphere: --kernel is missing (gaussian, polynomial or ntk)");
    if (!a->dim) return cli_error(EXIT_USAGE, "theory sphere: --dim is missing");
    while ((int)kernels[which].kernel != a->kernel) which++;
    for (size_t k = 0; k < KERNELS; k++)
        if (k != which && kernels[k].option && cli_given(&a->common, kernels[k].option))
            return cli_error(EXIT_USAGE, "theory sphere --kernel %s takes no --%s", name, kernels[k].option);
    if (!cli_given(&a->common, "scale")) a->scale = 1;
    if (!cli_given(&a->common, "power")) a->power = 2;
    if (!cli_given(&a->common, "degree")) a->degree = 10;
    if (a->degree > 1000) return cli_error(EXIT_USAGE, "--degree: %zu exceeds 1000", a->degree);
    double parameter = a->kernel == KSPEC_SPHERE_GAUSSIAN     ? a->scale
                       : a->kernel == KSPEC_SPHERE_POLYNOMIAL ? (double)a->power
                                                              : 0;

    kspec_error err;
    kspec_status st =
        kspec_theory_sphere_moments(kernels[which].kernel, parameter, a->dim, a->nmax, s->m, s->log_m, &err);
    if (st) return cli_fail(st, &err);
    int status = theory_room(s, a->degree + 1, 1);
    if (status) return status;
    st = kspec_theory_sphere_eigenvalues(kernels[which].kernel, parameter, a->dim, a->degree, s->lambda,
                                         s->log_lambda, s->N, s->log_N, &err);
    if (st) return cli_fail(st, &err);
    s->listed = 1;
    s->index = "degree";
    s->closed = a->nmax < 2 ? a->nmax : 2;
    s->about = json_pack("{s:s, s:s, s:I, s:I}", "space", "sphere", "kernel", name, "dim", (json_int_t)a->dim,
                         "degree", (json_int_t)a->degree);
    if (kernels[which].option) json_object_set_new(s->about, kernels[which].option, json_real(parameter));
    int n = snprintf(s->title, sizeof s->title, "Sphere in %zu dimensions, ", a->dim);
    snprintf(s->title + n, sizeof s->title - (size_t)n, kernels[which].title, parameter);
    return EXIT_DONE;
}
