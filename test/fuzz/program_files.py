"""Program files (.tsr), mutated.

  program_files.py [--count=N] [--seed=S] [--keep=DIR] [--compile=IN.mlir ..]

Fields of manifests are set to what stands at boundaries of types and sizes or elsewhere in the manifest, taken out, doubled a thousand times or put
in each other; tables of containers and of shared objects likewise, all with checksums that are right. Files whose checksums are wrong must be
refused. What the loader takes is run: hand-made programs with kernels that read and write all that they may, compiled ones with their own unless
the table of these was changed.

`tessera-fuzz-files` does the work, in the process that reads the files, some thousand a second. No signal, no end after 10 s, no growth by 2 GiB, no
error without words; exit code 1 where there was one, and the options that make it again."""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile

BIN = pathlib.Path(os.environ.get("TESSERA_BIN", pathlib.Path(__file__).resolve().parents[2] / "build" / "bin"))
MODULES = {
    "products": """sdy.mesh @m = <["x"=2, "y"=2]>
func.func @main(%a: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {"y"}]>}, %b: tensor<6x10xf32> {sdy.sharding = #sdy.sharding<@m, [{"y"}, {}]>}) -> (tensor<8x10xf32>, tensor<10xf32>) {
  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : (tensor<8x6xf32>, tensor<6x10xf32>) -> tensor<8x10xf32>
  %1 = stablehlo.tanh %0 : tensor<8x10xf32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x10xf32>, tensor<f32>) -> tensor<10xf32>
  return %1, %2 : tensor<8x10xf32>, tensor<10xf32>
}
""",
    "loop": """func.func @main(%a: tensor<4x5xf32>, %n: tensor<i32>) -> (tensor<4x5xf32>, tensor<i32>) {
  %one = stablehlo.constant dense<1> : tensor<i32>
  %w = stablehlo.constant dense<[[0.5, 1.0, -1.0, 2.0, 0.25], [0.5, 1.0, -1.0, 2.0, 0.25], [1.5, 0.0, -2.0, 3.0, 0.75], [0.5, 1.0, -1.0, 2.0, 0.5]]> : tensor<4x5xf32>
  %r:2 = stablehlo.while(%x = %a, %i = %n) : tensor<4x5xf32>, tensor<i32>
    cond {
      %limit = stablehlo.constant dense<7> : tensor<i32>
      %p = stablehlo.compare LT, %i, %limit : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %y = stablehlo.add %x, %w : tensor<4x5xf32>
      %j = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %y, %j : tensor<4x5xf32>, tensor<i32>
    }
  return %r#0, %r#1 : tensor<4x5xf32>, tensor<i32>
}
""",
    "rows": """sdy.mesh @m = <["x"=2]>
func.func @main(%a: tensor<16x8xf32> {sdy.sharding = #sdy.sharding<@m, [{"x"}, {}]>}, %i: tensor<5x1xi32>) -> (tensor<5x8xf32>, tensor<16x8xf32>) {
  %0 = "stablehlo.gather"(%a, %i) {dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 8>} : (tensor<16x8xf32>, tensor<5x1xi32>) -> tensor<5x8xf32>
  %1 = "stablehlo.sort"(%a) ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %p = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  }) {dimension = 1 : i64} : (tensor<16x8xf32>) -> tensor<16x8xf32>
  return %0, %1 : tensor<5x8xf32>, tensor<16x8xf32>
}
""",
}
# Several programs, channels, functions, a file.
MODULES["stages"] = (pathlib.Path(__file__).resolve().parents[1] / "tools/compile/device-programs.mlir").read_text()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=8000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=pathlib.Path, help="where the inputs that ended badly are kept")
    parser.add_argument("--compile", type=pathlib.Path, nargs="*", default=[], help="modules whose programs are mutated too")
    options = parser.parse_args()
    limits = ["--bytes=0", "--seconds=60"] if os.environ.get("ASAN_OPTIONS") else []  # a sanitizer's shadow takes its own
    keep = [f"--keep={options.keep}"] if options.keep else []
    with tempfile.TemporaryDirectory() as folder:
        programs = []
        modules = [(name, text) for name, text in MODULES.items()] + [(path.stem, path.read_text()) for path in options.compile]
        for name, text in modules:
            source, program = pathlib.Path(folder, name + ".mlir"), pathlib.Path(folder, name + ".tsr")
            source.write_text(text)
            if subprocess.run([BIN / "tessera", "compile", source, "-o", program], stdout=subprocess.DEVNULL).returncode:
                return 1
            programs.append(program)
        command = [BIN / "tessera-fuzz-files", *programs, f"--count={options.count}", f"--seed={options.seed}", *keep, *limits]
        return subprocess.run([str(part) for part in command]).returncode


if __name__ == "__main__":
    sys.exit(main())
