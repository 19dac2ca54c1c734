"""What the compiler says of a program, as data and as tables."""

from __future__ import annotations

import dataclasses
import html
from collections.abc import Mapping, Sequence
from typing import Any


@dataclasses.dataclass(frozen=True)
class Collective:
    """One place of a collective: figures of the device that has most, over one execution."""

    kind: str
    axes: str
    trips: int | None
    """Executions of the loops around it; None where data decides."""
    count: int
    bytes: int
    """What it receives or reduces."""
    wire_bytes: int
    """What it sends in a ring."""
    location: str


@dataclasses.dataclass(frozen=True)
class Memory:
    """Bytes that a device holds."""

    arguments: int
    outputs: int
    arena: int

    @property
    def total(self) -> int:
        return self.arguments + self.outputs + self.arena


def counted(number: int, what: str) -> str:
    """1 as "1 place", 2 as "2 places"."""
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def bytes_text(count: float) -> str:
    """1536 as "1.5 KiB"."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(count) < 1024:
            return f"{count:.0f} B" if unit == "B" else f"{count:.3g} {unit}"
        count /= 1024
    return f"{count:.3g} TiB"


def seconds_text(seconds: float) -> str:
    """0.0015 as "1.5 ms"."""
    for unit, scale in (("s", 1.0), ("ms", 1e3), ("us", 1e6)):
        if seconds >= 1 / scale:
            return f"{seconds * scale:.3g} {unit}"
    return f"{seconds * 1e9:.3g} ns"


class Report:
    """The report of a compilation. Prints as a table, and shows as one in a notebook; `raw` is all of it."""

    def __init__(self, raw: Mapping[str, Any]) -> None:
        self.raw: dict[str, Any] = dict(raw)

    @property
    def devices(self) -> int:
        return int(self.raw.get("devices", 1))

    @property
    def collectives(self) -> list[Collective]:
        """Where the program moves data between devices, in the order of the program."""
        return [
            Collective(
                kind=site["kind"],
                axes=site.get("axes", ""),
                trips=None if site.get("trips") == "unknown" else int(site.get("trips", 1)),
                count=int(site["count"]),
                bytes=int(site["bytes"]),
                wire_bytes=int(site["wire_bytes"]),
                location=site.get("location", ""),
            )
            for site in self.raw.get("collectives", [])
        ]

    @property
    def memory(self) -> Memory:
        memory = self.raw.get("memory", {})
        return Memory(*(int(memory.get(part, 0)) for part in ("arguments", "outputs", "arena")))

    @property
    def predicted(self) -> dict[str, Any]:
        """What the cost model predicts of a step, in seconds: `seconds`, and of it `compute` (`compute_by_kind`), `exposed`
        communication and `overhead`; `peak_bytes`, and the largest temporaries `at_peak`. Empty where it says nothing."""
        return dict(self.raw.get("predicted", {}))

    @property
    def phases(self) -> dict[str, float]:
        """Seconds that each phase of the compilation took; empty for a program that was loaded."""
        return {phase["name"]: float(phase["seconds"]) for phase in self.raw.get("phases", [])}

    def _summary(self) -> list[tuple[str, str]]:
        sites = self.collectives
        memory = self.memory
        rows = [
            ("devices", str(self.devices)),
            ("collectives a step", f"{sum(site.count for site in sites)} at {counted(len(sites), 'place')}"),
            ("bytes received", bytes_text(sum(site.bytes for site in sites))),
            ("bytes sent", bytes_text(sum(site.wire_bytes for site in sites))),
            (
                "memory a device",
                f"{bytes_text(memory.total)}: arguments {bytes_text(memory.arguments)}, outputs {bytes_text(memory.outputs)},"
                f" temporaries {bytes_text(memory.arena)}",
            ),
        ]
        if "seconds" in self.predicted:
            parts = [(name, self.predicted.get(name, 0)) for name in ("compute", "exposed", "overhead")]
            said = ", ".join(f"{name} {seconds_text(value)}" for name, value in parts if value)
            rows.append(("predicted", f"{seconds_text(self.predicted['seconds'])} a step" + (f": {said}" if said else "")))
        return rows

    def _table(self) -> tuple[list[str], list[list[str]]]:
        head = ["collective", "axes", "count", "bytes", "sent", "location"]
        rows = [
            [
                site.kind,
                site.axes,
                str(site.count) if site.trips is not None else f"{site.count} a trip",
                bytes_text(site.bytes),
                bytes_text(site.wire_bytes),
                site.location,
            ]
            for site in sorted(self.collectives, key=lambda site: -site.wire_bytes)
        ]
        return head, rows

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self._summary())
        lines = [f"{name:<{width}}  {value}" for name, value in self._summary()]
        head, rows = self._table()
        return "\n".join(lines + ([""] + columns([head, *rows]) if rows else []))

    def __repr__(self) -> str:
        collectives = counted(sum(site.count for site in self.collectives), "collective")
        return f"<tessera.Report: {counted(self.devices, 'device')}, {collectives} a step>"

    def _repr_html_(self) -> str:
        summary = "".join(f"<tr><th>{html.escape(n)}</th><td>{html.escape(v)}</td></tr>" for n, v in self._summary())
        head, rows = self._table()
        if not rows:
            return f"<table>{summary}</table>"
        titles = "".join(f"<th>{html.escape(title)}</th>" for title in head)
        body = "".join("<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in rows)
        return f"<table>{summary}</table><table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def columns(rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of left-aligned columns."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    return ["  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths)).rstrip() for row in rows]
