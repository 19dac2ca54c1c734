"""Two processes over MPI, each a device of one program: run by mpirun."""

import numpy as np
import tessera

MODULE = """
sdy.mesh @mesh = <["data"=2]>
func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>})
    -> (tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, tensor<f32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %sum = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1]
      : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %x, %sum : tensor<8x4xf32>, tensor<f32>
}
"""


def main():
    client = tessera.Client(communicator="mpi")
    assert client.process_count == 2
    program = tessera.compile(MODULE)
    executable = client.load(program)
    x = np.arange(32, dtype=np.float32).reshape(8, 4)
    for value in (x, tessera.device_put(x, program.inputs[0], client=client)):
        y, total = executable(value)
        assert float(total) == x.sum()  # whole on each
        (shard,) = y.shards
        assert shard.device == client.process
        np.testing.assert_array_equal(shard.data, x[shard.index])
        try:
            np.asarray(y)
        except tessera.FailedPreconditionError as e:
            assert "other processes" in str(e)
        else:
            raise AssertionError("parts of other processes were read")


main()
