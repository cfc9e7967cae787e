/* Lists the function that draws the results of each command, and the commands whose results can share a
 * figure. */
#include "plot/plot.h"

#include <string.h>

/* clang-format off */
/* The kinds of results. `with` lists the kinds that can share a figure with this kind. */
static const struct {
    const char *command;
    int (*make)(plot_figure *f, const plot_source *s, size_t count);
    const char *with[2];
} kinds[] = {
    {"figure",    plot_figure_json, {0}},
    {"moments",   plot_moments,     {"theory", "generate"}},
    {"dimension", plot_dimension,   {0}},
    {"compare",   plot_compare,     {0}},
    {"spectrum",  plot_spectrum,    {"theory"}},
    {"generate",  plot_moments,     {"theory"}},
    {"theory",    plot_theory,      {0}},
    {"norm",      plot_norm,        {0}},
    {"ridge",     plot_ridge,       {0}},
    {"wls",       plot_wls,         {0}},
    {"learn",     plot_learn,       {0}},
};
/* clang-format on */
enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_of(const plot_source *s) {
    for (int k = 0; k < KINDS; k++)
        if (s->command && strcmp(s->command, kinds[k].command) == 0) return k;
    return -1;
}

/* Returns 1 if a result of this command can share a figure with results of this kind. */
static int goes_with(int kind, const char *command) {
    for (int k = 0; k < 2; k++)
        if (kinds[kind].with[k] && strcmp(kinds[kind].with[k], command) == 0) return 1;
    return strcmp(kinds[kind].command, command) == 0;
}

int plot_make(plot_figure *f, const plot_source *s, size_t count) {
    int chosen = 0;
    for (size_t i = 0; i < count; i++) {
        int kind = kind_of(&s[i]);
        if (!s[i].command) return plot_unfit(&s[i], "missing \"command\", expected in a kspec result");
        if (kind < 0) return plot_unfit(&s[i], "a result of kspec %s has no picture", s[i].command);
        if (i == 0 || goes_with(kind, kinds[chosen].command)) chosen = kind;
    }
    for (size_t i = 0; i < count; i++)
        if (!goes_with(chosen, s[i].command))
            return plot_unfit(&s[i], "a result of kspec %s cannot share a picture with one of kspec %s",
                              s[i].command, kinds[chosen].command);
    return kinds[chosen].make(f, s, count);
}
