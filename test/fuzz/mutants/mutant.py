"""A planted wrong rule: a place in the sources and what a mistaken engineer would have written there.

All mutants are compiled into one build. At each place stands a switch that asks for the mutant's name:

    taken.append(row[f].axes);      ->      { if (TESSERA_IS_MUTANT("propagate.axis-twice")) { } else { taken.append(row[f].axes); } }

The switch compares the name with $TESSERA_MUTANT. The tree has no trace of it: it is planted in a copy.
"""
import dataclasses
import pathlib
import re

ROOT = pathlib.Path(__file__).resolve().parents[3]

SWITCH = """#pragma once
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>
namespace tessera {
struct Asked {
  int process = 0; // a fork asks again
  bool active = false;
};
// Whether the mistake of this name is to be made; the file $TESSERA_REACHED notes who asks.
inline bool isMutant(Asked &asked, const char *name) {
  if (asked.process == getpid())
    return asked.active;
  if (const char *reached = std::getenv("TESSERA_REACHED")) {
    int file = open(reached, O_WRONLY | O_APPEND | O_CREAT, 0600);
    if (file >= 0 && write(file, name, std::strlen(name)) >= 0 && write(file, "\\n", 1) >= 0)
      close(file);
  }
  const char *mutant = std::getenv("TESSERA_MUTANT");
  asked.active = mutant && !std::strcmp(mutant, name);
  asked.process = getpid();
  return asked.active;
}
} // namespace tessera
#define TESSERA_IS_MUTANT(name) ([] { static ::tessera::Asked asked; return ::tessera::isMutant(asked, name); }())
"""


@dataclasses.dataclass
class Edit:
    """`anchor` is text of `file`, found once whatever its line breaks, with the part to be replaced in ⟦ ⟧."""
    file: str
    anchor: str
    wrong: str

    def locate(self, text):
        """The begin and end of the part to be replaced; an error says what is amiss."""
        before, right, after = re.split("[⟦⟧]", self.anchor)
        pattern = "(" + spaced(right) + ")"
        if before:
            pattern = spaced(before) + pattern
        if after:
            pattern += spaced(after)
        found = list(re.finditer(pattern, text))
        if len(found) != 1:
            raise ValueError(f"{self.file}: {len(found)} places for {' '.join(self.anchor.split())!r}")
        return found[0].span(1)

    def switch(self, name, right):
        asked = f'TESSERA_IS_MUTANT("{name}")'
        if right.rstrip()[-1] in ";}":  # statements
            return f"{{ if ({asked}) {{ {self.wrong} }} else {{ {right} }} }}"
        return f"({asked} ? ({self.wrong}) : ({right}))"


def spaced(text):
    """A pattern for `text` with any white space where it has some."""
    pattern = r"\s+".join(re.escape(part) for part in text.split())
    return ("" if text[:1].strip() else r"\s*") + pattern + ("" if text[-1:].strip() or not pattern else r"\s*")


@dataclasses.dataclass
class Mutant:
    name: str
    edits: list
    why: str  # what is wrong, and where it shows
    fuzzer: str = "programs"  # that looks for it: a module of test/fuzz with a Worker; "gpu": test/gpu/programs.py

    @property
    def phase(self):
        return self.name.split(".")[0]


def mutant(name, file, anchor, wrong, why, also=()):
    """`also`: further (anchor, wrong) of the same file, for a mistake that is made in several places."""
    return Mutant(name, [Edit(file, anchor, wrong), *(Edit(file, *more) for more in also)], why)


def planted(mutants, root=ROOT):
    """The text of each file that mutants change, with all of their switches."""
    edits = {}
    for each in mutants:
        for edit in each.edits:
            edits.setdefault(edit.file, []).append((each.name, edit))
    texts, errors = {}, []
    for file, list_ in edits.items():
        path = root / file
        if not path.exists():
            errors.append(f"{file}: is not there")
            continue
        text, places = path.read_text(), []
        for name, edit in list_:
            try:
                places.append((*edit.locate(text), name, edit))
            except ValueError as error:
                errors.append(f"{name}: {error}")
        places.sort(key=lambda place: place[0], reverse=True)
        for (begin, *_), (_, end, name, _) in zip(places, places[1:]):
            if end > begin:
                errors.append(f"{name}: {file}: overlaps another mutant")
        for begin, end, name, edit in places:
            text = text[:begin] + edit.switch(name, text[begin:end]) + text[end:]
        texts[file] = '#include "mutant_switch.h"\n#line 1\n' + text
    return texts, errors
