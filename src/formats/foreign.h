/* Recognises files of other programs that kspec does not read, so that a message can name their format. */
#pragma once

#include "formats/array.h"

/* "a Parquet file", recognised by the first bytes; NULL if the format is unknown */
const char *ks_foreign(const ks_bytes *b);

/* Names the foreign format of a folder: "a Zarr store" */
const char *ks_foreign_folder(const char *path);

/* Fails with the message about such a file */
kspec_status ks_foreign_refuse(const char *kind, const char *name, kspec_error *err);
