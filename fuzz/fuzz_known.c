/* --moments and --truth: the input as a list on the command line, and as a JSON file. */
#include "cli_fuzz.h"
#include "commands/estimation.h"

static void check(const cli_common *c, const char *text) {
    cli_list list;
    int status = cli_known_moments(c, "--moments", text, &list);
    volatile double sum = 0;
    for (size_t i = 0; i < list.count; i++) sum += list.at[i];
    (void)sum;
    if (status ? list.at || list.count : !list.count) __builtin_trap();
    if (status != 0 && status != EXIT_USAGE && status != EXIT_INPUT) __builtin_trap();
    free(list.at);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size) {
    static const cli_command command = {.name = "fuzz"};
    cli_common c = {0};
    fuzz_quiet();
    if (!cli_envelope_open(&c, &command)) return 0;
    if (size && data[0] == ':') { /* a list; a name of a file would be another matter */
        char *text = fuzz_text(data + 1, size - 1);
        if (!strchr(text, '/') && access(text, F_OK) != 0) check(&c, text);
        free(text);
    } else {
        check(&c, fuzz_file(data, size));
    }
    cli_envelope_close(&c);
    return 0;
}
