# SPDX-License-Identifier: MIT
"""Flame graphs as files: of a run that ends, by export(), and of `ocular convert`. The
extension writes folded stacks, and of these the file is made. Imported only if such a
file is asked for."""

import _thread
import contextlib
import os

from ocular import _flame_page, _ocular, _settings, _stacks

TRIES = 10000  # names


def text_of(flame, facts, path):
    """The content of the file of that name."""
    ending = _settings.page_ending(path)
    write = _flame_page.picture if ending.startswith(".svg") else _flame_page.page
    return write(flame, facts)


def write(path, text, replaces=False):
    """Writes the file whole, or not at all: its size. FileExistsError if there is one."""
    content = text.encode("utf-8", "replace")
    if path.endswith(".gz"):
        import gzip

        content = gzip.compress(content)
    temporary = f"{path}.{os.getpid()}.{_thread.get_ident()}.part"
    try:
        _write(temporary, path, content, replaces)
    except OSError as error:  # of that path, as its user knows it
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
        os.rename(temporary, path)  # this file system has no second names


def _facts(snapshot):
    """Sentences about a run, by a snapshot of it."""
    samples = (snapshot["sampler"] or {}).get("samples") or 0
    budget = snapshot["overhead"]["budget"]
    sentences = [
        f"in {snapshot['uptime_s']:.1f} s",
        f"{samples} samples",
        snapshot["python"],
        f"Ocular {snapshot['version']}",
    ]
    if budget:
        sentences.append(f"budget {100 * budget:g} %")
    return _flame_page.Facts(snapshot["command"], sentences, "us", samples)


def _read(path):
    with open(path, "rb") as file:
        return _stacks.read(file)


def make_page(ending, say, path, snapshot):
    """Makes the file out of the stacks that the end of a run has written to `path`: its
    path, or that of the stacks, which stay if it cannot be made."""
    stem, _, number = path.removesuffix(_settings.STACKS).rpartition(ending)
    stem += number  # the process's, in a child
    page = stem + ending
    try:
        text = text_of(_read(path), _facts(snapshot), page)
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
    """ocular.export() of such a name."""
    stacks = f"{path}.{os.getpid()}.{_thread.get_ident()}{_settings.STACKS}"
    try:
        _ocular.export(os.fsencode(stacks))
        text = text_of(_read(stacks), _facts(_ocular.snapshot()), path)
        return write(path, text, replaces=True)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, path) from None
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(stacks)
