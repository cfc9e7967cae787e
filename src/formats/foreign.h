/* Files of other programs that the tool does not read, so that a message can say what they are. */
#pragma once

#include "formats/array.h"

/* "a Parquet file", by its first bytes; NULL where it is none that is known */
const char *ks_foreign(const ks_bytes *b);

/* The same of a folder: "a Zarr store" */
const char *ks_foreign_folder(const char *path);

/* The message */
kspec_status ks_foreign_refuse(const char *kind, const char *name, kspec_error *err);
