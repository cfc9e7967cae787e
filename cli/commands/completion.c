/* kspec completion: writes completions for bash, zsh and fish from the tables of commands and options. */
#include "core/cli.h"

#include <string.h>

typedef struct {
    cli_common common;
} completion_args;

typedef struct {
    FILE *f;
    const cli_command *c;
} context;

static void put_choices(FILE *f, const cli_choice *choices) {
    for (const cli_choice *k = choices; k->name; k++) fprintf(f, "%s%s", k == choices ? "" : " ", k->name);
}

/* Completes the first argument of commands that begin with a choice or a verb. */
static void put_first(FILE *f, const cli_command *c, const char *before, const char *after) {
    if (!c->what && !c->verbs) return;
    fputs(before, f);
    if (c->what) put_choices(f, c->what);
    for (const cli_command *const *v = c->verbs; v && *v; v++)
        fprintf(f, "%s%s", v == c->verbs ? "" : " ", strchr((*v)->name, ' ') + 1);
    fputs(after, f);
}

static void bash_flag(const cli_option *o, void *ctx) {
    context *x = ctx;
    fprintf(x->f, " %s%s", cli_dashes(o), o->name);
    for (const cli_choice *k = o->choices; o->bare && k->name; k++)
        fprintf(x->f, " --%s=%s", o->name, k->name);
}

static void bash_value(const cli_option *o, void *ctx) {
    context *x = ctx;
    if (!o->choices || o->bare) return;
    fprintf(x->f, "        %s:--%s) COMPREPLY=($(compgen -W '", x->c->name, o->name);
    put_choices(x->f, o->choices);
    fputs("' -- \"$cur\")); return;;\n", x->f);
}

static void bash(FILE *f) {
    fputs("# bash completion for kspec\n"
          "_kspec() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} cmd=${COMP_WORDS[1]}\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        COMPREPLY=($(compgen -W 'help --version",
          f);
    for (const cli_command *const *c = cli_commands; *c; c++) fprintf(f, " %s", (*c)->name);
    fputs("' -- \"$cur\")); return\n    fi\n    case \"$cmd:$prev\" in\n", f);
    for (const cli_command *const *c = cli_commands; *c; c++)
        cli_each_option(*c, bash_value, &(context){f, *c});
    fputs("    esac\n    case \"$cmd\" in\n", f);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(f, "        %s) COMPREPLY=($(compgen -W '", (*c)->name);
        put_first(f, *c, "", "");
        cli_each_option(*c, bash_flag, &(context){f, *c});
        fputs("' -- \"$cur\"));;\n", f);
    }
    fputs("    esac\n"
          "    [ \"${#COMPREPLY[@]}\" -gt 0 ] && [ -n \"$cur\" ] || COMPREPLY+=($(compgen -f -- \"$cur\"))\n"
          "}\ncomplete -o filenames -F _kspec kspec\n",
          f);
}

/* Writes a description in quotes. zsh and fish escape an apostrophe in different ways. */
static void quoted(FILE *f, const char *s, const char *apostrophe) {
    for (; *s; s++)
        if (*s == '\'')
            fputs(apostrophe, f);
        else if (*s == '[' || *s == ']' || *s == ':')
            fprintf(f, apostrophe[0] == '\\' ? "%c" : "\\%c", *s);
        else
            fputc(*s, f);
}

static void zsh_option(const cli_option *o, void *ctx) {
    context *x = ctx;
    /* If the value is optional, the shell must write it after '='. */
    fprintf(x->f, "        '%s%s%s[", cli_dashes(o), o->name, o->bare ? "=-" : "");
    quoted(x->f, o->help, "'\\''");
    fputc(']', x->f);
    if (o->choices) {
        fprintf(x->f, "%s:%s:(", o->bare ? ":" : "", o->name);
        put_choices(x->f, o->choices);
        fputc(')', x->f);
    } else if (o->arg) {
        fprintf(x->f, ":%s:%s", o->name, strcmp(o->arg, "FILE") == 0 ? "_files" : "");
    }
    fputs("' \\\n", x->f);
}

static void zsh(FILE *f) {
    fputs("#compdef kspec\n_kspec() {\n    if (( CURRENT == 2 )); then\n        local -a commands=(", f);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(f, "\n            '%s:", (*c)->name);
        quoted(f, (*c)->summary, "'\\''");
        fputc('\'', f);
    }
    fputs(")\n        _describe command commands; return\n    fi\n    local cmd=$words[2]\n    shift words; "
          "(( CURRENT-- ))\n"
          "    case $cmd in\n",
          f);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(f, "    %s) _arguments \\\n", (*c)->name);
        cli_each_option(*c, zsh_option, &(context){f, *c});
        put_first(f, *c, "        '1:what:(", ")' \\\n");
        fputs("        '*:file:_files' ;;\n", f);
    }
    fputs("    esac\n}\n_kspec \"$@\"\n", f);
}

static void fish_option(const cli_option *o, void *ctx) {
    context *x = ctx;
    fprintf(x->f, "complete -c kspec -n '__fish_seen_subcommand_from %s' ", x->c->name);
    if (o->letter) fprintf(x->f, "-s %c ", o->letter);
    if (!cli_is_short(o)) fprintf(x->f, "-l %s ", o->name);
    if (o->choices && !o->bare) {
        fputs("-x -a '", x->f);
        put_choices(x->f, o->choices);
        fputs("' ", x->f);
    } else if (o->arg && !o->bare) {
        fputs("-r ", x->f);
    }
    fputs("-d '", x->f);
    quoted(x->f, o->help, "\\'");
    fputs("'\n", x->f);
}

static void fish(FILE *f) {
    fputs("# fish completion for kspec\n", f);
    for (const cli_command *const *c = cli_commands; *c; c++) {
        fprintf(f, "complete -c kspec -f -n __fish_use_subcommand -a %s -d '", (*c)->name);
        quoted(f, (*c)->summary, "\\'");
        fputs("'\n", f);
        char before[120];
        snprintf(before, sizeof before, "complete -c kspec -n '__fish_seen_subcommand_from %s' -a '",
                 (*c)->name);
        put_first(f, *c, before, "'\n");
        cli_each_option(*c, fish_option, &(context){f, *c});
    }
}

static void print_completions(FILE *f, const void *result) {
    static void (*const put[])(FILE * f) = {bash, zsh, fish};
    put[((const cli_common *)result)->what](f);
}

static const cli_choice shells[] = {{"bash", 0}, {"zsh", 1}, {"fish", 2}, {0}};

static int run(void *args) {
    const cli_common *c = args;
    if (c->json) return cli_error(EXIT_USAGE, "completion has no JSON output");
    return cli_done(c, print_completions, NULL, c);
}

const cli_command cmd_completion = {
    .name = "completion",
    .summary = "completions for bash, zsh or fish",
    .synopsis = "completion bash|zsh|fish [OPTIONS]",
    .description = "Prints the completions of this tool for a shell; 'make install' puts them in place.\n"
                   "To try them at once: source <(kspec completion bash)",
    .what = shells,
    .args_size = sizeof(completion_args),
    .no_picture = 1,
    .run = run,
};
