"""Base class of the estimators on Nystrom features: opening the kernel, centers, checks."""

from __future__ import annotations

from typing import Any

import numpy as np

from alignlearn.engine.engines import open_engine
from alignlearn.estimators import inputs
from alignlearn.estimators.base import Estimator
from alignlearn.kernels import as_kernel
from alignlearn.machines.nystrom import CENTERS, NystromFeatures, centers_count, choose_centers
from alignlearn.sources import open_kernel
from alignlearn.validation import check_choice, check_progress, check_seed


class NystromLearner(Estimator):
    """Base of the estimators in the span of kernel functions at few centers."""

    kernel: Any
    n_centers: int | None
    centers: str
    verbose: Any
    device: str
    client: Any
    random_state: Any

    def _engine(self):
        """The engine that evaluates pairs of samples."""
        return open_engine(self.device, self.client)

    def _open(self, X, sample_weight):
        """The kernel on the samples of ``fit``; sets the attributes that scikit-learn expects."""
        self._forget()
        check_choice("centers", self.centers, CENTERS)
        check_progress("verbose", self.verbose)
        self._rng = check_seed("random_state", self.random_state)
        opened = open_kernel(X, as_kernel(self.kernel), sample_weight, engine=self._engine())
        inputs.check_sample_count(opened.n_samples)
        inputs.doubt_scales(X, opened.source.X, opened.source.kernels)
        self._store_columns(X, opened.n_features)
        return opened

    def _features(self, opened, alpha):
        """Features at the centers chosen by the parameters, for samples of positive weight."""
        n = centers_count(self.n_centers, opened.n_samples)
        whole = opened.weight is None or opened.weight.all()
        rows = None if whole else np.flatnonzero(opened.weight)
        used = opened if rows is None else opened.part(rows)
        n = min(n, used.n_samples)
        centers = choose_centers(used, n, self.centers, alpha, self._rng)
        return NystromFeatures(opened, centers if rows is None else rows[centers])

    def _keep(self, features, coef):
        """Keep the centers and their coefficients (r, c), which is all that prediction needs."""
        combination = features.combination
        self.kernel_, self.center_indices_ = combination.kernel, features.centers
        self._predictor = combination.predictor(features.centers, coef, exact=True)
        self.centers_ = self._predictor.support_samples

    def _decisions(self, X):
        """Values (n, c) of the functions at new samples, without intercepts."""
        self._check_is_fitted()
        X = self._check_columns(X, self._predictor.check)
        return self._predictor.decisions(X, self._engine())
