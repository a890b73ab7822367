"""``alignlearn verify``: tests of the claims of the theory from the command line."""

from __future__ import annotations

import contextlib
import os

from .output import Output, add_output_options, add_parser

_HELP = """\
Checks every claim of the papers: its bound against the measured quantity on many kernels, labels
and samples, its counterexample, and a deliberately wrong variant that must be rejected. Prints a
table with the recorded and the observed outcome of each claim.

With --mutations the claims are made wrong instead: bounds reduced by 1, 5, 20 and 50%, terms
dropped, constants and powers changed. The table has the mutations that the cases of each claim
detect, and the factor by which a bound exceeds its value for the worst known case.
"""
_EXAMPLES = """\
examples:
  alignlearn verify
  alignlearn verify --claims p1-lemma-18,p1-theorem-16 --examples 1000
  alignlearn verify --mutations --claims p1-lemma-18

exit codes: 0 every claim has its recorded status, 1 at least one does not, or has only vacuous or
inconclusive outcomes (with --mutations: a wrong sharp constant or another mutant is not detected),
2 the command cannot be used.
"""


def add_command(commands):
    """Add the command to the subparsers of ``alignlearn``."""
    parser = add_parser(
        commands,
        "verify",
        "check every claim of the theory on many inputs",
        _HELP,
        _EXAMPLES,
    )
    add = parser.add_argument
    add(
        "--claims",
        metavar="NAMES",
        action="append",
        help="comma-separated; a claim comes with its corrected forms. Default: all",
    )
    add(
        "--examples",
        metavar="N",
        type=int,
        help="cases for each claim (100; with --mutations 30)",
    )
    add(
        "--mutations",
        action="store_true",
        help="make the claims false, and report how large an error must be to be detected",
    )
    add("--out", metavar="FILE", help="write the table to this file, too")
    add_output_options(parser, "progress on stderr, and full tracebacks")
    parser.set_defaults(run=run_verify)


def run_verify(args) -> int:
    """``alignlearn verify``: print the table; return the exit code."""
    from alignlearn.theory import mutations, verification

    judge, examples, describe = verification.verify, 100, _finding
    if args.mutations:
        judge, examples, describe = mutations.report, mutations.EXAMPLES, _sensitivity
    examples = examples if args.examples is None else args.examples
    output, findings = Output(args), []
    names = None
    if args.claims is not None:
        names = [n.strip() for text in args.claims for n in text.split(",") if n.strip()]
        if not names:
            raise ValueError("--claims needs at least one name.")

    def note(finding, total):
        findings.append(finding)
        if args.json == "-" or args.verbose:  # otherwise the table shows the progress
            output.step(len(findings), total, "claims")

    with contextlib.ExitStack() as files:
        stream = output.stdout
        if args.out is not None:
            path = os.path.expanduser(args.out)
            stream = _Tee(stream, files.enter_context(open(path, "w", encoding="utf-8")))
        try:
            code = judge(names, examples, stream=stream, on_finding=note)
        except KeyError as error:
            raise ValueError(error.args[0]) from None
    output.json({"examples": examples, "claims": {f.claim.name: describe(f) for f in findings}})
    return code


def _finding(finding):
    """The result of a claim as a dict."""
    return {
        "status": finding.claim.status.value,
        "found": finding.found,
        "as_recorded": finding.as_recorded,
        "closest": None if finding.worst is None else finding.worst.tightness,
        "outcomes": dict(finding.outcomes),
        "problems": finding.problems,
    }


def _sensitivity(result):
    """The sensitivity of the cases of a form as a dict."""
    return {
        "sharp": result.claim.sharp,
        "caught_at": result.caught,
        "margin": result.margin,
        "loose_by": result.looseness,
        "found_by": result.source,
        "mutants_refused": result.mutants,
        "problems": result.problems,
    }


class _Tee:
    """A stream that writes to two."""

    def __init__(self, *streams):
        self._streams = streams

    def write(self, text):
        for stream in self._streams:
            stream.write(text)

    def flush(self):
        for stream in self._streams:
            stream.flush()
