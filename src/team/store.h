/* A checkpoint: a directory with a file `identity`, which describes the computation, and parts, each with
 * the results of some chunks of one shared loop. A part is written under a temporary name and then
 * renamed. The last word of a part is a checksum. The name of a part contains the loop and the first
 * chunk, so no two ranks write the same part. */
#pragma once

#include "team/team.h"

/*
 * Opens the checkpoint in `dir`. Rank 0 creates the directory and `identity` if they do not exist. The other
 * ranks call this after rank 0.
 */
kspec_status ks_store_open(ks_store **out, const char *dir, const char *identity, int rank, kspec_error *err);
void ks_store_close(ks_store *k);

/* Adds `identity` to the identity of all parts that are stored from now on. The directory must stay the
 * same. */
kspec_status ks_store_more(ks_store *k, const char *dir, const char *identity, kspec_error *err);

/* The section of the checkpoint that belongs to one shared loop. */
typedef struct {
    uint64_t loop;
    const char *what;
    size_t chunks;
    const ks_share *shares;
    int count;
    /* for each chunk, 1 if its results are already stored */
    unsigned char *have;
    /* this rank reads the results of the chunks mine[0] ... mine[1]-1 */
    size_t mine[2];
} ks_stored_loop;

/* Sets `have`, and reads the results of this rank's chunks from the existing parts. */
kspec_status ks_store_begin(ks_store *k, const ks_stored_loop *l, kspec_error *err);

/* Reports a finished chunk. The checkpoint writes the results at once or within a short time. Any thread
 * may call this. */
kspec_status ks_store_add(ks_store *k, const ks_stored_loop *l, size_t chunk, kspec_error *err);

/* Writes the pending chunks. */
kspec_status ks_store_flush(ks_store *k, const ks_stored_loop *l, kspec_error *err);

/* The seconds between two parts, by default 1. Tests set 0, which writes every chunk at once. */
extern double ks_store_interval;

/* ---- results of one chunk, as bytes one after the other (share.c) ---- */
size_t ks_share_bytes(const ks_share *shares, int count, size_t chunks, size_t chunk);
void ks_share_take(const ks_share *shares, int count, size_t chunks, size_t chunk, unsigned char *to);
void ks_share_give(const ks_share *shares, int count, size_t chunks, size_t chunk, const unsigned char *from);
