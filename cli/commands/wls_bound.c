/* kspec wls bound: computes the expected error for the singular values t^-Z, t = 1, 2, ..., and a bound
 * on this error. */
#include "commands/wls.h"

/* clang-format off */
static const cli_option options[] = {WLS_ZETA_OPTION, WLS_LEARN_OPTION, WLS_GRID_OPTIONS, {0}};
/* clang-format on */

typedef struct {
    const wls_args *a;
    kspec_wls_opts o;
    kspec_wls_bound_result *r;
} output;

static json_t *to_json(const void *result) {
    const output *u = result;
    json_t *points = json_array();
    for (size_t i = 0; i < u->a->learn.count; i++) {
        const kspec_wls_bound_point *q = u->r->points[i];
        json_array_append_new(points, json_pack("{s:I, s:o, s:o}", "p", (json_int_t)q->p, "error",
                                                cli_real(q->error), "bound", cli_real(q->bound)));
    }
    json_t *o = wls_json(u->a, "bound", &u->o, points);
    cli_set_reals(
        o, (cli_member[]){
               {"zeta", u->a->zeta}, {"best_p_theorem", u->r->theorem_p}, {"best_p", u->r->least_p}, {0}});
    return o;
}

static void print_table(FILE *f, const void *result) {
    const output *u = result;
    wls_print_setting(f, u->a, &u->o);
    fprintf(f, "%s%8s  %12s  %12s%s\n", cli_bold(&u->a->common), "p", "error", "bound",
            cli_plain(&u->a->common));
    for (size_t i = 0; i < u->a->learn.count; i++)
        fprintf(f, "%8zu  %12.6g  %12.6g\n", u->r->points[i]->p, u->r->points[i]->error,
                u->r->points[i]->bound);
    fprintf(f, "\nthe bound is least at p = %.4g; the theorem gives p = %.4g to leading order\n",
            u->r->least_p, u->r->theorem_p);
}

static int run(void *args) {
    wls_args *a = args;
    if (!(a->zeta > 0)) return cli_error(EXIT_USAGE, "wls bound: --zeta Z is missing");
    if (!a->grid) return cli_error(EXIT_USAGE, "wls bound: --grid N is missing");
    if (!a->learn.count) return cli_error(EXIT_USAGE, "wls bound: --learn p,... is missing");
    output u = {.a = a, .o = wls_opts(a)};
    kspec_error err;
    kspec_status st =
        kspec_wls_bound(a->grid, a->zeta, a->beta, a->learn.at, a->learn.count, &u.o, &u.r, &err);
    int status = st ? cli_fail(st, &err) : cli_done(&a->common, print_table, to_json, &u);
    kspec_free(u.r);
    return status;
}

const cli_command wls_bound = {
    .name = "wls bound",
    .synopsis = "wls bound --zeta Z --grid N --learn p,... [--modes P] [--alpha A] [--beta B] [--gamma G] "
                "[--noise S] "
                "[OPTIONS]",
    .description =
        "The expected error with features whose singular values are t^-Z, its bound (Theorem 5.1), and the\n"
        "p at which the bound is least.",
    .options = options,
    .args_size = sizeof(wls_args),
    .run = run,
};
