"""The command line: ``alignlearn compare``, ``bounds``, ``verify``, ``warmup``.

``python -m alignlearn`` is the same command.

A command is a pair of functions: one adds its parser, one runs it and returns the exit code. Heavy
modules are imported by the command that needs them.
"""

from .main import main

__all__ = ["main"]
