/* Reads INPUTs that have an axis `batch`: each index of the axis is one matrix. */
#include "commands/batch.h"

#include <stdlib.h>
#include <string.h>

static const char WORD[] = "batch";
enum { NAME = 24 };

int cli_has_batch(const cli_common *c) { return c->axes && strstr(c->axes, WORD) != NULL; }

/* Rewrites the axes "batch,rows,cols" as "trials,rows,cols", because the reader knows no axis `batch`. */
static int as_trials(const cli_common *c, char *to, size_t room) {
    const char *at = strstr(c->axes, WORD), *rest = at + strlen(WORD);
    if (strstr(c->axes, "trials"))
        return cli_error(EXIT_USAGE,
                         "--axes %s: an array has 3 axes; give the trials of a batch as several INPUTs",
                         c->axes);
    const int n = snprintf(to, room, "%.*strials%s", (int)(at - c->axes), c->axes, rest);
    if (n >= (int)room) return cli_error(EXIT_USAGE, "--axes %.80s: too long", c->axes);
    return EXIT_DONE;
}

static int check_shapes(const char *const *inputs, const cli_batch *b) {
    const kspec_dataset *first = b->data[0];
    for (size_t i = 1; i < b->trials; i++) {
        const kspec_dataset *d = b->data[i];
        if (d->trials != first->trials || d->rows != first->rows || d->cols != first->cols)
            return cli_error(EXIT_INPUT,
                             "%s is %zu x %zu x %zu (batch, rows, columns), %s is %zu x %zu x %zu", inputs[i],
                             d->trials, d->rows, d->cols, inputs[0], first->trials, first->rows, first->cols);
        if (d->memory != first->memory)
            return cli_error(EXIT_USAGE, "the trials of a batch must all be on the GPU, or all on the host");
    }
    return EXIT_DONE;
}

int cli_batch_read(const cli_common *c, const char *role, const char *const *inputs, size_t count,
                   cli_batch *b) {
    char axes[80];
    cli_common one = *c;
    *b = (cli_batch){.trials = count};
    int status = as_trials(c, axes, sizeof axes);
    if (!status && c->nan == KSPEC_NAN_RAGGED_TRIALS)
        status = cli_error(EXIT_USAGE, "--nan ragged-trials and a batch cannot be combined");
    if (status) return status;
    one.axes = axes;
    if (!(b->data = calloc(b->trials, sizeof *b->data))) return cli_no_memory();
    for (size_t i = 0; i < b->trials && !status; i++)
        status = cli_read_inputs(&one, role, &inputs[i], 1, &b->data[i]);
    if (!status) status = check_shapes(inputs, b);
    if (status) return status;
    b->count = b->data[0]->trials;
    b->phi = calloc(b->count * b->trials, sizeof *b->phi);
    b->names = calloc(b->count, NAME);
    b->at = calloc(b->count, sizeof *b->at);
    if (!b->phi || !b->names || !b->at) return cli_no_memory();
    for (size_t k = 0; k < b->count; k++) {
        for (size_t i = 0; i < b->trials; i++) b->phi[k * b->trials + i] = kspec_dataset_trial(b->data[i], k);
        snprintf(b->names + k * NAME, NAME, "%zu", k);
        b->at[k] = (cli_recording){.name = b->names + k * NAME, .data = b->data[0]};
    }
    return EXIT_DONE;
}

void cli_batch_free(cli_batch *b) {
    for (size_t i = 0; i < b->trials && b->data; i++) kspec_free(b->data[i]);
    free(b->data), free(b->phi), free(b->names), free(b->at);
    *b = (cli_batch){0};
}
