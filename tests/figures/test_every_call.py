# SPDX-License-Identifier: MIT
"""At a threshold of 0 no call is lost: programs of pyperformance, held against cProfile."""

import os
from pathlib import Path

import pytest
from e2e.program import run

HERE = Path(__file__).resolve().parent
BENCHMARKS = Path(os.environ.get("OCULAR_BENCHMARKS", ""))
ARGUMENTS = {"async_tree": ["none"], "pickle": ["--pure-python", "pickle"]}
# Of pyperformance 1.14 what needs no other package, and does a second's work or less.
NAMES = """async_generators async_tree chaos comprehensions coroutines deepcopy deltablue
    fannkuch float generators go hexiom json_dumps json_loads logging mdp nqueens
    pickle pprint pyflate raytrace regex_compile richards richards_super scimark
    spectral_norm telco typing_runtime_protocols unpack_sequence""".split()


@pytest.mark.timeout(600)
@pytest.mark.skipif(
    not (BENCHMARKS / "bin" / "pyperformance").exists(),
    reason="`make figures` alone installs pyperformance",
)
@pytest.mark.parametrize("name", NAMES)
def test_every_call(name, tmp_path, figure):
    folder = f"pyperformance/data-files/benchmarks/bm_{name}"
    found = BENCHMARKS.glob(f"lib/python*/site-packages/{folder}/run_benchmark.py")
    command = [os.environ["PYTHON"], HERE / "every_call.py", next(iter(found))]
    trace = tmp_path / "t.pftrace"
    done = run([*command, trace, *ARGUMENTS.get(name, [])], timeout=500, cwd=tmp_path)
    assert done.status == 0, done.err
    result = done.answer
    wrong = [pair for pair in result["pairs"] if pair[3] != pair[4]]
    assert result["pairs"] and not wrong
    assert result["lost"] == 0
    if result["events"] > 100_000:  # names and samples weigh little
        figure("bytes an event", trace.stat().st_size / result["events"], unit="B")
