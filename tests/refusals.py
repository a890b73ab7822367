"""Calls that must raise: one, or a table of them, of which all wrong ones are named."""

import re
import warnings

import pytest


def raises(kind, match, call, /, *args, **options):
    """Check that one call raises an error whose message matches."""
    with pytest.raises(kind, match=match):
        call(*args, **options)


def not_refused(cases, kinds=(ValueError, TypeError)):
    """Describe the cases (name, call, pattern of the message) that do not raise as they should.

    As everywhere in the tests, a warning counts as a wrong error.
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
