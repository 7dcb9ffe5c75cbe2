"""Compiled functions on several threads: those of torch, which wait for work already.

numba has threads of its own, but they would stand beside torch's and take turns with them. torch's
OpenMP runtime starts its threads within some microseconds, so compiled functions call the same.
"""

from __future__ import annotations

import ctypes
import os
import re
from functools import cache
from pathlib import Path
from typing import Any

import torch
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ctan.compiled.registers import INT, INT32, POINTER

#: Addresses of what starts a team, tells a thread its number and says how many there are; and how
#: many are wanted.
Team = tuple[int, int, int, int]

ALONE: Team = (0, 0, 0, 1)

#: Multiplications that are worth a thread: it takes some 10 microseconds for so many.
ENOUGH = 1_000_000


def team(work: float) -> Team:
    """The threads for so many multiplications: no more than torch may use.

    Example:
        >>> team(10)
        (0, 0, 0, 1)
    """
    threads = min(torch.get_num_threads(), int(work // ENOUGH))
    return ALONE if threads < 2 or not _runtime() else (*_runtime(), threads)


@cache
def _runtime() -> tuple[int, int, int] | tuple[()]:
    """The three addresses; empty where torch has another runtime, or none."""
    for path in _libraries():
        try:
            library = ctypes.CDLL(path)
            start, number, count = (
                ctypes.cast(getattr(library, name), ctypes.c_void_p).value
                for name in ("GOMP_parallel", "omp_get_thread_num", "omp_get_num_threads")
            )
        except (OSError, AttributeError):
            continue
        if start and number and count:
            return start, number, count
    return ()


def _libraries() -> list[str]:
    """Where torch's OpenMP runtime may be: beside torch, or wherever it was loaded from."""
    beside = sorted(str(path) for path in Path(torch.__file__).parent.glob("lib/lib*"))
    maps = Path("/proc/self/maps")
    loaded = sorted(set(maps.read_text().split())) if maps.exists() else []
    return [path for path in beside + loaded if re.search(r"/lib[gi]?omp[^/]*$", path)]


def _stay_alone() -> None:
    """After a fork the runtime waits for threads that the child does not have."""
    global ENOUGH
    ENOUGH = 1 << 62


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stay_alone)


@intrinsic
def spread(typing: Any, team: Any, function: Any, given: Any) -> Any:
    """Call ``function(part, parts, *given)`` for all parts at once, one for each thread wanted.

    A team of one just calls it. The runtime may give fewer threads than wanted, which then take
    several parts each. ``function`` is compiled and returns nothing; ``given`` is a tuple, which
    threads share.
    """
    call = function.get_call_type(typing, (types.intp, types.intp, *given.types), {})
    signature = types.void(team, function, given)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        start, number, count, wanted = cgutils.unpack_tuple(builder, values[0])
        compiled = function.dispatcher.overloads[call.args]
        context.active_code_library.add_linking_library(compiled.library)

        told = cgutils.make_anonymous_struct(builder, [number, count, wanted, values[2]])
        place = cgutils.alloca_once_value(builder, told)

        kind = ir.FunctionType(ir.VoidType(), [POINTER])
        name = builder.module.get_unique_name(f"team_{compiled.fndesc.mangled_name}")
        body = ir.Function(builder.module, kind, name)
        body.linkage = "internal"
        inner = ir.IRBuilder(body.append_basic_block())
        heard = inner.load(body.args[0], typ=told.type)
        own, threads, parts, rest = (inner.extract_value(heard, i) for i in range(4))
        kind = ir.FunctionType(INT32, [])
        own, threads = (
            inner.zext(inner.call(_function(inner, address, kind), []), INT)
            for address in (own, threads)
        )
        with cgutils.for_range_slice(inner, own, parts, threads, INT) as (part, _):
            arguments = [part, parts, *cgutils.unpack_tuple(inner, rest)]
            context.call_internal_no_propagate(inner, compiled.fndesc, call, arguments)
        inner.ret_void()

        started = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, INT32, INT32])
        body, place = (builder.bitcast(pointer, POINTER) for pointer in (body, place))
        with builder.if_else(builder.icmp_signed("==", wanted, INT(1))) as (alone, together):
            with alone:
                arguments = [INT(0), INT(1), *cgutils.unpack_tuple(builder, values[2])]
                context.call_internal_no_propagate(builder, compiled.fndesc, call, arguments)
            with together:
                arguments = [body, place, builder.trunc(wanted, INT32), INT32(0)]
                builder.call(_function(builder, start, started), arguments)
        return context.get_dummy_value()

    return signature, generate


def _function(builder: Any, address: Any, kind: Any) -> Any:
    """The function of a kind that stands at an address."""
    return builder.inttoptr(address, kind.as_pointer())
