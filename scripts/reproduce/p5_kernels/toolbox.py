#!/usr/bin/env python
"""The toolbox of the slides on data: KCCA, CKA, kernel SGD, and ridge regression at few centers.

    scripts/reproduce/p5_kernels/toolbox.py                 # all parts, about 15 minutes
    scripts/reproduce/p5_kernels/toolbox.py nystrom --quick

cca      planted dependence found by KCCA as N grows; CKA of the layers of two networks
online   the regularized risk of kernel SGD against the batch machines'; what a budget costs
nystrom  error and time of NystromRidge by number of centers, against the exact machine

Each part writes figures/reproduce_<part>.png and .txt.
"""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
import cca
import nystrom
import online
import shared

PARTS = {"cca": cca, "online": online, "nystrom": nystrom}


def main(argv=None):
    """Run the parts asked for; what each returns."""

    def parts(parser):
        parser.add_argument("part", nargs="*", help=", ".join(PARTS))

    args = shared.arguments(__doc__, argv, extend=parts)
    unknown = [name for name in args.part if name not in PARTS]
    if unknown:
        raise SystemExit(f"unknown parts {unknown}; accepted: {', '.join(PARTS)}")
    options = ["--quick"] * args.quick + (["--out", args.out] if args.out else [])
    return {name: PARTS[name].main(options) for name in args.part or PARTS}


if __name__ == "__main__":
    shared.run(main)
