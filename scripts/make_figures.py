#!/usr/bin/env python3
"""Draw the figures on the theory, and update the pages that list the claims.

Figures and the table of all claims (claims.md) go to figures/, the summary of the claims to the
README.

Takes some minutes. Real data come from `alignlearn.datasets` (set ALIGNLEARN_DATA to a folder that
has them). Without them, the figure on real data shows scikit-learn's bundled sets, which its title
states.

usage: scripts/make_figures.py [--only NAME] [--quick] [--out FOLDER]
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from alignlearn.theory.figures import FIGURES, write
from alignlearn.theory.figures.table import claims_page, counts

ROOT = Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- claims -->", "<!-- /claims -->"


def with_claims(text, summary):
    """The text with the summary of the claims between the two markers.

    Raises
    ------
    ValueError
        If the markers are missing, repeated or in the wrong order.
    """
    if text.count(BEGIN) != 1 or text.count(END) != 1 or text.index(BEGIN) > text.index(END):
        raise ValueError(f"the README must contain {BEGIN} and {END} once, in this order.")
    head, _, rest = text.partition(BEGIN)
    tail = rest.partition(END)[2]
    return f"{head}{BEGIN}\n\n{summary}\n{END}{tail}"


def write_readme(_folder):
    """Write the counts of the claims into README.md."""
    path = ROOT / "README.md"
    text = with_claims(path.read_text(encoding="utf-8"), f"{counts()}\n")
    path.write_text(text, encoding="utf-8")
    return path


def write_claims(folder):
    """Write the table of all claims into the folder."""
    path = folder / "claims.md"
    path.write_text(claims_page(), encoding="utf-8")
    return path


PAGES = {"claims": write_claims, "readme": write_readme}


def main(argv=None):
    """Draw the requested figures; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        choices=(*FIGURES, *PAGES),
        help=f"one of {', '.join((*FIGURES, *PAGES))}; may be repeated",
    )
    parser.add_argument("--quick", action="store_true", help="fewer samples, for a look")
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=ROOT / "figures", help="default: figures"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    for name in args.only or (*FIGURES, *PAGES):
        began = time.perf_counter()
        page = PAGES.get(name)
        files = [page(args.out)] if page else write(name, args.out, args.quick)
        sizes = ", ".join(f"{f.name} {f.stat().st_size / 1000:.0f} kB" for f in files)
        print(f"{name:<20} {time.perf_counter() - began:6.1f} s   {sizes}", flush=True)
    print(f"{'total':<20} {time.perf_counter() - start:6.1f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, ImportError) as error:
        sys.exit(f"make_figures: {error}")
