"""What the estimators on Nystrom features share: the kernel opened on samples, centres, checks."""

from __future__ import annotations

import copy

import numpy as np

from alignlearn.engine.engines import open_engine
from alignlearn.estimators import _inputs
from alignlearn.estimators._sklearn import Estimator
from alignlearn.kernels import as_kernel
from alignlearn.machines.nystrom import CENTRES, NystromFeatures, centres_count, choose_centres
from alignlearn.sources import open_kernel
from alignlearn.validation import check_choice, check_flag, check_seed


class NystromLearner(Estimator):
    """Base of the estimators with ``kernel``, ``n_centres``, ``centres`` and ``random_state``."""

    def _accepts_sparse(self):
        return _inputs.take_sparse([self.kernel])

    def _open(self, X, sample_weight):
        """The kernel on the samples of ``fit``; sets what scikit-learn expects to be known."""
        for name in ("_source", "n_features_in_", "feature_names_in_"):
            self.__dict__.pop(name, None)
        check_choice("centres", self.centres, CENTRES)
        check_flag("verbose", self.verbose)
        self._rng = check_seed("random_state", self.random_state)
        names = _inputs.feature_names(X)
        source = open_kernel(X, as_kernel(self.kernel), sample_weight)
        source.engine = open_engine(self.target, self.client)
        _inputs.check_sample_count(source.n_samples)
        if source.n_features is not None:
            self.n_features_in_ = source.n_features
            if names is not None:
                self.feature_names_in_ = names
        return source

    def _features(self, source, alpha):
        """Features at the centres that the parameters ask for, samples of positive weight."""
        n, used = centres_count(self.n_centres, source.n_samples), source.used()
        n = min(n, used.n_samples)
        centres = choose_centres(used, n, self.centres, alpha, self._rng)
        if used is not source:
            centres = np.flatnonzero(source.weight)[centres]
        return NystromFeatures(source, centres)

    def _keep(self, features, coef):
        """Keep the centres and their coefficients (r, c), which is all that prediction needs."""
        source = copy.copy(features.source)
        source.reduce(features.centres, coef, exact=True)
        self.kernel_ = source.kernel
        self.centre_indices_, self.centres_ = features.centres, source.X
        self._source = source

    def _decisions(self, X):
        """Values (n, c) of the functions at new samples, without intercepts."""
        self._check_is_fitted()
        self._source.engine = open_engine(self.target, self.client)
        if self._source.n_features is not None:
            _inputs.check_test_names(self, X)
        X = self._source.check_test(X)
        if self._source.n_features is not None:
            _inputs.check_test_width(self, X.shape[1])
        return self._source.decisions(X)
