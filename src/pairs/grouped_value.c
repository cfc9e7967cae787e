/* Turns the numbers of grouped_job.h into sums over tuples of rows from different groups. */
#include "pairs/grouped_job.h"

/* Without centring, the sum over pairs of rows from two groups is the sum of (x_i.x_k)(y_i.y_k). */
double ks_forms_value(const ks_group_sizes *z, const ks_forms *f) {
    if (!z->centered) return f->WW[0] - f->own[0];
    const double N = z->S[0], S = z->S[1], M = N * N - S;
    const double within = M * (f->WW[0] - f->own[0]) - 4 * N * (f->WW[1] - f->own[1]) + 4 * f->WW[2] +
                          2 * f->WW[3] - 6 * f->own[2];
    const double mixed = M * (f->WE[0] - f->Z[0]) - 2 * N * (f->WE[1] - f->Z[1]) + 2 * f->WE[2] -
                         N * f->WE[3] + f->WE[4] - N * f->pWp[0] + f->pWp[1] + f->pWq + N * f->pU[0] -
                         2 * f->pU[1] - f->qU;
    const double three =
        N * N * f->q + f->qp + 2 * f->pEp[1] + S * f->EE[0] - 2 * N * f->vp + 2 * N * f->EE[1] - 2 * f->qEp;
    const double means =
        N * N * f->EE[0] - 2 * N * f->pEp[0] + f->pp - three + S * f->q + f->QQ + 2 * f->EE[2] - 2 * f->vq;
    return within + 2 * mixed + means;
}

double ks_group_tuples(const ks_group_sizes *z) {
    const double *S = z->S, two = S[0] * S[0] - S[1];
    if (!z->centered) return two;
    return S[0] * (S[0] * (S[0] * S[0] - 6 * S[1]) + 8 * S[2]) + 3 * S[1] * S[1] - 6 * S[3];
}

ks_forms ks_forms_of_traces(const ks_group_line *l) {
    const double *t = l->t, *e = l->e;
    return (ks_forms){.WW = {t[0] * t[0], t[0] * t[1], t[0] * t[2], t[1] * t[1]},
                      .own = {l->own[0], l->own[1], l->own[2]},
                      .WE = {t[0] * e[0], t[1] * e[0], t[2] * e[0], t[0] * e[1], t[1] * e[1]},
                      .Z = {l->Z[0], l->Z[1]},
                      .pWp = {t[0] * l->pp, t[1] * l->pp},
                      .pWq = 2 * t[0] * l->pq,
                      .pU = {2 * l->pT[0], 2 * l->pT[1]},
                      .qU = 2 * l->qT,
                      .EE = {e[0] * e[0], e[0] * e[1], l->EE},
                      .QQ = e[1] * e[1],
                      .q = l->q,
                      .pEp = {e[0] * l->pp, l->pEp},
                      .qEp = 2 * e[0] * l->pq,
                      .pp = l->pp * l->pp,
                      .qp = 2 * l->pEp,
                      .vp = 2 * l->vp,
                      .vq = 2 * l->vq};
}

ks_group_line ks_group_column(const ks_grouped *g, size_t k, double n, double u, double d) {
    double *const *v = g->vector;
    ks_group_line l = {0};
    double weight = 1, U[2], p = -n * u, q = v[KS_G_P2][k] - n * n * u;
    for (int i = 0; i < 3; i++, weight *= n) {
        if (i && !g->centered) break;
        l.t[i] = ks_group_diagonal(ks_grouped_w(g, i), g->all, k) - (n > 0 ? weight * d : 0);
        l.own[i] = v[KS_G_OWN + i][k] - (n > 0 ? weight * d * d : 0);
    }
    if (!g->centered) return l;
    weight = n;
    for (int i = 0; i < 2; i++, weight *= n) {
        l.e[i] = ks_group_diagonal(ks_grouped_e(g, i + 1), g->all, k) - weight * u * u;
        l.Z[i] = v[KS_G_COLUMN_Z + i][k] - weight * d * u * u;
        U[i] = v[KS_G_COLUMN_U + i][k] - weight * d * u;
        l.pT[i] = p * U[i];
    }
    const double third = v[KS_G_COLUMN_V][k] - n * n * u * u * u;
    l.pp = p * p, l.pq = p * q, l.qT = q * U[0];
    l.EE = l.e[1] * l.e[1], l.q = v[KS_G_COLUMN_Q][k] - n * n * u * u * u * u, l.pEp = p * p * l.e[1];
    l.vp = p * third, l.vq = q * third;
    return l;
}

double ks_group_trace(const ks_group_sizes *z, const ks_group_line *l) {
    if (!z->centered) return l->t[0] / z->S[0];
    return (z->S[0] * (l->t[0] + l->e[0]) - l->t[1] - l->pp) / (z->S[0] * z->S[0] - z->S[1]);
}
