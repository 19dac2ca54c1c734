"""Links that exist, between two processes that compute at the same time, and no work of cores for collectives beside them.

    calibrate-mpi.py MACHINE.json REPORT.json
"""
import json
import sys

machine, report = (json.load(open(path)) for path in sys.argv[1:])
assert 0 < machine["alpha"] <= 1 and 1e4 <= machine["beta"] <= 1e13, machine
assert machine["computing_at_once"] == 0 and machine["meeting"] == 0, machine
assert not {"exchanged", "combined", "taken_back"} & set(machine["kernels"]), machine
assert {row["group"] for row in report["collectives"]} == {2} and len(report["collectives"]) >= 9
for row in report["collectives"]:
    assert row["seconds"] > 0 and row["predicted_seconds"] > 0, row
