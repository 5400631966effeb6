# SPDX-License-Identifier: MIT
"""Tests %ocular and %%ocular in a real Jupyter kernel."""

import html
import os
import re

import pytest
from jupyter_client.manager import start_new_kernel

START = """%load_ext ocular
import threading, time
def step(i): return sum(range(i))
def work(n): return [step(i) for i in range(n)]
def burn(seconds):
    end = time.thread_time() + seconds
    while time.thread_time() < end: work(10)"""
FAILS = "%%ocular -x\nwork(3)\n1 / 0"
THREAD = (
    "thread = threading.Thread(target=burn, args=(0.5,)); thread.start(); thread.join()"
)
REFUSED = {
    "%%ocular\n%ocular 1": "traced already, by %%ocular or by ocular.start_tracing()",
    "%%ocular --bogus\n1": "unrecognized arguments: --bogus",
    "%%ocular -n -1\n1": "-n must be at least 0",
    "%%ocular --exclude 'a\n1": "No closing quotation",
    "%%ocular bogus\n1": "%%ocular has no option bogus",
    "%ocular --threshold -3 1": "deinstrument_threshold must be at least 0",
    "%%ocular\nawait work(3)": "cannot trace an await outside of a function",
}


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    """Returns a function that runs a cell and returns the status, and the content of the
    kernel's messages by their types."""
    folder = str(tmp_path_factory.mktemp("jupyter"))
    homes = dict.fromkeys(("JUPYTER_RUNTIME_DIR", "IPYTHONDIR"), folder)
    manager, client = start_new_kernel(env=os.environ | homes)

    def run_cell(code):
        said = {}

        def add(message):
            kind, content = message["msg_type"], message["content"]
            if kind == "stream" and kind in said:  # the kernel can send a text in parts
                content["text"] = said[kind]["text"] + content["text"]
            said[kind] = content

        reply = client.execute_interactive(code, output_hook=add, timeout=90)
        return reply["content"]["status"], said

    assert run_cell(START)[0] == "ok"
    yield run_cell
    client.stop_channels()
    manager.shutdown_kernel(now=True)


def table(said):
    """Returns the cells of each row, by the function's name."""
    lines = said["display_data"]["data"]["text/plain"].splitlines()
    rows = [line.split() for line in lines if " In[" in line]
    return {row[-2]: row for row in rows}


@pytest.mark.parametrize("code", ["%%ocular -x -o r\n", "%ocular -x -o r "])
def test_each_call_is_counted(run, code):
    status, said = run(f"{code}work(300)[-1]")
    assert status == "ok" and said["execute_result"]["data"]["text/plain"] == "44551"
    assert table(said)["step"][0] == "300" and table(said)["work"][0] == "1"
    assert next(iter(table(said))) == "step"  # It uses most of the time.
    _, said = run(
        "r.is_exact, [row['calls'] for row in r.functions if row['name'] == 'step']"
    )
    assert said["execute_result"]["data"]["text/plain"] == "(True, [300])"
    # As usual, a semicolon hides the value, and quotes hold the words of an option.
    _, said = run(code.replace(" -o", " --exclude '/a b/,c' -o") + "'\\''.join('it');")
    assert "display_data" in said and "execute_result" not in said


def test_an_exception_is_shown_after_the_table(run):
    status, said = run(FAILS)
    assert status == "error" and said["error"]["ename"] == "ZeroDivisionError"
    traceback = re.sub("\x1b\\[[0-9;]*m", "", "".join(said["error"]["traceback"]))
    assert "Cell In[1], line 3" in re.sub(r"In\[\d+\]", "In[1]", traceback)
    order = list(said)
    assert order.index("display_data") < order.index("error")
    assert table(said)["step"][0] == "3"


@pytest.mark.parametrize("code", ["burn(0.5)", THREAD])
def test_the_flame_graph_has_only_the_cell(run, code):
    status, said = run("%%ocular -o r\n" + code)
    assert status == "ok" and "±" in "".join(table(said)["step"])
    page = html.unescape(said["display_data"]["data"]["text/html"].partition("srcdoc=")[2])
    assert page.count("<!doctype html>") == 1 and '["step","In[1]","3"]' in page
    assert "IPython" not in page
    first = b"Thread._bootstrap (" if code == THREAD else b"<module> (In["
    _, said = run(
        f"any(each.startswith({first}) for each in r.stacks), "
        "[each for each in r.stacks if b'In[' not in each]"
    )
    assert said["execute_result"]["data"]["text/plain"] == "(True, [])"


@pytest.mark.parametrize("code", REFUSED)
def test_refusals(run, code):
    status, said = run(code)
    assert status == "error" and REFUSED[code] in said["stream"]["text"]
    assert run("import ocular; assert not ocular.is_tracing()")[0] == "ok"
