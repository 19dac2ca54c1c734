"""profile.py REPORT: whether a report's profile adds up to one of its steps, and holds the collectives that the report counts."""
import json
import sys

report = json.load(open(sys.argv[1]))
profile, rows = report["profile"], report["profile"]["rows"]
seconds = profile["seconds"]
assert min(abs(seconds - step) for step in report["steps"]) < 1e-8 and seconds == min(report["steps"], key=lambda s: abs(s - seconds)), report
assert abs(sum(row["seconds"] for row in rows) - seconds) < 1e-3 * seconds, (seconds, rows)
assert [row["seconds"] for row in rows] == sorted((row["seconds"] for row in rows), reverse=True), rows
moved = [row for row in rows if row["kind"] == "collective"]
assert sum(row["bytes"] for row in moved) == profile["devices"] * report["collectives"]["bytes"], report
kernels = [row for row in rows if row["kind"] == "kernel"]
assert kernels and all(row["roofline_seconds"] > 0 and row["predicted_seconds"] > 0 for row in kernels), rows
assert profile["topology"] == "host" and profile["copied_bytes_per_second"] > 0 and profile["f32_flops_per_second"] > 0, profile
