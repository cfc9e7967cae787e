/* A command inside another program: who takes its object alone gets no table made. */
#include "core/cli.h"
#include "test.h"

static int printed;
static char *table_of, *json_of;

static void print(FILE *f, const void *result) {
    printed++;
    fprintf(f, "answer %d\n", *(const int *)result);
}

static json_t *keys(const void *result) { return json_pack("{s:i}", "answer", *(const int *)result); }

/* In place of the tool's: one command, which says how many words it was given. */
int cli_run(int argc, char **argv, char **command_line) {
    static const cli_command command = {.name = "answer"};
    cli_common c = {.command = &command};
    (void)argv, (void)command_line;
    int status = cli_envelope_open(&c, &command) ? cli_done(&c, print, keys, &argc) : EXIT_FAILED;
    cli_envelope_close(&c);
    return status;
}

static void done(void *ctx, char *table, char *json) {
    (void)ctx;
    table_of = table, json_of = json;
}

TEST(a_command_inside_another_makes_no_table) {
    const char *const words[] = {"answer", "of", "three"};
    json_t *object;
    char *message;
    printed = 0;
    CHECK(cli_run_inner(&(cli_common){0}, 3, words, &object, &message) == EXIT_DONE);
    CHECK(printed == 0 && json_integer_value(json_object_get(object, "answer")) == 3 && !message);
    json_decref(object);
}

TEST(a_host_that_shows_the_table_gets_it_once) {
    const cli_host silent = {.done = done}, shows = {.done = done, .shows = 1};
    char *words[] = {"answer"};
    printed = 0;
    cli_hosted = &silent;
    CHECK(cli_run(1, words, NULL) == EXIT_DONE && printed == 0 && !table_of &&
          strstr(json_of, "\"answer\":1"));
    free(json_of);
    cli_hosted = &shows;
    CHECK(cli_run(1, words, NULL) == EXIT_DONE && printed == 1 && strcmp(table_of, "answer 1\n") == 0);
    cli_hosted = NULL;
    free(table_of);
    free(json_of);
}

int main(void) {
    RUN(a_command_inside_another_makes_no_table);
    RUN(a_host_that_shows_the_table_gets_it_once);
    return test_done();
}
