"""Calls that must raise: tables of many cases in one test, which names all that are wrong."""

import re
import warnings


def not_refused(cases, kinds=(ValueError, TypeError)):
    """Lines on the cases (name, call, pattern of the message) that do not raise as they should.

    A warning counts as an error of another kind, as everywhere in the tests.
    """
    lines = []
    for name, call, pattern in cases:
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                found = call()
        except kinds as error:
            if not re.search(pattern, str(error)):
                lines.append(f"{name}: {type(error).__name__} {error}, which lacks {pattern}")
        except Exception as error:
            lines.append(f"{name}: {type(error).__name__} {error}")
        else:
            lines.append(f"{name}: accepted, {found!r}")
    return lines
