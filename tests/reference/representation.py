"""How badly samples explain a candidate, by general-purpose solvers in double precision."""

import math

import numpy as np


def ridge_unit(templates, metric):
    """What a ridge of 1 is as an absolute number: the trace of P'MP."""
    return float(sum(p @ metric @ p for p in np.asarray(templates, float)))


def theta_whitened(templates, candidate, metric, ridge):
    """Least squares after the change of coordinates in which a positive definite metric is the identity.

    The ridge (here an absolute number) is one more equation per sample: its coefficient should be zero.
    """
    P, y = np.asarray(templates, float).T, np.asarray(candidate, float)
    whiten = np.linalg.cholesky(np.asarray(metric, float)).T
    n = P.shape[1]
    A = np.vstack([whiten @ P, math.sqrt(ridge) * np.eye(n)])
    b = np.concatenate([whiten @ y, np.zeros(n)])
    x = np.linalg.lstsq(A, b, rcond=None)[0]
    return float(np.sum((A @ x - b) ** 2))


def theta_direct(templates, candidate, metric, ridge, cut=0.0):
    """Algorithm 1 as printed: x = (P'MP + ridge I)^+ P'My, then what is left, for any symmetric metric.

    Eigenvalues of P'MP + ridge I of at most `cut` count as zero.
    """
    P, y, M = np.asarray(templates, float).T, np.asarray(candidate, float), np.asarray(metric, float)
    G = P.T @ M @ P + ridge * np.eye(P.shape[1])
    largest = np.abs(np.linalg.eigvalsh(G)).max()
    x = np.linalg.pinv(G, rcond=cut / largest if largest > 0 else 0.0, hermitian=True) @ P.T @ M @ y
    rest = y - P @ x
    return float(rest @ M @ rest + ridge * x @ x)


def score(theta_f, theta_b, gamma_f, gamma_b, rho):
    """Equation 3 for one candidate."""
    difference = math.exp(-theta_f / gamma_f) - rho * math.exp(-theta_b / gamma_b)
    return 1.0 / (1.0 + math.exp(-difference))


def residual_form(templates, metric, ridge):
    """The matrix A of theta(y) = y'Ay, by inverting M^-1 + PP' / ridge."""
    P, M = np.asarray(templates, float).T, np.asarray(metric, float)
    return np.linalg.inv(np.linalg.inv(M) + P @ P.T / ridge)
