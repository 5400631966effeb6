# SPDX-License-Identifier: MIT
"""Runs the inputs of the fuzzers' kept corpus without libFuzzer. `make fuzz` begins with
this corpus."""

from pathlib import Path

import pytest
from e2e.program import BUILD, run

pytestmark = pytest.mark.once
CORPUS = Path(__file__).parent / "corpus"


@pytest.mark.parametrize("name", sorted(path.name for path in CORPUS.iterdir()))
def test_corpus(name):
    done = run([BUILD / "obj" / "tests" / "fuzz" / name, CORPUS / name])
    assert done.status == 0, done.err
    assert int(done.out) == len(list((CORPUS / name).iterdir())) > 10
