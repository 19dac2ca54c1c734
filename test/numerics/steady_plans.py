"""Plans that stay: the same program gives the same annotations, on one core as on all, and a line of a model that is
changed away from its layers leaves the layers' shardings as they were, or its report names the plan as it was, at most
2% longer. Shapes only: nothing is executed.

  steady_plans.py
"""
import os
import sys

import jax.numpy as jnp
from plans import FAST, SQUARE, adam, array, descent, layers, plan, transformer


def on_cores(cores, step, arguments):
    """The plan that is made on these cores."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        return plan(step, arguments, FAST, "--devices=8", donate=0)
    finally:
        os.sched_setaffinity(0, allowed)


def changed(loss, line):
    """The loss, and one line more."""
    return lambda weights, x: line(loss(weights, x), x)


TIE = 1.02


def is_tie(first, other):
    """Whether the other report has a plan of the first one's kind that takes as long."""
    as_before = [plan["seconds"] for plan in other.report["alternatives"] if plan["kind"] == first.report["kind"]]
    return min(as_before, default=float("inf")) <= TIE * other.report["predicted"]["seconds"]


def main():
    attention, weights, x = transformer(256, 8)
    models = {"dense": (layers, descent, (SQUARE, array(4096, 2048))), "attention": (attention, descent, (weights, x)),
              "moments": (layers, adam, (SQUARE, SQUARE, SQUARE, array(4096, 2048)))}
    lines = {"scaled": lambda value, x: value * 0.5, "logarithm": lambda value, x: jnp.log(value + 1.0),
             "input's mean": lambda value, x: value + jnp.mean(jnp.abs(x))}
    failed = 0

    def check(name, right):
        nonlocal failed
        failed += not right
        print(f"{'ok  ' if right else 'FAIL'} {name}", flush=True)

    cores = os.sched_getaffinity(0)
    for name, (loss, step, arguments) in models.items():
        first, alone = (on_cores(some, step(loss), arguments) for some in (cores, {min(cores)}))
        check(f"{name}: on one core as on all", alone.text == first.text)
        for line, change in lines.items():
            other = plan(step(changed(loss, change)), arguments, FAST, "--devices=8", donate=0)
            moved = [argument for argument in first.report["arguments"] if other.axes(argument) != first.axes(argument)]
            check(f"{name}: {line}" + (f", other shardings of {', '.join(moved)}" if moved else ""), not moved or is_tie(first, other))
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
