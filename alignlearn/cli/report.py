"""The page of ``alignlearn fit --report``: scores, columns and the model, in one HTML file."""

from __future__ import annotations

import html
import io

_PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}</title>
<meta name="viewport" content="width=device-width">
<style>body{{font-family:sans-serif;max-width:50rem;margin:2rem auto;padding:0 1rem;color:#222}}
table{{border-collapse:collapse}}td,th{{padding:.3rem .8rem;border-bottom:1px solid #ccc;
text-align:left}}pre{{background:#f5f5f5;padding:.8rem;overflow:auto}}
svg{{max-width:100%;height:auto}}</style>
</head><body>
<h1>{title}</h1>
<p>{intro}</p>
<h2>Held-out scores</h2>
{scores}
<h2>Contributions of the columns</h2>
<p>Mean loss of {score} if the values of a column are permuted among the held-out rows. Lines show
the standard deviation over repeats.</p>
{columns}
<h2>Predictions</h2>
{predictions}
<h2>Model</h2>
<pre>{model}</pre>
</body></html>
"""


def write_report(path, data, sample, found, model, parts):
    """Write the page.

    Parameters
    ----------
    path, data : str
        The page, and the name of the table.
    sample : Sample
    found : (list of Score, str, ndarray)
        The scores, their name, and the positions of the held-out rows.
    model : MKLClassifierCV or MKLRegressorCV
        Fitted to the other rows.
    parts : Contributions
        Of the columns.
    """
    scores, name, test = found
    m, d = sample.frame.shape
    intro = (
        f"{m} rows and {d} columns of {data}; target {sample.target}. The scores are on "
        f"{len(test)} held-out rows."
    )
    rows = [(s.method, f"{s.score:.4f}", f"{s.seconds:.1f}") for s in scores]
    shown = "R²" if name == "R^2" else name
    page = _PAGE.format(
        title=html.escape(f"Prediction of {sample.target}"),
        intro=html.escape(intro),
        scores=_table(("method", shown, "seconds"), rows),
        score=html.escape(shown),
        columns=_bars(parts, shown),
        predictions=_predictions(sample, test, model),
        model=html.escape(model.summary()),
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(page)


def _table(header, rows):
    cells = "".join(f"<th>{html.escape(h)}</th>" for h in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{html.escape(str(v))}</td>" for v in row) + "</tr>" for row in rows
    )
    return f"<table><tr>{cells}</tr>{body}</table>"


def _axes():
    """A figure without a display, and its axes; None without matplotlib."""
    try:
        from matplotlib.backends.backend_svg import FigureCanvasSVG
        from matplotlib.figure import Figure
    except ImportError:
        return None
    figure = Figure(figsize=(7.0, 4.0), layout="constrained")
    FigureCanvasSVG(figure)
    return figure, figure.add_subplot()


def _inline(figure):
    """The figure as SVG, to stand in a page."""
    file = io.StringIO()
    figure.savefig(file, format="svg", metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :]


def _bars(parts, score):
    import numpy as np

    order = np.argsort(-parts.values[:, 0], kind="stable")[:20]
    made = _axes()
    if made is None:
        rows = [(parts.names[k], f"{parts.values[k, 0]:.4f}") for k in order]
        return _table(("column", "loss"), rows)
    figure, axes = made
    names, shown = [parts.names[k] for k in order[::-1]], parts.values[order[::-1], 0]
    axes.barh(range(len(names)), shown, xerr=parts.spread[order[::-1], 0], color="#4477aa")
    axes.set_yticks(range(len(names)), names)
    axes.set_xlabel(f"loss in {score}")
    return _inline(figure)


def _predictions(sample, test, model):
    import numpy as np

    found, y = model.predict(sample.frame[test]), sample.y[test]
    if sample.task == "classification":
        names = model.classes_
        counts = [[int(np.sum((y == a) & (found == b))) for b in names] for a in names]
        rows = [(a, *row) for a, row in zip(names, counts)]
        return _table(("true class", *(f"predicted {b}" for b in names)), rows)
    made = _axes()
    if made is None:
        error = np.sqrt(np.mean((found - y) ** 2))
        return f"<p>Root mean squared error {error:.4g}.</p>"
    figure, axes = made
    axes.scatter(found, y, s=8, alpha=0.5, color="#4477aa")
    ends = [min(found.min(), y.min()), max(found.max(), y.max())]
    axes.plot(ends, ends, color="#888888", linewidth=1)
    target = str(sample.target).replace("$", r"\$")  # no formula
    axes.set_xlabel(f"predicted {target}")
    axes.set_ylabel(f"true {target}")
    return _inline(figure)
