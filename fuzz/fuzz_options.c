/* Command lines: the words are the lines of the input, the first one the command. Nothing is run. */
#include "cli_fuzz.h"

#include <math.h>

enum { MOST = 40 };

/* Every number that an option took is finite, and lists have as many as they say. */
static void check_values(const cli_option *o, void *ctx) {
    char *args = ctx;
    if (o->type == OPT_DOUBLE && !isfinite(*(double *)(void *)(args + o->offset))) __builtin_trap();
    if (o->type == OPT_LIST) {
        const cli_list *list = (const cli_list *)(const void *)(args + o->offset);
        for (size_t i = 0; i < list->count; i++)
            if (!isfinite(list->at[i])) __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    fuzz_quiet();
    char *text = fuzz_text(data, size), *words[MOST + 1] = {NULL}, *rest = text;
    int count = 0;
    for (char *word; count < MOST && (word = strsep(&rest, "\n"));) words[count++] = word;
    const cli_command *c = NULL;
    for (const cli_command *const *k = cli_commands; *k && count; k++)
        if (strcmp((*k)->name, words[0]) == 0) c = *k;
    int first = 1;
    if (c && count > 1 && cli_find_verb(c, words[1])) c = cli_find_verb(c, words[1]), first = 2;
    if (c) {
        void *args = calloc(1, c->args_size);
        for (int i = 0; i < count; i++) cli_remember(words[i]);
        int status = cli_parse(c, count - first, words + first, args);
        if (status != 0 && status != EXIT_USAGE) __builtin_trap();
        if (!status && !((cli_common *)args)->help) cli_each_option(c, check_values, args);
        cli_args_free(c, args);
        free(args);
    }
    free(text);
    return 0;
}
