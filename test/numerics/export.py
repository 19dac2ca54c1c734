"""JAX functions as modules for Tessera, on a mesh of any size.

A function is exported on a mesh whose axes all have size 1, and the sizes are then written into the text: shardings
name axes, not sizes, so any size may be tried, sizes that do not divide a dimension included. Only a manual
computation has local shapes inside; such a function is exported on the mesh itself.
"""
import os
import re
import warnings

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=16")
import jax
import numpy as np
from jax.sharding import NamedSharding, PartitionSpec

jax.config.update("jax_default_prng_impl", "threefry2x32")
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")


def make_mesh(sizes):
    """A jax mesh from {"data": 2, "model": 4}."""
    count = int(np.prod(list(sizes.values())))
    devices = np.array(jax.devices()[:count]).reshape(tuple(sizes.values()))
    return jax.sharding.Mesh(devices, tuple(sizes), axis_types=(jax.sharding.AxisType.Auto,) * len(sizes))


def ones(sizes):
    return dict.fromkeys(sizes, 1)


def place(mesh, specs):
    """Partition specs (None: let propagation decide) as shardings, through any tree."""
    is_spec = lambda x: x is None or isinstance(x, PartitionSpec)
    return jax.tree.map(lambda s: None if s is None else NamedSharding(mesh, s), specs, is_leaf=is_spec)


def with_sizes(text, sizes):
    """`text` with the axes of its mesh at these sizes."""
    lines = text.splitlines()
    for i, line in enumerate(lines):
        if line.lstrip().startswith("sdy.mesh"):
            for axis, size in sizes.items():
                line = re.sub(rf'"{axis}"=\d+', f'"{axis}"={size}', line)
                line = re.sub(rf'name = "{axis}", size = \d+', f'name = "{axis}", size = {size}', line)
            lines[i] = line
    count = int(np.prod(list(sizes.values())))
    return re.sub(r"mhlo.num_partitions = \d+", f"mhlo.num_partitions = {count}", "\n".join(lines) + "\n")


def export(build, sizes, manual, donated=False):
    """The module's text for `build(mesh) -> (function, args, in_specs, out_specs)` on a mesh of these sizes; `donated`:
    the results may take the arguments' memory."""
    mesh = make_mesh(sizes if manual else ones(sizes))
    function, args, in_specs, out_specs = build(mesh)
    jitted = jax.jit(function, in_shardings=place(mesh, in_specs), out_shardings=place(mesh, out_specs),
                     keep_unused=True, donate_argnums=range(len(args)) if donated else ())
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Some donated buffers were not usable")
        return with_sizes(jitted.lower(*args).as_text(debug_info=True), sizes)
