"""How the tries of a fuzzer ended, by kind."""


def summary(kinds, ends):
    """Prints a line a kind; the number of bad ends. `ends` counts (kind, end)."""
    for kind in kinds:
        print(f"{kind:10}" + "  ".join(f"{end} {count}" for (k, end), count in sorted(ends.items()) if k == kind))
    return sum(count for (_, end), count in ends.items() if end == "bad")
