"""How many functions of the library call one another in a default fit, by `fit_path.py`."""

# A reader follows a fit through this chain; a function that only passes its arguments on costs one.
MOST = 15


def test_a_default_fit_passes_few_functions_one_inside_the_other(script):
    fit_path = script("lab/fit_path")
    chain = fit_path.default_fit(60).deepest
    # Comprehensions are functions in Python 3.11 and before.
    named = [fit_path.place(code) for code in chain if not code.co_name.startswith("<")]
    assert named[1].endswith(" MKLClassifierCV.fit")
    assert 10 < len(named) <= MOST, "\n".join(named)
