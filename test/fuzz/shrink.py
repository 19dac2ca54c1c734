"""The smallest input that still ends as badly: lines, then tokens or bytes, are dropped while it does."""
from mutations import TOKEN


def without(parts, is_bad, join):
    """Parts that cannot be dropped (Zeller, Simplifying and isolating failure-inducing input, 2002)."""
    size = max(1, len(parts) // 2)
    while parts:
        at, dropped = 0, False
        while at < len(parts):
            rest = parts[:at] + parts[at + size :]
            if is_bad(join(rest)):
                parts, dropped = rest, True
            else:
                at += size
        if size == 1 and not dropped:
            break
        size = max(1, size // 2)
    return parts


def shrink_text(text, is_bad):
    text = "".join(without(text.splitlines(keepends=True), is_bad, "".join))
    parts, at = [], 0
    for match in TOKEN.finditer(text):
        parts.append(text[at : match.end()])
        at = match.end()
    return "".join(without(parts + [text[at:]], is_bad, "".join)) if len(parts) < 2000 else text


def shrink_bytes(data, is_bad):
    if len(data) > 20000:
        return data
    return b"".join(without([data[i : i + 1] for i in range(len(data))], is_bad, b"".join))
