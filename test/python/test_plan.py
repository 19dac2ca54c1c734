"""tessera.plan, and tessera.jit with shardings that are found."""

import contextlib
import io
import os
import pathlib
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import tessera

MODULE = """
func.func @main(%x: tensor<256x512xf32>, %w: tensor<512x1024xf32>) -> tensor<256x1024xf32> {
  %h = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0]
    : (tensor<256x512xf32>, tensor<512x1024xf32>) -> tensor<256x1024xf32>
  return %h : tensor<256x1024xf32>
}
"""


def layers(params, x, y):
    def loss(params):
        h = x
        for up, down in params:
            h = h + jnp.tanh(h @ up) @ down
        return jnp.mean((h - y) ** 2)

    value, gradients = jax.value_and_grad(loss)(params)
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, gradients), value


def arguments(width=32, hidden=64, rows=128):
    draw = np.random.default_rng(0).normal
    params = [(0.1 * draw(size=(width, hidden)), 0.1 * draw(size=(hidden, width))) for _ in range(2)]
    x = draw(size=(rows, width))
    return jax.tree.map(np.float32, (params, x, np.tanh(x)))


def test_a_plan_says_what_it_is():
    plan = tessera.plan(MODULE, devices=4)
    assert plan.mesh.size == 4
    assert set(plan.specs) == {"in0", "in1"} == {parameter.name for parameter in plan.compile().inputs}
    assert all(len(spec) == 2 for spec in plan.specs.values())
    assert plan.seconds > 0 and plan.peak_bytes > 0
    assert plan.gap is None or 0 <= plan.gap <= 1
    assert all(other.seconds >= plan.seconds for other in plan.alternatives)
    assert {"%x", "%w"} <= {decision.what for decision in plan.decisions}
    for decision in plan.decisions:
        assert decision.next != decision.spec
        assert decision.next is None or decision.seconds == pytest.approx(
            decision.computing + sum(part["seconds"] for part in decision.collectives))
    assert "sdy.sharding" in plan.module and str(plan) == plan.text
    program = plan.compile()
    assert program.devices == 4
    assert program.report.predicted["seconds"] == pytest.approx(plan.seconds)


SQUARE = {"a": 2, "b": 2}


@pytest.mark.parametrize("mesh", ["a=2,b=2", SQUARE, tessera.Mesh(SQUARE), tessera.make_mesh((2, 2), ("a", "b"))])
def test_a_mesh_may_be_given(mesh):
    assert tessera.plan(MODULE, mesh=mesh).mesh == tessera.Mesh(SQUARE)


def test_mistakes():
    with pytest.raises(tessera.CompileError, match="how many devices"):
        tessera.plan(MODULE)
    with pytest.raises(tessera.CompileError, match="needs (least, )?memory=[0-9]+"):
        tessera.plan(MODULE, devices=2, memory=4096)
    with pytest.raises(tessera.CompileError, match="asks for others"):
        tessera.plan(MODULE, devices=2, mesh="a=4")
    with pytest.raises(ValueError, match="1 to 5"):
        tessera.plan(MODULE, devices=2, effort=6)
    with pytest.raises(ValueError, match="one at least"):
        tessera.plan(MODULE, devices=0)


def test_a_large_program_that_is_given_too_much_is_refused_at_once():
    chain = "".join(f"%{i + 1} = stablehlo.tanh %{i} : tensor<64x64xf32>\n" for i in range(3200))
    module = ("func.func @main(%a: tensor<64x64xf32>) -> tensor<64x64xf32> {\n%0 = stablehlo.tanh %a : tensor<64x64xf32>\n"
              + chain + "return %3200 : tensor<64x64xf32>\n}")
    with pytest.raises(tessera.CompileError, match="takes 16.0 KiB of each of 2 devices"):
        tessera.plan(module, devices=2, memory=8192, effort=1)  # one plan would be compiled
    assert tessera.plan(module, devices=8, memory=8192, effort=1).peak_bytes <= 8192


def test_a_program_that_is_given_too_much_is_refused_at_once_though_several_plans_would_be_compiled():
    """What each of them needs at least took minutes of a model whose layers are a loop, and no plan could fit."""
    with pytest.raises(tessera.CompileError, match="gives back takes 36.0 KiB of each of 4 devices"):
        tessera.plan(chain(256, 500), devices=4, memory=20000)


def chain(rows, ops):
    """A product by the same weights, then functions of its elements, and so on."""
    wide = f"tensor<{rows}x64xf32>"
    lines = [f"%0 = stablehlo.tanh %x : {wide}"]
    for i in range(ops):
        lines.append(f"%{i + 1} = stablehlo.tanh %{i} : {wide}" if i % 40 else
                     f"%{i + 1} = stablehlo.dot_general %{i}, %w, contracting_dims = [1] x [0]"
                     f" : ({wide}, tensor<64x64xf32>) -> {wide}")
    return (f"func.func @main(%x: {wide}, %w: tensor<64x64xf32>) -> {wide} {{\n" + "\n".join(lines)
            + f"\nreturn %{ops} : {wide}\n}}")


def test_what_is_counted_to_hold_least_is_compiled_where_it_fits_as_counted():
    """None of the quickest four fits, which are all that this effort compiles."""
    assert tessera.plan(chain(256, 30), devices=16, effort=1, memory=26000).peak_bytes <= 26000
    with pytest.raises(tessera.CompileError, match="no plan was found that fits into .* of 4 that were compiled"):
        tessera.plan(chain(256, 30), devices=16, effort=1, memory=20000)


def test_a_large_program_that_is_far_from_fitting_is_not_tried_with_as_little_as_it_goes():
    """Nor is it said that no plan fits: a rule says so, and no proof."""
    wide = "tensor<1024x1024xf32>"
    lines = "".join(f"%{i + 1} = stablehlo.tanh %{i} : {wide}\n" for i in range(3200))
    module = f"""func.func @main(%a: tensor<1024x1xf32>, %b: tensor<1x1024xf32>) -> tensor<1024x1xf32> {{
      %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<1024x1xf32>, tensor<1x1024xf32>) -> {wide}
      {lines}
      %z = stablehlo.dot_general %3200, %a, contracting_dims = [1] x [0] : ({wide}, tensor<1024x1xf32>) -> tensor<1024x1xf32>
      return %z : tensor<1024x1xf32>
    }}"""
    with pytest.raises(tessera.CompileError, match="no plan was found that fits .*counted one takes least.* was not tried"):
        tessera.plan(module, devices=4, memory=100_000, effort=1)
    with pytest.raises(tessera.CompileError, match="no plan was found .*compiled needs memory=") as nearer:
        tessera.plan(module, devices=4, memory=1_050_000, effort=1)
    assert "counted" not in str(nearer.value)  # it was compiled, and needs more than is counted


def test_what_is_searched_beside_a_compilation_is_as_on_one_core():
    """Of a large program one plan is compiled, and its decisions are priced meanwhile: their sums and those of the
    search do not depend on who goes first. (That they are those priced afterwards is shown in PlanDecisionsTest.cpp.)"""
    params = [(jax.ShapeDtypeStruct((256, 512), jnp.float32), jax.ShapeDtypeStruct((512, 256), jnp.float32))] * 240
    x = jax.ShapeDtypeStruct((2048, 256), jnp.float32)
    module = jax.jit(layers, donate_argnums=0).lower(params, x, x).as_text(debug_info=True)
    plan = tessera.plan(module, devices=4, effort=1)
    alone = planned_on_one_core(module, devices=4, effort=1)
    assert len(plan.alternatives) == 0  # one was compiled
    assert plan.decisions and plan.decisions == alone.decisions
    assert plan.module == alone.module and plan.seconds == alone.seconds


def planned_on_one_core(module, **options):
    cores = os.sched_getaffinity(0)
    try:
        os.sched_setaffinity(0, {min(cores)})
        return tessera.plan(module, **options)
    finally:
        os.sched_setaffinity(0, cores)


def test_plans_that_are_compiled_beside_each_other_are_as_on_one_core():
    module = jax.jit(layers, donate_argnums=0).lower(*arguments()).as_text(debug_info=True)
    plan, alone = tessera.plan(module, devices=8), planned_on_one_core(module, devices=8)
    assert len(plan.alternatives) > 2  # several were compiled
    assert plan.alternatives == alone.alternatives and plan.decisions == alone.decisions
    assert plan.module == alone.module and plan.seconds == alone.seconds


def test_jit_gives_what_jax_gives_step_after_step():
    params, x, y = arguments()
    step = tessera.jit(layers, plan=True, devices=8)
    ours, theirs = params, params
    for _ in range(3):
        ours, loss = step(ours, x, y)
        theirs, expected = jax.jit(layers)(theirs, x, y)
        np.testing.assert_allclose(np.asarray(loss), expected, 1e-5)
    for one, other in zip(jax.tree.leaves(ours), jax.tree.leaves(theirs), strict=True):
        assert one.sharding.mesh.size == 8
        np.testing.assert_allclose(np.asarray(one), other, 1e-4, 1e-5)
    assert step.program(ours, x, y).devices == 8  # how results lie is no annotation
    assert step.program(ours, x, y).to_bytes() == step.program(params, x, y).to_bytes()


def test_jit_on_a_mesh_with_an_annotation():
    from jax.sharding import NamedSharding, PartitionSpec

    mesh = tessera.make_mesh((2, 2), ("data", "model"))

    def product(x, w):
        return jnp.tanh(x @ w)

    rows = NamedSharding(mesh, PartitionSpec("data"))
    found = tessera.jit(product, plan=True, mesh=mesh, in_shardings=(rows, None))
    x, w = np.ones((64, 32), np.float32), np.full((32, 128), 0.01, np.float32)
    np.testing.assert_allclose(np.asarray(found(x, w)), np.tanh(x @ w), 1e-5)
    assert found.plan(x, w).specs["x"][0] == "data"
    assert found.program(x, w).mesh.axes == {"data": 2, "model": 2}


def test_the_page_tells_what_comes_out():
    """Which weights are divided, how: the mesh and its axes may be others than are shown."""
    page = (pathlib.Path(__file__).parents[2] / "docs/plan.md").read_text()
    (example,) = re.findall(r"```python\n(.*?)```", page, re.S)
    (shown,) = re.findall(r"prints\n\n```text\n(.*?)```", page, re.S)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(example, "docs/plan.md", "exec"), {})
    for text in (shown, printed.getvalue()):
        rows, wide, little = [line for line in text.splitlines() if not line.startswith(" ")]
        assert "up (None, None), down (None, None), x ('x'" in rows
        for line in (wide, little):
            assert "up (None, None)" not in line and "down (None, None)" not in line


def test_an_explanation_says_what_choices_are_worth():
    text = tessera.explain(MODULE, mends=False, plan=tessera.PlanRequest(devices=4)).text
    assert "what other choices would cost" in text
    assert "what other choices would cost" not in tessera.explain(MODULE, mends=False).text
