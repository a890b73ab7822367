"""Model files as bytes, and files whose description is changed."""

import io
import json
import warnings
import zipfile

import alignlearn as al


def written(model):
    file = io.BytesIO()
    al.save(model, file)
    return file.getvalue()


def packed(members, method=zipfile.ZIP_DEFLATED):
    """A zip of (name, content)."""
    file = io.BytesIO()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a name that occurs twice
        with zipfile.ZipFile(file, "w", method) as archive:
            for name, content in members:
                archive.writestr(name, content)
    return file.getvalue()


def unpacked(raw):
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def edited(raw, change):
    """A file whose description, as read from JSON, is changed."""
    members = unpacked(raw)
    head = json.loads(members["model.json"])
    head = change(head) or head
    members["model.json"] = json.dumps(head)
    return packed(members.items())
