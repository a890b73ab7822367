"""Write the model files that later versions promise to read, with their predictions.

    python tests/persistence/write_files.py

Run once for every version, before its release: files/<version>/ is never overwritten.
"""

import json
from pathlib import Path

import numpy as np
import persistence_models as models

import alignlearn as al

CHOSEN = (
    *("MKLClassifier", "MKLClassifier probability", "MKLClassifier sparse", "MKLRegressorCV"),
    *("MKLRegressor nystrom", "BayesianMKLClassifier", "AlignedRandomFeaturesClassifier"),
    *("HyperKernelClassifier clip", "NystromSVC", "KernelSGDClassifier", "KernelCCA"),
    *("MultiTaskMKLRegressor", "KreinSVC"),
)


def plain(values):
    """Four rows, of numbers with few digits."""
    values = np.asarray(values)[:4]
    return (values if values.dtype.kind in "US" else values.round(4)).tolist()


def main():
    folder = Path(__file__).parent / "files" / ".".join(al.__version__.split(".")[:2])
    folder.mkdir(parents=True)
    for name, model, (args, options) in models.fitted():
        if name not in CHOSEN:
            continue
        path = folder / f"{name.replace(' ', '-')}.model"
        al.save(model, path)
        kept = {"args": [plain(A) for A in args], **{k: plain(v) for k, v in options.items()}}
        data = models.on(*map(np.array, kept["args"]), **{k: kept[k] for k in options})
        kept["outputs"] = {k: v.tolist() for k, v in models.outputs(model, data).items()}
        path.with_suffix(".json").write_text(json.dumps(kept), encoding="utf-8")


if __name__ == "__main__":
    main()
