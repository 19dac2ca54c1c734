"""What a traced function does besides computing results: refused, with the user's line."""
from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .jax_internals import source_of

CALLS_BACK = {
    "debug_callback": "jax.debug.callback",
    "debug_print": "jax.debug.print",
    "pure_callback": "jax.pure_callback",
    "io_callback": "jax.experimental.io_callback",
    "buffer_callback": "jax.experimental.buffer_callback",
}


def equations(jaxpr: Any) -> Iterator[Any]:
    """All of a jaxpr and of those inside of its equations."""
    for equation in jaxpr.eqns:
        yield equation
        for value in equation.params.values():
            for inner in value if isinstance(value, (tuple, list)) else (value,):
                inner = getattr(inner, "jaxpr", inner)
                if hasattr(inner, "eqns"):
                    yield from equations(inner)


def refusal(jaxpr: Any) -> str | None:
    """None, or where and what of the jaxpr can't be compiled."""
    for equation in equations(jaxpr):
        if name := CALLS_BACK.get(equation.primitive.name):
            return (f"{source_of(equation)}: {name} calls back into Python, which a compiled program can't: "
                    "return the value as a result, or take the call out")
    return None
