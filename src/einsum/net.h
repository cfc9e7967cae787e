/*
 * A product of matrix entries as a graph: an index is a vertex, and an entry is an edge between two of them.
 * Graphs that are equal up to the names of their indices have the same value, so they get the same number.
 */
#pragma once

#include "einsum/table.h"
#include "engine/plan.h"

/*
 * What is known of an index (ks_vertex.flag): FREE runs over its axis whatever the others are; DISTINCT
 * differs from all other distinct ones of its axis; DRAWN is drawn from a finite population, with
 * replacement.
 */
enum { KS_FREE, KS_DISTINCT, KS_DRAWN };

/* The number of a connected net, in a table of nets: the same up to the names of indices, and at least 1 */
typedef ks_table ks_nets;
#define KS_NETS ((ks_nets){.size = sizeof(ks_net), .key = sizeof(ks_net)})
uint32_t ks_nets_number(ks_nets *s, const ks_net *net, size_t *failed);
static inline const ks_net *ks_nets_at(const ks_nets *s, uint32_t number) {
    return ks_table_at(s, number - 1);
}

/*
 * Cuts a net into its connected parts and writes their numbers; returns how many. Vertices without an edge
 * play no part.
 */
int ks_nets_parts(ks_nets *s, const ks_net *net, uint32_t number[KS_NET_LINKS], size_t *failed);

/* Adds a net to another whose vertices and links have room for it; returns the number of its first vertex. */
int ks_net_append(ks_net *to, const ks_net *part);

/* Vertex v becomes vertex u, and the last one takes v's number. */
void ks_net_merge(ks_net *net, int u, int v);
