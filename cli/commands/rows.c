#include "commands/rows.h"

void cli_rows_shape(const cli_common *c, kspec_accumulator *rows, int k, kspec_dataset *shape,
                    cli_recording *one) {
    const kspec_accumulator_shape *s = kspec_accumulator_describe(rows);
    *shape =
        (kspec_dataset){.trials = 1, .rows = (size_t)s->rows, .cols = k ? s->other_features : s->features};
    *one = (cli_recording){.name = c->inputs[k], .inputs = c->inputs + k, .count = 1, .data = shape};
    json_t *note =
        json_pack("{s:o, s:[I, I], s:I}", "path", cli_string(one->name), "shape", (json_int_t)shape->rows,
                  (json_int_t)shape->cols, "omitted_rows", (json_int_t)s->omitted);
    if (!note) return; /* without memory, which is noticed when all is done */
    if (k)
        json_object_set_new(c->input, "other", note);
    else
        json_object_update(c->input, note), json_decref(note);
}
