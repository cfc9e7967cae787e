#!/usr/bin/env python3
"""Figure 1b: the noise-free error against the number p of learned modes; N = 64, gamma = beta = 0.3,
alpha = 0, 0.3, 0.8.

The paper does not state the number P of modes; P = 256 is taken (with P = 2N the error does not rise towards
N at all). Double descent is taken as: the error falls, rises to p = N, is nowhere higher after its first
minimum, and ends below that minimum. The text around the figure also says what each weight does, what the
error is at p = N (17) and without weights (16), and when it decreases with p. Simulations are compared with
the theory, and with equation (14) as printed.
"""
from harness import Figure
from paper003 import PAPER

N, P, GAMMA, BETA, ALPHAS = 64, 256, 0.3, 0.3, [0, 0.3, 0.8]
OVER = range(N + 1, P + 1)
figure = Figure("003-1b", PAPER, "Double descent: error against the number of learned modes")


def points(alpha, beta, gamma, modes, learn, *options):
    r = figure.kspec("wls", "--grid", N, "--learn", learn, "--modes", modes, "--alpha", alpha, "--beta", beta,
                     "--gamma", gamma, "--threads", 1, *options)
    return {q["p"]: q for q in r["points"]}


def errors(alpha, beta, gamma=GAMMA, modes=P):
    return {p: q["error_noise_free"] for p, q in points(alpha, beta, gamma, modes, f"1-{modes}").items()}


t = [(1 + k) ** (-2 * GAMMA) for k in range(P)]  # the variances of the modes are c t, with sum 1
c = 1 / sum(t)


def printed(p):
    """Equation (14) as it is printed, for p a multiple of N"""
    share = [(1 + k) ** (-2 * BETA) for k in range(p)]
    s = [sum(share[k::N]) for k in range(N)]
    crossed = sum(share[k] * t[k] / s[k % N] for k in range(p))
    unlearned = sum(sum(x * x for x in share[k::N]) / s[k] ** 2 * sum(t[p + k::N]) for k in range(N))
    return 1 + c * sum(t[:p]) - 2 * c * crossed + c * unlearned


ABOVE = ("this α raises the error below N so much that the error peaks at p = 7. It then falls for all "
         "larger p, also at N")
curves = {a: errors(a, BETA) for a in ALPHAS}
for a, e in curves.items():
    first = min(range(1, N + 1), key=e.get)
    above = min(e[p] for p in OVER)
    figure.claim(f"α = {a}: double descent",
                 f"least up to N: {e[first]:.3f} at p = {first}; at N: {e[N]:.3f}; least above N: "
                 f"{above:.3f}",
                 1 < first < N and max(e[p] for p in range(first, P + 1)) <= e[N] and above < e[first],
                 ABOVE if a == 0.8 else None)
by_modes = {m: errors(0.8, BETA, GAMMA, m) for m in (2 * N, P, 8 * N, 32 * N)}
highest = {m: max(e, key=e.get) for m, e in by_modes.items()}
figure.expect("α = 0.8: the error is highest below N, for every P tried from 2N to 32N",
              ", ".join(f"at p = {p} for P = {m}" for m, p in highest.items()),
              max(highest.values()) < N)

plain = errors(0, 0)
same = max(abs(curves[a][p] - curves[0][p]) for a in ALPHAS for p in (N, *OVER))
below = min(max(abs(curves[a][p] - curves[0][p]) for p in range(1, N)) for a in ALPHAS[1:])
figure.claim("α plays a role for p < N only", f"effect {same:.1g} from N on, up to {below:.2g} below N",
             same < 1e-12 and below > 0.01)
same, above = (max(abs(plain[p] - curves[0][p]) for p in x) for x in (range(1, N + 1), OVER))
figure.claim("β plays a role for p > N only", f"effect {same:.1g} up to N, up to {above:.2g} above N",
             same < 1e-12 and above > 0.01)
worst = max(abs(curves[a][N] - 2 * c * sum(t[N:])) for a in ALPHAS)
figure.claim("the error at p = N is 2c Σ_{j≥N} t_j^−2γ, for all weights (17)", f"within {worst:.1g}",
             worst < 1e-12)
worst = max(abs(plain[p] - (1 - N / p + 2 * N / p * c * sum(t[p:]))) for p in range(N, P + 1, N))
figure.claim("α = β = 0: the error is 1 − N/p + (2N/p) c Σ_{j≥p} t_j^−2γ (16)", f"within {worst:.1g}",
             worst < 1e-12)
least = [min(curves[0][p] for p in x) for x in (OVER, range(1, N))]
figure.claim("the least error over p > N is below the least over p < N", f"{least[0]:.4f} and {least[1]:.4f}",
             least[0] < least[1])
gain = [plain[p] - curves[0][p] for p in OVER]
figure.claim("weights from prior knowledge beat no weights (β = γ against β = 0, every p > N)",
             f"by {min(gain):.2g} … {max(gain):.2g}", min(gain) > 0)
flat = errors(0, 0, 0)
rises = sum(flat[p + 1] > flat[p] for p in range(1, P))
figure.claim("α = β = γ = 0: the error decreases with p", f"it rises in {rises} of {P - 1} steps", rises == 0,
             "up to N the error is 1 + p/N − 2p/P, because a learned mode takes on the variance of its "
             "aliases. This rises if P > 2N")
worst = max(abs(flat[p] - (1 + p / N - 2 * p / P)) for p in range(1, N + 1))
figure.expect("α = β = γ = 0: the error is 1 + p/N − 2p/P up to N", f"within {worst:.1g}", worst < 1e-12)

simulated = {a: points(a, BETA, GAMMA, P, f"8-{P}:8", "--empirical", figure.pick(1000, 10000))
             for a in ALPHAS}
off = max(abs(q["empirical"] - curves[a][p]) / q["empirical_stderr"]
          for a in ALPHAS for p, q in simulated[a].items())
figure.claim("the theory predicts the error (simulation within 4 standard errors at 32 values of p, "
             "on common draws)",
             f"at most {off:.1f}", off < 4)
q = simulated[0][2 * N]
figure.claim("equation (14) gives the error at p = 2N",
             f"equation {printed(2 * N):.4f}, simulated {q['empirical']:.4f} ± {q['empirical_stderr']:.4f}",
             abs(printed(2 * N) - q["empirical"]) < 4 * q["empirical_stderr"],
             "the printed equation has an extra term c Σ_{j<p} t_j^−2γ, and its last sum omits the learned "
             "modes. It is right only at p = N")
figure.expect("equation (14) as printed is right at p = N", f"{printed(N):.6f}",
              abs(printed(N) - curves[0][N]) < 1e-12)

every = list(range(1, P + 1))
lines = [{"label": f"α = {a}", "x": every, "y": [e[p] for p in every], "style": "line", "color": i}
         for i, (a, e) in enumerate(curves.items())]
for i, a in enumerate(ALPHAS):
    drawn = [q for p, q in simulated[a].items() if p % 16 == 0 and (a == 0 or p < N)]
    low, high = ([q["empirical"] + sign * q["empirical_stderr"] for q in drawn] for sign in (-1, 1))
    lines.append({"label": f"simulated ± SE, α = {a}", "x": [q["p"] for q in drawn],
                  "y": [q["empirical"] for q in drawn], "style": "points", "color": i, "low": low,
                  "high": high})
figure.picture("", [{"xlabel": "learned modes p", "ylabel": "error", "series": lines,
                     "marks": [{"axis": "x", "at": N, "label": "p = N"}]}])
figure.finish()
