/* kspec wls theory: computes the expected errors of weighted least squares on a grid. */
#include "commands/wls.h"

/* clang-format off */
static const cli_option options[] = {WLS_LEARN_OPTION, WLS_GRID_OPTIONS, WLS_DRAW_OPTIONS,
                                     WLS_SPECTRUM_OPTION, {0}};
/* clang-format on */

static int run(void *args) {
    wls_args *a = args;
    if (!a->grid) return cli_error(EXIT_USAGE, "wls theory: --grid N is missing");
    if (!a->learn.count) return cli_error(EXIT_USAGE, "wls theory: --learn p,... is missing");
    return wls_errors(a);
}

const cli_command wls_theory = {
    .name = "wls theory",
    .synopsis =
        "wls theory --grid N --learn p,... [--modes P] [--alpha A] [--beta B] [--gamma G] [--noise S] "
        "[--empirical K] [OPTIONS]",
    .description = "Computes the expected errors of weighted least squares with p of P Fourier modes on N "
                   "points, for p below or above N.",
    .options = options,
    .args_size = sizeof(wls_args),
    .shares = 1,
    .run = run,
};
