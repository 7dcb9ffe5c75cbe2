"""``key=value`` pairs as typed options, every mistake gathered."""

from __future__ import annotations

import contextlib
import math
import types
from collections.abc import Iterable
from dataclasses import fields
from typing import Any, get_type_hints

from ctan.errors import CtanError, unknown_name

_EXPECTED = {int: "a whole number", float: "a finite number", bool: "true or false"}
_WORDS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


def typed(pairs: Iterable[str], known: dict[str, Any], what: str, flag: str) -> dict[str, Any]:
    """Options from ``key=value`` pairs, each of the type of its default.

    Args:
        pairs: as they were typed.
        known: the default of each option, or its type.
        what: what an option is called in an error.
        flag: the flag that they came with.

    Raises:
        CtanError: all mistakes, one per line.

    Example:
        >>> typed(["dim=8", "act=relu"], {"dim": 100, "act": "tanh"}, "option", "--option")
        {'dim': 8, 'act': 'relu'}
        >>> typed(["dmi=8"], {"dim": 100}, "option of ctan", "--option")
        Traceback (most recent call last):
        ...
        ctan.errors.CtanError: unknown option of ctan 'dmi': did you mean 'dim'? Known: dim.
    """
    given: dict[str, Any] = {}
    wrong = []
    for pair in pairs:
        key, equals, text = pair.partition("=")
        key = key.strip().replace("-", "_")
        if not equals:
            wrong.append(f"{flag} {pair}: expected key=value, such as {_example(known)}.")
        elif key not in known:
            wrong.append(str(unknown_name(what, key, known)))
        elif key in given:
            wrong.append(f"{flag} {pair}: {key} was given before as {given[key]!r}.")
        else:
            try:
                given[key] = _value(text.strip(), known[key])
            except (ValueError, KeyError):
                expected = _EXPECTED[_kind(known[key])]
                wrong.append(f"{flag} {pair}: {key} is {expected}{_such_as(known[key])}.")
    if wrong:
        raise CtanError("\n".join(wrong))
    return given


def protocol_types() -> dict[str, Any]:
    """The type of each field of the protocol.

    Example:
        >>> protocol_types()["through_time"]
        int | str
    """
    from ctan.tasks import Protocol

    hints = get_type_hints(Protocol)
    return {field.name: hints[field.name] for field in fields(Protocol)}


def _value(text: str, default: Any) -> Any:
    kind = _kind(default)
    if kind is bool:
        return _WORDS[text.lower()]
    if kind is int:
        return int(text)
    if kind is float:
        value = float(text)
        if not math.isfinite(value) and default != math.inf:
            raise ValueError
        return value
    if kind is str:
        return text
    # Several types, or a default of None, which says nothing: the first that fits.
    for narrow in (int, float):
        with contextlib.suppress(ValueError):
            return narrow(text)
    return text


def _kind(default: Any) -> Any:
    """The type of an option, from its default or its type; None for one of several."""
    found = default if _is_type(default) else type(default)
    return found if found in (bool, int, float, str) else None


def _is_type(default: Any) -> bool:
    return isinstance(default, type | types.UnionType)


def _such_as(default: Any) -> str:
    return "" if _is_type(default) else f", such as {default}"


def _example(known: dict[str, Any]) -> str:
    key = next(iter(known), "key")
    default = known.get(key, "value")
    return f"{key}={'...' if _is_type(default) else default}"
