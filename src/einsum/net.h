/*
 * Nets are products of matrix entries, written as graphs. An index is a vertex, and an entry is an edge
 * between two indices. Graphs that are equal up to the names of their indices have the same value, so they
 * get the same number.
 */
#pragma once

#include "einsum/table.h"
#include "engine/plan.h"

/*
 * ks_vertex.flag stores the range of an index. A FREE index runs over the whole axis, independently of other
 * indices. A DISTINCT index differs from all other distinct indices of the axis. A DRAWN index is drawn with
 * replacement from a finite population.
 */
enum { KS_FREE, KS_DISTINCT, KS_DRAWN };

/*
 * The table ks_nets numbers connected nets from 1 on. Nets that are equal up to the names of indices have the
 * same number.
 */
typedef ks_table ks_nets;
#define KS_NETS ((ks_nets){.size = sizeof(ks_net), .key = sizeof(ks_net)})
uint32_t ks_nets_number(ks_nets *s, const ks_net *net, size_t *failed);
static inline const ks_net *ks_nets_at(const ks_nets *s, uint32_t number) {
    return ks_table_at(s, number - 1);
}

/*
 * Divides a net into connected parts, writes the numbers of the parts and returns how many there are.
 * Vertices without an edge do not count.
 */
int ks_nets_parts(ks_nets *s, const ks_net *net, uint32_t number[KS_NET_LINKS], size_t *failed);

/*
 * Adds the vertices and links of `part` to a net that has enough memory for them. Returns the number of the
 * first vertex added.
 */
int ks_net_append(ks_net *to, const ks_net *part);

/* Merges vertex v into vertex u. The last vertex of the net then gets the number v. */
void ks_net_merge(ks_net *net, int u, int v);
