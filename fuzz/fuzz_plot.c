/*
 * Pictures of whatever JSON object: results of any command, damaged. No text may leave its quotes in the
 * script or its place in the page, and the figure as a JSON object gives the same script again.
 */
#include "cli_fuzz.h"
#include "help/plot_script.h"
#include "plot/layout.h"
#include "plot/plot.h"

static char *script_of(plot_figure *f, plot_format format, size_t *size) {
    cli_text text;
    FILE *to = cli_text_open(&text);
    plot_script(to, f, &(plot_look){0}, format);
    if (!cli_text_close(&text)) __builtin_trap();
    *size = text.size;
    return text.data;
}

/* No text of the result begins a tag of its own. */
static void check_page(const plot_figure *f) {
    cli_text text;
    json_t *commands = json_pack("[s]", "<script>&");
    FILE *to = cli_text_open(&text);
    plot_html(to, f, "<svg></svg>", 11, commands);
    if (!cli_text_close(&text) || strstr(text.data, "<script")) __builtin_trap();
    free(text.data);
    json_decref(commands);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    fuzz_quiet();
    json_t *json = json_loadb((const char *)data, size, 0, NULL);
    if (json_is_object(json)) {
        plot_source s = {json, plot_word(json, "command", NULL), "fuzz.json", NULL};
        plot_figure f = {0};
        int status = plot_make(&f, &s, 1);
        if (!status && f.panel_count <= PLOT_MOST_PANELS) {
            plot_settle(&f, &(plot_look){0});
            for (plot_format k = PLOT_SVG; k <= PLOT_GP; k++) {
                size_t length;
                char *script = script_of(&f, k, &length);
                if (strlen(script) != length || !harmless(script)) __builtin_trap();
                free(script);
            }
            check_page(&f);
            json_decref(plot_to_json(&f));
        }
        plot_free(&f);
    }
    json_decref(json);
    return 0;
}
