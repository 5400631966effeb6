# SPDX-License-Identifier: MIT
"""Adds %ocular and %%ocular to IPython and Jupyter. They trace a statement or a cell, and
show a _notebook_result.Result. `%load_ext ocular` imports this module."""

import argparse
import ast
import os
import shlex
import sys
import tempfile
import time

from IPython.core.error import UsageError
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from IPython.display import display

import ocular
from ocular import __main__ as command
from ocular import _notebook_result, _ocular, _settings

# The code of the notebook itself has no hooks.
KERNEL = "IPython ipykernel jupyter_client tornado traitlets zmq debugpy".split()
VALUE = "_ocular_value"


class _Parser(argparse.ArgumentParser):
    def error(self, message):
        raise UsageError(message)


def _parser():
    parser = _Parser(
        prog="%%ocular",
        add_help=False,
        allow_abbrev=False,
        formatter_class=command._Help,
        usage="%%%%ocular [options]\n       %%ocular [options] statement",
    )
    add = parser.add_argument
    add("-o", dest="name", metavar="NAME", help="keep the result in this variable")
    add("-n", dest="rows", type=int, metavar="N", default=20, help="rows of the table (20)")
    add("-x", "--exact", action="store_true", help="count every call: --threshold 0")
    command._add_cost(parser.add_argument_group("tracing and its cost"))
    return parser


def _split(line):
    """Returns the words of the options without their quotes, and the statement as it is
    in the line."""
    lexer, given, words = shlex.shlex(line.rstrip(), posix=True), [], []
    lexer.whitespace_split, lexer.commenters = True, ""
    while rest := line[lexer.instream.tell() :].strip():
        try:
            words.append(lexer.get_token())
        except ValueError as error:  # a quote has no end, as in '\''.join(x)
            words.append(rest)
            if not command._split(_parser(), words)[1]:
                raise UsageError(f"%%ocular: {error}") from None
        given, statement = command._split(_parser(), words)
        if statement:
            return given, rest
    return given, ""


# --- The stacks of a cell -----------------------------------------------------


def _label(name, file, line):
    return f"{name} ({os.path.basename(file)}:{line})"


def _stacks_of(lines, functions, code):
    """Returns the lines of the cell's stacks, which begin with the cell. Stacks of other
    threads stay if they have a function that is not of the standard library, because the
    notebook's own threads have no other function."""
    cell = _label("<module>", code.co_filename, 1)
    known = {
        _label(row["name"], row["file"], row["line"])
        for row in functions
        if not _notebook_result.is_library(row["file"])
    }
    kept = []
    for line in lines:
        stack, _, number = line.rpartition(" ")
        labels = stack.split(";")
        if cell in labels:
            labels = labels[labels.index(cell) :]
        elif known.isdisjoint(labels):
            continue
        kept.append(f"{';'.join(labels)} {number}")
    return kept


def _named(shell, functions, lines):
    """Replaces the file name of each notebook cell by a name such as In[5]."""
    for file in {row["file"] for row in functions}:
        kind = shell.compile.format_code_name(file)
        if kind:
            old, new = f" ({os.path.basename(file)}:", f" ({kind[1]}:"
            lines = [line.replace(old, new) for line in lines]
            for row in functions:
                if row["file"] == file:
                    row["file"] = kind[1]
    return [line.encode() for line in lines]


# --- The magics ---------------------------------------------------------------


def _number(shell):
    """Returns the number of the cell that runs. Some versions of IPython increase
    shell.execution_count before the cell runs, and others after it."""
    frame = sys._getframe()
    while frame is not None:
        kind = shell.compile.format_code_name(frame.f_code.co_filename)
        if kind is not None:
            return int("".join(filter(str.isdigit, kind[1])))
        frame = frame.f_back
    return shell.execution_count


def _compiled(shell, text, number):
    """Returns the code object of a cell, which stores the value of the cell's last
    expression in the variable VALUE, unless a semicolon follows."""
    if shell.should_run_async(text, transformed_cell=text):
        raise UsageError(
            "%%ocular cannot trace an await outside of a function: "
            "use `with ocular.tracing():` around it"
        )
    name = shell.compile.cache(text, number)
    tree = shell.transform_ast(shell.compile.ast_parse(text, filename=name))
    silent = shell.displayhook.semicolon_at_end_of_expression(text)
    if tree.body and isinstance(tree.body[-1], ast.Expr) and not silent:
        last = tree.body[-1]
        target = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
        tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    return shell.compile(tree, name, "exec")


def _trace(settings, code, namespace, finish):
    """Runs the code. After the trace, calls `finish` with the final snapshot, the folded
    stacks and the seconds, also if the code raises an exception."""
    __tracebackhide__ = True
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "cell" + _settings.STACKS)
        try:
            ocular.start_tracing(output=path, quiet=True, **settings)
        except (RuntimeError, OSError, TypeError, ValueError) as error:
            raise UsageError(f"%%ocular: {error}") from None
        began = time.perf_counter()
        try:
            exec(code, namespace)
        finally:
            seconds = time.perf_counter() - began
            snapshot, lines = ocular.stop_tracing(), []
            if os.path.exists(path):  # there may be no samples
                with open(path, encoding="utf-8", errors="replace") as file:
                    lines = file.read().splitlines()
            if VALUE in namespace:
                sys.displayhook(namespace.pop(VALUE))
            finish(snapshot, lines, seconds)


@magics_class
class OcularMagics(Magics):
    @no_var_expand
    @line_cell_magic
    def ocular(self, line, cell=None):
        __tracebackhide__ = True
        given, statement = _split(line)
        options = vars(_parser().parse_args(given))
        if options["rows"] < 0:
            raise UsageError("-n must be at least 0")
        if cell is not None and statement:
            raise UsageError(f"%%ocular has no option {statement}")
        self._run(statement if cell is None else cell, cell is None, **options)

    def _run(self, text, is_line, name, rows, exact, **settings):
        __tracebackhide__ = True
        shell = self.shell
        if exact:
            settings["deinstrument_threshold"] = 0
        kernel = [f"/{each}/" for each in KERNEL]
        settings["exclude"] = [*(settings["exclude"] or ()), *kernel]
        if _ocular.is_tracing() and not _ocular.is_armed():
            raise UsageError(
                "%%ocular: this process is traced already, by %%ocular or by "
                "ocular.start_tracing(). ocular.stop_tracing() ends the trace"
            )
        number = _number(shell)
        text = shell.transform_cell(text)
        # The lines of a cell count from the line of %%ocular.
        code = _compiled(shell, text if is_line else "\n" + text, number)

        def finish(snapshot, lines, seconds):
            if snapshot is None:
                print("ocular: the cell has stopped the trace", file=sys.stderr)
                return
            lines = _stacks_of(lines, snapshot["functions"], code)
            lines = _named(shell, snapshot["functions"], lines)
            title = f"In[{number}]"
            result = _notebook_result.Result(snapshot, lines, title, seconds, rows)
            if name:
                shell.user_ns[name] = result
            display(result)

        _trace(settings, code, shell.user_ns, finish)


OcularMagics.ocular.__doc__ = f"""Traces a cell or a statement, and shows its functions.

The table and the flame graph have all threads of the kernel, without the kernel's own code.

{_parser().format_help()}"""
