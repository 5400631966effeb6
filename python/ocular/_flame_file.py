# SPDX-License-Identifier: MIT
"""Writes flame graphs at the end of a trace, for export() and for `ocular convert`. The
extension writes folded stacks, and this module makes the file from them. This module is
imported only if a flame graph is wanted."""

import _thread
import contextlib
import os

from ocular import _flame_page, _ocular, _settings, _stacks

TRIES = 10000  # Largest number of file names to try.


def text_of(flames, facts, path):
    """Returns the content of the file at `path`. `flames` is the result of read_times().
    The suffix of `path` says whether the file is a page, or a picture of the CPU time."""
    if _settings.page_ending(path).startswith(".svg"):
        return _flame_page.picture(flames[0], facts)
    return _flame_page.page(flames[0], facts, flames[1])


def write(path, text, replaces=False):
    """Writes the complete file or nothing, and returns its size. Raises FileExistsError if
    the file exists and `replaces` is false."""
    content = text.encode("utf-8", "replace")
    if path.endswith(".gz"):
        import gzip

        content = gzip.compress(content)
    temporary = f"{path}.{os.getpid()}.{_thread.get_ident()}.part"
    try:
        _write(temporary, path, content, replaces)
    except OSError as error:  # the error names the path that the user has given
        raise OSError(error.errno, error.strerror, path) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(temporary)
    return len(content)


def _write(temporary, path, content, replaces):
    with open(temporary, "xb") as file:
        file.write(content)
    if replaces:
        os.replace(temporary, path)
        return
    try:
        os.link(temporary, path)
    except OSError:
        if os.path.lexists(path):
            raise
        os.rename(temporary, path)  # this file system has no hard links


def _settings_of(snapshot):
    """Yields a text for each setting that may differ from trace to trace."""
    if snapshot["mode"] != "adaptive":
        yield f"mode {snapshot['mode']}"
    yield f"threshold {snapshot['threshold']}"
    if snapshot["overhead"]["budget"]:
        yield f"budget {100 * snapshot['overhead']['budget']:g} %"
    for key, word in ("exclude", "excluded"), ("include_only", "only"):
        rules = ", ".join(rule["text"] or "" for rule in snapshot["filter"][key])
        if rules:
            yield f"{word}: {rules}"


def facts_of(snapshot, file=None):
    """Returns the facts about a trace, from its snapshot. The title of the graph is the
    name of the recording `file`, or the command if there is no file."""
    samples = (snapshot["sampler"] or {}).get("samples") or 0
    sentences = [
        file and snapshot["command"],
        f"in {snapshot['uptime_s'] or 0:.1f} s",
        f"{samples} samples",
        snapshot["python"],
        snapshot["version"] and f"Ocular {snapshot['version']}",
        *_settings_of(snapshot),
    ]
    return _flame_page.Facts(
        file or snapshot["command"], filter(None, sentences), "us", samples
    )


def _read(path):
    with open(path, "rb") as file:
        return _stacks.read_times(file)


def make_page(ending, say, path, snapshot):
    """Makes a flame graph from the folded stacks at `path`. The stacks were written at the
    end of a trace. Returns the path of the flame graph. If the flame graph cannot be made,
    keeps the stacks and returns the path of the stacks."""
    stem, _, number = path.removesuffix(_settings.STACKS).rpartition(ending)
    stem += number  # adds a forked child's process id
    page = stem + ending
    try:
        text = text_of(_read(path), facts_of(snapshot), page)
        for number in range(1, TRIES):
            try:
                write(page, text)
                break
            except FileExistsError:
                tag = f".{number}" if number > 1 else ""
                page = f"{stem}.{os.getpid()}{tag}{ending}"
    except KeyboardInterrupt:
        os.unlink(path)
        raise
    except Exception as error:
        why = getattr(error, "strerror", None) or f"{type(error).__name__}: {error}"
        say(f"ocular: {page} was not written: {why}; its stacks are in {path}\n")
        return path
    os.unlink(path)
    return page


def export(path):
    """Does ocular.export() for a flame graph."""
    stacks = f"{path}.{os.getpid()}.{_thread.get_ident()}{_settings.STACKS}"
    try:
        _ocular.export(os.fsencode(stacks))
        text = text_of(_read(stacks), facts_of(_ocular.snapshot()), path)
        return write(path, text, replaces=True)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(stacks)
