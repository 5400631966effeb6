# SPDX-License-Identifier: MIT
# The types of the public functions; the docstrings are in __init__.py. A test compares
# the names, arguments and defaults of both (tests/python/test_types.py).
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from os import PathLike
from typing import Any, Literal, TypedDict, Unpack, overload

__version__: str
__all__ = [
    "__version__",
    "export",
    "is_tracing",
    "mark",
    "serve",
    "snapshot",
    "span",
    "start_tracing",
    "stop_serving",
    "stop_tracing",
    "traced",
    "tracing",
]

type _Mode = Literal["adaptive", "precise"]
type _Path = str | bytes | PathLike[str] | PathLike[bytes]
type _Snapshot = dict[str, Any]  # the same structure as ocular-top --once --json

class _Settings(TypedDict, total=False):
    mode: _Mode | None
    perfetto: bool
    deinstrument_threshold: int
    exclude: Iterable[str] | None
    include_only: Iterable[str] | None
    serve: bool
    overhead_budget: float | None
    output: _Path
    timeline_limit: int
    timeline_spill: _Path | Literal[False] | None
    output_seconds: float | None
    quiet: bool
    children: bool | int
    timeline_instructions: bool
    report: bool | None
    stall_ms: float
    events: Iterable[str] | str | None
    native: bool

def start_tracing(
    mode: _Mode | None = None,
    perfetto: bool = True,
    deinstrument_threshold: int = 500,
    exclude: Iterable[str] | None = None,
    include_only: Iterable[str] | None = None,
    serve: bool = False,
    overhead_budget: float | None = None,
    output: _Path = "ocular_trace.json",
    timeline_limit: int = 2621440,
    timeline_spill: _Path | Literal[False] | None = None,
    output_seconds: float | None = 10.0,
    quiet: bool = False,
    children: bool | int = False,
    timeline_instructions: bool = False,
    report: bool | None = None,
    stall_ms: float = 50,
    events: Iterable[str] | str | None = None,
    native: bool = False,
) -> None: ...
def stop_tracing() -> _Snapshot | None: ...
def snapshot() -> _Snapshot: ...
def export(path: _Path) -> int: ...
def is_tracing() -> bool: ...
def mark(name: str, /, **args: object) -> None: ...
def span(name: str, /, **args: object) -> AbstractContextManager[None]: ...
def serve(
    mode: _Mode | None = None,
    perfetto: bool = True,
    deinstrument_threshold: int = 500,
    exclude: Iterable[str] | None = None,
    include_only: Iterable[str] | None = None,
    overhead_budget: float | None = None,
    timeline_limit: int = 2621440,
    timeline_spill: _Path | Literal[False] | None = None,
    stall_ms: float = 50,
    events: Iterable[str] | str | None = None,
    native: bool = False,
) -> None: ...
def stop_serving() -> None: ...
@contextmanager
def tracing(**settings: Unpack[_Settings]) -> Iterator[None]: ...
@overload
def traced[F: Callable[..., Any]](
    function: None = None, /, **settings: Unpack[_Settings]
) -> Callable[[F], F]: ...
@overload
def traced[F: Callable[..., Any]](function: F, /, **settings: Unpack[_Settings]) -> F: ...
