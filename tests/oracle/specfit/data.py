"""What the fit sees of a matrix, the leverages, and Gauss-Newton."""

import numpy as np, math, scipy.linalg as sl
from .constants import *
from .map import *


def nodes(K, end):
    """1..SINGLE one by one, groups growing by FINE up to K, by COARSE beyond -> mean position, weight"""
    pos = []
    w = []
    a = 0
    while a < end:
        b = min(
            max(a + 1, int(round(a * (FINE if a < K else COARSE)))) if a >= SINGLE else a + 1,
            end if a >= K else K,
        )
        pos.append(0.5 * (a + 1 + b))
        w.append(float(b - a))
        a = b
    return np.array(pos), np.array(w)


def groups(K):
    """sample eigenvalues used, 0-based: the middle one of each group; and the sizes of the groups"""
    pos, w = nodes(K, K)
    return (pos - 0.5).astype(int), w


# ---- leverages that differ: features are not Gaussian factors
def _side(U2, rest, s, n, t, D, dD):
    r1 = 1 / (s + t)
    g = t * (U2 @ r1) + rest
    G2 = U2 @ (r1 * r1) + rest / t**2
    de = 1 / g - 1
    tdp = G2 * t * t * (1 + de) ** 2 - (1 + de)
    e = -dD * t / (n - D)
    m = n * (-tdp - e * de) / (1 - e)
    return ((g - g.mean()) * m).mean()


def hetero(U2, V2, s, P, Q, ts, lam0):
    """per t: D, dD/dlogt, C (bias of D(kappa), with finite size), Cx (what Gaussian factors have not)"""
    ru = np.maximum(1 - U2.sum(1), 0)
    rv = np.maximum(1 - V2.sum(1), 0)
    out = np.empty((len(ts), 4), complex)
    for j, t in enumerate(ts):
        D = (s / (s + t)).sum()
        dD = -(s / (s + t) ** 2).sum()
        C = _side(U2, ru, s, P, t, D, dD) + _side(V2, rv, s, Q, t, D, dD)
        k = t / (1 - D / P) / (1 - D / Q)
        Cf = -(1 / P + 1 / Q) * (lam0**2 * k / (lam0 + k) ** 3).sum()
        out[j] = D, dD * t, C - Cf, C - 2 * Cf
    return out


class O:
    pass


def prepare(Phi):
    P, Q = Phi.shape
    mn = min(P, Q)
    U, sv, Vt = np.linalg.svd(Phi, full_matrices=False)
    s = sv**2 / (P * Q)
    d = O()
    K0 = int((s > 1e-11 * s[0]).sum())
    d.lowrank = K0 <= 0.9 * mn and s[K0 - 1] > 1e4 * max(s[K0], 1e-300) and s[K0 - 1] > 1e-7 * s[0]
    s = s[:K0]
    U2 = U[:, :K0] ** 2
    V2 = (Vt[:K0].T) ** 2
    d.P, d.Q, d.s, d.K0, d.m1 = P, Q, s, K0, s.sum()
    d.me = pilot(s, P, Q)
    K = max(min(K0, int((1 - np.cumsum(s) / d.m1 > SHARE).sum()) + 1), min(K0, 4))
    idx = groups(K)[0]
    o = hetero(U2, V2, s, P, Q, s[idx], d.me)
    cd = np.maximum.accumulate(np.abs((o[:, 3] / o[:, 0]).real))
    bad = np.nonzero(cd > CUT)[0]
    if len(bad):
        K = max(int(idx[bad[0]]), min(3, K0))
    d.K = K
    d.idx, d.mult = groups(K)
    x = s[d.idx]
    top, bot = math.log(20 * s[0]), math.log(x[-1])
    v = np.linspace(top, bot, int((top - bot) * GRID) + 2)
    o = hetero(U2, V2, s, P, Q, np.exp(v + 1j * PSI), d.me)
    A = 1 / (P - o[:, 0]) + 1 / (Q - o[:, 0])
    dn = []
    for c in (2, 3):
        f = o[:, c] * (1 + A * o[:, 1])
        I = np.concatenate([[0], np.cumsum(0.5 * (f[1:] + f[:-1])) * (v[0] - v[1])])
        dn.append(np.interp(np.log(x), v[::-1], (-I.imag / math.pi)[::-1]))
    d.dN, d.dNx = dn
    U2s, V2s = U2[:, d.idx], V2[:, d.idx]
    d.ratio = np.clip(
        (((P * (U2s**2).sum(0) - 1) / P + (Q * (V2s**2).sum(0) - 1) / Q) / (2 / P + 2 / Q)), 0.1, 40.0
    )
    m = min(6, K)
    d.c0 = 0.0
    if m >= 2:
        A = P * U2[:, :m]
        B = Q * V2[:, :m]
        E = (A.T @ A / P - 1) / P + (B.T @ B / Q - 1) / Q + 2 / P**2 + 2 / Q**2
        a, b = np.triu_indices(m, 1)
        k = (d.ratio[a] < 2.5) & (d.ratio[b] < 2.5)
        if k.any():
            d.c0 = max(0.0, E[a, b][k].mean() - math.sqrt((8.0 / P**3 + 8.0 / Q**3) / k.sum()))
    t = s[K:].sum()
    d.T = t / d.m1
    d.tail = K < K0 or not d.lowrank
    fu = P * (U2[:, K:] @ s[K:]) - t
    fv = Q * (V2[:, K:] @ s[K:]) - t
    d.vT = ((fu**2).mean() / P + (fv**2).mean() / Q) / d.m1**2
    d.y = np.log(x)
    d.lev = d.idx + 0.5
    d.Kd = len(d.idx)
    d.nan = np.full(d.Kd, np.nan + 0j)
    return d


def covariance(d, lam, w):
    P, Q, K = d.P, d.Q, d.Kd
    lx, xr, ls = forward(lam, w, P, Q, d.lev, d.nan)
    la = forward(lam, w, P, Q, d.lev - DE, ls)[2]
    lb = forward(lam, w, P, Q, d.lev + DE, ls)[2]
    V = cov_logs(lam, w, P, Q, ls, la, lb, xr)
    r = d.ratio
    if d.c0 > 0:
        r = np.maximum(r - d.c0 / (2 / P + 2 / Q), 0.1 * r)
    n = K + int(d.tail)
    W = np.zeros((n, n))
    sr = np.sqrt(r)
    W[:K, :K] = V * np.outer(sr, sr)
    e = np.ones(n)
    if d.tail:
        W[K, K] = 1.5 * d.vT + 1e-12
        e[K] = d.T
    g = np.sqrt(np.diag(W))
    R = W / np.outer(g, g)
    for sh in (0, 0.01, 0.03, 0.1, 0.3, 1.0):
        Rs = R * (1 - sh) + sh * np.eye(n)
        if np.linalg.eigvalsh(Rs)[0] > 1e-4:
            break
    W = Rs * np.outer(g, g) + d.c0 * np.outer(e, e)
    d.half = 0.5 * np.minimum(np.diag(W)[:K], 0.3)
    d.shift = np.clip(d.dN / xr, -0.5, 0.5)
    b = BETA * np.abs(np.clip(d.dNx / xr, -0.5, 0.5))
    li = np.log(d.idx + 1.0)
    W[:K, :K] += EXTRA**2 * np.eye(K) + np.outer(b, b) * np.exp(-0.5 * (np.subtract.outer(li, li) / 0.5) ** 2)
    if d.tail:
        W[K, K] += 0.01**2
    return W, ls


def model(th, w, d, guess, jacobian):
    lam = np.exp(th)
    lx, xr, ls = forward(lam, w, d.P, d.Q, d.lev, guess)
    val = lx
    J = None
    q = d.mult * np.exp(lx + d.shift + d.half)
    if d.tail:
        val = np.r_[lx, ((w * lam).sum() - q.sum()) / d.m1]
    if jacobian:
        J = elasticity(lam, w, ls)
        if d.tail:
            J = np.vstack([J, (w * lam - q @ J) / d.m1])
    return val, ls, J


# ---- maximum a posteriori by Gauss-Newton in whitened coordinates; Laplace evidence
def gauss_newton(y, d, w, S, mu, th, LV, guess, maxit=25):
    n = len(mu)
    LS = np.linalg.cholesky(S + 1e-7 * np.eye(n))
    tri = lambda L, b: sl.solve_triangular(L, b, lower=True)
    xi = tri(LS, th - mu)
    val, ls, J = model(th, w, d, guess, True)
    z = tri(LV, y - val)
    obj = z @ z + xi @ xi
    conv = False
    for it in range(maxit):
        G = tri(LV, J @ LS)
        H = G.T @ G + np.eye(n)
        step = sl.cho_solve(sl.cho_factor(H, lower=True), G.T @ z - xi)
        mx = np.abs((LS @ step)[: min(d.Kd, d.n)]).max()
        s = min(1.0, 2 / max(mx, 1e-12))
        ok = False
        for _ in range(8):
            xi2 = xi + s * step
            th2 = mu + LS @ xi2
            th2 = np.maximum(th2, th2[: min(d.Kd, d.n)].max() - 35)
            o2 = np.inf
            if th2.max() < th.max() + 6:
                val2, ls2, J2 = model(th2, w, d, ls, True)
                if np.isfinite(val2).all():
                    z2 = tri(LV, y - val2)
                    o2 = z2 @ z2 + xi2 @ xi2
            if o2 < obj + 1e-6:
                ok = True
                break
            s *= 0.35
        if not ok:
            conv = mx < 0.1
            break
        dec = obj - o2
        xi, th, ls, val, z, obj, J = xi2, th2, ls2, val2, z2, o2, J2
        if dec < 5e-3 or mx * s < 5e-3:
            conv = True
            break
    G = tri(LV, J @ LS)
    cH = np.linalg.cholesky(G.T @ G + np.eye(n))
    o = O()
    o.th, o.ls, o.chi2, o.it = th, ls, z @ z, it + 1
    o.ev = -0.5 * obj - np.log(np.diag(cH)).sum() - np.log(np.diag(LV)).sum()
    o.var = (tri(cH, LS.T) ** 2).sum(0)
    o.bad = (not conv) or np.diff(th[: d.n]).max(initial=-1.0) > 0.5 or not np.isfinite(o.ev)
    return o
