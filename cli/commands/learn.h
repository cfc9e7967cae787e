/* Declares the arguments of `kspec learn`, and the functions that read its data and store its runs. */
#pragma once

#include "commands/estimation.h"

typedef struct {
    cli_common common;
    const char *images, *labels, *test_images, *test_labels;
    int pixels;
    cli_list width;
    size_t epochs, train_count, probe, seeds, subsample, every, batch, classes;
    double rate, rate_power, hidden_power, output_power;
    cli_estimation how;
    /* Directories, or NULL */
    const char *checkpoint, *activations;
} learn_args;

/* Reads, checks and scales the images; returns an exit status after a message. */
int learn_read(const learn_args *a, kspec_learn_data **data);

/* Holds the files of the runs. `failed` is set if a file could not be written. */
typedef struct {
    const learn_args *a;
    int failed;
    /* The open checkpoint. The library asks for its length first and reads it later, even if another file
     * has taken its name by then. */
    FILE *loading;
} learn_files;

/* Creates the directories that the user named and fills in the store. On failure prints a message and
 * returns an exit status. */
int learn_store(learn_files *f, kspec_learn_store *s);
void learn_store_close(learn_files *f);
