"""The predictors of distributions and samples: their centering, and rejected input."""

import numpy as np
import pytest
from alignlearn.theory.reference import predictors
from alignlearn.theory.reference.problems import FiniteDistribution


def test_predictors_on_a_sample_center_new_points_with_the_training_means():
    rng = np.random.default_rng(0)
    F, G, y = rng.standard_normal((8, 2)), rng.standard_normal((3, 2)), rng.standard_normal(8)
    h = predictors.h_sample(F @ F.T, y)
    np.testing.assert_allclose(predictors.h_sample(F @ F.T, y, F @ F.T), h, atol=1e-12)
    Fc, yc = F - F.mean(0), y - y.mean()
    w = Fc.T @ yc / 8 / (np.linalg.norm(Fc @ Fc.T) / 8 * (yc @ yc) / 8)
    np.testing.assert_allclose(predictors.h_sample(F @ F.T, y, G @ F.T), (G - F.mean(0)) @ w)


def test_labels_that_are_not_standardized_and_samples_without_variance_are_refused():
    law = FiniteDistribution(np.array([0.5, 0.5]), np.array([0.0, 1.0]))
    with pytest.raises(ValueError, match="mean 0"):
        predictors.h_star(law, np.eye(2))
    with pytest.raises(ValueError, match="vary"):
        predictors.h_sample(np.ones((3, 3)), np.arange(3.0))
