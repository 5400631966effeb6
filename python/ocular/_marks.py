# SPDX-License-Identifier: MIT
"""Marks and spans: what the program says in its own timeline."""

from . import _ocular

MOST = 1000  # bytes of a mark's arguments; tracer/timeline/mark.h has the same
CUT = 200  # characters that are kept of each value if they are more


def _text(value):
    try:
        return repr(value)
    except Exception:
        return f"<{type(value).__name__}>"


def _encode(args):
    """The arguments as a JSON object of at most MOST bytes; "" for none."""
    if not args:
        return ""
    import json  # who makes no such mark need not wait for it

    try:
        text = json.dumps(args, default=_text, allow_nan=False)
    except (TypeError, ValueError, RecursionError):  # keys, NaN, circles
        text = json.dumps({key: _text(value) for key, value in args.items()})
    if len(text) > MOST:
        text = json.dumps({key: _text(value)[:CUT] for key, value in args.items()})
    return text if len(text) <= MOST else json.dumps({"...": text[: MOST // 2 - 6]})


def _clean(name):
    """Text that is UTF-8, whatever it was."""
    if not isinstance(name, str):
        raise TypeError(f"name must be a str, not {type(name).__name__}")
    return name.encode(errors="replace").decode().replace("\0", "?")


def mark(name, /, **args):
    """Put an instant into the timeline, on the calling thread: `name`, of which 200
    bytes are kept, with the arguments as JSON, of which 1000 are kept (a value that
    JSON has no form for is written as its repr). If no timeline is kept this costs
    some 0.1 us and does nothing. Any thread. Raises TypeError for a name that is no
    str.
    """
    name = _clean(name)
    if _ocular.has_timeline():
        _ocular.mark(name, _encode(args))


def span(name, /, **args):
    """`with ocular.span("name", key=value):` is a slice of the timeline from here to
    the block's end, on a track of its own below the thread's. Spans may overlap, as
    those of tasks do. One that ends on another thread than it began stays open.
    Name and arguments are as mark() has them; what is returned may be used again,
    but not by two tasks or threads at a time. Any thread. Raises TypeError for a name
    that is no str.
    """
    return _Span(_clean(name), args)


class _Span:
    __slots__ = ("_args", "_name", "_open")

    def __init__(self, name, args):
        self._name = name
        self._args = args
        self._open = []  # numbers; 0: no timeline was kept

    def __enter__(self):
        number = 0
        if _ocular.has_timeline():
            number = _ocular.span_begin(self._name, _encode(self._args))
        self._open.append(number)

    def __exit__(self, *exc_info):
        number = self._open.pop()
        if number:
            _ocular.span_end(number, self._name)
