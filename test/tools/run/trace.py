"""trace.py TRACE REPORT RANKS: whether a trace is what its published format says (Trace Event Format, JSON array of complete and metadata
events), so that Perfetto and chrome://tracing show all of it, and whether it holds what the report counted.

Perfetto's own trace processor is in no package of Debian or PyPI (PyPI's `perfetto` fetches it when it is first used), so its rules are
checked here: slices of a row nest, rows have names, no process and no row is 0."""
import collections
import json
import sys

trace, report = (json.load(open(path)) for path in sys.argv[1:3])
ranks = int(sys.argv[3])
names, rows, steps = {}, collections.defaultdict(list), {}
for event in trace:
    assert event["ph"] in ("X", "M") and isinstance(event["name"], str), event
    assert isinstance(event["pid"], int) and event["pid"] > 0 and isinstance(event["tid"], int), event
    row = event["pid"], event["tid"]
    if event["ph"] == "M":
        if event["name"] != "thread_sort_index":
            names[(event["name"], *row)] = event["args"]["name"]
        continue
    assert event["tid"] > 0 and event["dur"] >= 0, event
    rows[row].append(event)
assert {names["process_name", rank + 1, 0] for rank in range(ranks)} == {f"rank {rank}" for rank in range(ranks)}, names

for row, events in rows.items():
    assert ("thread_name", *row) in names, f"row {row} has no name"
    end = float("-inf")
    for event in sorted(events, key=lambda event: event["ts"]):
        assert event["ts"] >= end - 1e-3, f"{event} begins before the last one of its row ends, at {end}"
        end = event["ts"] + event["dur"]
    if names["thread_name", *row] == "steps":
        steps[row[0]] = sorted(events, key=lambda event: event["ts"])
        assert [event["name"] for event in steps[row[0]]] == [f"step {i + 1}" for i in range(len(report["steps"]))], events
assert len(steps) == ranks and min(events[0]["ts"] for events in steps.values()) > -1e6, "times begin with rank 0's first step"

devices = {name for (kind, *_), name in names.items() if kind == "thread_name" and name != "steps"}
assert devices == {f"device {i}" for i in range(report["devices"])}, devices
moved, left_out, shown = 0, sum(event["args"]["copies_left_out"] for events in steps.values() for event in events), 0
for row, events in rows.items():
    if names["thread_name", *row] == "steps":
        continue
    for event in events:
        within = [step for step in steps[row[0]] if step["ts"] <= event["ts"] <= step["ts"] + step["dur"]]
        assert len(within) == 1, f"{event} is in no step"
        if "copy" in event["name"]:
            shown += 1
            assert event["dur"] * 100 >= within[0]["dur"] - 0.2, f"{event}: less than a hundredth of {within[0]}"
        if event["name"].startswith("start ") and names["thread_name", *row] == "device 0":
            moved += event["args"]["bytes"]
assert moved == report["collectives"]["bytes"] * len(report["steps"]), (moved, report)
print(f"ranks {ranks}, devices {len(devices)}, steps {len(report['steps'])}, copies shown or left out: {'some' if shown + left_out else 'none'}")
