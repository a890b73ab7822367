#!/usr/bin/env python
"""Registers, shared memory, occupancy and instructions of the CUDA kernels, without a device.

    scripts/bench/cuda_resources.py                 # every kernel, a minute
    scripts/bench/cuda_resources.py --operations    # also compile every operation (needs pytest)

Needs the compiler of a CUDA toolkit, not a device: libNVVM where Numba finds it (CUDA_HOME), and
`ptxas`, of the toolkit or of the wheel nvidia-cuda-nvcc-cu12; for instructions also `nvdisasm`, of
the toolkit or the wheel nvidia-cuda-nvdisasm. A CUDA toolkit has all three.

Instructions are those of the loop over the steps of a tile of pair sums, per pair, in the machine
code; "float" are the arithmetic ones among them. The bound divides the issue slots, or those of the
busiest unit, by them: an upper bound on pairs per second for the stated clock and number of
multiprocessors, not a measurement.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from functools import partial
from glob import glob
from types import SimpleNamespace

import numpy as np
from numba import config, cuda, typeof, types
from numba.cuda.cudadrv import error as errors

import alignlearn as al
from alignlearn.engine.cuda import (
    centering,
    gram,
    hyper,
    memory_sums,
    pair_sums,
    parts,
    register_sums,
)
from alignlearn.engine.cuda.gram_tiles import ACROSS, DOWN
from alignlearn.engine.cuda.program import pair_functions
from alignlearn.engine.program import program_of

CAPABILITY = (9, 0)
MULTIPROCESSORS, CLOCK = 132, 1.755e9  # H100 and H200 (SXM), boost clock of the specification
# Of compute capability 9.0 (CUDA C++ programming guide, table of technical specifications).
REGISTERS, WARPS, BLOCKS, SHARED, RESERVED = 65536, 64, 32, 233472, 1024
# Warp instructions a cycle of a multiprocessor: any, float64, loads and stores, special functions.
RATES = {"any": 4.0, "float64": 2.0, "memory": 1.0, "special": 0.5}
INSTALL = """Install a CUDA toolkit and set CUDA_HOME, or
    pip install nvidia-cuda-nvcc-cu12 nvidia-cuda-nvdisasm
and set CUDA_HOME to the folder nvidia/cuda_nvcc of site-packages."""
FLOAT = {"FFMA", "FADD", "FMUL", "DFMA", "DADD", "DMUL", "MUFU"}


def tool(name):
    """Path of a program of the CUDA toolkit, on the path, in CUDA_HOME or in a wheel; or None."""
    places = [os.environ.get("CUDA_HOME", ""), "/usr/local/cuda"]
    places += [p for folder in sys.path for p in glob(f"{folder}/nvidia/*")]
    found = shutil.which(name) or next(
        (path for p in places if os.access(path := f"{p}/bin/{name}", os.X_OK)), None
    )
    return found


def machine_code(kernel, arguments, folder):
    """(what ptxas says, machine code as text or None) of a kernel for argument types."""
    ptx, _ = cuda.compile_ptx(kernel.py_func, arguments, cc=CAPABILITY)
    source, binary = os.path.join(folder, "kernel.ptx"), os.path.join(folder, "kernel.cubin")
    with open(source, "w") as file:
        file.write(ptx)
    architecture = f"-arch=sm_{CAPABILITY[0]}{CAPABILITY[1]}"
    command = [tool("ptxas"), "-v", architecture, source, "-o", binary]
    said = subprocess.run(command, capture_output=True, text=True)
    if said.returncode:
        raise SystemExit(f"ptxas refused a kernel:\n{said.stderr}")
    if tool("nvdisasm") is None:
        return said.stderr, None
    text = subprocess.run(
        [tool("nvdisasm"), "-c", binary], capture_output=True, text=True, check=True
    )
    return said.stderr, text.stdout


def loops(code):
    """Instructions (names) of the machine code, and its loops as (first, last) of them."""
    names, places, jumps = [], {}, []
    for line in code.splitlines():
        if label := re.match(r"\s*(\.L\w+):", line):
            places[label[1]] = len(names)
        if found := re.search(r"/\*[0-9a-f]{4,5}\*/\s+(?:@!?U?P\w+\s+)?([A-Z0-9]+)(.*?);", line):
            if target := re.search(r"\.L\w+", found[2]) if found[1] == "BRA" else None:
                jumps.append((target[0], len(names)))
            names.append(found[1])
    ends = [(places[target], n) for target, n in jumps if places.get(target, n + 1) <= n]
    return names, [(first, last) for first, last in ends if first < last]


def instructions(code, lengths, pairs):
    """Instructions for a pair (Counter), in the longest loop, which contains those over features.

    If the compiler made a loop only for the longest range of features, the others count once.
    """
    names, found = loops(code)
    first, last = max(found, key=lambda loop: loop[1] - loop[0])
    inside = sorted(loop for loop in found if first < loop[0] and loop[1] < last)
    total = Counter(names[first : last + 1])
    for (start, end), length in zip(inside, lengths if len(inside) > 1 else [max(lengths)]):
        body = Counter(names[start : end + 1])
        at_once = body["LDG"] / (2 * pairs**0.5)
        total.subtract(body)
        total.update({name: n * length / at_once for name, n in body.items()})
    return {name: n / pairs for name, n in total.items()}


def bound(count):
    """(pairs per second, the unit that limits them)."""
    wide = 2 if any(name in count for name in ("DFMA", "DADD", "DMUL")) else 1
    cycles = {
        "any": sum(count.values()),
        "float64": sum(count.get(name, 0) for name in ("DFMA", "DADD", "DMUL", "DSETP")),
        "memory": wide * sum(count.get(name, 0) for name in ("LDG", "LDS", "STS", "STG")),
        "special": count.get("MUFU", 0),
    }
    cycles = {unit: n / RATES[unit] for unit, n in cycles.items()}
    unit = max(cycles, key=cycles.get)
    return 32 * MULTIPROCESSORS * CLOCK / cycles[unit], unit


def occupancy(registers, shared, threads):
    """Warps resident on a multiprocessor, of 64."""
    warps = -(-threads // 32)
    of_registers = REGISTERS // (warps * 32 * (-(-registers // 8) * 8))
    of_shared = SHARED // (-(-shared // 128) * 128 + RESERVED)
    return warps * min(BLOCKS, WARPS // warps, of_registers, of_shared)


def array(dtype, n):
    """Type of a C-contiguous array of n dimensions."""
    return types.Array(typeof(np.dtype(dtype).type(0)), n, "C")


def inputs(pair, program):
    """Types of the arguments that all kernels of pairs begin with."""
    real, wide = (lambda n: array(pair.dtype, n)), (lambda n: array(np.float64, n))
    numbers, ranges = (typeof(given) for given in pair.arguments(program))
    return (*(real(2),) * 2, *(wide(2),) * 2, wide(3), *(real(1),) * 2, numbers, ranges)


def ladder(p, d, dtype, n_targets):
    """The program of p Gaussians on d features."""
    X, gammas = np.zeros((2, d), dtype), 2.0 ** (np.arange(p) - p // 2)
    return program_of(al.gaussian_kernels(gammas), X, X, n_targets=n_targets)


def sums_in_registers(d, dtype):
    """(name, kernel, argument types, threads, dynamic shared memory, ranges) of pair sums."""
    width, reach = 32, register_sums.REACH
    for p in (1, 5, 10, 16)[: 4 if dtype == np.float32 else 3]:
        program = ladder(p, d, dtype, 1)
        pair = pair_functions(program, dtype, target=True, rows=reach, columns=reach)
        outputs = types.boolean, types.int64, array(np.float64, 2), *(array(dtype, 3),) * 2
        given = (*inputs(pair, program), *outputs)
        shared = register_sums.shared_bytes(p, width, pair.dtype.itemsize)
        ranges = pair.arguments(program)[1]
        lengths = [b - a for a, b in zip(ranges[::2], ranges[1::2])]
        for weighted in (False, True) if p == 10 else (False,):
            kernel = register_sums.tile_kernel(pair, p, width, weighted)
            name = f"tile of pair sums, p = {p}{', weights' if weighted else ''}"
            yield name, kernel, given, width, shared, lengths


def sums_in_blocks(d, dtype):
    """The same for many kernels."""
    pair = pair_functions(program := ladder(23, d, dtype, 1), dtype, target=True)
    given = (*inputs(pair, program), types.int64, types.int64, array(dtype, 3))
    yield "values, p = 23", memory_sums.values_kernel(pair, False), given, 128, 0, None
    for block in (4, 8):
        kernel = memory_sums.products_kernel(np.dtype(dtype), block, 8)
        given = array(dtype, 2), types.int64, array(dtype, 4)
        yield f"products of blocks, {block} x {block} of a thread", kernel, given, 64, 0, None


def products(d, dtype):
    """The same for Gram matrices and products with them, and for hyper-kernels."""
    real, whole = (lambda n: array(dtype, n)), array(np.int32, 1)
    threads = ACROSS * DOWN
    for p, rows, counts in ((1, 8, (1, 2)), (10, 4, (1, 4))):
        program = ladder(p, d, dtype, 0)
        pair = pair_functions(program, dtype, rows=4, columns=4)
        numbers, ranges = (typeof(given) for given in pair.arguments(program))
        weights = types.UniTuple(typeof(pair.dtype.type(0)), p)
        sides = real(2), real(2), array(np.float64, 2), array(np.float64, 2), real(3)
        given = *sides, numbers, ranges, weights
        kernel = gram._gram_kernel(pair, 4, 4, d)
        yield f"Gram block, p = {p}", kernel, (*given, real(2)), threads, 0, None
        pair = pair_functions(program, dtype, rows=rows, columns=4)
        more = real(2), types.int64, array(np.float64, 3)
        for n in counts:
            kernel = gram._times_kernel(pair, rows, 4, d, n)
            name = f"Gram times {n} columns, p = {p}"
            yield name, kernel, (*given, *more), threads, 0, None
    side, squarings = (whole, whole, real(2), real(1)), array(np.int64, 1)
    number = typeof(np.dtype(dtype).type(0))
    for kind in range(2):
        given, name = (real(2), *side, *side), np.dtype(dtype).name
        kernel = hyper._gram(kind, name)
        yield (
            f"hyper-kernel {kind}, block",
            kernel,
            (*given, number, squarings, real(2)),
            128,
            0,
            None,
        )
        kernel, more = hyper._times(kind, name), (real(1), number, squarings, types.int64)
        given = *given, *more, array(np.float64, 3)
        yield f"hyper-kernel {kind}, times", kernel, given, 128, 0, None


def report(d):
    """Print the table."""
    print(f"compute capability 9.0, d = {d}, one target; bound at {CLOCK / 1e9} GHz, ", end="")
    print(f"{MULTIPROCESSORS} multiprocessors")
    columns = "registers", "spills", "shared", "warps", "instructions", "float", "Gpairs/s"
    print(f"{'kernel':46}" + "".join(f"{name:>13}" for name in columns))
    with tempfile.TemporaryDirectory() as folder:
        for dtype in (np.float32, np.float64):
            for group in (sums_in_registers, sums_in_blocks, products):
                for name, *kernel in group(d, dtype):
                    values = figures(folder, *kernel)
                    label = f"{name}, {np.dtype(dtype).name}"
                    print(f"{label:46}" + "".join(f"{v:>13}" for v in values), flush=True)


def figures(folder, kernel, given, threads, shared, lengths):
    """The row of a kernel in the table."""
    said, code = machine_code(kernel, given, folder)
    registers = int(re.search(r"Used (\d+) registers", said)[1])
    spilled = int(re.search(r"(\d+) bytes spill stores", said)[1])
    static = re.search(r"(\d+) bytes smem", said)
    shared += int(static[1]) if static else 0
    row = [registers, spilled, shared, occupancy(registers, shared, threads)]
    if code and lengths:
        count = instructions(code, lengths, register_sums.REACH**2)
        most, unit = bound(count)
        arithmetic = sum(n for name, n in count.items() if name in FLOAT)
        row += [f"{sum(count.values()):.0f}", f"{arithmetic:.0f}", f"{most / 1e9:.0f} ({unit})"]
    return row


def compile_operations():
    """Compile every operation in both dtypes: types are checked here, not in the simulator."""
    sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "..", "tests", "engine"))
    import cuda_cases as cases

    for name in [*cases.SINGLE, *cases.SECOND]:
        program = cases.of_operation(name)
        for dtype in (np.float32, np.float64):
            pair = pair_functions(program, dtype)
            kernel = memory_sums.values_kernel(pair, False)
            given = (*inputs(pair, program), types.int64, types.int64, array(dtype, 3))
            ptx, _ = cuda.compile_ptx(kernel.py_func, given, cc=CAPABILITY)
            promoted = len(re.findall(r"(?:add|mul|fma\.rn|div\.rn)\.?\w*\.f64", ptx))
            note = f"{promoted} in float64" if dtype == np.float32 and promoted else ""
            print(f"{name:28}{np.dtype(dtype).name:10}compiles {note}", flush=True)


def compile_small_kernels():
    """Compile the kernels that gather, clear, copy and merge."""
    wide, count, flag = (lambda n: array(np.float64, n)), types.int64, types.boolean
    for dtype in (np.float32, np.float64):
        real = partial(array, dtype)
        sides = real(3), real(1), real(1), count, count, real(3), real(3)
        small = (
            (pair_sums._gather, real(2), real(2), array(np.int64, 1), wide(1), real(2)),
            (pair_sums._clear, wide(1)),
            (register_sums._merge_products, wide(2), wide(1)),
            (register_sums.merge_rows, real(3), count, flag, count, wide(2)),
            (register_sums._merge_columns, real(3), count, flag, count, wide(2)),
            *((memory_sums.sides_kernel(np.dtype(dtype), w), *sides) for w in (False, True)),
            (memory_sums._copy_diagonal, real(3), count, real(3)),
            (memory_sums._merge, real(4), types.float64, wide(3)),
            (parts._transpose, wide(2), real(2)),
            (parts._add_parts, wide(3), count, wide(2)),
            (parts.residual, wide(2), wide(1), wide(2), real(2)),
            (centering._row_means, real(2), wide(1), wide(1)),
            (centering._column_means, real(2), wide(1), count, wide(3)),
            (centering._subtract, real(2), wide(1), wide(1)),
        )
        for kernel, *given in small:
            cuda.compile_ptx(kernel.py_func, tuple(given), cc=CAPABILITY)
            print(f"{kernel.py_func.__name__:28}{np.dtype(dtype).name:10}compiles", flush=True)


def main():
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--operations", action="store_true", help="compile every operation")
    parser.add_argument("--features", type=int, default=20, help="columns of the data")
    arguments = parser.parse_args()
    if config.ENABLE_CUDASIM:
        raise SystemExit("The simulator compiles nothing: unset NUMBA_ENABLE_CUDASIM.")
    if tool("ptxas") is None:
        raise SystemExit(f"ptxas is missing. {INSTALL}")
    if not cuda.is_available():
        # Device functions are compiled for the present device; none is needed to compile.
        from numba.cuda import dispatcher

        dispatcher.get_current_device = lambda: SimpleNamespace(compute_capability=CAPABILITY)
    try:
        if arguments.operations:
            compile_operations()
            compile_small_kernels()
        report(arguments.features)
    except errors.NvvmSupportError as error:
        raise SystemExit(f"Numba finds no libNVVM: {error}\n{INSTALL}") from None


if __name__ == "__main__":
    main()
