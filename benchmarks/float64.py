"""What a jitted function would give if every number in it were a float64: the truth that float32 and bf16 are held against.

The function is traced as it is, so random bits and all integers are those of the original, and its jaxpr is evaluated
with every float widened: an addition of bf16 numbers becomes one of float64 numbers, a conversion between float types
nothing. Turning on jax_enable_x64 instead would draw other random numbers, and leave what says float32 as it is.
"""
import functools

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend import core

INLINED = {"jit": "jaxpr", "closed_call": "call_jaxpr", "core_call": "call_jaxpr", "checkpoint": "jaxpr",
           "custom_jvp_call": "call_jaxpr", "custom_vjp_call": "call_jaxpr"}
NOTHING = {"sharding_constraint", "reshard", "mesh_cast", "reduce_precision", "copy", "pvary", "pcast"}


def is_float(dtype):
    return jnp.issubdtype(dtype, np.floating)


def widen(x):
    """Floats as float64, all else as it is."""
    dtype = getattr(x, "dtype", None)
    return jnp.asarray(x, jnp.float64) if dtype is not None and is_float(dtype) else x


def parts(jaxpr):
    """(jaxpr, constants) of an open or closed one."""
    return (jaxpr.jaxpr, jaxpr.consts) if hasattr(jaxpr, "consts") else (jaxpr, [])


def function_of(jaxpr):
    jaxpr, constants = parts(jaxpr)
    return functools.partial(evaluate, jaxpr, constants)


def evaluate(jaxpr, constants, *args):
    values = dict(zip(jaxpr.constvars, map(widen, constants))) | dict(zip(jaxpr.invars, args))
    def read(v):
        return widen(np.asarray(v.val, v.aval.dtype)) if isinstance(v, core.Literal) else values[v]
    for equation in jaxpr.eqns:
        results = apply(equation, [read(v) for v in equation.invars])
        values.update(zip(equation.outvars, results))
    return [read(v) for v in jaxpr.outvars]


def apply(equation, inputs):
    name, params = equation.primitive.name, dict(equation.params)
    if name in INLINED:
        return function_of(params[INLINED[name]])(*inputs)
    if name in NOTHING:
        return inputs
    if name in CONTROL:
        return CONTROL[name](params, inputs)
    if name == "bitcast_convert_type":  # of the bits as they were, in both directions
        inputs = [jax.lax.convert_element_type(x, v.aval.dtype) for x, v in zip(inputs, equation.invars)]
    elif name == "convert_element_type" and is_float(params["new_dtype"]):
        return [inputs[0].astype(jnp.float64)]
    else:
        params = {key: widened(value) for key, value in params.items()}
    results = equation.primitive.bind(*inputs, **params)
    return [widen(x) for x in (results if equation.primitive.multiple_results else [results])]


def widened(value):
    """A parameter of an operation: element types, and functions that it applies to elements."""
    if hasattr(value, "eqns") or hasattr(value, "consts"):
        inner, _ = parts(value)
        kinds = [jax.ShapeDtypeStruct(v.aval.shape, np.float64 if is_float(v.aval.dtype) else v.aval.dtype)
                 for v in inner.invars]
        traced = jax.make_jaxpr(function_of(value))(*kinds)
        return traced if hasattr(value, "consts") else traced.jaxpr
    if isinstance(value, (np.dtype, type)) and is_float(value):
        return np.dtype(np.float64)
    return None if isinstance(value, jax.sharding.Sharding) else value


def scan(params, inputs):
    first, second = params["num_consts"], params["num_consts"] + params["num_carry"]
    constants, carry, xs = inputs[:first], inputs[first:second], inputs[second:]
    body = function_of(params["jaxpr"])

    def step(carry, x):
        results = body(*constants, *carry, *x)
        return results[: len(carry)], results[len(carry):]

    carry, ys = jax.lax.scan(step, carry, xs, params["length"], params["reverse"])
    return [*carry, *ys]


def while_loop(params, inputs):
    first, second = params["cond_nconsts"], params["cond_nconsts"] + params["body_nconsts"]
    until, body = function_of(params["cond_jaxpr"]), function_of(params["body_jaxpr"])
    return jax.lax.while_loop(lambda carry: until(*inputs[:first], *carry)[0],
                              lambda carry: body(*inputs[first:second], *carry), inputs[second:])


def branch(params, inputs):
    return jax.lax.switch(inputs[0], [function_of(branch) for branch in params["branches"]], *inputs[1:])


def shard_map(params, inputs):
    return jax.shard_map(lambda *args: function_of(params["jaxpr"])(*args), mesh=params["mesh"], check_vma=False,
                         in_specs=tuple(params["in_specs"]), out_specs=list(params["out_specs"]))(*inputs)


CONTROL = {"scan": scan, "while": while_loop, "cond": branch, "shard_map": shard_map}


def jit(function=None, **options):
    """As jax.jit, on one device, every float a float64; what it returns may be given back to it."""
    if function is None:
        return functools.partial(jit, **options)
    jitted = jax.jit(function, **{name: option for name, option in options.items() if "donate" not in name})
    compiled = {}

    def narrow(x):
        if not isinstance(x, (jax.Array, np.ndarray, np.generic)):
            return x
        return jax.ShapeDtypeStruct(x.shape, np.float32 if x.dtype == np.float64 else x.dtype)

    def call(*args, **kwargs):
        traced = jitted.trace(*jax.tree.map(narrow, args), **jax.tree.map(narrow, kwargs))
        key = str(traced.jaxpr)
        with jax.enable_x64(True):
            if key not in compiled:
                compiled[key] = jax.jit(function_of(traced.jaxpr)), traced.out_tree
            run, tree = compiled[key]
            leaves = zip(jax.tree.leaves((args, kwargs)), traced.jaxpr.in_avals, strict=True)
            return jax.tree.unflatten(tree, run(*(given(leaf, aval.dtype) for leaf, aval in leaves)))

    return call


def given(x, dtype):
    """An argument on one device; `dtype` is what JAX takes it for."""
    if jnp.issubdtype(dtype, jax.dtypes.prng_key):
        return x
    return widen(np.asarray(x, dtype if isinstance(x, (bool, int, float)) else None))
