"""The command line: ``alignlearn compare``, ``bounds``, ``verify``, ``warmup``.

The same by ``python -m alignlearn``.

A command is a pair of functions: one adds its parser, one runs it and returns the exit code. Heavy
modules are imported by the command that needs them.
"""

from .main import main

__all__ = ["main"]
