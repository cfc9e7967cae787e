/* Which result is drawn how, and which go together. */
#include "plot/plot.h"

#include <string.h>

/* `with`: the kinds that may be drawn along with it */
static const struct {
    const char *command;
    int (*make)(plot_figure *f, const plot_source *s, size_t count);
    const char *with;
} kinds[] = {
    {"figure", plot_figure_json, NULL},    {"moments", plot_moments, "theory|generate"},
    {"spectrum", plot_spectrum, "theory"}, {"generate", plot_moments, "theory"},
    {"theory", plot_theory, NULL},         {"norm", plot_norm, NULL},
    {"ridge", plot_ridge, NULL},           {"wls", plot_wls, NULL},
    {"learn", plot_learn, NULL},           {"bench", plot_bench, NULL},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

static int kind_of(const plot_source *s) {
    for (int k = 0; k < KINDS; k++)
        if (s->command && strcmp(s->command, kinds[k].command) == 0) return k;
    return -1;
}

int plot_make(plot_figure *f, const plot_source *s, size_t count) {
    int chosen = 0;
    for (size_t i = 0; i < count; i++) {
        int kind = kind_of(&s[i]);
        if (!s[i].command) return plot_unfit(&s[i], "no \"command\" in it says which result of kspec it is");
        if (kind < 0) return plot_unfit(&s[i], "there is no picture of a result of '%s'", s[i].command);
        if (i == 0 || (kinds[kind].with && cli_is_choice(kinds[kind].with, kinds[chosen].command)))
            chosen = kind;
    }
    for (size_t i = 0; i < count; i++)
        if (strcmp(s[i].command, kinds[chosen].command) != 0 &&
            !(kinds[chosen].with && cli_is_choice(kinds[chosen].with, s[i].command)))
            return plot_unfit(&s[i], "a result of kspec %s does not go into one picture with one of kspec %s",
                              s[i].command, kinds[chosen].command);
    return kinds[chosen].make(f, s, count);
}
