/* Parses --device, and adds to a result where the command computed. */
#include "core/cli.h"

#include <string.h>

const cli_choice cli_devices[] = {
    {"auto", KSPEC_DEVICE_AUTO}, {"cpu", KSPEC_DEVICE_CPU}, {"gpu", KSPEC_DEVICE_GPU}, {0}};

void cli_device_keys(const kspec_device_used *d, json_t *to) {
    json_object_set_new(to, "device", cli_string(d->name));
    json_object_set_new(to, "device_reason", cli_string(d->why));
}

void cli_device_print(FILE *f, const kspec_device_used *d) {
    if (strcmp(d->name, "cpu") != 0) fprintf(f, "on %s\n", d->name);
}
