# lit's view of the tests written as IR: test/dialects, test/passes, test/tools. `lit test/passes/localize` works from
# the checkout once build/ is configured.
import os
import shutil

import lit.formats

here = os.path.dirname(os.path.abspath(__file__))
if not hasattr(config, "tessera_bin"):
    lit_config.load_config(config, os.path.join(here, "..", "build", "test", "lit.site.cfg.py"))
    raise SystemExit

config.name = "Tessera"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["unit", "numerics", "inputs"]
config.test_source_root = here
config.substitutions += [("%python", config.tessera_python), ("%root", os.path.dirname(here))]
config.environment["PATH"] = os.pathsep.join([config.tessera_bin, config.llvm_bin, os.environ["PATH"]])
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):  # of scripts/test --sanitize
    if name in os.environ:
        config.environment[name] = os.environ[name]
        config.available_features.add("sanitizers")  # whose shadow is larger than any limit of memory
if shutil.which("mpirun") and os.path.exists(os.path.join(config.tessera_bin, "..", "lib", "libtessera_comm_mpi.so")):
    config.available_features.add("mpi")
config.environment["OMPI_ALLOW_RUN_AS_ROOT"] = config.environment["OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"] = "1"
