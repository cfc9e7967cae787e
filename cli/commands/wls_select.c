/* kspec wls select: finds the p, or the weights, with the least expected error. */
#include "commands/wls.h"

/* clang-format off */
static const cli_option options[] = {
    WLS_BEST_OPTIONS, WLS_LEARN_OPTION, WLS_GRID_OPTIONS, WLS_DRAW_OPTIONS,
    WLS_SPECTRUM_OPTION, {0},
};
/* clang-format on */

static int run(void *args) {
    wls_args *a = args;
    if (!a->best_p && !a->best_weights) a->best_p = 1;
    if (!a->grid) return cli_error(EXIT_USAGE, "wls select: --grid N is missing");
    if (!a->learn.count && (a->draws || a->best_weights))
        return cli_error(EXIT_USAGE, "wls select: --%s needs --learn p,...",
                         a->draws ? "empirical" : "best-weights");
    return wls_errors(a);
}

const cli_command wls_select = {
    .name = "wls select",
    .synopsis =
        "wls select --grid N [--learn p,...] [--best-p] [--best-weights] [--modes P] [--alpha A] [--beta B] "
        "[--gamma G] [--noise S] [OPTIONS]",
    .description = "Finds the p of least expected error (the default), or for each p the weights of least "
                   "expected error.",
    .options = options,
    .args_size = sizeof(wls_args),
    .shares = 1,
    .run = run,
};
