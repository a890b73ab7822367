"""``python -m alignlearn``: the command line."""

import sys

from alignlearn.cli import main

if __name__ == "__main__":
    sys.exit(main())
