// What tessera-fuzz can do with an input besides `tessera compile` and `tessera run`. Exit codes as
// of the command line, and 3 for an answer that is wrong.
#pragma once

#include <string>
#include <vector>

namespace tessera::fuzz {

// Once, before children are made: what they all need is then there already.
void warmUp();

// roundtrip IN: reads a module, prints it, reads that, and prints the same; then through bytecode,
// and through a portable artifact where it can be written as one.
int roundTrip(const std::string &path);

// bytecode IN OUT, and portable IN OUT RELEASE: other forms of a module, to be mutated.
int writeBytecode(const std::string &from, const std::string &to);
int writePortable(const std::string &from, const std::string &to, const std::string &release);

// cells IN: what the program exercises after reshard, a line for each op x kind of factor along which
// it is sharded x even or uneven x partial or whole.
int cells(const std::string &path);

} // namespace tessera::fuzz
