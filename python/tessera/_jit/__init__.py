"""tessera.jit: JAX functions, traced and lowered by JAX, compiled and executed by Tessera."""
