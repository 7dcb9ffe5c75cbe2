"""What a command was asked for, checked before anything is done or written."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from ctan.cli._options import protocol_types, typed
from ctan.errors import CtanError


def together(*asked: Callable[[], Any]) -> list[Any]:
    """What all of these give, or one error with the mistakes of all.

    Example:
        >>> together(lambda: 1, lambda: 2)
        [1, 2]
    """
    found, wrong = [], []
    for ask in asked:
        try:
            found.append(ask())
        except CtanError as error:
            wrong += str(error).split("\n")
    if len(wrong) > 1:
        raise CtanError("\n  - ".join([f"{len(wrong)} mistakes", *wrong]))
    if wrong:
        raise CtanError(wrong[0])
    return found


def protocol_from(start: Any, pairs: Iterable[str], batch_size: int | None, **short: Any) -> Any:
    """The protocol ``start`` with the fields that were given, as pairs or by their own flags.

    Args:
        start: where to start from, unless ``pairs`` name a protocol.
        pairs: ``key=value``, and at most one name of a protocol, such as ``paper-link``.
        batch_size: events, or graphs where the split is by graph.
        short: fields with a flag of their own; None where it was not given.

    Example:
        >>> from ctan.tasks import Protocol
        >>> protocol_from(Protocol(), ["split=graph"], 64, lr=0.1).graph_batch
        64
    """
    from ctan.tasks import preset

    names = [pair for pair in pairs if "=" not in pair]
    if len(names) > 1:
        raise CtanError(f"--protocol {' and '.join(names)}: name one, and key=value for the rest.")
    start = preset(names[0]) if names else start
    rest = [pair for pair in pairs if "=" in pair]
    given = typed(rest, protocol_types(), "protocol field", "--protocol")
    by_graph = given.get("split", start.split) == "graph"
    short["graph_batch" if by_graph else "batch_size"] = batch_size
    short = {name: value for name, value in short.items() if value is not None}
    twice = [name for name in short if name in given]
    if twice:
        raise CtanError(f"{', '.join(twice)}: given both with --protocol and with a flag.")
    flags = [f"{name}={value}" for name, value in short.items()]
    return start.with_(**given, **typed(flags, protocol_types(), "protocol field", "--protocol"))


def data_options(
    data: str,
    reading: dict[str, Any],
    short: dict[str, Any],
    pairs: Iterable[str],
    root: Path | None = None,
) -> dict[str, Any]:
    """The options of a data set, or of the reader of a file.

    Args:
        data: a data set's name, or a file.
        reading: options that go with a file.
        short: options that go with a data set; None where they were not given.
        pairs: ``key=value`` for a data set.
        root: the folder of all data sets; None where it was not given.

    Example:
        >>> data_options("t-pathgraph", {}, {"length": 5, "variant": None}, ["seed=1"])
        {'seed': 1, 'length': 5}
    """
    from ctan import datasets

    flags = [f"{name}={value}" for name, value in short.items() if value is not None]
    if datasets.is_known(data):
        if reading:
            wrong = ", ".join(f"--{name}" for name in reading)
            raise CtanError(
                f"{wrong}: goes with a file, but {data} is a data set (a file of that name is "
                f"./{data})."
            )
        known = datasets.options_of(data)
        return typed([*pairs, *flags], known, f"option of {data}", "--data-option")
    if flags or pairs or root is not None:
        wrong = ", ".join([*flags, *pairs, *([] if root is None else [f"--root {root}"])])
        raise CtanError(
            f"{wrong}: goes with a data set ({', '.join(datasets.names())}), but {data} is none."
        )
    return reading


def device_from(name: str) -> str:
    """The name of a device that is there.

    Example:
        >>> device_from("cpu")
        'cpu'
    """
    import torch

    kind, _, number = name.partition(":")
    if kind not in ("cpu", "cuda") or (number and not number.isdigit()):
        raise CtanError(f"--device {name}: expected cpu, cuda or cuda:N.")
    there = torch.cuda.device_count()
    if kind == "cuda" and int(number or 0) >= there:
        raise CtanError(
            f"--device {name}: torch {torch.__version__} sees {there} CUDA devices here; use cpu."
        )
    return name
