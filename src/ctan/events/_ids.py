"""Node ids from columns of numbers or of names."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ctan.errors import DataError
from ctan.events._convert import cast, is_number, no_value, numbers
from ctan.events._problems import Problems
from ctan.events.names import NodeNames

Array = npt.NDArray[Any]
_LARGEST_UNASKED = 10_000_000


def node_ids(
    problems: Problems,
    columns: tuple[str, str],
    src: pa.Array,
    dst: pa.Array,
    *,
    text: bool,
    bipartite: bool,
    relabel: bool,
    names: NodeNames | None,
) -> tuple[Array | None, Array | None, NodeNames | None]:
    """Ids of sources and destinations, and the vocabulary if they came as names.

    Whole numbers are ids as they stand, unless `relabel` takes them as names. In a file of text,
    a column of numbers is numbers, or names where a vocabulary is given. `bipartite` tells
    sources and destinations apart: ids of destinations follow the largest source, and
    vocabularies are separate.
    """
    missing = [no_value(problems, *pair) for pair in zip(columns, (src, dst), strict=True)]
    if any(missing) or not len(src):
        return None, None, None
    as_ids = is_numeric(src, text) and is_numeric(dst, text) and not relabel
    if not as_ids or (names is not None and text):
        return _from_names(
            problems, columns, src.cast(pa.string()), dst.cast(pa.string()), bipartite, names
        )
    for name, column in zip(columns, (src, dst), strict=True):
        if not (pa.types.is_string(column.type) or is_number(column.type)):
            expected = "whole numbers, or names as text"
            problems.add(name, None, f"type {column.type}", expected, "convert the column")
            return None, None, None
    ids = [numbers(problems, *pair) for pair in zip(columns, (src, dst), strict=True)]
    if ids[0] is None or ids[1] is None:
        return None, None, None
    for name, values in zip(columns, ids, strict=True):
        _check_dense(problems, name, values)
    if (
        bipartite
        and names is None
        and ids[0].dtype.kind in "iu"
        and ids[1].dtype.kind in "iu"
        and ids[1].min() >= 0
    ):
        ids[1] = ids[1].astype(np.int64) + (int(ids[0].max()) + 1)
    return ids[0], ids[1], names


def is_numeric(column: pa.Array, text: bool) -> bool:
    if not pa.types.is_string(column.type):
        return True
    if not text:
        return False
    trimmed = pc.utf8_trim_whitespace(column)
    return cast(trimmed, pa.int64()) is not None or cast(trimmed, pa.float64()) is not None


def _check_dense(problems: Problems, name: str, ids: Array | None) -> None:
    """Ids number the rows of every table of nodes: a few huge ones would fill the memory."""
    if ids is not None and ids.dtype.kind in "iu":
        problems.add_rows(
            name,
            ids > largest_id(len(ids)),
            lambda row: str(ids[row]),
            f"ids numbered from 0 without large gaps ({len(ids):,} events)",
            "relabel=True (--relabel) takes them as names",
        )


def largest_id(events: int) -> int:
    """The largest id that is taken as an id rather than as a name, for so many events."""
    return max(_LARGEST_UNASKED, 20 * events)


def _from_names(
    problems: Problems,
    columns: tuple[str, str],
    src: pa.Array,
    dst: pa.Array,
    bipartite: bool,
    names: NodeNames | None,
) -> tuple[Array | None, Array | None, NodeNames | None]:
    """Ids in order of first appearance, or by the vocabulary given."""
    if names is not None:
        middle = names.num_sources
        sides = (list(names[:middle]), list(names[middle or 0 :]))
        offsets = (0, middle or 0)
        found = []
        for column, values, side, offset in zip(columns, (src, dst), sides, offsets, strict=True):
            index = pc.index_in(values, value_set=pa.array(side, pa.string()))
            problems.add_rows(
                column,
                index.is_null().to_numpy(zero_copy_only=False),
                lambda row, values=values: repr(values[row].as_py()),  # type: ignore[misc]
                f"one of the {len(side):,} names in the table of nodes",
                "add it there",
            )
            found.append(index.fill_null(0).to_numpy().astype(np.int64) + offset)
        return found[0], found[1], names
    if bipartite:
        src_codes, dst_codes = src.dictionary_encode(), dst.dictionary_encode()
        count = len(src_codes.dictionary)
        vocabulary = [*src_codes.dictionary.to_pylist(), *dst_codes.dictionary.to_pylist()]
        ids = [codes.indices.to_numpy().astype(np.int64) for codes in (src_codes, dst_codes)]
        return ids[0], ids[1] + count, vocabulary_of(problems.source, vocabulary, count)
    codes, vocabulary = by_first_appearance(src, dst)
    return codes[0], codes[1], vocabulary_of(problems.source, vocabulary)


def vocabulary_of(source: str, names: list[str], num_sources: int | None = None) -> NodeNames:
    """A vocabulary, or an error that says where its names come from."""
    try:
        return NodeNames(names, num_sources)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error


def by_first_appearance(src: pa.Array, dst: pa.Array) -> tuple[Array, list[str]]:
    """Codes `[2, E]` of sources and destinations, and names in the order in which they appear.

    Row by row: a row's source comes before its destination.
    """
    both = pa.concat_arrays([src, dst]).dictionary_encode()
    codes = both.indices.to_numpy().reshape(2, -1)
    # Where a code is assigned more than once the last assignment holds: backwards, the first.
    first = np.empty(len(both.dictionary), dtype=np.int64)
    first[codes.T.ravel()[::-1]] = np.arange(codes.size)[::-1]
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    return rank[codes], both.dictionary.take(pa.array(order)).to_pylist()
