"""A calibrated machine is one that exists: rates within what processors do, and a step predicted within a factor of a hundred.

    calibrate.py MACHINE.json REPORT.json COMPILED.json RAN.json
"""
import json
import sys

machine, report, compiled, ran = (json.load(open(path)) for path in sys.argv[1:])
rates = machine["kernels"]
assert 1e6 < rates["arithmetic"] < 1e13, rates
assert 1e7 < rates["product_f32"] < 1e14, rates
assert 1e6 < rates["streams"] < 1e13, rates
assert 0 < machine["launch"] < 1e-2 and 0 < machine["meeting"] < 1e-1, machine
assert machine["computing_at_once"] >= 1 and machine["cache"] > 1e4, machine
assert machine["flops"] == rates["product_f32"] and machine["memory"] == rates["streams"]
for row in report["programs"]:
    assert row["seconds"] > 0 and row["predicted_seconds"] > 0 and row["work"], row
# Programs that are there for what launches and steps take, and would be one kernel, or a short step, if they were compiled better.
work = {row["program"]: row["work"] for row in report["programs"]}
for kernels in (8, 24):
    assert work[f"launches {kernels}"]["launches"] > 10 * kernels, work
    step = work[f"step of {kernels}"]
    assert step["steps"] == 1 and step["launches"] < 100, step
# Arrays that no core's cache holds are measured, and not with others only.
streams = work["streams of 32 KiB, 4 MB"]
assert machine["cache"] > 2e6 or streams["streams"] > 0.7 * (streams["streams"] + streams["warm"]), streams
predicted, measured = compiled["predicted"]["seconds"], min(ran["steps"][1:])
assert measured / 100 < predicted < measured * 100, (predicted, measured)
assert abs(ran["predicted_seconds"] / predicted - 1) < 0.01
