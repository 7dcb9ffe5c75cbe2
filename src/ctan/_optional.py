"""The one place where packages that not everyone installs are imported."""

from __future__ import annotations

import warnings
from importlib import import_module
from types import ModuleType

from ctan.errors import CtanError


def optional(module: str, extra: str) -> ModuleType:
    """A module of an optional package, or an error that says how to get it.

    Args:
        module: what to import.
        extra: the extra of this package that brings it.

    Example:
        >>> optional("no_such_package.sub", "pyg")
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: this needs the package 'no_such_package', which is not installed.
        Install it with: pip install 'ctan[pyg]'
    """
    try:
        with warnings.catch_warnings():
            # What other packages do while they are imported is theirs to mend.
            warnings.simplefilter("ignore")
            return import_module(module)
    except ImportError as error:
        package = module.split(".")[0]
        raise CtanError(
            f"this needs the package {package!r}, which is not installed. "
            f"Install it with: pip install 'ctan[{extra}]'"
        ) from error
