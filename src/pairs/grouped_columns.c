/* Computes estimates from groups of rows without each column, from the state and a sample of the groups. */
#include "pairs/grouped_job.h"

static double value_of_part(const ks_group_sizes *z, const ks_group_part *p) {
    const ks_forms f = {.own = {p->own[0], p->own[1], p->own[2]},
                        .Z = {p->Z[0], p->Z[1]},
                        .qU = p->qU,
                        .q = p->q,
                        .vq = p->vq};
    return ks_forms_value(z, &f);
}

/*
 * Some numbers of a column are known only for the sample's groups. The function scales these numbers to all
 * groups, and writes the result for column k of matrix a to out[k]. The state knows their sum over the
 * columns. A difference to this sum is divided among the columns in proportion to their squared sums of
 * squares.
 */
static void sampled_parts(const ks_group_job *j, int a, int kind, const ks_group_part *total, double *out) {
    const ks_grouped *g = j->g;
    const size_t from = ks_group_start(g, a), to = from + g->cols[a];
    const double scale = (double)g->groups / (double)j->sample->count;
    double missing = value_of_part(&j->all, total), weights = 0;
    for (size_t k = from; k < to; k++) {
        ks_group_part sum = {0};
        for (size_t c = 0; c < j->count; c++) {
            const double *x = (const double *)&j->parts[kind][c * g->all + k];
            for (size_t i = 0; i < sizeof sum / sizeof(double); i++) ((double *)&sum)[i] += scale * x[i];
        }
        out[k - from] = value_of_part(&j->all, &sum);
        missing -= out[k - from];
        const double own = ks_group_diagonal(ks_grouped_w(g, 0), g->all, k) +
                           (g->centered ? ks_group_diagonal(ks_grouped_e(g, 1), g->all, k) : 0);
        weights += own * own;
    }
    for (size_t k = from; k < to && weights > 0; k++) {
        const double own = ks_group_diagonal(ks_grouped_w(g, 0), g->all, k) +
                           (g->centered ? ks_group_diagonal(ks_grouped_e(g, 1), g->all, k) : 0);
        out[k - from] += missing * own * own / weights;
    }
}

/*
 * Returns the state's sums over all columns of matrix a, in products with matrix b and in products of traces.
 */
static ks_group_part total_of_block(const ks_group_job *j, int a, int b) {
    const ks_grouped *g = j->g;
    const ks_forms *f = &j->block[a == b ? a : 2];
    const double *q = g->vector[KS_G_P2];
    ks_group_part p = {{f->own[0], f->own[1], f->own[2]}, {f->Z[0], f->Z[1]}, 0, f->q, 0};
    if (!g->centered) return p;
    p.qU = ks_group_dot(g, q, g->vector[KS_G_U1 + a], b), p.vq = ks_group_dot(g, g->vector[KS_G_V + a], q, b);
    return p;
}

static ks_group_part total_of_trace(const ks_group_job *j, int a) {
    const ks_group_line *l = &j->trace[a];
    return (ks_group_part){{l->own[0], l->own[1], l->own[2]}, {l->Z[0], l->Z[1]}, l->qT, l->q, l->vq};
}

/*
 * Returns those numbers of column k that the state knows exactly, in products with matrix b and in products
 * of traces.
 */
static ks_forms exact_of(const ks_group_job *j, size_t k, int a, int b) {
    const ks_grouped *g = j->g;
    ks_forms f = j->exact[b != a][k];
    if (!g->centered) return f;
    const double q = g->vector[KS_G_P2][k];
    f.QQ = ks_group_diagonal(ks_grouped_e(g, 2), g->all, k) * j->trace[b].e[1];
    f.qU = q * g->vector[KS_G_U1 + b][k], f.vq = q * g->vector[KS_G_V + b][k];
    return f;
}

static ks_forms exact_trace(const ks_group_job *j, size_t k, int a, ks_group_line *own) {
    const ks_grouped *g = j->g;
    const ks_group_line *l = &j->trace[a];
    *own = ks_group_column(g, k, 0, 0, 0);
    const double *t = l->t, *e = l->e, *s = own->t, *d = own->e;
    ks_forms f = {
        .WW = {s[0] * t[0], (s[0] * t[1] + s[1] * t[0]) / 2, (s[0] * t[2] + s[2] * t[0]) / 2, s[1] * t[1]},
        .WE = {(s[0] * e[0] + t[0] * d[0]) / 2, (s[1] * e[0] + t[1] * d[0]) / 2,
               (s[2] * e[0] + t[2] * d[0]) / 2, (s[0] * e[1] + t[0] * d[1]) / 2,
               (s[1] * e[1] + t[1] * d[1]) / 2},
        .EE = {d[0] * e[0], (d[0] * e[1] + d[1] * e[0]) / 2, j->exact[0][k].EE[2]},
        .QQ = d[1] * e[1]};
    if (!g->centered) return f;
    const double q = g->vector[KS_G_P2][k];
    f.qU = q * g->vector[KS_G_T1][k], f.vq = q * g->vector[KS_G_V + a][k];
    return f;
}

/* Computes the estimates without each column of matrix a. room is scratch for two lists of these columns. */
static void without_columns(const ks_group_job *j, int a, double *room) {
    const ks_grouped *g = j->g;
    const size_t G = j->sample->count, Q = g->cols[a], from = ks_group_start(g, a);
    const double count = ks_group_tuples(&j->all), own = (1 + j->own_less[a]) / 2;
    double *cov = room, *trace = room + Q;
    const ks_group_part block = total_of_block(j, a, a), traces = total_of_trace(j, a);
    const ks_forms all = ks_forms_of_traces(&j->trace[a]);
    const double moment = ks_forms_value(&j->all, &j->block[a]) - j->own_less[a] * j->alone[a],
                 square = ks_forms_value(&j->all, &all) - j->own_less[a] * j->alone[a],
                 first = ks_group_trace(&j->all, &j->trace[a]);
    sampled_parts(j, a, 0, &block, cov);
    sampled_parts(j, a, 2, &traces, trace);
    for (size_t k = 0; k < Q; k++) {
        ks_group_line l;
        const ks_forms f = exact_of(j, from + k, a, a), t = exact_trace(j, from + k, a, &l),
                       one = ks_forms_of_traces(&l);
        const double single = ks_forms_value(&j->all, &one);
        j->out->moment[a][1 + G + k] =
            (moment - 2 * (ks_forms_value(&j->all, &f) + cov[k] - own * single)) / count / j->fewer[a];
        j->out->square[a][1 + G + k] =
            (square - 2 * (ks_forms_value(&j->all, &t) + trace[k] - own * single)) / count / j->fewer[a];
        j->out->trace[a][1 + G + k] = (first - ks_group_trace(&j->all, &l)) / (double)(Q - 1);
    }
}

static void cross_without_columns(const ks_group_job *j, int a, double *room) {
    const ks_grouped *g = j->g;
    const size_t at = 1 + j->sample->count + ks_group_start(g, a), Q = g->cols[a], other = g->cols[!a];
    const double count = ks_group_tuples(&j->all) * (double)(Q - 1) * (double)other,
                 all = ks_forms_value(&j->all, &j->block[2]);
    const ks_group_part total = total_of_block(j, a, !a);
    sampled_parts(j, a, 1, &total, room);
    for (size_t k = 0; k < Q; k++) {
        const ks_forms f = exact_of(j, ks_group_start(g, a) + k, a, !a);
        j->out->cross[at + k] = (all - ks_forms_value(&j->all, &f) - room[k]) / count;
    }
}

static void repeat(double *list, size_t from, size_t n) {
    for (size_t k = 0; k < n; k++) list[from + k] = list[0];
}

void ks_group_leave_out_columns(const ks_group_job *j, double *room) {
    const ks_grouped *g = j->g;
    const size_t at = 1 + j->sample->count;
    for (int a = 0; a < ks_group_matrices(g); a++) {
        const size_t Q = g->cols[a];
        if (j->fewer[a] > 0) {
            without_columns(j, a, room);
            if (g->cols[1]) cross_without_columns(j, a, room);
            continue;
        }
        repeat(j->out->trace[a], at, Q), repeat(j->out->square[a], at, Q), repeat(j->out->moment[a], at, Q);
        if (g->cols[1]) repeat(j->out->cross, at + ks_group_start(g, a), Q);
    }
}
