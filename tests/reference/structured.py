"""Algorithm 3 word for word: D x D matrices, all pairs of boxes, general-purpose optimisers."""

from itertools import combinations, product

import numpy as np
from scipy.optimize import minimize


def direction(differences, pair):
    """U = a_nu a_nu' - a_mu a_mu'."""
    mu, nu = (np.asarray(differences[i], float) for i in pair)
    return np.outer(nu, nu) - np.outer(mu, mu)


def gram(differences, pairs):
    return np.array([[np.sum(direction(differences, k) * direction(differences, m)) for m in pairs] for k in pairs])


def printed_matrix(differences, pairs):
    """B with the indices the paper prints."""
    B = np.empty((len(pairs), len(pairs)))
    for row, column in product(range(len(pairs)), repeat=2):
        U_row, U_column = direction(differences, pairs[row]), direction(differences, pairs[column])
        mu, nu = (np.asarray(differences[i], float) for i in pairs[column])
        B[row, column] = np.sum(U_row * U_column) + mu @ U_column @ mu - nu @ U_column @ nu
        B[row, column] += mu @ U_row @ mu - nu @ U_row @ nu
    return B


def loss(differences, overlaps, metric, pair):
    """By how much D_nu - D_mu falls short of s_mu - s_nu."""
    mu, nu = (np.asarray(differences[i], float) for i in pair)
    return overlaps[pair[0]] - overlaps[pair[1]] + mu @ metric @ mu - nu @ metric @ nu


def all_losses(differences, overlaps, metric):
    """(loss, pair) of every pair of boxes, the worst first."""
    pairs = product(range(len(differences)), repeat=2)
    return sorted(((loss(differences, overlaps, metric, pair), pair) for pair in pairs), reverse=True)


def moved(differences, metric, pairs, lengths):
    """M + sum of length U."""
    return metric + sum((x * direction(differences, p) for x, p in zip(lengths, pairs, strict=True)), 0 * metric)


def lagrangian(differences, overlaps, metric, pairs, lengths):
    """Its value at the metric that minimises it, which the lengths determine."""
    M = moved(differences, metric, pairs, lengths)
    violations = [loss(differences, overlaps, M, pair) for pair in pairs]
    return np.sum((M - metric) ** 2) / 2 + np.asarray(lengths) @ violations


def finite_differences(function, at, width=1e-4):
    steps = width * np.eye(len(at))
    return np.array([(function(at + step) - function(at - step)) / (2 * width) for step in steps])


def dual(K, f, x):
    return f @ x - x @ K @ x / 2


def maximise_dual(K, f, limit):
    """Try every set of variables that may be positive, with the limit reached and not: for a handful of them."""
    m = len(f)
    candidates = [np.zeros(m)]
    for count in range(1, m + 1):
        for chosen in map(list, combinations(range(m), count)):
            part, ones = K[np.ix_(chosen, chosen)], np.ones((count, 1))
            bordered = np.block([[part, ones], [ones.T, np.zeros((1, 1))]])
            inside = np.linalg.lstsq(part, f[chosen], rcond=1e-10)[0]
            on_the_limit = np.linalg.lstsq(bordered, np.append(f[chosen], limit), rcond=1e-10)[0][:-1]
            for values in (inside, on_the_limit):
                x = np.zeros(m)
                x[chosen] = values
                if values.min() > -1e-9 * limit and values.sum() < limit * (1 + 1e-9):
                    candidates.append(x)
    return max(candidates, key=lambda x: dual(K, f, x))


def maximise_dual_by_scipy(K, f, limit):
    """The same by sequential quadratic programming, for more variables."""
    scale = limit / len(f)
    return (
        minimize(
            lambda x: -dual(K, f, scale * x),
            np.full(len(f), 0.5),
            jac=lambda x: -scale * (f - K @ (scale * x)),
            bounds=[(0, None)] * len(f),
            constraints={"type": "ineq", "fun": lambda x: len(f) - x.sum(), "jac": lambda x: -np.ones(len(f))},
            method="SLSQP",
            options={"ftol": 1e-15, "maxiter": 1000},
        ).x
        * scale
    )


def best_metric(differences, overlaps, metric, cost):
    """The problem itself: the metric, and the slack, that minimise |M' - M|^2 / 2 + cost * slack under all pairs."""
    D, pairs = len(metric), list(product(range(len(differences)), repeat=2))
    U = np.array([direction(differences, pair).ravel() for pair in pairs])  # (pairs, D D)
    losses = np.array([loss(differences, overlaps, metric, pair) for pair in pairs])
    found = minimize(
        lambda v: v[:-1] @ v[:-1] / 2 + cost * v[-1],  # v: the change of M, and the slack
        np.append(np.zeros(D * D), max(losses.max(), 0.0)),
        jac=lambda v: np.append(v[:-1], cost),
        constraints={
            "type": "ineq",
            "fun": lambda v: np.append(U @ v[:-1] + v[-1] - losses, v[-1]),
            "jac": lambda v: np.vstack([np.hstack([U, np.ones((len(U), 1))]), np.append(np.zeros(D * D), 1.0)]),
        },
        method="SLSQP",
        options={"ftol": 1e-14, "maxiter": 1000},
    ).x
    return metric + found[:-1].reshape(D, D), found[-1]


def learn(differences, overlaps, metric, cost, iterations):
    """Algorithm 3: the most violated pair, the step lengths of all pairs so far, the metric; again and again.

    Returns the metric, and by how much the worst pair was ahead of the next when that was closest.
    """
    M, pairs, slack, lead = metric, [], 0.0, np.inf
    for _ in range(iterations):
        (worst, pair), (second, _) = all_losses(differences, overlaps, M)[:2]
        if worst <= slack + 1e-9:
            break
        lead = min(lead, worst - second)
        pairs.append(pair)
        f = np.array([loss(differences, overlaps, metric, pair) for pair in pairs])
        M = moved(differences, metric, pairs, maximise_dual(gram(differences, pairs), f, cost))
        slack = max(0.0, *(loss(differences, overlaps, M, pair) for pair in pairs))
    return M, lead
