// Well-known machines as topology files describe them (docs/topology.md, which has the sources of the
// figures): --topology takes their names, too.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace tessera::machines {

struct Machine {
  std::string_view name; // "h100"
  std::string_view text; // as a topology file has it
};

std::span<const Machine> all();

constexpr int kMostNested = 8; // objects and lists of a topology file, in one another

// A topology's text: of a machine that `nameOrText` is the name of, or as it is.
std::string_view topologyText(std::string_view nameOrText);

// Whether it is a machine's name; a file of that name is ./NAME.
inline bool isName(std::string_view given) { return topologyText(given).data() != given.data(); }

// What an error adds about a word that was meant as a machine's name, and is none: "; machines are
// host, a100, .."; nothing about a path or a text.
std::string orMachine(std::string_view given);

} // namespace tessera::machines
