/* kspec_tool_describe(): the tables of commands and options, for the generator of the Python functions. */
#include "kspec_tool.h"

#include "core/cli.h"

#include <stdlib.h>
#include <string.h>

static const char *const types[] = {
    [OPT_FLAG] = "flag",     [OPT_INT] = "int",       [OPT_SIZE] = "size",     [OPT_U64] = "u64",
    [OPT_DOUBLE] = "double", [OPT_STRING] = "string", [OPT_CHOICE] = "choice", [OPT_SET] = "set",
    [OPT_LIST] = "list",     [OPT_RANGES] = "ranges", [OPT_SIGMA] = "sigma",   [OPT_LABEL] = "label",
    [OPT_DEVICE] = "word",   [OPT_BLOCK] = "block",
};

static json_t *choices(const cli_choice *c) {
    json_t *list = json_array();
    for (; c && c->name; c++) json_array_append_new(list, json_string(c->name));
    return list;
}

/* The words of cli_command.what for which an option is, all of them where it does not say */
static json_t *words(const cli_command *c, unsigned of) {
    json_t *list = json_array();
    for (const cli_choice *k = c->what; k && k->name; k++)
        if (!of || of >> k->value & 1) json_array_append_new(list, json_string(k->name));
    return list;
}

typedef struct {
    const cli_command *command;
    json_t *list;
} lines;

static void add_option(const cli_option *o, void *ctx) {
    const lines *to = ctx;
    if (o->tool_only) return;
    json_array_append_new(to->list,
                          json_pack("{s:s, s:s, s:s?, s:s, s:s?, s:b, s:b, s:b, s:b, s:b, s:o, s:o}", "name",
                                    o->name, "type", types[o->type], "arg", o->arg, "help", o->help, "bare",
                                    o->bare, "short", cli_is_short(o), "aside", o->aside, "writes",
                                    o->writes != WRITES_NOTHING, "whole", o->whole, "automatic", o->automatic,
                                    "choices", choices(o->choices), "of", words(to->command, o->of)));
}

static void add_command(const cli_command *c, json_t *list) {
    json_t *options = json_array();
    cli_each_option(c, add_option, &(lines){c, options});
    json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:o, s:b, s:b, s:b, s:b, s:b, s:I, s:o}", "name",
                                          c->name, "summary", c->summary ? c->summary : "", "description",
                                          c->description ? c->description : "", "words", words(c, 0),
                                          "word_optional", c->what_optional, "reads_input", c->reads_input,
                                          "takes_files", c->takes_files, "input_optional", c->input_optional,
                                          "writes_output", c->writes_output, "most_inputs",
                                          (json_int_t)c->most_inputs, "options", options));
    for (const cli_command *const *v = c->verbs; v && *v; v++) add_command(*v, list);
}

char *kspec_tool_describe(void) {
    json_t *list = json_array();
    for (const cli_command *const *c = cli_commands; *c; c++) add_command(*c, list);
    char *text = json_dumps(list, JSON_INDENT(1));
    json_decref(list);
    return text;
}
