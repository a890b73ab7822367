"""`each`: many small cases in one test, where separate tests would cost more than the cases."""

import functools
import inspect

import pytest


def each(names, cases):
    """Run a test for every case, like ``parametrize``, but as one test that names the failures.

    For cases of milliseconds without state of their own: fixtures are made once for all cases. The
    first failure is raised, and the failed cases are listed.
    """
    cases = list(cases)
    names = [name.strip() for name in names.split(",")] if isinstance(names, str) else list(names)

    def decorate(test):
        signature = inspect.signature(test)
        assert set(names) <= set(signature.parameters), f"{test.__name__} has no {names}"

        @functools.wraps(test)
        def run(*args, **given):
            failed = []
            for case in cases:
                values = dict(zip(names, case if len(names) > 1 else (case,), strict=True))
                try:
                    test(*args, **given, **values)
                except (Exception, pytest.fail.Exception) as error:
                    failed.append((", ".join(f"{k}={v!r}" for k, v in values.items()), error))
            if failed:
                lines = "\n".join(name[:200] for name, _ in failed)
                raise AssertionError(f"{len(failed)} cases fail:\n{lines}") from failed[0][1]

        rest = [p for name, p in signature.parameters.items() if name not in names]
        run.__signature__ = signature.replace(parameters=rest)
        return run

    return decorate
