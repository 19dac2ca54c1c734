"""Global arrays that stay on the devices: what Python adds to the class of the extension."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from . import _native
from ._native import Array
from .dtypes import DTYPES
from .errors import ArgumentTypeError


class Shard:
    """The part of an array that one device holds."""

    __slots__ = ("device", "index", "_dtype", "_native")

    device: int
    """The device's number on the mesh."""
    index: tuple[slice, ...]
    """The part of the global array: `np.asarray(array)[shard.index]` is `shard.data`."""

    def __init__(self, device: int, native: Any, dtype: np.dtype[Any]) -> None:
        self.device, self.index, self._native, self._dtype = device, native.index, native, dtype

    @property
    def data(self) -> np.ndarray[Any, Any]:
        """A copy of what the device holds. Waits until it is there."""
        array = np.empty(self._native.extent, self._dtype)
        self._native.read(writable_bytes(array))
        return array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return np.asarray(self.data, dtype)

    def __repr__(self) -> str:
        return f"Shard(device={self.device}, index={self.index!r})"


def writable_bytes(array: np.ndarray[Any, Any]) -> Any:
    """A view of a dense array that the buffer protocol has whatever its dtype."""
    return array.reshape(-1).view(np.uint8)


def to_numpy(array: Array) -> np.ndarray[Any, Any]:
    """The array on the host, read-only: a view where that is possible, a copy otherwise."""
    view = array._host_view()
    if view is not None and array.size:
        host: np.ndarray[Any, Any] = np.frombuffer(view, array.dtype).reshape(array.shape)
        return host
    copy = np.empty(array.shape, array.dtype)
    array._read(writable_bytes(copy))
    copy.flags.writeable = False
    return copy


def _array(self: Array, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
    if copy is False and array_needs_copy(self):
        raise ValueError("the array is cut into parts: NumPy can't have it without a copy")
    host = to_numpy(self)
    if dtype is not None and np.dtype(dtype) != host.dtype:
        return host.astype(dtype)
    return host.copy() if copy else host


def array_needs_copy(array: Array) -> bool:
    return array.size > 0 and array._host_view() is None


def _shards(self: Array) -> list[Shard]:
    here = self.client
    devices = self.sharding.mesh.devices if here.process_count == 1 else (here.process,)
    return [Shard(device, native, self.dtype) for device, native in zip(devices, self._shards)]


def _repr(self: Array) -> str:
    head = f"tessera.Array({self.dtype}{list(self.shape)}"
    if self.is_deleted():
        return f"{head}, deleted)"
    axes = [" ".join(axes) or None for axes in self.sharding.dimensions(self.ndim)]
    place = f"{head}, sharding={axes}, devices={self.sharding.mesh.size}"
    if not self.is_ready():
        return f"{place}, not ready)"
    if self.size > 64:
        return f"{place})"
    return f"{place},\n{np.array2string(to_numpy(self), separator=', ')})"


def _len(self: Array) -> int:
    if not self.ndim:
        raise TypeError("an array without dimensions has no length")
    return self.shape[0]


def _iter(self: Array) -> Iterator[Any]:
    return iter(to_numpy(self))


def _jax_array(self: Array) -> Any:
    import jax.numpy as jnp

    return jnp.asarray(to_numpy(self))


def _restore(host: np.ndarray[Any, Any], sharding: Any) -> Array:
    from .client import device_put

    return device_put(host, sharding)


def _reduce(self: Array) -> tuple[Any, ...]:
    """Pickled as its values and its sharding; another process places it on its default client."""
    return _restore, (np.array(to_numpy(self)), self.sharding)


def _through_numpy(function: Callable[..., Any]) -> Callable[..., Any]:
    def on_host(self: Array, *others: Any) -> Any:
        return function(to_numpy(self), *(to_numpy(o) if isinstance(o, Array) else o for o in others))

    return on_host


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: function(other, to_numpy(self))


# Of NumPy's arrays, and of JAX's: what users call on a result.
METHODS = """all any argmax argmin argsort astype clip copy cumprod cumsum dot flatten item max mean min prod ravel repeat
             reshape round sort squeeze std sum swapaxes take tolist transpose var""".split()
SUMS = {"cumprod", "cumsum", "dot", "mean", "prod", "std", "sum", "var"}


def _method(name: str) -> Callable[..., Any]:
    def on_host(self: Array, *args: Any, **options: Any) -> Any:
        host = to_numpy(self)
        if name == "sort":
            return np.sort(host, *args, **options)
        if name in SUMS and host.dtype.kind == "V":  # bf16 and the like: added in f32, as JAX does
            return np.asarray(getattr(host.astype(np.float32), name)(*args, **options)).astype(host.dtype)[()]
        return getattr(host, name)(*args, **options)

    on_host.__name__ = name
    return on_host


def _extend() -> None:
    """Arithmetic and reading, which take place on the host: `float(loss)`, `loss * 2`, `params[0]`."""
    binary = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
    for name in binary:
        function = getattr(operator, f"{name}_" if name in ("and", "or") else name)
        setattr(Array, f"__{name}__", _through_numpy(function))
        setattr(Array, f"__r{name}__", _reflected(function))
    for name in "lt le gt ge eq ne neg pos abs invert getitem index".split():
        setattr(Array, f"__{name}__", _through_numpy(getattr(operator, name)))
    kinds: dict[str, Callable[..., Any]] = {"float": float, "int": int, "bool": bool, "complex": complex, "format": format}
    for name, kind in kinds.items():
        setattr(Array, f"__{name}__", _through_numpy(kind))
    for name in METHODS:
        setattr(Array, name, _method(name))
    for name in ("T", "real", "imag"):
        setattr(Array, name, property(_through_numpy(operator.attrgetter(name))))
    added: dict[str, Any] = {
        "__array__": _array,
        "__array_priority__": 100,
        "__hash__": object.__hash__,
        "__iter__": _iter,
        "__jax_array__": _jax_array,
        "__len__": _len,
        "__reduce__": _reduce,
        "__repr__": _repr,
        "shards": property(_shards),
    }
    for name, value in added.items():
        setattr(Array, name, value)


_extend()


def convert(value: Any, dtype: np.dtype[Any], who: str) -> np.ndarray[Any, Any]:
    """An array of `dtype`: of an array that has it, or of Python's numbers where nothing is lost."""
    array = np.asarray(value)
    if array.dtype == dtype:
        return normal_bits(array)
    is_number = isinstance(value, (bool, int, float, complex, list, tuple))
    if not is_number:
        raise ArgumentTypeError(f"{who} is {array.dtype}, expected is {dtype}")
    kind = array.dtype.kind
    same = kind not in "OSUMm" and (kind != "c" or dtype.kind == "c")
    if same:
        with np.errstate(all="ignore"):
            cast = array.astype(dtype)
            whole = dtype.kind in "iub" or "int" in dtype.name  # int4 is of no kind of NumPy's
            # Others are rounded, as any number that is written down.
            same = not whole or np.array_equal(cast.astype(array.dtype), array, equal_nan=kind in "fc")
    if not same:
        raise ArgumentTypeError(f"{who} is {value!r}, which is no {dtype}")
    return normal_bits(cast)


def normal_bits(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """With the bits above a type of less than a byte as programs have them: by way of a wider type."""
    name = array.dtype.name
    if name in ("int2", "int4"):
        return array.astype(np.int8).astype(array.dtype)
    if name in ("uint2", "uint4"):
        return array.astype(np.uint8).astype(array.dtype)
    return array


_native.register_conversions(np.ndarray, convert)

__all__ = ["DTYPES", "Array", "Shard"]
