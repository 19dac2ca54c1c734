// What the ranks of a session must have alike, compared before anything else is exchanged: where
// they differ, all get the same error, which names who has what. A rank that cannot begin takes
// part too, with its error.
//
//   rank 0: program 5f01, steps 3    rank 1: program 5f01, steps 2
//   -> the ranks differ: steps 3 on rank 0, 2 on rank 1
#pragma once

#include "runtime/Status.h"
#include <string>
#include <vector>

namespace tessera::runtime {

class Transport;

struct Fact {
  std::string what, value;
};

// What one rank brings.
struct Position {
  Status status; // its failure, if it has one already
  std::vector<Fact> facts;
};

// The outcome for all, given what each rank brings.
Status compare(const std::vector<Position> &ranks);

// As bytes, and back. Long values are told by their beginning and a hash.
std::string toBytes(const Position &position);
Result<Position> fromBytes(std::string_view bytes);

// All ranks call it. Fails with its own error where it has one, otherwise with what all get.
Status agree(Transport &transport, const Position &own);

} // namespace tessera::runtime
