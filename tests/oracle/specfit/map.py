"""The pilot in closed form, the forward map, and the covariance of the sample's log eigenvalues."""

import numpy as np, math, cmath, numba as nb
from .constants import *


# ---- closed-form pilot (Mestre-type)
@nb.njit(cache=True, error_model="numpy")
def _roots(s, N):
    n = s.size
    out = np.empty(n)
    for i in range(n):
        lo = s[i + 1] if i + 1 < n else 0.0
        hi = s[i]
        for _ in range(70):
            m = 0.5 * (lo + hi)
            f = 0.0
            for j in range(n):
                f += s[j] / (s[j] - m)
            if f < N:
                lo = m
            else:
                hi = m
        out[i] = 0.5 * (lo + hi)
    return out


def pilot(s, P, Q):
    """lam_i = PQ/(Q-P) (mu_i(Q)-mu_i(P)), mu_i(N) the root of sum s/(s-mu)=N in (s_{i+1},s_i)"""
    if P == Q:
        e = 1e-4 * P
        l = P * Q * (_roots(s, P + e) - _roots(s, P - e)) / (2 * e)
    else:
        l = P * Q / (Q - P) * (_roots(s, float(Q)) - _roots(s, float(P)))
    return np.sort(l)[::-1]


# ---- forward map
@nb.njit(cache=True, fastmath=True, error_model="numpy")
def _DdD(kr, ki, lam, wl):
    D1 = 0.0
    D2 = 0.0
    E1 = 0.0
    E2 = 0.0
    for j in range(lam.size):
        a = lam[j] + kr
        q = 1 / (a * a + ki * ki)
        ir = a * q
        ii = ki * q
        c = wl[j]
        D1 += c * ir
        D2 -= c * ii
        E1 += c * (ir * ir - ii * ii)
        E2 -= 2 * c * ir * ii
    return D1, D2, E1, E2


@nb.njit(cache=True, fastmath=True, error_model="numpy")
def _arg(kr, ki, lam, w, n1):
    """sum of w arg(lam+kappa): arguments lie in (0,pi), so those of weight 1 (the first n1) are one running
    product and a count of turns"""
    pr = 1.0
    pi = 0.0
    turns = 0
    for j in range(n1):
        a = lam[j] + kr
        x = pr * a - pi * ki
        y = pr * ki + pi * a
        if pi < 0 and y >= 0:
            turns += 1
        m = 1 / (abs(x) + abs(y))
        pr = x * m
        pi = y * m
    s = math.atan2(pi, pr)
    if s < 0:
        s += 2 * math.pi
    s += 2 * math.pi * turns
    for j in range(n1, lam.size):
        s += w[j] * math.atan2(ki, lam[j] + kr)
    return s


@nb.njit(cache=True, error_model="numpy")
def _evalT(l, lam, wl, P, Q):
    k = cmath.exp(l)
    D1, D2, E1, E2 = _DdD(k.real, k.imag, lam, wl)
    D = complex(D1, D2)
    return (l + cmath.log(1 - D / P) + cmath.log(1 - D / Q)).imag


@nb.njit(cache=True, error_model="numpy")
def _eval(l, lam, w, wl, n1, nd, P, Q):
    """nd: the last node is dust (w log(1+lam/kappa) -> w lam/kappa)"""
    k = cmath.exp(l)
    D1, D2, E1, E2 = _DdD(k.real, k.imag, lam, wl)
    D = complex(D1, D2)
    dD = -k * complex(E1, E2)
    n = lam.size - nd
    s = _arg(k.real, k.imag, lam[:n], w, n1)
    for j in range(n):
        s -= w[j] * l.imag
    if nd:
        s += (wl[n] / k).imag
    a = 1 - D / P
    b = 1 - D / Q
    la = cmath.log(a)
    lb = cmath.log(b)
    return (
        l + la + lb,
        1 - dD / (P * a) - dD / (Q * b),
        D,
        s - P * la.imag + P * a.imag - Q * lb.imag + Q * b.imag,
    )  # T, dT/dl, D, Im L


@nb.njit(cache=True, error_model="numpy")
def _phi(lr, lam, wl, P, Q):
    """the angle phi of kappa=-r exp(-i phi) with Im T=pi (arg a+arg b=phi) by Illinois; tiny in gaps"""
    lo = 1e-7
    hi = math.pi
    fl = _evalT(complex(lr, math.pi - lo), lam, wl, P, Q) - math.pi
    if fl <= 0:
        return lo
    fh = -math.pi
    side = 0
    m = lo
    for it in range(60):
        m = (fl * hi - fh * lo) / (fl - fh) if it % 3 != 2 else 0.5 * (lo + hi)
        f = _evalT(complex(lr, math.pi - m), lam, wl, P, Q) - math.pi
        if f > 0:
            lo = m
            fl = f
            if side == 1:
                fh *= 0.5
            side = 1
        else:
            hi = m
            fh = f
            if side == -1:
                fl *= 0.5
            side = -1
        if abs(f) < 1e-10 or hi - lo < 1e-12:
            break
    return m


@nb.njit(cache=True, error_model="numpy")
def _N(lr, lam, w, wl, n1, nd, P, Q):
    return -_eval(complex(lr, math.pi - _phi(lr, lam, wl, P, Q)), lam, w, wl, n1, nd, P, Q)[3] / math.pi


@nb.njit(cache=True, error_model="numpy")
def _cold(lam, w, wl, n1, nd, P, Q, level, start):
    """log r with N(r)=level; N decreases with r; start: log r of the level before (nan: none)"""
    tot = 0.0
    mx = 0.0
    for j in range(lam.size):
        tot += w[j] * lam[j]
        mx = max(mx, lam[j])
    b = start
    if math.isnan(b):
        b = math.log(mx) + 2 + math.log(1 + tot / mx / min(P, Q))
    fb = _N(b, lam, w, wl, n1, nd, P, Q) - level
    st = 0.1
    if fb > 0:
        b += 1.0
        fb = _N(b, lam, w, wl, n1, nd, P, Q) - level
    a = b - st
    fa = _N(a, lam, w, wl, n1, nd, P, Q) - level
    for _ in range(60):
        if fa > 0:
            break
        b = a
        fb = fa
        st *= 1.6
        a = b - st
        fa = _N(a, lam, w, wl, n1, nd, P, Q) - level
    side = 0
    c = a
    for it in range(60):
        c = (fa * b - fb * a) / (fa - fb) if (it % 3 != 2 and fa != fb) else 0.5 * (a + b)
        f = _N(c, lam, w, wl, n1, nd, P, Q) - level
        if f > 0:
            a = c
            fa = f
            if side == 1:
                fb *= 0.5
            side = 1
        else:
            b = c
            fb = f
            if side == -1:
                fa *= 0.5
            side = -1
        if abs(f) < 1e-8 or b - a < 1e-11:
            break
    return complex(c, math.pi - _phi(c, lam, wl, P, Q))


@nb.njit(cache=True, error_model="numpy")
def forward(lam, w, P, Q, levels, guess):
    """for each level N: log kappa with Im T=pi, Im L=-pi N. -> log x, x rho, log kappa"""
    K = levels.size
    lx = np.empty(K)
    xr = np.empty(K)
    ls = np.empty(K, dtype=np.complex128)
    wl = w * lam
    n1 = 0
    nd = 0
    D0 = 0j
    dT0 = 0j
    while n1 < w.size and w[n1] == 1:
        n1 += 1
    if w[-1] >= 1e4:
        nd = 1
    for i in range(K):
        ok = False
        T = 0j
        D = 0j
        dT = 0j
        l = 0j
        for tr in range(2):
            if tr == 0:
                l = guess[i]
            elif i > 0:  # from the level before: Im dL=-pi dN along real dT
                z = ls[i - 1]
                dl = math.pi * (levels[i - 1] - levels[i]) / D0.imag * (-1) / dT0
                m = abs(dl)
                if m > 0.7:
                    dl *= 0.7 / m
                l = z + dl
                if l.imag > math.pi - 1e-6:
                    l = complex(l.real, math.pi - 1e-6)
                if l.imag < 1e-6:
                    l = complex(l.real, 1e-6)
            else:
                break
            if math.isnan(l.real):
                continue
            T, dT, D, IL = _eval(l, lam, w, wl, n1, nd, P, Q)
            f1 = T.imag - math.pi
            f2 = IL + math.pi * levels[i]
            nrm = f1 * f1 + f2 * f2 / (1 + D.imag * D.imag)
            for it in range(25):
                dL = -D * dT
                det = dT.imag * dL.real - dT.real * dL.imag
                if det == 0:
                    break
                x = (-f1 * dL.real + f2 * dT.real) / det
                y = (-f2 * dT.imag + f1 * dL.imag) / det
                m = math.hypot(x, y)
                s = 1.0
                if nrm < 1e-9 and m < 1e-3:  # last step to first order, without another evaluation
                    l = complex(l.real + x, l.imag + y)
                    T = T + dT * complex(x, y)
                    ok = True
                    break
                if m > 0.5:
                    s = 0.5 / m
                good = False
                for h in range(6):
                    l2 = complex(l.real + s * x, l.imag + s * y)
                    if l2.imag > math.pi - 1e-9 or l2.imag < 1e-6:
                        s *= 0.5
                        continue
                    T2, dT2, D2, IL2 = _eval(l2, lam, w, wl, n1, nd, P, Q)
                    g1 = T2.imag - math.pi
                    g2 = IL2 + math.pi * levels[i]
                    n2 = g1 * g1 + g2 * g2 / (1 + D2.imag * D2.imag)
                    if n2 < nrm or n2 < 1e-16:
                        good = True
                        break
                    s *= 0.5
                if not good:
                    break
                l = l2
                T = T2
                dT = dT2
                D = D2
                IL = IL2
                f1 = g1
                f2 = g2
                nrm = n2
            if ok and i > 0 and T.real > lx[i - 1] + 1e-9:
                ok = False
            if ok:
                break
        if not ok:
            l = _cold(lam, w, wl, n1, nd, P, Q, levels[i], ls[i - 1].real if i > 0 else np.nan)
            T, dT, D, IL = _eval(l, lam, w, wl, n1, nd, P, Q)
        lx[i] = T.real
        xr[i] = -D.imag / math.pi
        ls[i] = l
        D0 = D
        dT0 = dT
    return lx, xr, ls


@nb.njit(cache=True, error_model="numpy")
def elasticity(lam, w, ls):
    """d log x_i / d log lam_l = w lam/|lam+kappa_i|^2, rows normalised to 1"""
    K = ls.size
    n = lam.size
    J = np.empty((K, n))
    for i in range(K):
        k = cmath.exp(ls[i])
        s = 0.0
        for l in range(n):
            a = lam[l] + k.real
            J[i, l] = w[l] * lam[l] / (a * a + k.imag * k.imag)
            s += J[i, l]
        for l in range(n):
            J[i, l] /= s
    return J


# ---- covariance of the sample's log eigenvalues (Gaussian factors)
@nb.njit(cache=True, error_model="numpy")
def _covpair(lam, w, P, Q, k1, k2):
    v = 0.0
    for sg in (1, -1):
        kk = complex(k2.real, sg * k2.imag)
        S = 0j
        B = 0j
        for l in range(lam.size):
            q = w[l] * lam[l] / ((lam[l] + k1) * (lam[l] + kk))
            S += lam[l] * q
            B += q
        v += sg * math.log(abs((1 - S / P) * (1 - S / Q) - k1 * kk * B * B / (P * Q)))
    return v / math.pi**2


@nb.njit(cache=True, error_model="numpy")
def cov_logs(lam, w, P, Q, ls, la, lb, xr):
    K = ls.size
    V = np.empty((K, K))
    for i in range(K):
        for j in range(i):
            V[i, j] = V[j, i] = _covpair(lam, w, P, Q, cmath.exp(ls[i]), cmath.exp(ls[j])) / (xr[i] * xr[j])
        V[i, i] = _covpair(lam, w, P, Q, cmath.exp(la[i]), cmath.exp(lb[i])) / xr[i] ** 2
    return V
