"""Regression with a learned kernel: centred alignment, then kernel ridge or epsilon-SVR."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from alignlearn.machines import KernelRidge, SupportVectorRegressor
from alignlearn.machines.feature_space import fit_ridge, fits_in_features
from alignlearn.machines.gram_rows import gram_or_rows
from alignlearn.validation import (
    check_choice,
    check_flag,
    check_memory,
    check_number,
)

from ._machines import MachineChoice, nystrom_ridge, ridge_on_pairs
from .base import Regressor, Seeded
from .error_bars import ErrorBars
from .inputs import real_targets
from .inspected import Inspected
from .learner import KernelLearner, LinearInFeatures

if TYPE_CHECKING:
    from typing_extensions import Self


@dataclass(eq=False, repr=False, kw_only=True)
class KernelRegressor(
    Regressor, Inspected, ErrorBars, MachineChoice, Seeded, LinearInFeatures, KernelLearner
):
    """Base of `MKLRegressor` and of its search: shared parameters, predictions and guarantees."""

    epsilon: float = 0.1
    tol: float = 1e-3
    max_iter: int | None = None

    def bound(
        self,
        X=None,
        y=None,
        delta=0.05,
        *,
        held_out=False,
        label_range=None,
        radius2=None,
        fixed=None,
        draws=2000,
        random_state=None,
    ):
        """Upper bound of the expected squared error, from training or from held-out samples.

        Of ridge regression from its stability if the kernel was fixed before, and, given the
        training samples, from the complexity of all combinations of the kernels, for predictions
        clipped to the range of the labels. Of any machine from held-out samples, much smaller: by
        betting on the losses of the clipped predictions.

        Parameters
        ----------
        X, y : optional
            The training samples, as in ``fit``, for a bound that holds although the weights were
            learned on them; or, with ``held_out``, samples that played no part in it.
        delta : float in (0, 1), default 0.05
            The bound fails with probability at most ``delta``.
        held_out : bool, default False
        label_range : (low, high)
            Interval that holds all labels of the distribution; needed, for a sample does not tell.
        radius2 : float, optional
            Upper bound of ``K_k(x, x)`` over the distribution, for every kernel. Needed for kernels
            whose largest value is not known, as it is for a Gaussian; not for held-out samples.
        fixed : bool, optional
            Whether kernels and weights were chosen without the training samples. Default: only for
            equal weights with ``normalize=None`` and kernels given by numbers. Weights learned on
            the same samples have no stability, and without X, y only a vacuous bound is left.
        draws : int, default 2000
            Random vectors of signs by which the complexity is found.
        random_state : int, Generator or None
            Of these signs, or of the orders in which losses are taken.

        Returns
        -------
        RiskBound or, with ``held_out``, HeldOutBound
            ``value`` in units of y^2, ``method``, ``vacuous``, ``empirical_risk``, ``hypotheses``
            and those ``not_met``; the first also ``value_if_fixed``.

        Raises
        ------
        HypothesisNotMet
            A ValueError: for labels outside ``label_range`` or none given; without ``held_out`` for
            negative weights, indefinite kernels, or a diagonal that has no known bound.
        ValueError
            For several targets, an argument out of range, rows that ``fit`` has seen as held out;
            without ``held_out`` for "svr", ``alpha=0``, or other samples than those of ``fit``.
        """
        from .held_out import held_out_risk
        from .learned_bounds import risk_bound

        self._check_is_fitted()
        if (X is None) != (y is None):
            raise ValueError("bound: X and y must be given together.")
        if check_flag("held_out", held_out):
            if X is None:
                raise ValueError("held_out=True needs X and y, samples that are not those of fit.")
            return held_out_risk(self, X, y, delta, label_range, random_state)
        sample, seed = None if X is None else (X, y), (draws, random_state)
        return risk_bound(self, sample, delta, label_range, radius2, fixed, seed)


@dataclass(eq=False, repr=False, kw_only=True)
class MKLRegressor(KernelRegressor):
    """Kernel ridge or support vector regression whose kernel is learned by centred alignment.

    Parameters
    ----------
    kernels, weighting, normalize
        As in `MKLClassifier`.
    machine : {"auto", "krr", "svr", "nystrom"}, default "auto"
        "krr": kernel ridge on all pairs of samples; "svr": support vectors. "nystrom": ridge in the
        span of the kernel at few samples, as `NystromRidge`, also of given matrices. "auto": "krr"
        up to 20,000 samples, else "nystrom"; ``chosen_machine_`` and ``summary()`` say which.
    alpha : float, default 1.0
        "krr": regularisation added to the diagonal, >= 0, in units of the kernel (with
        ``normalize="trace"`` and weights of sum 1 the mean diagonal entry is 1).
    C : float, default 1.0
        "svr": cost of errors, > 0.
    epsilon : float, default 0.1
        "svr": half-width of the tube without loss, in units of y.
    n_centers : int, optional
        "nystrom": number of these samples; default 1000.
    memory : int, str or None, default None
        Bytes for kernel values, or a text such as "2GB"; None is half of what is free. Where the
        Gram matrix does not fit, "krr" is solved by conjugate gradients to a relative residual of
        1e-8, and "svr" from rows that are computed when they are needed.
    tol : float, default 1e-3
        "svr": largest KKT violation, in units of y.
    max_iter : int, optional
        Most steps of "svr" and "nystrom".
    random_state
        As in `MKLClassifier`.

    Attributes
    ----------
    weights_, scale_, kernel_, alignment_, uniform_alignment_, kernel_alignments_, kernels_, \
statistics_, result_, coef_, n_features_in_, feature_names_in_
        As in `MKLClassifier`, with the targets in place of labels.
    support_ : ndarray of shape (n_support,)
        For "krr" all training samples; for "svr" those that are support vectors of some column.
    dual_coef_ : ndarray of shape (n_support,) or (n_support, c)
    intercept_ : float or ndarray of shape (c,)
    n_iter_ : int
        Steps of the machine; 1 for "krr".
    machine_ : KernelRidge, SupportVectorRegressor or NystromKernelRidge
    chosen_machine_ : {"krr", "svr", "nystrom"}

    Notes
    -----
    See `MKLClassifier` on centring, indefinite kernels and memory. "krr" needs ``K + alpha I``
    to be positive definite after centring, so with an indefinite kernel a large enough ``alpha``.
    Targets may have several columns: one kernel is learned for all, and one machine per column.
    With kernels that are linear in the features, ridge regression with ``alpha > 0`` is solved in
    the features in use where they are fewer than the samples, without an (m, m) matrix.

    Examples
    --------
    A table and a kernel for each of two sources, of which one says nothing of the target:

    >>> import numpy as np
    >>> from alignlearn import MKLRegressor
    >>> rng = np.random.default_rng(0)
    >>> X = {"genes": rng.normal(size=(60, 3)), "noise": rng.normal(size=(60, 3))}
    >>> y = X["genes"] @ [1.0, -2.0, 0.5]
    >>> model = MKLRegressor({"genes": "linear", "noise": "linear"}, alpha=0.1).fit(X, y)
    >>> model.weights_.round(1).tolist(), model.score(X, y) > 0.9
    ([0.9, 0.1], True)
    """

    _paired_machine = "krr"

    machine: str = "auto"
    alpha: float = 1.0
    C: float = 1.0
    n_centers: int | None = None
    memory: int | str | None = None

    def fit(self, X, y, sample_weight=None) -> Self:
        """Learn the kernel and train the machine.

        Parameters
        ----------
        X : array-like of shape (m, d)
            Or a list of objects, a sparse matrix, p Gram matrices or several tables, as ``kernels``
            allows.
        y : array-like of shape (m,) or (m, c)
            Real, finite and not constant.
        sample_weight : array-like of shape (m,), optional
            Not negative. Both stages take it, as in `MKLClassifier`: an integer counts repetitions.

        Returns
        -------
        self

        Raises
        ------
        ValueError, TypeError
            Bad input; the message names the argument and what is accepted.

        Warns
        -----
        DegenerateKernelWarning
            No kernel is positively aligned with y: equal weights are used.
        ConvergenceWarning
            The machine stopped above ``tol``.
        """
        check_choice("machine", self.machine, ("auto", "krr", "svr", "nystrom"))
        memory = check_memory("memory", self.memory)
        self._untrained()  # checks its parameters, before the work

        def targets_of(source):
            return real_targets(self, y, source.n_samples, source.weight)

        learned, y = self._learn(X, targets_of, "regression", sample_weight)
        self.chosen_machine_ = self._chosen(learned.source)
        machine, predictor = self._train(learned, y, memory)
        self.machine_ = machine
        self.support_ = _support(machine, learned)
        columns, intercept = _columns(machine, self.support_), predictor.intercept
        if y.ndim == 1:
            self.dual_coef_ = columns[:, 0]
            self.intercept_ = float(np.ravel(intercept)[0])
        else:
            self.dual_coef_, self.intercept_ = columns, intercept
        self.n_iter_ = int(np.max(getattr(machine, "n_iter_", 1)))
        self._predictor = self._taking_gaps(predictor, X, learned)
        return self

    def _untrained(self):
        """The machine that is asked for; the one for "nystrom" is made of the kernel."""
        if self.machine == "svr":
            options = {"tol": self.tol, "max_iter": self.max_iter}
            return SupportVectorRegressor(self.C, self.epsilon, **options)
        strict = self.machine == "nystrom"
        return KernelRidge(check_number("alpha", self.alpha, low=0.0, strict=strict))

    def _train(self, learned, y, memory):
        """The chosen machine on a combination, and its predictor."""
        machine, options = self._untrained(), {}
        if self.chosen_machine_ == "nystrom":
            machine, options = nystrom_ridge(self, learned, y), {"exact": True}
        elif self.chosen_machine_ == "svr":
            machine.fit(gram_or_rows(learned, memory, machine, y), y, learned.weight, check=False)
        elif machine.alpha > 0.0 and fits_in_features(learned):
            of_features = fit_ridge(machine, learned, y)
            return machine, learned.linear_predictor(of_features, machine.intercept_)
        else:
            ridge_on_pairs(machine, learned, y, memory)
        support = _support(machine, learned)
        given = support, _columns(machine, support), machine.intercept_
        return machine, learned.predictor(*given, **options)


def _support(machine, learned):
    """Samples with a dual coefficient; all of them for ridge regression."""
    return getattr(machine, "support_", np.arange(learned.n_samples))


def _columns(machine, support):
    """The dual coefficients with an axis of targets, also where no sample is a support vector."""
    return machine.dual_coef_.reshape(support.size, *(machine.dual_coef_.shape[1:] or (1,)))
