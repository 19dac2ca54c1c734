"""tessera.jit: arguments, results, meshes of eight devices, transformations, errors."""
import functools
import pathlib
import threading
from typing import NamedTuple

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import tessera
from jax.sharding import NamedSharding
from jax.sharding import PartitionSpec as P

RANDOM = np.random.default_rng(0)
mesh = tessera.make_mesh((2, 4), ("data", "model"))


def normal(*shape):
    return RANDOM.normal(size=shape).astype(np.float32)


def close(found, wanted, tolerance=1e-5):
    """Equal trees, shapes and types; numbers within `tolerance`."""
    assert jax.tree.structure(found) == jax.tree.structure(wanted)
    for f, w in zip(jax.tree.leaves(found), jax.tree.leaves(wanted)):
        assert (f.shape, f.dtype) == (w.shape, w.dtype)
        if jax.dtypes.issubdtype(w.dtype, jax.dtypes.prng_key):
            f, w = jax.random.key_data(f), jax.random.key_data(w)
        wide = np.complex128 if np.iscomplexobj(w) else np.float64
        np.testing.assert_allclose(np.asarray(f).astype(wide), np.asarray(w).astype(wide), tolerance, tolerance)


def same(function, *args, tolerance=1e-5, **kwargs):
    """The function gives what JAX gives."""
    found = tessera.jit(function)(*args, **kwargs)
    close(found, jax.jit(function)(*args, **kwargs), tolerance)
    return found


class Pair(NamedTuple):
    left: jax.Array
    right: jax.Array | None


@functools.partial(jax.tree_util.register_dataclass, data_fields=["weights"], meta_fields=["name"])
class Layer:
    def __init__(self, weights, name):
        self.weights, self.name = weights, name


# Arguments and results.


def test_trees():
    def function(pair, layers, *, scale):
        new = [Layer(layer.weights * scale, layer.name + "'") for layer in layers]
        return Pair(pair.left + new[0].weights, None), {"layers": new, "nothing": ()}

    found = same(function, Pair(normal(3), None), [Layer(normal(3), "a"), Layer(normal(2), "b")], scale=np.float32(2))
    assert found[1]["layers"][1].name == "b'"


def test_unused_arguments_keep_their_numbers():
    same(lambda a, b, c, d: (b - 2 * d, b), normal(3), normal(3), normal(5, 5), normal(3))
    same(lambda a, b: 7.0, normal(3), normal(3))  # none is used
    same(lambda a, b: (b, a, a), normal(3), normal(2))  # passed through


@pytest.mark.parametrize("value", [True, 3, -2.5, 1 + 2j, np.float32(3), np.int8(5), np.float64(2), np.arange(3)])
def test_numbers(value):
    same(lambda x: x + x, value)


def test_integers_that_do_not_fit_are_refused():
    with pytest.raises(OverflowError):
        tessera.jit(lambda x: x + 1)(1 << 40)


def test_integers_have_jax_s_gradient_of_nothing():
    gradient = jax.grad(lambda i, x: (i * x).sum(), argnums=(0, 1), allow_int=True)
    nothing, found = tessera.jit(gradient)(np.arange(3), normal(3))
    assert (nothing.shape, nothing.dtype) == ((3,), jax.dtypes.float0)
    np.testing.assert_array_equal(found, np.arange(3))


def test_weak_types_promote_as_with_jax():
    half = jnp.ones(3, jnp.bfloat16)
    double = tessera.jit(lambda x: x * 2.0)
    weak, strong = double(1.5), double(jnp.float32(1.5))
    add = tessera.jit(lambda x, y: x + y)
    assert add(half, weak).dtype == jnp.bfloat16
    assert add(half, strong).dtype == jnp.float32


def test_bf16():
    x = normal(8, 16).astype(ml_dtypes.bfloat16)
    found = same(lambda x: (x * 2, x.astype(jnp.float32).sum()), x, tolerance=1e-2)
    assert found[0].dtype == ml_dtypes.bfloat16


NARROW = """float8_e4m3fn float8_e5m2 float8_e4m3 float8_e3m4 float8_e8m0fnu float8_e4m3b11fnuz float8_e4m3fnuz float8_e5m2fnuz
    float4_e2m1fn"""


@pytest.mark.parametrize("name", NARROW.split())
def test_narrow_floats(name):
    narrow = jnp.dtype(name)

    def scaled(x):
        rounded = x.astype(narrow)
        return rounded, rounded.astype(jnp.float32) * jnp.asarray([0.5, 2], narrow).astype(jnp.float32)

    same(scaled, np.abs(normal(3, 2)) + 0.5)


@pytest.mark.parametrize("key", [jax.random.key(3), jax.random.PRNGKey(3), jax.random.key(3, impl="rbg")])
def test_random_keys(key):
    def function(key):
        key, use = jax.random.split(key)
        return key, jax.random.normal(use, (4,))

    step = tessera.jit(function)
    wanted = key
    for _ in range(3):
        key, found = step(key)
        wanted, numbers = jax.jit(function)(wanted)
        close((key, found), (wanted, numbers))
    close(jax.random.normal(key, (3,)), jax.random.normal(wanted, (3,)))  # JAX takes what comes out
    same(lambda keys: jax.vmap(jax.random.uniform)(keys), jax.random.split(jax.random.key(0), 5))


def test_arrays_that_the_function_closes_over():
    table = jnp.asarray(normal(100, 7))
    weights = normal(50)
    same(lambda i: table[i] + weights[0] + table.sum(), np.int32(5))


def test_static_arguments():
    traced = []

    @functools.partial(tessera.jit, static_argnums=1, static_argnames="mode")
    def function(x, times, *, mode="add"):
        traced.append((times, mode))
        return x + times if mode == "add" else x * times

    x = normal(3)
    for times, mode in ((2, "add"), (3, "add"), (2, "mul"), (2, "add"), (3, "add")):
        close(function(x, times, mode=mode), jnp.asarray(x + times if mode == "add" else x * times))
    assert len(traced) == 3


def test_a_jitted_function_keeps_its_options():
    jitted = jax.jit(lambda n, x: x * n, static_argnums=0, donate_argnums=1)
    function = tessera.jit(jitted)
    close(function(3, normal(3) * 0 + 1), jnp.full(3, 3.0))
    assert "tf.aliasing_output" in function.lower(3, normal(3)).as_text()


def test_new_shapes_and_types_recompile():
    traced = []

    @tessera.jit
    def function(x):
        traced.append(x.shape)
        return x * 2

    for shape in ((2,), (3,), (2,), (2, 2), (3,)):
        close(function(np.ones(shape, np.float32)), jnp.full(shape, 2.0))
    close(function(np.ones(2, np.int32)), jnp.full(2, 2))
    assert len(traced) == 4


def test_contexts_of_jax_recompile():
    function = tessera.jit(lambda x: jnp.asarray(x) * 2)
    x = np.ones(2)
    assert function(x).dtype == np.float32
    with jax.enable_x64(True):
        assert function(x).dtype == np.float64
    assert function(x).dtype == np.float32


def test_donated_results_go_round():
    @functools.partial(tessera.jit, donate_argnums=0)
    def step(state, x):
        return {"w": state["w"] + x, "n": state["n"] + 1}

    first = {"w": jnp.zeros(4), "n": jnp.int32(0)}
    state = first
    for i in range(5):
        state = step(state, np.float32(i))
    close(state, {"w": jnp.full(4, 10.0), "n": jnp.int32(5)})
    close(first, {"w": jnp.zeros(4), "n": jnp.int32(0)})  # an array of JAX is not taken over


def test_weights_that_jax_holds_are_placed_once(monkeypatch):
    from tessera._jit import entry

    placed = []
    real = entry.device_put
    monkeypatch.setattr(entry, "device_put", lambda value, like: placed.append(like.name) or real(value, like))
    function = tessera.jit(lambda w, x: (w * x).sum(), in_shardings=NamedSharding(mesh, P("model")))
    w, x = jnp.asarray(normal(8)), normal(8)
    for i in range(5):
        assert float(function(w, x * i)) == pytest.approx(float((w * x * i).sum()), rel=1e-5, abs=1e-5)
    assert len(placed) == 1
    w = w + 1  # another array
    for _ in range(3):
        assert float(function(w, x)) == pytest.approx(float((w * x).sum()), rel=1e-5, abs=1e-5)
    assert len(placed) == 2


def test_arguments_may_change_after_the_call():
    x = np.ones(1 << 16, np.float32)
    found = tessera.jit(lambda x: jnp.cumsum(x)[-1])(x)
    x[:] = 0
    assert float(found) == 1 << 16


def test_results_go_into_functions_of_jax():
    found = tessera.jit(lambda x: x + 1)(normal(3) * 0)
    assert float(jnp.sum(found)) == 3 and float(jax.jit(lambda x: x.sum())(found)) == 3
    np.testing.assert_array_equal(jax.device_put(found), np.ones(3))


def test_results_have_the_methods_of_arrays():
    x = normal(3, 4)
    found = tessera.jit(lambda x: x * 1)(x)
    np.testing.assert_array_equal(found.argmax(-1), x.argmax(-1))
    np.testing.assert_array_equal(found.T, x.T)
    np.testing.assert_array_equal(found.sort(), np.sort(x))
    assert found.mean() == x.mean() and found.sum(0).shape == (4,)
    half = tessera.jit(lambda: jnp.ones(1000, jnp.bfloat16))()
    assert half.sum().dtype == ml_dtypes.bfloat16 and float(half.sum()) == 1000  # 256 where bf16 adds ones to bf16


def test_methods_and_decorators():
    class Model:
        scale = 3.0

        @functools.partial(tessera.jit, static_argnums=0)
        def apply(self, x):
            """Scaled."""
            return x * self.scale

    assert float(Model().apply(2.0)) == 6
    assert Model.apply.__doc__ == "Scaled."


def test_threads():
    function = tessera.jit(lambda x: x @ x)
    inputs = [normal(n, n) for n in (3, 4, 3, 4, 5, 5)]
    found = [None] * len(inputs)

    def call(i):
        found[i] = np.asarray(function(inputs[i]))

    threads = [threading.Thread(target=call, args=(i,)) for i in range(len(inputs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for x, f in zip(inputs, found):
        np.testing.assert_allclose(f, x @ x, 1e-5, 1e-5)


# Meshes of eight devices, of which JAX knows nothing.


def layer(w, x):
    hidden = jax.lax.with_sharding_constraint(jnp.tanh(x @ w), NamedSharding(mesh, P("data", "model")))
    return (hidden @ w.T).sum(0)


def test_named_shardings():
    w, x = normal(16, 32), normal(8, 16)
    function = tessera.jit(layer, in_shardings=(NamedSharding(mesh, P(None, "model")), NamedSharding(mesh, P("data"))))
    np.testing.assert_allclose(function(w, x), (np.tanh(x @ w) @ w.T).sum(0), 1e-4, 1e-4)
    program = function.program(w, x)
    assert program.devices == 8 and program.report.collectives


def test_partition_specs_with_a_mesh():
    def function(w, x):
        return jax.lax.with_sharding_constraint(x @ w, P("data"))

    compiled = tessera.jit(function, mesh=mesh, in_shardings=(P(None, "model"), P("data")), out_shardings=P(None, "model"))
    w, x = normal(16, 32), normal(8, 16)
    np.testing.assert_allclose(compiled(w, x), x @ w, 1e-4, 1e-4)


def test_devices_alone_are_one_axis():
    x = normal(16, 3)
    function = tessera.jit(lambda x: x.sum(0), devices=8, in_shardings=P("devices"))
    np.testing.assert_allclose(function(x), x.sum(0), 1e-4, 1e-4)
    assert function.program(x).devices == 8


def test_devices_that_nothing_uses_are_named():
    with pytest.warns(UserWarning, match="nothing in .* is sharded"):
        tessera.jit(lambda x: x.sum(), devices=8)(normal(3))


@pytest.mark.parametrize("devices", [0, -1, "8"])
def test_no_number_of_devices_is_refused(devices):
    with pytest.raises((ValueError, TypeError)):
        tessera.jit(jnp.sin, devices=devices)


def test_no_machine_of_a_name():
    with pytest.raises(tessera.CompileError, match="'nowhere' is neither the name of a machine nor"):
        tessera.jit(jnp.sin, topology="nowhere")(np.ones(3, np.float32))


def test_a_wrong_topology_is_named(tmp_path):
    path = tmp_path / "pod.json"
    path.write_text('{"beta": "much"}')
    with pytest.raises(tessera.CompileError, match="pod.json:1:10: 'beta'"):
        tessera.jit(jnp.sin, topology=path)(np.ones(3, np.float32))


def test_what_a_result_is_gathered_for_is_at_a_line_of_the_users():
    mesh = tessera.make_mesh((3,), ("a",))
    program = tessera.jit(lambda x: jnp.sin(x) @ x.T, mesh=mesh, in_shardings=P("a")).program(np.ones((5, 4), np.float32))
    assert program.report.collectives
    assert all("test_jit.py" in each.location for each in program.report.collectives), program.report


def test_another_number_of_devices_is_refused():
    with pytest.raises(ValueError, match="sharded over 8 devices: devices=4"):
        tessera.jit(layer, devices=4)(normal(16, 32), normal(8, 16))
    with pytest.raises(ValueError, match="the mesh has 8"):
        tessera.jit(layer, devices=4, mesh=mesh)


def test_what_is_no_mesh():
    wrong = (((0,), "a", "from 1 on"), ((-2,), "a", "from 1 on"), ((2, 2), "aa", "twice"), ((2,), "ab", "2 names"))
    for shape, names, message in wrong:
        with pytest.raises(ValueError, match=message):
            tessera.make_mesh(shape, names)
    for other in (4, tessera.Mesh({"a": 4})):
        with pytest.raises(TypeError, match="must be a mesh of JAX's"):
            tessera.jit(layer, mesh=other)


def test_shard_map():
    @functools.partial(jax.shard_map, mesh=mesh, in_specs=P("data", "model"), out_specs=P("data"))
    def rows(x):
        return jax.lax.psum(x.sum(1), "model")

    x = normal(8, 16)
    np.testing.assert_allclose(tessera.jit(rows)(x), x.sum(1), 1e-4, 1e-4)


def test_results_stay_sharded():
    place = NamedSharding(mesh, P("data", "model"))
    traced = []

    @functools.partial(tessera.jit, out_shardings=place, donate_argnums=0)
    def step(x):
        traced.append(x)
        return x * 2

    x = normal(8, 16)
    found = step(step(step(x)))
    np.testing.assert_allclose(found, x * 8, 1e-5)
    assert found.sharding.spec == (("data",), ("model",))
    assert len(traced) <= 2  # once for the array of the host, once for the sharded one


def test_shardings_need_not_divide():
    @functools.partial(tessera.jit, mesh=mesh, in_shardings=(P("data", "model"), P("model"), P("model")), donate_argnums=(0, 1))
    def step(w, b, x):
        def loss(w, b):
            return jnp.mean((jnp.tanh(x @ w) + b) ** 2)

        gradients = jax.grad(loss, (0, 1))(w, b)
        return w - gradients[0], b - gradients[1]

    x = normal(5, 7)
    state = wanted = normal(7, 30), normal(30)
    for _ in range(3):
        state = step(*state, x)
        wanted = step._jitted.__wrapped__(*wanted, x)
    for found, each in zip(state, wanted):
        np.testing.assert_allclose(found, each, 1e-5, 1e-6)
    assert [array.sharding.spec for array in state] == [(("data",), ("model",)), (("model",),)]
    out = tessera.jit(lambda x: x + 1, mesh=mesh, out_shardings=P(None, ("model", "data")))(x)
    np.testing.assert_allclose(out, x + 1, 1e-6)
    assert out.sharding.spec == ((), ("model", "data"))
    with pytest.raises(ValueError, match="divisible by|evenly divide"):  # JAX's own stays as it is
        jax.eval_shape(jax.jit(lambda x: x, in_shardings=NamedSharding(mesh, P("data"))), x)


def test_what_a_step_gave_is_not_compiled_for_where_it_lies_as_the_step_wants_it():
    traced = []

    @tessera.jit
    def step(state, x):
        traced.append(x)
        x = jax.lax.with_sharding_constraint(x, NamedSharding(mesh, P("data")))
        return {"w": state["w"] + x.sum(0), "n": state["n"] + 1}

    x = normal(8, 16)
    state = {"w": np.zeros(16, np.float32), "n": np.int32(0)}
    for _ in range(4):
        state = step(state, x)
    np.testing.assert_allclose(state["w"], 4 * x.sum(0), 1e-4, 1e-4)
    assert int(state["n"]) == 4 and len(traced) == 1


def test_arrays_that_lie_on_another_mesh_are_placed_anew():
    other = tessera.make_mesh((8,), ("expert",))
    x = normal(16, 8)
    first = tessera.jit(lambda x: x * 2, in_shardings=NamedSharding(mesh, P("data", "model")))
    second = tessera.jit(lambda x: jax.lax.with_sharding_constraint(x, NamedSharding(other, P("expert"))).sum(0))
    for _ in range(2):
        np.testing.assert_allclose(second(first(x)), 2 * x.sum(0), 1e-4, 1e-4)
    single = tessera.jit(lambda x: x + 1)(x)  # on one device
    np.testing.assert_allclose(second(single), (x + 1).sum(0), 1e-4, 1e-4)
    strict = tessera.jit(lambda x: x + 1, in_shardings=NamedSharding(mesh, P("model")))
    np.testing.assert_allclose(strict(first(x)), 2 * x + 1, 1e-5)


def test_explicit_meshes():
    explicit = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Explicit,) * 2)
    place = functools.partial(NamedSharding, explicit)

    @tessera.jit
    def step(w, x):
        y = jnp.dot(x, w, out_sharding=place(P("data", "model")))
        return w + jnp.einsum("bi,bo->io", x, y, out_sharding=place(P(None, "model")))

    w, x = normal(16, 16), normal(8, 16)
    found = jax.device_put(w, place(P(None, "model")))
    for _ in range(3):
        found = step(found, jax.device_put(x, place(P("data"))))
        w = w + x.T @ (x @ w)
    np.testing.assert_allclose(found, w, 1e-3, 1e-3)


def test_a_mesh_in_context():
    with jax.sharding.use_abstract_mesh(mesh):
        function = tessera.jit(lambda x: jax.lax.with_sharding_constraint(x * 2, P("data")))
        x = normal(8, 16)
        np.testing.assert_allclose(function(x), x * 2)
        assert function.program(x).devices == 8


# JAX's transformations and control flow.


def test_inside_of_transformations_it_is_the_plain_function():
    function = tessera.jit(jnp.sin)
    assert float(jax.grad(function)(2.0)) == pytest.approx(np.cos(2))
    np.testing.assert_allclose(jax.vmap(function)(np.arange(3.0)), np.sin(np.arange(3)), 1e-6)
    np.testing.assert_allclose(jax.jit(lambda x: function(x) + 1)(2.0), np.sin(2) + 1, 1e-6)
    same(lambda x: function(x) * 2, 2.0)


def test_gradients_inside():
    @jax.custom_vjp
    def clipped(x):
        return x

    clipped.defvjp(lambda x: (x, None), lambda _, g: (jnp.clip(g, -1, 1),))

    def loss(w, x):
        hidden = jax.checkpoint(lambda h: jnp.tanh(h @ w))(x)
        return jnp.sum(clipped(hidden) ** 2)

    same(jax.value_and_grad(loss), normal(4, 4), normal(3, 4))
    same(jax.hessian(lambda x: jnp.sum(x**3)), normal(3))


def test_control_flow():
    def function(x, n):
        x, trail = jax.lax.scan(lambda c, v: (c + v, c), x.sum(), x)
        x = jax.lax.fori_loop(0, n, lambda i, v: v * 1.5 + i, x)
        x = jax.lax.while_loop(lambda v: v < 100, lambda v: v * v + 1, jnp.abs(x))
        sign = jax.lax.cond(x > 200, lambda: -x, lambda: x)
        return sign, jax.lax.switch(n % 3, [jnp.sin, jnp.cos, jnp.tanh], 1e-4 * x), trail

    for n in range(3):
        same(function, normal(5), n, tolerance=1e-4)


# Errors.


def test_callbacks_are_refused_with_the_line():
    def function(x):
        y = jax.lax.cond(x > 0, lambda: x, lambda: -x)
        jax.debug.print("{}", y)
        return y

    line = function.__code__.co_firstlineno + 2
    with pytest.raises(tessera.CompileError, match=rf"test_jit.py:{line}:.*jax.debug.print calls back into Python"):
        tessera.jit(function)(1.0)
    with pytest.raises(tessera.CompileError, match="jax.pure_callback"):
        tessera.jit(lambda x: jax.pure_callback(np.sin, jax.ShapeDtypeStruct((), np.float32), x))(1.0)


def test_arguments_that_are_no_arrays_are_refused():
    with pytest.raises(TypeError, match="static_argnums"):
        tessera.jit(lambda x: x)("text")


def test_options_of_later_or_of_nobody_are_refused():
    with pytest.raises(TypeError, match="no option inline"):
        tessera.jit(lambda x: x, inline=True)


def test_errors_of_the_function_are_the_users():
    with pytest.raises(ZeroDivisionError):
        tessera.jit(lambda x: 1 // 0)(1.0)
    with pytest.raises(TypeError, match="dot_general"):
        tessera.jit(lambda x, y: x @ y)(normal(2, 3), normal(2, 3))


def test_the_readme_shows_the_example():
    root = pathlib.Path(__file__).parents[2]
    assert (root / "examples" / "flax" / "train.py").read_text() in (root / "README.md").read_text()


def test_what_is_placed_on_the_host_lies_there():
    space = jax.memory.Space

    @tessera.jit
    def f(x):
        kept = jax.device_put(jnp.sin(x), space.Host)
        return jax.device_put(kept, space.Device) * 2

    x = normal(8, 6)
    close(f(x), np.sin(x) * 2)
    assert "comm.transfer" not in f.lower(x).as_text() and "annotate_device_placement" in f.lower(x).as_text()
