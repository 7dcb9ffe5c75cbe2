"""The command line: thin commands over the library's public functions."""

from ctan.cli.app import app, main

__all__ = ["app", "main"]
