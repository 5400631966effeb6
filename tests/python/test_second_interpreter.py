# SPDX-License-Identifier: MIT
"""Tests Ocular in a program that embeds Python, finalises it and initialises it again."""

import os
import shutil
import subprocess
import sys
import sysconfig

import pytest
from e2e import program

MAIN = r"""
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words)
{
    void *library = dlopen(words[1], RTLD_NOW | RTLD_GLOBAL);
    void (*initialize)(int);
    int (*run)(const char *, void *), (*finalize)(void);
    if (!library) {
        fprintf(stderr, "%s\\n", dlerror());
        return 99;
    }
    *(void **)&initialize = dlsym(library, "Py_InitializeEx");
    *(void **)&run = dlsym(library, "PyRun_SimpleStringFlags");
    *(void **)&finalize = dlsym(library, "Py_FinalizeEx");
    for (int i = 2; i < count; i++) {
        initialize(0);
        if (run(words[i], NULL) || finalize())
            return i - 1;
    }
    return 0;
}
"""

TRACES = """
import ocular
def work(n):
    return sum(range(n))
ocular.start_tracing(perfetto=False, quiet=True)
for _ in range(1000):
    work(10)
assert ocular.stop_tracing()["events"] > 1000
"""
IS_REFUSED = """
def work(n):
    return sum(range(n))
for _ in range(2):
    try:
        import ocular
    except ImportError as error:
        words = str(error)
    else:
        raise SystemExit("it was imported")
    assert "process of its own" in words, words
for _ in range(1000):
    work(10)
"""


@pytest.fixture
def embed(tmp_path):
    """Returns a function that runs several sources in turn, each in its own interpreter."""
    library = os.path.join(
        sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    )
    compiler = shutil.which("cc")
    if not compiler or not library.split(".so")[1:] or not os.path.exists(library):
        pytest.skip("no compiler, or no shared libpython to embed")
    (tmp_path / "main.c").write_text(MAIN)
    subprocess.run(
        [compiler, "-o", tmp_path / "main", tmp_path / "main.c", "-ldl"], check=True
    )

    def run(*sources):
        environment = {"PYTHONHOME": sys.base_prefix}
        return program.run([tmp_path / "main", library, *sources], env=environment)

    return run


def test_the_second_is_refused(embed):
    done = embed(TRACES, IS_REFUSED, IS_REFUSED)
    assert (done.status, done.err) == (0, "")


def test_whoever_has_not_imported_it_leaves_it_to_the_next(embed):
    done = embed("pass", TRACES, IS_REFUSED)
    assert (done.status, done.err) == (0, "")
