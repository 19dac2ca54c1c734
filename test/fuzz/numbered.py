"""Fuzzers whose K-th case of a seed is the same everywhere: their options, and their cases, one after the other or by several processes.

A fuzzer has a class Worker(options, scratch): number(K) runs the K-th case and counts it in `counts` under "programs", and under "bad" what ends
badly; close() comes last, and leaves in `counts` all that is to be added up.
"""
import argparse
import collections
import multiprocessing
import os
import pathlib
import sys
import tempfile
import time
import traceback

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("TESSERA_BIN", ROOT / "build" / "bin"))


def parser(description, count, limit):
    """With the options that all of them have; `count` cases of `limit` seconds each where nothing else is said."""
    found = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--count", type=int, default=count)
    found.add_argument("--seconds", type=float, help="stop after this time")
    found.add_argument("--seed", type=int, default=0)
    found.add_argument("--first", type=int, default=0, help="number of the first case")
    found.add_argument("--only", type=int, help="number of the only one")
    found.add_argument("--jobs", type=int, default=1)
    found.add_argument("--show", action="store_true", help="print the cases and run nothing")
    found.add_argument("--first-only", action="store_true", help="stop at the first that ends badly")
    found.add_argument("--limit", type=int, default=limit, help="seconds of a core for one case")
    return found


def work(worker_class, options, numbers):
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as scratch:
        worker = worker_class(options, pathlib.Path(scratch))
        end = time.monotonic() + options.seconds if options.seconds else None
        for number in numbers:
            if end and time.monotonic() > end:
                break
            try:
                worker.number(number)
            except Exception:
                print(f"--seed={options.seed} --only={number}: the fuzzer fails\n{traceback.format_exc()}", flush=True)
                worker.counts["bad"] += 1
            if options.first_only and worker.counts["bad"]:
                break
            if worker.counts["programs"] % 500 == 0 and worker.counts["programs"]:
                print(f"seed {options.seed}: {worker.counts['programs']} programs, {worker.counts['bad']} bad", file=sys.stderr, flush=True)
        worker.close()
    return worker.counts


def run(worker_class, options):
    """(what was counted, seconds)"""
    begin = time.monotonic()
    first, end = (options.only, options.only + 1) if options.only is not None else (options.first, options.first + options.count)
    if options.jobs == 1:
        counts = work(worker_class, options, range(first, end))
    else:
        parts = [(worker_class, options, range(first + job, end, options.jobs)) for job in range(options.jobs)]
        with multiprocessing.get_context("spawn").Pool(options.jobs) as pool:  # JAX has threads
            counts = sum(pool.starmap(work, parts), collections.Counter())
    return counts, time.monotonic() - begin
