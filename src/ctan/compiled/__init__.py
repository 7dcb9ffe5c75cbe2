"""What compiled functions are made of that numba cannot say: registers, threads, fast functions.

- :mod:`ctan.compiled.registers`, :mod:`ctan.compiled.rows`: numbers in vector registers.
- :mod:`ctan.compiled.functions`: tanh, sine and cosine.
- :mod:`ctan.compiled.counter`: random numbers that are hashes of what they are for.
- :mod:`ctan.compiled.team`: several threads, torch's own.
"""
