/*
 * A product of matrix entries as a graph: an index is a vertex, and an entry is an edge between two indices.
 * Graphs that are equal up to the names of their indices have the same value, so they get the same number.
 */
#pragma once

#include "einsum/table.h"
#include "engine/plan.h"

/*
 * The range of an index (ks_vertex.flag). FREE: it runs over its whole axis, independently of the others.
 * DISTINCT: it differs from all other distinct indices of its axis. DRAWN: it is drawn with replacement from
 * a finite population.
 */
enum { KS_FREE, KS_DISTINCT, KS_DRAWN };

/*
 * A table that numbers connected nets: equal up to the names of indices means the same number, and numbers
 * begin at 1
 */
typedef ks_table ks_nets;
#define KS_NETS ((ks_nets){.size = sizeof(ks_net), .key = sizeof(ks_net)})
uint32_t ks_nets_number(ks_nets *s, const ks_net *net, size_t *failed);
static inline const ks_net *ks_nets_at(const ks_nets *s, uint32_t number) {
    return ks_table_at(s, number - 1);
}

/*
 * Cuts a net into its connected parts, writes their numbers and returns their count. Vertices without an edge
 * are ignored.
 */
int ks_nets_parts(ks_nets *s, const ks_net *net, uint32_t number[KS_NET_LINKS], size_t *failed);

/* Adds `part` to a net that has room for its vertices and links; returns the number of its first vertex. */
int ks_net_append(ks_net *to, const ks_net *part);

/* Merges vertex v into vertex u; the last vertex takes v's number. */
void ks_net_merge(ks_net *net, int u, int v);
