"""The families of spectra, their search and their average: fit()."""

import numpy as np, math
from scipy.special import ndtr
from .constants import *
from .map import *
from .data import *


def segment(th, wt, maxseg):
    """optimal segmentations into 1..maxseg constant pieces; each a tuple of last indices of pieces"""
    n = len(th)
    cw = np.r_[0, np.cumsum(wt)]
    c1 = np.r_[0, np.cumsum(wt * th)]
    c2 = np.r_[0, np.cumsum(wt * th * th)]
    E = np.full((maxseg + 1, n + 1), np.inf)
    B = np.zeros((maxseg + 1, n + 1), int)
    E[0, 0] = 0
    out = []
    for k in range(1, maxseg + 1):
        for b in range(k, n + 1):
            a = np.arange(k - 1, b)
            v = E[k - 1, a] + c2[b] - c2[a] - (c1[b] - c1[a]) ** 2 / (cw[b] - cw[a])
            j = int(v.argmin())
            E[k, b] = v[j]
            B[k, b] = a[j]
    for k in range(1, min(maxseg, n) + 1):
        br = []
        b = n
        for kk in range(k, 0, -1):
            b = B[kk, b]
            br.append(int(b) - 1)
        out.append(tuple(sorted(x for x in br if x >= 0)))
    return out


W0 = 1e6
NONE = -60.0


def fit(Phi, dust=None):
    """dust: the variance of independent noise still in each entry, where known (two trials A, B:
    Phi=(A+B)/2, dust=mean((A-B)^2)/4; no noise: 0). None: found by the fit where the matrix is of full
    rank. Result: lam, lo, hi, dust, K."""
    scale = (Phi**2).mean()
    d = prepare(Phi / math.sqrt(scale))
    P, Q, K, Kd = d.P, d.Q, d.K, d.Kd
    mn = min(P, Q)
    END = d.K0 if d.lowrank else max(EXT * mn, K + 5)
    pos, w = nodes(K, END)
    n = len(pos)
    ar = np.arange(n)
    cum = np.r_[0, np.cumsum(w)]
    th = np.log(np.maximum(d.me[d.idx], 1e-9 * d.me[0]))
    low = d.s[mn // 2 :].sum() if d.K0 > mn // 2 else 0.0
    if n > Kd:
        q = d.me[K - 1] / max(d.me[K:].sum(), 1e-3 * d.me.sum())
        th = np.r_[th, np.maximum(th[-1] - q * (pos[Kd:] - pos[Kd - 1]), th[0] - 15)]
    known = 0.0
    nd = 0
    dm = dv = 0.0
    if dust is None:
        if not d.lowrank and low > 1e-7 * d.m1:
            nd = 1
            dm, dv = math.log(low) + DUSTMEAN, DUSTSD**2
    elif dust > 0:
        nd = 1
        known = dust / scale
        dm, dv = math.log(known), 1e-4
    if nd:
        dm -= math.log(W0)
        th = np.r_[th, dm]
    mu0 = math.log(max(d.m1 - known, 1e-3 * d.m1)) - 2
    lam = np.exp(th)
    wf = np.r_[w, W0] if nd else w

    def coord(c):
        u = np.log(pos) if c == 0 else (pos - 0.5) ** c
        return (u - u[0]) / max(u[Kd - 1] - u[0], 1e-9)

    U = {c: coord(c) for c in CS}
    lp_ = np.log(pos)
    OUK = np.exp(-np.abs(np.subtract.outer(lp_, lp_)) / ELL)

    def smooth(c, tau, so, br=()):
        if c == FLAT:
            S = S0**2 + 1e-4 * np.eye(n)
            for j in br:
                h = (ar > j) * 1.0
                S = S + STEP**2 * np.outer(h, h)
            return S, np.full(n, mu0)
        u = U[c]
        a = np.minimum.outer(u, u)
        b = np.maximum.outer(u, u)
        S = S0**2 + S1**2 * np.outer(u, u) + tau**2 * a * a * (3 * b - a) / 6 + so**2 * OUK
        for j in br:
            h = (ar > j) * 1.0
            k = np.maximum(u - u[j], 0)
            S = S + STEP**2 * np.outer(h, h) + KINK**2 * np.outer(k, k)
        return S, mu0 + SLOPE * u

    nfits = [0, 0]
    tails = np.r_[0, np.cumsum(d.s)]
    tails = tails[-1] - tails
    for last in (False, True):
        V, ls = covariance(d, lam[wf * lam > 0], wf[wf * lam > 0])
        LV = np.linalg.cholesky(V)
        y = d.y - d.shift
        if d.tail:
            y = np.r_[y, d.T]
        fits = []

        def run(S, mu, t0, g0, lp, name, r=END):
            """r: the spectrum ends there"""
            na = int(np.searchsorted(cum, r))
            wa = w[:na].copy()
            wa[-1] = r - cum[na - 1]
            S = S[:na, :na]
            mu = mu[:na]
            t = t0[:na].copy()
            if nd:
                T = np.zeros((na + 1, na + 1))
                T[:na, :na] = S
                T[na, na] = dv
                S = T
                mu = np.r_[mu, dm]
                t = np.r_[t, t0[n]]
                wa = np.r_[wa, W0]
                if r < 0.9 * mn and not known:
                    t[na] = math.log(
                        max(tails[min(r, d.K0)], 1e-12) / ((1 - r / P) * (1 - r / Q))
                    ) - math.log(W0)
            d.n = na
            nfits[0] += 1
            try:
                o = gauss_newton(y, d, wa, S, mu, t, LV, g0)
            except (np.linalg.LinAlgError, ValueError):
                return None
            nfits[1] += o.it
            f = np.full(n + nd, NONE)
            f[:na] = o.th[:na]
            v = np.full(n + nd, 1e-6)
            v[:na] = o.var[:na]
            if nd:
                f[n] = o.th[na]
                v[n] = o.var[na]
            o.th, o.var = f, v
            o.lp, o.name, o.r = o.ev + lp, name + (r,), r
            fits.append(o)
            return o

        def bonus(c):
            return FLATW if c == FLAT and d.lowrank else 0.0

        def block(br, r, t0, g0):
            """every (c,tau,so) with breaks br and end r; -> the best"""
            best = None
            pr0 = COST * (len(br) + (r < END))
            for c, so, tau in SHAPES:
                if c == FLAT and r == END and not d.lowrank:
                    continue
                o = seen.get((c, tau, so, br, r)) or run(
                    *smooth(c, tau, so, br), t0, g0, bonus(c) - pr0, ("smooth", c, tau, so, br), r
                )
                if o is None:
                    continue
                seen[c, tau, so, br, r] = o
                if not o.bad:
                    t0, g0 = o.th, o.ls
                if not o.bad and (best is None or o.lp > best.lp):
                    best = o
            return best

        seen = {}
        top = block((), END, th, ls)
        if last and K >= 4 and top is not None:
            rough = run(*smooth(0.0, ROUGH, 0.3), top.th, top.ls, -1.0, ("smooth", 0.0, ROUGH, 0.3, ()))
            if rough is None or rough.bad:
                rough = top
            cand = set().union(
                *map(set, segment(rough.th[:Kd], 1 / np.maximum(rough.var[:Kd], 1e-3), min(4, Kd - 1)))
            )
            segs = segment(rough.th[:Kd], 1 / np.maximum(rough.var[:Kd], 1e-3), min(4, Kd - 1))

            def pieces(br, r):
                """start of a flat family: the rough fit's means between the breaks"""
                t = rough.th.copy()
                na = int(np.searchsorted(cum, r))
                e = (-1,) + br + (na - 1,)
                for a, b in zip(e[:-1], e[1:]):
                    k = slice(a + 1, b + 1)
                    t[k] = math.log((w[k] * np.exp(rough.th[k])).sum() / w[k].sum())
                return t

            def attempt(shape, br, r):
                key = shape + (br, r)
                if key not in seen:
                    t, g = (pieces(br, r), d.nan) if shape[0] == FLAT else (cur.th, cur.ls)
                    o = run(
                        *smooth(*shape, br),
                        t,
                        g,
                        bonus(shape[0]) - COST * (len(br) + (r < END)),
                        ("smooth",) + shape + (br,),
                        r
                    )
                    if o is None:
                        return -np.inf
                    seen[key] = o
                return -np.inf if seen[key].bad else seen[key].lp

            ends = (
                []
                if d.lowrank
                else sorted({int(round(K * g)) for g in ENDS} | {int(cum[j + 1]) for j in cand})
            )
            ok = lambda r, br: max(3, 0 if nd else K) <= r < END and (not br or r > cum[br[-1] + 1])

            def refine(shape, new):
                k = max(new, key=new.get)
                if k[1] < END:
                    for h in (4, 2, 1):
                        for e in (k[1] - h, k[1] + h):
                            if ok(e, k[0]):
                                new[k[0], e] = attempt(shape, k[0], e)
                        k = max(new, key=new.get)
                return k

            got = []
            for shape in (top.name[1:4], (FLAT, 0.0, 0.0)):
                cur = top
                if shape[0] == FLAT:  # breaks first, with an end beyond the sample; then the end
                    r0 = END if d.lowrank else min(int(1.6 * K), END - 1)
                    new = {
                        (br, r0): attempt(shape, br, r0)
                        for br in set(segs) | {tuple(range(m)) for m in range(1, min(4, Kd - 1))}
                    }
                    k = max(new, key=new.get)
                    if not d.lowrank:
                        new.update({(k[0], e): attempt(shape, k[0], e) for e in ends if ok(e, k[0])})
                        k = refine(shape, new)
                    if new[k] == -np.inf:
                        continue
                    cur = seen[shape + k]
                    got.append(cur)
                for depth in range(MAXMOVES):
                    br, r = cur.name[4], cur.r
                    new = {
                        (tuple(sorted(br + (j,))), r): 0
                        for j in (cand | set(range(3))) - set(br)
                        if cum[j + 1] < r
                    }
                    if r == END:
                        new.update({(br, e): 0 for e in ends if ok(e, br)})
                    if not new:
                        break
                    for k in new:
                        new[k] = attempt(shape, *k)
                    k = refine(shape, new)
                    if new[k] < cur.lp - 1:
                        break
                    cur = seen[shape + k]
                    got.append(cur)
            mx = max([o.lp for o in got] + [top.lp])
            for o in got:
                if o.lp > mx - 4:
                    block(o.name[4], o.r, o.th, o.ls)
        use = [o for o in fits if not o.bad] or fits
        lp = np.array([o.lp for o in use])
        for k in {
            o.name[:5] for o in use
        }:  # ends of one shape: evidence integrated over log r, a unit being one step of ENDS
            js = sorted(
                [j for j, o in enumerate(use) if o.name[:5] == k and o.r < END], key=lambda j: use[j].r
            )
            for a, j in enumerate(js):
                up = math.log(use[js[a + 1]].r / use[j].r) if a + 1 < len(js) else UNIT
                dn = math.log(use[j].r / use[js[a - 1]].r) if a > 0 else UNIT
                lp[j] += math.log(min(1.0, (min(up, UNIT) + min(dn, UNIT)) / 2 / UNIT))
        p = np.exp(lp - lp.max())
        p /= p.sum()
        M = np.array([o.th for o in use])
        sd = np.sqrt(np.array([o.var for o in use]))
        k = p > 1e-3 * p.max()
        M, sd, pk = M[k], sd[k], p[k] / p[k].sum()

        def quantile(a):
            lo, hi = (M - 8 * sd).min(0), (M + 8 * sd).max(0)
            for _ in range(50):
                m = 0.5 * (lo + hi)
                up = (pk[:, None] * ndtr((m - M) / sd)).sum(0) < a
                lo = np.where(up, m, lo)
                hi = np.where(up, hi, m)
            return 0.5 * (lo + hi)

        th = quantile(0.5)
        lam = np.exp(th)
        lam[:n] = np.exp(np.maximum(np.minimum.accumulate(th[:n]), NONE))
        lam[lam < 1e-20] = 0
        th = np.maximum(th, -46)
    # 6. eigenvalues and intervals
    sd = INFL * sd
    ll = np.maximum(np.log(np.maximum(lam[:n], 1e-300)), -600)
    lo = np.clip(np.minimum(quantile(0.025)[:n], ll), -600, 600)
    hi = np.clip(np.maximum(quantile(0.975)[:n], ll), -600, 600)
    cs = np.cumsum(d.s)[d.idx]
    A = np.tril(np.ones((Kd, Kd))) * (d.s[d.idx] * d.mult) / cs[:, None]
    ss = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", A, V[:Kd, :Kd], A), 0))
    hi[:Kd] = np.maximum(np.minimum(hi[:Kd], np.log(cs / (d.idx + 1)) + 1.96 * ss), ll[:Kd])
    hi = np.minimum.accumulate(hi)
    lo = np.maximum.accumulate(lo[::-1])[::-1]
    r = O()
    ranks = np.arange(1, int(cum[-1]) + 1)

    def expand(x):
        """from log eigenvalues at the nodes to every rank: straight in log between nodes, 0 beyond the end"""
        k = int((x > -40).sum())
        return (
            scale * np.where(ranks <= cum[k], np.exp(np.interp(ranks, pos[:k], x[:k])), 0.0)
            if k
            else 0.0 * ranks
        )

    r.lam, r.lo, r.hi = map(expand, (ll, lo, hi))
    r.dust = scale * float(lam[n] * W0) if nd else 0.0
    r.K = K
    r.d = d
    r.p = p
    r.fits = use
    b = use[int(p.argmax())]
    r.best = b
    r.chi2 = b.chi2
    r.ndata = len(y)
    return r
