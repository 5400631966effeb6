# SPDX-License-Identifier: MIT
"""Implements marks and spans. The program itself writes these events into the timeline."""

from . import _ocular

MOST = 1000  # Bytes of a mark's arguments, as in tracer/timeline/mark.h.
CUT = 200  # characters kept of each value if the arguments are too long


def _text(value):
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _encode(args):
    """Returns the arguments as a JSON object of at most MOST bytes, or "" if there are no
    arguments."""
    if not args:
        return ""
    import json  # json is imported only if a mark has arguments

    try:
        text = json.dumps(args, default=_text, allow_nan=False)
    # A value may be NaN or refer to itself, or a key may be bad.
    except (TypeError, ValueError, RecursionError):
        text = json.dumps({key: _text(value) for key, value in args.items()})
    if len(text) > MOST:
        text = json.dumps({key: _text(value)[:CUT] for key, value in args.items()})
    return text if len(text) <= MOST else json.dumps({"...": text[: MOST // 2 - 6]})


def _clean(name):
    """Returns the name with lone surrogates and null characters replaced."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    return name.encode(errors="replace").decode().replace("\0", "?")


def mark(name, /, **args):
    """Put an instant into the timeline of the calling thread.

    The instant has at most 200 bytes of `name`, and at most 1000 bytes of the arguments as
    JSON. If JSON cannot express a value, the value's repr() is written. If no timeline is
    kept, a call takes about 0.1 us and does nothing. Any thread may call this function.
    Raises TypeError if `name` is not a str.
    """
    name = _clean(name)
    if _ocular.has_timeline():
        _ocular.mark(name, _encode(args))


def span(name, /, **args):
    """`with ocular.span("name", key=value):` makes a slice for the block in the timeline.
    The slice is on its own track below the thread's track.

    Spans may overlap, as the spans of tasks do. A span must end on the thread on which it
    began. Otherwise the slice has no end. `name` and the arguments are treated as mark()
    treats them. The returned object may be used again, but not by two tasks or threads at a
    time. Any thread may call this function. Raises TypeError if `name` is not a str.
    """
    return _Span(_clean(name), args)


class _Span:
    __slots__ = ("_args", "_name", "_open")

    def __init__(self, name, args):
        self._name = name
        self._args = args
        self._open = []  # numbers of open spans, or 0 for a span that no timeline keeps

    def __enter__(self):
        number = 0
        if _ocular.has_timeline():
            number = _ocular.span_begin(self._name, _encode(self._args))
        self._open.append(number)

    def __exit__(self, *exc_info):
        number = self._open.pop()
        if number:
            _ocular.span_end(number, self._name)
