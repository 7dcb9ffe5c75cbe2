"""Vector registers for compiled functions: what numba's own loops cannot say.

numba turns loops into vector code, but it neither keeps a sum in a register that it was not told of
nor reads the end of a row with a mask: of a row of 100 numbers it takes 36 one by one. Functions
written in the compiler's own language do both. :mod:`ctan.nn.kernels._tile` and
:mod:`ctan.compiled.rows` are made of what is here.
"""

from __future__ import annotations

from typing import Any

import llvmlite.binding
from llvmlite import ir
from numba.core import cgutils, config


def _features() -> set[str]:
    """What the processor can do that numba compiles for; its settings may say less."""
    if config.CPU_FEATURES is not None:
        return {name[1:] for name in config.CPU_FEATURES.split(",") if name.startswith("+")}
    if config.CPU_NAME == "generic":
        return set()
    return {name for name, has in llvmlite.binding.get_host_cpu_features().items() if has}


#: Bytes of a vector register, and how many of them a tile may be wide for its sums to fit.
BYTES, WIDTH = (
    (64, 4) if "avx512f" in _features() else (32, 2) if "avx2" in _features() else (16, 2)
)

INT, INT32, POINTER = ir.IntType(64), ir.IntType(32), ir.PointerType()


class Registers:
    """Numbers side by side in memory, a register at a time.

    Args:
        builder: where the code goes.
        bits: of a number, 32 or 64.
    """

    def __init__(self, builder: Any, bits: int) -> None:
        self.builder, self.size, self.lanes = builder, bits // 8, 8 * BYTES // bits
        self.number = ir.FloatType() if bits == 32 else ir.DoubleType()
        self.vector = self._of(self.number)
        self.zero = ir.Constant(self.vector, [0.0] * self.lanes)
        self._kind = f"v{self.lanes}f{bits}"

    def _of(self, kind: Any) -> Any:
        return ir.VectorType(kind, self.lanes)

    def _call(self, name: str, result: Any, *given: Any) -> Any:
        kind = ir.FunctionType(result, [x.type for x in given])
        function = cgutils.get_or_insert_function(self.builder.module, kind, f"llvm.{name}")
        return self.builder.call(function, given)

    def everywhere(self, value: Any) -> Any:
        """One value in all lanes."""
        nothing = ir.Constant(self._of(value.type), ir.Undefined)
        one = self.builder.insert_element(nothing, value, INT32(0))
        return self.builder.shuffle_vector(one, nothing, ir.Constant(self._of(INT32), None))

    def first(self, count: Any) -> Any:
        """A mask of the first ``count`` lanes."""
        lane = ir.Constant(self._of(INT), list(range(self.lanes)))
        return self.builder.icmp_signed("<", lane, self.everywhere(count))

    def number_at(self, address: Any) -> Any:
        """The number at an address."""
        return self.builder.load(self._pointer(address), typ=self.number)

    def load(self, address: Any, mask: Any = None) -> Any:
        """The numbers from an address on; 0 where the mask has no lane."""
        if mask is None:
            return self.builder.load(self._pointer(address), typ=self.vector, align=self.size)
        name = f"masked.load.{self._kind}.p0"
        return self._call(name, self.vector, self._pointer(address), mask, self.zero)

    def store(self, value: Any, address: Any, mask: Any = None) -> None:
        """Write the numbers from an address on, of a mask those that have a lane."""
        if mask is None:
            self.builder.store(value, self._pointer(address), align=self.size)
        else:
            name = f"masked.store.{self._kind}.p0"
            self._call(name, ir.VoidType(), value, self._pointer(address), mask)

    def multiply_add(self, a: Any, b: Any, c: Any) -> Any:
        """``a * b + c``, rounded once where the processor can."""
        return self._call(f"fmuladd.{self._kind}", self.vector, a, b, c)

    def sum(self, value: Any) -> Any:
        """The sum of all lanes, in any order."""
        kind = ir.FunctionType(self.number, [self.number, self.vector])
        name = f"llvm.vector.reduce.fadd.{self._kind}"
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [self.number(0.0), value], fastmath=("reassoc",))

    def _pointer(self, address: Any) -> Any:
        return self.builder.inttoptr(address, POINTER)
