/* Writes pages and texts of pictures as valid, harmless HTML. */
#include "plot/page.h"
#include "plot/plot.h"

#include <math.h>
#include <string.h>

static void put_escaped(FILE *to, const char *run, size_t n) {
    for (size_t i = 0, step; i < n; i += step) {
        const size_t letter = cli_letter(run + i, n - i);
        step = letter ? letter : 1;
        switch (run[i]) {
        case '<': fputs("&lt;", to); break;
        case '>': fputs("&gt;", to); break;
        case '&': fputs("&amp;", to); break;
        case '"': fputs("&quot;", to); break;
        default: /* a byte of a file name that is not UTF-8, or not allowed in a page */
            if (!letter || (cli_is_control(run + i, letter) && run[i] != '\n' && run[i] != '\t'))
                fputc('?', to);
            else
                fwrite(run + i, 1, letter, to);
        }
    }
}

static void put_run(FILE *to, const char *run, size_t n, char kind) {
    const char *tag = kind == '^' ? "sup" : "sub";
    if (kind) fprintf(to, "<%s>", tag);
    put_escaped(to, run, n);
    if (kind) fprintf(to, "</%s>", tag);
}

static void put_plain_run(FILE *to, const char *run, size_t n, char kind) {
    if (kind) fputc(kind, to);
    put_escaped(to, run, n);
}

void page_text(FILE *to, const char *text) { plot_runs(to, text ? text : "", SIZE_MAX, put_run); }
void page_plain(FILE *to, const char *text) { plot_runs(to, text ? text : "", SIZE_MAX, put_plain_run); }
void page_escape(FILE *to, const char *text) { put_escaped(to, text, strlen(text)); }

/*
 * Styles for light and dark, phone and paper. Pictures are drawn for white paper; dark mode inverts them but
 * keeps the hues.
 */
static const char style[] =
    "<style>\n"
    ":root { color-scheme: light dark; --ink: #1d1d1f; --soft: #55585e; --line: #c9ccd1; --box: #f3f4f6;\n"
    "  --mark: #8a4b00 }\n"
    "@media (prefers-color-scheme: dark) {\n"
    "  :root { --ink: #ececee; --soft: #b3b7bf; --line: #4a4e55; --box: #24262a; --mark: #ffb566 }\n"
    "  figure { filter: invert(0.93) hue-rotate(180deg) } }\n"
    "body { font: 1rem/1.5 system-ui, sans-serif; color: var(--ink); max-width: 56rem; margin: 0 auto;\n"
    "  padding: 1rem; overflow-wrap: anywhere }\n"
    "h1 { font-size: 1.5rem; line-height: 1.25 } h2 { font-size: 1.2rem; margin-top: 2rem }\n"
    "h3 { font-size: 1rem }\n"
    "pre { background: var(--box); padding: 0.6rem; white-space: pre-wrap }\n"
    "figure { margin: 1rem 0; background: #fff; border-radius: 4px; display: flex; flex-wrap: wrap;\n"
    "  gap: 1rem; justify-content: center; align-items: flex-start }\n"
    "svg { flex: 1 1 24rem; max-width: min(100%, 44rem); height: auto }\n"
    ".scroll { overflow-x: auto; margin: 1rem 0 }\n"
    "table { border-collapse: collapse; font-size: 0.9rem; font-variant-numeric: tabular-nums;\n"
    "  min-width: min(100%, 20rem) }\n"
    "caption { text-align: left; color: var(--soft); padding-bottom: 0.3rem }\n"
    "td, th { padding: 0.15rem 0.5rem; border-bottom: 1px solid var(--line); text-align: right;\n"
    "  font-weight: normal; overflow-wrap: normal }\n"
    "thead th, thead td { color: var(--soft); vertical-align: bottom }\n"
    "tr > :first-child { text-align: left }\n"
    ".answer { font-size: 1.15rem } .soft { color: var(--soft) }\n"
    ".warnings li { color: var(--mark) }\n"
    "@media (max-width: 30rem) { table { font-size: 0.74rem } td, th { padding: 0.15rem } }\n"
    "@media print {\n"
    "  :root { --ink: #000; --soft: #333; --line: #999; --box: #fff; --mark: #000 }\n"
    "  body { max-width: none; padding: 0; font-size: 10pt }\n"
    "  figure { filter: none } svg { max-height: 12cm }\n"
    "  figure, table, li, pre { break-inside: avoid } h2, h2 + p, h3, summary { break-after: avoid }\n"
    "  .scroll { overflow: visible } }\n"
    /* This rule is a separate block, because a browser that does not know details-content ignores the
     * block. */
    "@media print { details::details-content { display: block; content-visibility: visible } }\n"
    "</style>\n";

void page_begin(FILE *to) {
    fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
          "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
          "<link rel=\"icon\" href=\"data:,\">\n<title>",
          to);
}

void page_begin_body(FILE *to) { fprintf(to, "</title>\n%s</head>\n<body>\n<main>\n", style); }

void page_end(FILE *to) { fputs("</main>\n</body>\n</html>\n", to); }

void page_begin_table(FILE *to, const char *caption, const char *const *columns) {
    /* The reader can scroll a table wider than the screen, with the keyboard as well. */
    fputs("<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"", to);
    page_plain(to, caption);
    fputs("\">\n<table>\n<caption>", to);
    page_text(to, caption);
    fputs("</caption>\n", to);
    if (columns) fputs("<thead><tr>", to);
    for (size_t k = 0; columns && columns[k]; k++) {
        fputs(*columns[k] ? "<th scope=\"col\">" : "<td>", to);
        page_text(to, columns[k]);
        fputs(*columns[k] ? "</th>" : "</td>", to);
    }
    fputs(columns ? "</tr></thead>\n<tbody>\n" : "<tbody>\n", to);
}

void page_end_table(FILE *to) { fputs("</tbody>\n</table>\n</div>\n", to); }

void page_row_head(FILE *to, const char *text) {
    fputs("<tr><th scope=\"row\">", to);
    page_text(to, text);
    fputs("</th>", to);
}

void page_cell(FILE *to, double x, int digits) {
    if (isfinite(x))
        fprintf(to, "<td>%.*g</td>", digits, x + 0.0); /* no "-0" */
    else
        fputs("<td></td>", to);
}

void page_cell_rounded(FILE *to, double x, double error) {
    cli_number text;
    fprintf(to, "<td>%s</td>", cli_rounded(&text, x, error));
}

void page_end_row(FILE *to) { fputs("</tr>\n", to); }

void page_svg(FILE *to, const char *svg, size_t size) {
    const char *start = memmem(svg, size, "<svg", 4);
    fwrite(start ? start : svg, 1, start ? size - (size_t)(start - svg) : size, to);
}
