#!/usr/bin/env python3
"""Figure 2 (a), (b): power and rff-power against the number of updates t, on Crime and Wine.

All rows, 50 features on Crime and 150 on Wine, means of 50 trials (quick: 40 draws of features, 4 or 10
starts of power). "Both methods general converge after 5 updates, and Power converges slightly faster and more
accurately than RFF-Power." Converged: the mean is within 5% of the method's limit, for rff-power that with
the same features. More accurately: a smaller root mean square error after 5. How much nearer to its limit
power is after 1, 2 and 3 updates is said, but not judged: with 50 starts the difference is within its error.
"""
from harness import mean, standard_error
from paper001 import CASES, CRIME, MINMAX, PRINTED, WINE, Norms, close, panel

figure = Norms("001-2ab", "Norm estimates against the number of power updates")
UPDATES = [1, 2, 3, 5, 8]
METHODS = ["power", "rff-power"]
SLOW = "the largest eigenvalues are close together, so the iteration needs more updates"
REASONS = {(PRINTED, WINE, "power"): SLOW, (PRINTED, CRIME, "rff-power"): SLOW,
           (PRINTED, WINE, "rff-power"): SLOW}


def one(job):
    """Values by method after t updates; t = None: of rff-power at its limit, with the same features"""
    case, t = job
    trials = figure.pick((4, 10) if case[0] == PRINTED else (10, 4), (50, 1))
    options = ("--updates", t) if t else ("--stop", 1e-8)
    return figure.draws(*case, METHODS if t else METHODS[1:], "--features", case[1].features, *options,
                        trials=trials)


jobs = [(case, t) for case in CASES for t in (*UPDATES, None)]
values = dict(zip(jobs, figure.map(one, jobs)))
panels = []
for case, letter in zip(CASES, "abababab"):
    norm, limits = figure.baseline(*case), values[case, None]["rff-power"]
    gaps = {t: {"power": [1 - v / norm for v in values[case, t]["power"]],
                "rff-power": [1 - v / limit for v, limit in zip(values[case, t]["rff-power"], limits)]}
            for t in UPDATES}
    for m in METHODS:
        reached = 1 - mean(gaps[5][m])
        figure.judge(case, f"{m} has converged after 5 updates (within 5% of its limit)",
                     f"{reached:.4f} of its limit", close([reached]), REASONS.get((*case, m)))
    nearer = {t: mean(gaps[t]["rff-power"]) - mean(gaps[t]["power"]) for t in (1, 2, 3)}
    errors = {t: sum(standard_error(gaps[t][m]) ** 2 for m in METHODS) ** 0.5 for t in nearer}
    number = ", ".join(f"{nearer[t]:+.2g} ± {errors[t]:.1g}" for t in nearer)
    rms = {m: mean([(v / norm - 1) ** 2 for v in values[case, 5][m]]) ** 0.5 for m in METHODS}
    figure.judge(case, "power is more accurate than rff-power after 5 updates",
                 f"relative errors {rms['power']:.2g} and {rms['rff-power']:.2g}; at t = 1, 2, 3 "
                 f"power is nearer to its limit than rff-power by {number} of that limit",
                 rms["power"] < rms["rff-power"])
    limit = figure.norm(*case, ["power"], "--stop", 1e-4)["power"]
    figure.expect(f"{case[1].name}, {case[0]}: with enough updates power reaches the norm (1%)",
                  f"{limit['value']:.6g} after {limit['iterations']} updates, norm {norm:.6g}",
                  abs(limit["value"] / norm - 1) < 0.01)
    panels.append(panel(case, letter, "updates t", UPDATES, [norm] * len(UPDATES),
                        {m: [values[case, t][m] for t in UPDATES] for m in METHODS}))
figure.draw(panels)
figure.finish()
