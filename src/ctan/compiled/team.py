"""Compiled functions on several threads: those of torch, which wait for work already.

numba has threads of its own, but they would stand beside torch's and take turns with them; and
starting them takes longer than most products of a training step. torch's OpenMP runtime starts its
threads within a microsecond, so compiled functions call the same runtime.
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

#: Addresses of what starts a team and of what tells a thread its number, and how many threads.
Team = tuple[int, int, int]

ALONE: Team = (0, 0, 1)

#: Multiplications that are worth a thread: it takes some 10 microseconds for so many.
ENOUGH = 1_000_000


def team(work: float) -> Team:
    """The threads for so many multiplications: no more than torch may use.

    Example:
        >>> team(10)
        (0, 0, 1)
    """
    threads = min(torch.get_num_threads(), int(work // ENOUGH))
    return ALONE if threads < 2 or not _runtime() else (*_runtime(), threads)


@cache
def _runtime() -> tuple[int, int] | tuple[()]:
    """The two addresses; empty where torch has another runtime, or none."""
    for path in _libraries():
        try:
            library = ctypes.CDLL(path)
            functions = (library.GOMP_parallel, library.omp_get_thread_num)
        except (OSError, AttributeError):
            continue
        start, number = (ctypes.cast(function, ctypes.c_void_p).value for function in functions)
        if start and number:
            # After a fork the runtime waits for threads that the child does not have.
            os.register_at_fork(after_in_child=_stay_alone)
            return start, number
    return ()


def _libraries() -> list[str]:
    """Where torch's OpenMP runtime may be: beside torch, or wherever it was loaded from."""
    beside = sorted(str(path) for path in Path(torch.__file__).parent.glob("lib/lib*"))
    maps = Path("/proc/self/maps")
    loaded = sorted(set(maps.read_text().split())) if maps.exists() else []
    return [path for path in beside + loaded if re.search(r"/lib[gi]?omp[^/]*$", path)]


def _stay_alone() -> None:
    global ENOUGH
    ENOUGH = 1 << 62


@intrinsic
def spread(typing: Any, team: Any, function: Any, given: Any) -> Any:
    """Call ``function(part, parts, *given)`` for all parts at once, one in each thread of a team.

    ``function`` is compiled and returns nothing; ``given`` is a tuple, which threads share.
    """
    call = function.get_call_type(typing, (types.intp, types.intp, *given.types), {})
    signature = types.void(team, function, given)

    def generate(context: Any, builder: Any, _: Any, values: Any) -> Any:
        start, number, threads = cgutils.unpack_tuple(builder, values[0])
        compiled = function.dispatcher.overloads[call.args]
        context.active_code_library.add_linking_library(compiled.library)

        # What all threads are told: the number's address, how many they are, and what is given.
        told = cgutils.make_anonymous_struct(builder, [number, threads, values[2]])
        place = cgutils.alloca_once_value(builder, told)

        kind = ir.FunctionType(ir.VoidType(), [POINTER])
        name = builder.module.get_unique_name(f"team_{compiled.fndesc.mangled_name}")
        body = ir.Function(builder.module, kind, name)
        body.linkage = "internal"
        inner = ir.IRBuilder(body.append_basic_block())
        heard = inner.load(body.args[0], typ=told.type)
        own_number, parts, rest = (inner.extract_value(heard, i) for i in range(3))
        counted = ir.FunctionType(INT32, [])
        part = inner.zext(inner.call(_function(inner, own_number, counted), []), INT)
        arguments = [part, parts, *cgutils.unpack_tuple(inner, rest)]
        context.call_internal_no_propagate(inner, compiled.fndesc, call, arguments)
        inner.ret_void()

        started = ir.FunctionType(ir.VoidType(), [POINTER, POINTER, INT32, INT32])
        body, place = (builder.bitcast(pointer, POINTER) for pointer in (body, place))
        arguments = [body, place, builder.trunc(threads, INT32), INT32(0)]
        builder.call(_function(builder, start, started), arguments)
        return context.get_dummy_value()

    return signature, generate


def _function(builder: Any, address: Any, kind: Any) -> Any:
    """The function of a kind that stands at an address."""
    return builder.inttoptr(address, kind.as_pointer())
