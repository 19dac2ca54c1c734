"""Checks what device-programs.mlir computes, and that what ran is what the compiler counted."""
import json
import sys

import numpy as np

outputs, compiled, ran = sys.argv[1:]
x = np.arange(8, dtype=np.float32)
arrays = np.load(outputs)
assert np.array_equal(arrays["out0"], 4 * x + 1), arrays["out0"]
assert np.array_equal(arrays["out1"], (4 * x + 1).reshape(2, 4).sum(0)), arrays["out1"]
report, run = json.load(open(compiled)), json.load(open(ran))
rows = [row for row in report["collectives"] if row["program"] == "second"]
assert run["devices"] == 4
assert run["collectives"] == {"count": sum(row["count"] for row in rows), "bytes": sum(row["bytes"] for row in rows)}, run
assert run["peak_bytes"] == sum(report["memory"].values()), (run, report["memory"])
