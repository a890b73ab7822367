"""Command lines that must end with one line of error."""

import re


def assert_one_line(capsys, cases):
    """Check that each command line (words, pattern) ends with code 2 and a matching line."""
    from alignlearn.cli import main

    for words, pattern in cases:
        try:
            code = main(list(words))
        except SystemExit as stopped:
            code = stopped.code
        err = capsys.readouterr().err
        assert code == 2, words
        assert err.startswith("alignlearn: error: "), words
        assert err.count("\n") == 1, words
        assert re.search(pattern, err), (words, err)
