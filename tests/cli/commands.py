"""Runs of the command line."""

from alignlearn.cli import main


def run(capsys, *words):
    """The exit code, and what a command prints to stdout and to stderr."""
    code = main(list(words))
    return (code, *capsys.readouterr())
