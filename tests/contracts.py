"""Compare classes that fulfill a contract with the signatures of their abstract base."""

import pkgutil
from importlib import import_module
from inspect import Parameter, isabstract, isfunction, signature

import alignlearn


def library_classes(contract):
    """Classes of the library that derive from a contract, in the order of their names."""
    for module in pkgutil.walk_packages(alignlearn.__path__, "alignlearn."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    found, left = set(), [contract]
    while left:
        below = left.pop().__subclasses__()
        left += below
        found.update(cls for cls in below if cls.__module__.startswith("alignlearn."))
    return sorted(found, key=lambda cls: (cls.__module__, cls.__qualname__))


def differences(contract, cls):
    """Lines on the overrides of a class whose parameters are not those of the contract.

    An override has the parameters of the contract by name, kind and default, in their order, and
    may have further ones with defaults.
    """
    lines = []
    for name, stated in vars(contract).items():
        if name == "__init__" or (name.startswith("_") and not name.startswith("__")):
            continue
        override = getattr(cls, name)
        if isfunction(stated) != isfunction(override):
            lines.append(f"{cls.__qualname__}.{name} is {override!r}, not {stated!r}")
        elif isfunction(stated):
            expected, found = (_parameters(method) for method in (stated, override))
            further = found[len(expected) :]
            if found[: len(expected)] != expected or not all(map(_is_optional, further)):
                lines.append(
                    f"{cls.__qualname__}.{name}{signature(override)}, not {signature(stated)}"
                )
    return lines


def _parameters(method):
    return [p.replace(annotation=Parameter.empty) for p in signature(method).parameters.values()]


def _is_optional(parameter):
    variable = parameter.kind in (Parameter.VAR_POSITIONAL, Parameter.VAR_KEYWORD)
    return variable or parameter.default is not Parameter.empty


def check_contract(contract, n_classes):
    """Assert that a contract is abstract, and that the classes of the library keep it.

    ``n_classes`` is the minimum number of classes.
    """
    assert isabstract(contract)
    classes = library_classes(contract)
    assert len(classes) >= n_classes
    assert [line for cls in classes for line in differences(contract, cls)] == []
    return classes
