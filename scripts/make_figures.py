#!/usr/bin/env python3
"""Draw the figures on the theory, and update the page that lists the claims.

Figures and the table of all claims (claims.md) go to figures/; `fill_pages.py` writes the summary
of the claims into the README.

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
from alignlearn.theory.figures.table import claims_page

ROOT = Path(__file__).resolve().parent.parent
NAMES = (*FIGURES, "claims")


def write_claims(folder):
    """Write the table of all claims into the folder."""
    path = folder / "claims.md"
    path.write_text(claims_page(), encoding="utf-8")
    return path


def main(argv=None):
    """Draw the requested figures; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--only",
        metavar="NAME",
        action="append",
        choices=NAMES,
        help=f"one of {', '.join(NAMES)}; may be repeated",
    )
    parser.add_argument("--quick", action="store_true", help="fewer samples, for a look")
    parser.add_argument(
        "--out", metavar="FOLDER", type=Path, default=ROOT / "figures", help="default: figures"
    )
    args = parser.parse_args(argv)
    args.out.mkdir(parents=True, exist_ok=True)
    start = time.perf_counter()
    for name in args.only or NAMES:
        began = time.perf_counter()
        files = write(name, args.out, args.quick) if name in FIGURES else [write_claims(args.out)]
        sizes = ", ".join(f"{f.name} {f.stat().st_size / 1000:.0f} kB" for f in files)
        print(f"{name:<20} {time.perf_counter() - began:6.1f} s   {sizes}", flush=True)
    print(f"{'total':<20} {time.perf_counter() - start:6.1f} s")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (OSError, ValueError, ImportError) as error:
        sys.exit(f"make_figures: {error}")
