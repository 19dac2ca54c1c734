"""What XLA's partitioned program sends: the wire bytes of the collectives in its HLO text, as Tessera counts its own."""
import re

BITS = {"pred": 8, "s4": 4, "u4": 4, "s8": 8, "u8": 8, "s16": 16, "u16": 16, "bf16": 16, "f16": 16, "s32": 32, "u32": 32,
        "f32": 32, "s64": 64, "u64": 64, "f64": 64, "c64": 64, "c128": 128}
COLLECTIVE = re.compile(
    r"= (.*?) (all-reduce|all-gather|reduce-scatter|all-to-all|ragged-all-to-all|collective-permute)(?:-start)?\(")


def bytes_of(shapes):
    total = 0
    for element, dims in re.findall(r"(\w+)\[([\d,]*)\]", shapes):
        count = 1
        for dim in filter(None, dims.split(",")):
            count *= int(dim)
        total += count * BITS.get(element, 32) // 8
    return total


def group_size(line, devices):
    if listed := re.search(r"replica_groups=\{\{([\d,]+)\}", line):
        return len(listed[1].split(","))
    if iota := re.search(r"replica_groups=\[\d+,(\d+)\]", line):
        return int(iota[1])
    if by_axes := re.search(r"replica_groups=mesh\[([^\]]*)\][^{]*\{([^}]*)\}", line):
        sizes = dict(re.findall(r"'([^']+)'=(\d+)", by_axes[1]))
        size = 1
        for axis, part in re.findall(r"'([^']+)'(?::\(\d+\)(\d+))?", by_axes[2]):
            size *= int(part or sizes[axis])
        return size
    return devices


def wire_of(line, devices):
    """Bytes that one device sends for this line's collective, in a ring; 0 for other lines."""
    found = COLLECTIVE.search(line)
    if not found:
        return 0
    result, group = bytes_of(found[1]), group_size(line, devices)
    return result * {"all-reduce": 2 * (group - 1) / group, "reduce-scatter": group - 1,
                     "collective-permute": 1}.get(found[2], (group - 1) / group)


def wire_bytes(hlo, devices):
    """The sum over an execution: a loop's body counts as often as its known trip count."""
    computations, current, entry = {}, [], None
    for line in hlo.splitlines():
        if header := re.match(r"(ENTRY )?%?([\w.\-]+) .*\{$", line):
            current = computations[header[2]] = []
            entry = header[2] if header[1] else entry
        else:
            current.append(line)

    def total(name):
        sent = 0
        for line in computations.get(name, []):
            sent += wire_of(line, devices)
            if body := re.search(r" while\(.*body=%?([\w.\-]+)", line):
                trips = re.search(r'known_trip_count":\{"n":"(\d+)"', line)
                sent += (int(trips[1]) if trips else 1) * total(body[1])
            elif " call(" in line or " conditional(" in line:
                names = re.findall(r"(?:to_apply|true_computation|false_computation)=%?([\w.\-]+)", line)
                sent += sum(map(total, names))
        return sent

    return int(total(entry))
