"""What the search for shardings thinks that random plans take, beside what the compiler makes of them.

    benchmarks/plan_road.py PROGRAM.mlir|FOLDER .. [--mesh=x=2,y=4] [--count=8] [--seed=1] [--topology=FILE|NAME] [--found|--kind=KIND] [--kernels=N]
    benchmarks/plan_road.py PROGRAM.mlir|FOLDER .. --bounds [--mesh=x=8] [--count=8] [--seed=1] [--topology=FILE|NAME]

Annotations are taken out. Of each program `count` plans are drawn by the seed: some arguments get random shardings, of which
those of all other values follow by propagation; every fourth plan has 3% of its values elsewhere, every fourth 20%. The
search's price of each is held against the predicted step of the device program, where nothing goes on beside a collective,
and its memory against the program's. What it counts for the next step, which would bring state where it takes it, is left
out: the program does not do it. The last columns are by how much computing, launches and links are off, as parts of the
step, and how many messages the search counts one by one, of how many on the road.
--found takes the plan that the search finds instead,
--kind="fsdp x tensor" one that people know. --kernels says where computing differs most: N places, each with what the search
counts, what the road's kernels take (us), and these; below it the ops.

Median of the differences: at most 2%, the largest 10%.

--bounds holds what the search proves of all plans against those that people know, the one that it finds, and `count` random
ones: what each counts in the bound's own terms (all of it; where communication hides; where first readers wait; computing alone), and what the device
program takes, with collectives beside computing. Each is printed by the least of all plans, in the bound's parts: at least 1.
Bounds of what is compiled have as many launches as the compiled program with the fewest.
"""
import argparse
import json
import math
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "test" / "tools"))
import plain_program  # noqa: E402

ROUNDING = 1e-9
PLAN_ROAD = pathlib.Path(os.environ.get("TESSERA_BIN", ROOT / "build" / "bin")) / "plan-road"


def plans_of(path, options, wanted):
    with tempfile.TemporaryDirectory() as folder:
        plain = pathlib.Path(folder) / path.name
        plain.write_text(plain_program.plain(path.read_text()))
        topology = [f"--topology={options.topology}"] if options.topology else []
        done = subprocess.run([PLAN_ROAD, plain, f"--mesh={options.mesh}", f"--seed={options.seed}", *wanted, *topology],
                              capture_output=True, text=True)
    if done.returncode:
        print(f"{path.stem:32s} {(done.stderr.strip().splitlines() or ['no message'])[-1]}", flush=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


BOUNDS = ("all", "hiding", "waiting", "computing")


def hold_bounds(paths, options):
    """Prints how far the least of all plans is above each bound."""
    print(f"{'':32s}{'plans':>6s}" + "".join(f"{bound:>11s}" for bound in BOUNDS) + f"{'compiled: hiding':>18s}{'waiting':>11s}{'computing':>11s}")
    below = []
    for path, plans in plans_by_program(paths, options, ["--bounds", f"--count={options.count}"]):
        if not plans:
            continue
        more = max(0.0, plans[0]["launches"] - min(plan["overhead"] for plan in plans))
        ratios = [min(plan[bound] for plan in plans) / plans[0][f"{bound}_bound"] if plans[0][f"{bound}_bound"] else math.inf for bound in BOUNDS]
        least = min(plan["road"] for plan in plans)
        ratios += [least / (plans[0][f"{bound}_bound"] - more) if plans[0][f"{bound}_bound"] else math.inf for bound in BOUNDS[1:]]
        print(f"{path.stem:32s}{len(plans):6d}" + "".join(f"{r:11.4f}" for r in ratios[:4]) + f"{ratios[4]:18.4f}" + "".join(f"{r:11.4f}" for r in ratios[5:]), flush=True)
        if min(ratios) < 1 - ROUNDING:
            below.append(path.stem)
    print("no plan is below a bound" if not below else "below a bound: " + ", ".join(below))


def plans_by_program(paths, options, wanted):
    for given in paths:
        for path in sorted(given.glob("*.mlir")) if given.is_dir() else [given]:
            try:
                yield path, plans_of(path, options, wanted)
            except plain_program.NotPlain as wrong:
                print(f"{path.stem:32s} {wrong}", flush=True)


def parts_of(plan):
    """By how much the search counts more than the road, as parts of the step."""
    more = {"computing": plan["computing"] + plan["dividing"] - plan["compute"],
            "launches": plan["launches"] - plan["overhead"],
            "links": plan["links"] - plan["communication"]}
    return {part: seconds / plan["road"] for part, seconds in more.items()}


def messages(collectives):
    return sum(count for count, _ in collectives.values())


def show_parts(parts_off):
    """Of each part how far it is off, and which way on the average, by how many values lie elsewhere."""
    for part, plans in parts_off.items():
        groups = {changed: [share for each, share in plans if each == changed] for changed in sorted({each for each, _ in plans})}
        print(f"{part:10s}" + ";".join(f"  {changed:.0%} elsewhere: median {statistics.median(map(abs, shares)):.1%}, mean {statistics.fmean(shares):+.1%}"
                                       for changed, shares in groups.items()))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("programs", nargs="+", type=pathlib.Path)
    parser.add_argument("--mesh", default="x=2,y=4")
    parser.add_argument("--count", type=int, default=8, help="plans of each program")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--topology", help="a machine's file, or its name")
    parser.add_argument("--found", action="store_true", help="the plan that the search finds, instead of random ones")
    parser.add_argument("--kind", help="the plan that people know by this name, instead")
    parser.add_argument("--kernels", type=int, default=0, help="places where computing differs most")
    parser.add_argument("--bounds", action="store_true", help="hold what the search proves against plans")
    options = parser.parse_args()
    print(f"seed {options.seed}, mesh {options.mesh}")
    if options.bounds:
        hold_bounds(options.programs, options)
        return
    print(f"{'':32s}{'plan':>5s}{'elsewhere':>10s}{'search ms':>12s}{'road ms':>12s}{'ratio':>8s}{'C ms':>12s}{'computes':>12s}{'ratio':>8s}"
          f"{'moves':>12s}{'memory':>8s}{'computing':>11s}{'launches':>10s}{'links':>8s}  messages")
    errors, propagated, peaks, parts_off = [], [], [], {}
    wanted = [f"--kind={options.kind}", "--count=1"] if options.kind else ["--found", "--count=1"] if options.found else [f"--count={options.count}"]
    for path, plans in plans_by_program(options.programs, options, [*wanted, f"--kernels={options.kernels}"]):
        for plan in plans:
            ratio, peak = plan["model"] / plan["road"], plan["model_peak"] / plan["peak"]
            off = parts_of(plan)
            for part, share in off.items():
                parts_off.setdefault(part, []).append((plan["changed"], share))
            errors.append((abs(ratio - 1), f"{path.stem}, plan {plan['plan']}"))
            if not plan["changed"]:
                propagated.append(errors[-1][0])
            peaks.append(abs(peak - 1))
            print(f"{path.stem:32s}{plan['plan']:5d}{plan['changed']:10.0%}{plan['model'] * 1e3:12.3f}{plan['road'] * 1e3:12.3f}"
                  f"{ratio:8.3f}{plan['computing'] * 1e3:12.3f}{plan['compute'] * 1e3:12.3f}"
                  f"{plan['computing'] / plan['compute']:8.3f}{plan['communication'] * 1e3:12.3f}{peak:8.3f}"
                  f"{off['computing']:+11.1%}{off['launches']:+10.1%}{off['links']:+8.1%}"
                  f"  {messages(plan['collectives']):.0f} of {messages(plan['road_collectives']):.0f}", flush=True)
            for place in plan["places"]:
                print(f"{place['model'] * 1e6:14.1f}{place['road'] * 1e6:12.1f}{(place['model'] - place['road']) * 1e6:+12.1f}  "
                      + "; ".join(place["kernels"]))
                print(" " * 40 + " | ".join(place["ops"]))
    if errors:
        worst = max(errors)
        print(f"{len(errors)} plans: median {statistics.median(e for e, _ in errors):.1%} (at most 2%), largest {worst[0]:.1%} "
              f"(10%: {worst[1]}); above 10%: {sum(e > 0.1 for e, _ in errors)}")
        if propagated:
            print(f"as propagation completes them: median {statistics.median(propagated):.1%}, largest {max(propagated):.1%}")
        show_parts(parts_off)
        print(f"memory: median {statistics.median(peaks):.1%}, within 5%: {sum(p <= 0.05 for p in peaks) / len(peaks):.0%}")


if __name__ == "__main__":
    main()
