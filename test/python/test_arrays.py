"""Arrays: their parts, what NumPy, DLPack and JAX read of them, and how they are placed."""

import copy
import pickle

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
import tessera
from tessera.dtypes import DTYPES

MESH = tessera.Mesh({"data": 2, "model": 4})


def all_values(dtype, count=24):
    """Numbers that the dtype has, the smallest and largest among them."""
    kind = np.dtype(dtype)
    if kind == np.bool_:
        return np.arange(count) % 3 == 0
    if kind.kind == "V" or kind.itemsize == 1 and kind.kind not in "iu":  # of ml_dtypes
        return (np.arange(count) % 4 - (0 if "uint" in kind.name else 1)).astype(dtype)
    return np.arange(count).astype(dtype)


@pytest.mark.parametrize("name", DTYPES)
def test_every_dtype_goes_there_and_back(client, name):
    value = all_values(DTYPES[name]).reshape(4, 6)
    for spec in ((), ("data", "model"), ("model",)):
        array = tessera.device_put(value, tessera.Sharding(MESH, spec), client=client)
        assert array.dtype == value.dtype and array.element_type == name
        assert np.asarray(array).dtype == value.dtype
        assert np.asarray(array).tobytes() == value.tobytes()


@pytest.mark.parametrize("spec", [(), ("data",), ("model", "data"), (None, ("model", "data")), ("model:(1)2", "model:(2)2")])
def test_parts_are_where_they_say(client, rng, spec):
    value = rng.normal(size=(5, 7)).astype(np.float32)
    array = tessera.device_put(value, tessera.Sharding(MESH, spec), client=client)
    assert [shard.device for shard in array.shards] == list(range(8))
    for shard in array.shards:
        np.testing.assert_array_equal(shard.data, value[shard.index])
    np.testing.assert_array_equal(array, value)


def test_parts_lie_as_jax_has_them(client, rng):
    value = rng.normal(size=(8, 16)).astype(np.float32)
    mesh = jax.make_mesh((2, 4), ("data", "model"), axis_types=(jax.sharding.AxisType.Auto,) * 2)
    for spec in [("data", "model"), ("model", None), (None, ("data", "model")), (("model", "data"),)]:
        theirs = jax.device_put(value, jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec(*spec)))
        ours = tessera.device_put(value, tessera.Sharding(MESH, spec), client=client)
        for a, b in zip(theirs.addressable_shards, ours.shards):
            np.testing.assert_array_equal(a.data, b.data)


@pytest.mark.parametrize("spec", [(), ("data", "model")])
def test_any_strides_are_read(client, rng, spec):
    value = rng.normal(size=(6, 10, 4)).astype(np.float32)
    for view in (value.transpose(2, 0, 1), value[::2, ::-1], value[:, :, 1:3], np.broadcast_to(value[0], (3, 10, 4))):
        array = tessera.device_put(view, tessera.Sharding(MESH, spec), client=client)
        np.testing.assert_array_equal(array, view)


def test_shapes_without_elements_and_without_dimensions(client):
    for shape in ((), (0,), (3, 0, 2), (1,)):
        value = np.ones(shape, np.float32)
        array = tessera.device_put(value, tessera.Sharding(MESH, ["model"] if shape else []), client=client)
        np.testing.assert_array_equal(array, value)
        assert array.shape == shape and array.size == value.size and array.nbytes == value.nbytes


def test_a_whole_array_is_read_without_a_copy(client, rng):
    if client.device != "cpu":
        pytest.skip("the host can't see the memory of other devices")
    value = rng.normal(size=(3, 4)).astype(np.float32)
    array = tessera.device_put(value, client=client)
    first, second = np.asarray(array), np.from_dlpack(array)
    assert first.ctypes.data == second.ctypes.data and not first.flags.writeable
    np.testing.assert_array_equal(second, value)
    assert np.array(array).flags.writeable
    array.delete()
    np.testing.assert_array_equal(first, value)  # the view keeps what it shows


def test_dlpack(client, rng):
    if client.device != "cpu":
        pytest.skip("the host can't see the memory of other devices")
    for dtype in (np.float32, np.bool_, np.int8, ml_dtypes.bfloat16, np.complex64):
        value = rng.integers(0, 2, size=(3, 64)).astype(dtype)
        array = tessera.device_put(value, client=client)
        assert array.__dlpack_device__() == (1, 0)
        np.testing.assert_array_equal(np.asarray(jax.dlpack.from_dlpack(array)), value)
    cut = tessera.device_put(value, tessera.Sharding(MESH, ["data"]), client=client)
    with pytest.raises(BufferError, match="cut into parts"):
        cut.__dlpack__()
    assert cut.__dlpack__(copy=True) is not None
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(cut, copy=False)


def test_arithmetic_is_numpys(client, rng):
    value = rng.normal(size=(4, 4)).astype(np.float32)
    array = tessera.device_put(value, tessera.Sharding(MESH, ["data", "model"]), client=client)
    np.testing.assert_array_equal(array * 2 + value, value * 2 + value)
    np.testing.assert_array_equal(1 - array, 1 - value)
    np.testing.assert_array_equal(array @ array, value @ value)
    np.testing.assert_array_equal(array[1:, 0], value[1:, 0])
    np.testing.assert_array_equal(np.sin(array), np.sin(value))
    np.testing.assert_array_equal(jnp.asarray(array) + 1, value + 1)
    assert len(array) == 4 and len(list(array)) == 4
    one = tessera.device_put(np.float32(1.5), client=client)
    assert float(one) == 1.5 and int(one) == 1 and bool(one) and f"{one:.2f}" == "1.50" and one.item() == 1.5
    assert one == 1.5 and hash(one) is not None


def test_they_say_what_they_are(client):
    array = tessera.device_put(np.arange(4.0), tessera.Sharding(MESH, ["data"]), client=client)
    assert repr(array) == "tessera.Array(float64[4], sharding=['data'], devices=8,\n[0., 1., 2., 3.])"
    array.delete()
    assert array.is_deleted() and "deleted" in repr(array)
    with pytest.raises(tessera.FailedPreconditionError, match="deleted"):
        np.asarray(array)


def test_placing_like_something(client, update):
    state = update.inputs[0]
    array = tessera.device_put(np.arange(8, dtype=np.float32), state, client=client)
    assert array.sharding == state.sharding
    again = tessera.device_put([8.0] * 8, array)
    assert again.dtype == np.float32 and again.sharding == state.sharding
    assert tessera.device_put(1, client=client, dtype=np.float16).dtype == np.float16


def test_they_are_pickled_and_copied(client, rng):
    array = tessera.device_put(rng.normal(size=(4, 8)), tessera.Sharding(MESH, ["data", "model"]), client=client)
    for again in (pickle.loads(pickle.dumps(array)), copy.deepcopy(array)):
        assert again.sharding == array.sharding
        np.testing.assert_array_equal(again, array)


def test_wrong_shardings_are_errors(client):
    with pytest.raises(ValueError, match="no mesh axis 'modle'; axes are data, model"):
        tessera.Sharding(MESH, ["modle"])
    with pytest.raises(ValueError, match="used twice"):
        tessera.Sharding(MESH, ["data", "data"])
    with pytest.raises(ValueError, match="no part of axis 'model'"):
        tessera.Sharding(MESH, ["model:(3)2"])
    with pytest.raises(ValueError, match="2 dimensions for an array of 1"):
        tessera.device_put(np.zeros(3), tessera.Sharding(MESH, ["data", None]), client=client)
    with pytest.raises(TypeError, match="no element type for object"):
        tessera.device_put([object()], client=client)
