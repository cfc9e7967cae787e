/* Recognises files of other programs that kspec does not read, so that a message can name their format. */
#pragma once

#include "formats/array.h"

/*
 * Recognises a format by the first bytes, and returns its name, such as "a Parquet file". Returns NULL if the
 * format is unknown.
 */
const char *ks_foreign(const ks_bytes *b);

/* Returns the name of a folder's foreign format, such as "a Zarr store". */
const char *ks_foreign_folder(const char *path);

/* Fails with a message that names the format of a foreign file. */
kspec_status ks_foreign_refuse(const char *kind, const char *name, kspec_error *err);
