"""The gradient step is minus the gradient of the loss."""

import numpy as np
import pytest
from numpy.random import default_rng

from giantstep.numerics.function_table import FUNCTIONS
from giantstep.problems.targets import lookup_target
from giantstep.simulation.gradients import batch_slopes, population_gradient


def sphere(rng, rows, dimension):
    normals = rng.standard_normal((rows, dimension))
    return normals / np.linalg.norm(normals, axis=1, keepdims=True)


def test_gradient_step_is_minus_the_gradient_of_the_loss():
    rng = default_rng(0)
    weights, inputs = sphere(rng, 4, 6), rng.standard_normal((10, 6))
    labels, omega = rng.standard_normal(10), rng.standard_normal(4)

    def loss(w):  # half the squared error of f = a.sigma(W x)/sqrt(p), a = omega/sqrt(p)
        output = np.tanh(inputs @ w.T) @ omega / 4
        return np.sum((labels - output) ** 2) / 2

    gradient = np.zeros_like(weights)
    for index in np.ndindex(weights.shape):
        h = np.zeros_like(weights)
        h[index] = 1e-6
        gradient[index] = (loss(weights + h) - loss(weights - h)) / 2e-6
    found = batch_slopes(weights, omega, FUNCTIONS["tanh"], inputs, labels).T @ inputs
    assert found / 4 == pytest.approx(-gradient, abs=1e-8)


@pytest.mark.parametrize(("student", "target"), [("tanh", "sign"), ("relu", "sin")])
def test_population_gradient_is_the_mean_over_batches(student, target):
    """A false alarm has 0.3 %, as if the z-scores were 40 independent ones: rows share batches."""
    rng = default_rng(1)
    weights, (theta,) = sphere(rng, 12, 40), sphere(rng, 1, 40)
    weights = weights * rng.uniform(0.5, 1.5, (12, 1)) + 0.6 * theta
    student, teacher = FUNCTIONS[student], FUNCTIONS[target]
    omega = rng.choice([-0.5, 2.0], 12)
    batches = []
    for _ in range(40):
        inputs = rng.standard_normal((10_000, 40))
        labels = teacher.value(inputs @ theta)
        slopes = batch_slopes(weights, omega, student, inputs, labels)
        batches.append(slopes.T @ inputs / labels.size)
    stderr = np.std(batches, axis=0, ddof=1) / np.sqrt(len(batches))
    norms = np.linalg.norm(weights, axis=1)
    exact = population_gradient(weights, norms, omega, student, teacher, theta[None])
    assert np.mean(((np.mean(batches, axis=0) - exact) / stderr) ** 2) < 1.7


def test_the_population_gradient_on_a_product_is_that_on_squares_along_its_diagonals():
    # z1 z2 = (He2(s) - He2(t))/2, with s and t along the diagonals.
    rng = default_rng(4)
    directions = np.linalg.qr(rng.standard_normal((40, 2)))[0].T
    weights = sphere(rng, 12, 40) * rng.uniform(0.5, 1.5, (12, 1)) + 0.6 * directions[0]
    along = (np.array([[1, 1], [1, -1]]) / np.sqrt(2)) @ directions

    def gradient(target, directions):
        omega = np.linspace(-0.5, 2, 12)
        norms = np.linalg.norm(weights, axis=1)
        return population_gradient(
            weights, norms, omega, FUNCTIONS["elu"], lookup_target(target), directions
        )

    product = gradient("z1+z1*z2", directions) - gradient("z1", directions[:1])
    squares = [gradient("he2", one[None]) for one in along]
    assert product == pytest.approx((squares[0] - squares[1]) / 2, abs=1e-10)
