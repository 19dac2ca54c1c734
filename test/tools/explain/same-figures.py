"""Holds `tessera explain`'s figures against the compile report's: same-figures.py FILE.mlir"""
import json, re, subprocess, sys, tempfile

file = sys.argv[1]
with tempfile.TemporaryDirectory() as directory:
    page, report = f"{directory}/p.html", f"{directory}/r.json"
    subprocess.run(["tessera", "explain", file, f"--html={page}"], check=True)
    subprocess.run(["tessera", "compile", file, "-o", f"{directory}/p.mlir", "--stop-after=memory", f"--report={report}"], check=True)
    data = json.loads(re.search(r'id="data">(.*?)</script>', open(page).read(), re.S)[1])
    explained = [{**row, "cause": data["texts"][row["cause"]]} for row in data["collectives"]]
    compiled = json.load(open(report))["collectives"]
figures = lambda rows, wire: sorted((r["kind"], r["axes"], r["bytes"], r[wire]) for r in rows)
if figures(explained, "wire") != figures(compiled, "wire_bytes"):
    sys.exit(f"explained {figures(explained, 'wire')}\ncompiled {figures(compiled, 'wire_bytes')}")
if any(not r["cause"] for r in explained):
    sys.exit("a collective without a cause: " + str([r for r in explained if not r["cause"]]))
print("the same", len(compiled))
