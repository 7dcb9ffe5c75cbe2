"""The vocabulary of a stream whose nodes came with names."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from difflib import get_close_matches
from functools import cached_property
from typing import Any

from ctan.errors import DataError


class _Decoded(Sequence[str]):
    """An Arrow column of text as Python strings, one by one."""

    def __init__(self, column: Any) -> None:
        self._column = column

    def __len__(self) -> int:
        return len(self._column)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]  # int -> str, slice -> tuple of str
        if isinstance(i, slice):
            return tuple(self._column[i].to_pylist())
        return self._column[i].as_py()

    def __iter__(self) -> Iterator[str]:
        for chunk in self._column.chunks:
            for start in range(0, len(chunk), 1 << 16):
                yield from chunk[start : start + (1 << 16)].to_pylist()


class NodeNames(Sequence[str]):
    """Names of nodes: entry i is the name of node i.

    In a bipartite vocabulary sources and destinations are named apart, so that user "7" and item
    "7" are two nodes: the first `num_sources` entries name sources, the others destinations.

    Args:
        names: one name per node id.
        num_sources: where the destinations begin, for a bipartite vocabulary.

    Example:
        >>> names = NodeNames(["ada", "bob"])
        >>> names[1], names.id_of("ada"), len(names)
        ('bob', 0, 2)
        >>> names.id_of("adda")
        Traceback (most recent call last):
        ...
        ctan.errors.DataError: no node is named 'adda': did you mean 'ada'?
    """

    def __init__(self, names: Sequence[str], num_sources: int | None = None) -> None:
        self._names: Sequence[str] = tuple(names)
        self.num_sources = num_sources
        if "" in self._names:
            row = self._names.index("")
            raise DataError(f"column 'names', row {row}: got an empty name; name every node.")
        # Such a name is damage, or text in another encoding; NumPy would cut it short when written.
        for i, name in enumerate(self._names):
            if "\0" in name:
                raise DataError(
                    f"column 'names', row {i}: {name!r} holds a NUL character; name nodes in text."
                )
        repeated = len(self._ids[0]) + len(self._ids[1]) != len(self._names)
        if repeated:
            seen: set[tuple[int, str]] = set()
            for i, name in enumerate(self._names):
                if (self._side(i), name) in seen:
                    raise DataError(
                        f"column 'names', row {i}: {name!r} names an earlier node as well; "
                        "every node needs a name of its own."
                    )
                seen.add((self._side(i), name))

    @classmethod
    def of_column(cls, names: Any, num_sources: int | None = None) -> NodeNames:
        """Names in an Arrow column that were checked when it was written; decoded when asked for.

        Example:
            >>> import pyarrow as pa
            >>> NodeNames.of_column(pa.chunked_array([["ada", "bob"]]))[1]
            'bob'
        """
        made = cls.__new__(cls)
        made._names, made.num_sources = _Decoded(names), num_sources
        return made

    def _side(self, i: int) -> int:
        return int(self.num_sources is not None and i >= self.num_sources)

    @cached_property
    def _ids(self) -> tuple[dict[str, int], dict[str, int]]:
        """Name to id on either side; the second side is empty unless bipartite."""
        end = len(self._names) if self.num_sources is None else self.num_sources
        sources = {name: i for i, name in enumerate(self._names[:end])}
        destinations = {name: end + i for i, name in enumerate(self._names[end:])}
        return sources, destinations

    def id_of(self, name: str) -> int:
        """The node of this name; a bipartite vocabulary is searched sources first.

        Use `source_id` or `destination_id` where both sides can hold the name.
        """
        for ids in self._ids:
            if name in ids:
                return ids[name]
        raise self._unknown(name, [*self._ids[0], *self._ids[1]])

    def source_id(self, name: str) -> int:
        """The source of this name."""
        return self._lookup(name, self._ids[0])

    def destination_id(self, name: str) -> int:
        """The destination of this name."""
        return self._lookup(name, self._ids[0 if self.num_sources is None else 1])

    def _lookup(self, name: str, ids: dict[str, int]) -> int:
        if name not in ids:
            raise self._unknown(name, list(ids))
        return ids[name]

    @staticmethod
    def _unknown(name: str, known: list[str]) -> DataError:
        near = get_close_matches(name, known, n=1)
        return DataError(
            f"no node is named {name!r}" + (f": did you mean {near[0]!r}?" if near else ".")
        )

    def __len__(self) -> int:
        return len(self._names)

    def __getitem__(self, i):  # type: ignore[no-untyped-def]  # int -> str, slice -> tuple of str
        return self._names[i]

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, NodeNames):
            return NotImplemented
        if self.num_sources != other.num_sources or len(self) != len(other):
            return False
        return all(own == others for own, others in zip(self, other, strict=True))

    def __hash__(self) -> int:
        return hash((tuple(self._names), self.num_sources))

    def __repr__(self) -> str:
        shown = ", ".join(map(repr, self._names[:3])) + (", ..." if len(self) > 3 else "")
        return f"NodeNames({len(self)}: {shown})"
