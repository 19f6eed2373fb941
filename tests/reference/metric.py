"""Algorithm 2 word for word: the metric is a D x D matrix and every step changes all of it."""

import numpy as np


def direction(samples, triplet):
    """U = a- a-' - a+ a+', with a- leading to the stranger and a+ to the relative; and both of them."""
    p, near, far = (np.asarray(samples[i], float) for i in triplet)
    a_near, a_far = p - near, p - far
    return np.outer(a_far, a_far) - np.outer(a_near, a_near), a_near, a_far


def printed_denominator(samples, triplet):
    U, a_near, a_far = direction(samples, triplet)
    return 2 * a_far @ U @ a_far - 2 * a_near @ U @ a_near - np.sum(U * U)


def hinge(samples, triplet, metric, margin):
    """By how much the triplet falls short of its margin; positive when it does."""
    _, a_near, a_far = direction(samples, triplet)
    return margin + a_near @ metric @ a_near - a_far @ metric @ a_far


def learn(samples, metric, triplets, margin, step_limit, floor=None, smallest=1e-12):
    """Step by step. With a floor, eigenvalues are raised to it after every step.

    Returns the metric, the step of every triplet (0 where none was taken) and the hinge each met.
    """
    M, steps, hinges = np.array(metric, float), np.zeros(len(triplets)), np.zeros(len(triplets))
    for i, triplet in enumerate(triplets):
        U, _, _ = direction(samples, triplet)
        size = printed_denominator(samples, triplet)
        hinges[i] = hinge(samples, triplet, M, margin)
        if hinges[i] > 0 and size > smallest:
            steps[i] = min(step_limit, hinges[i] / size)
            M = M + steps[i] * U
            if floor is not None:
                M = projected(M, floor)
    return M, steps, hinges


def projected(metric, floor):
    values, vectors = np.linalg.eigh((metric + metric.T) / 2)
    return vectors @ np.diag(np.maximum(values, floor)) @ vectors.T
