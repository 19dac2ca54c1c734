// What a command is given, by the table of its options:
//
//   P.tsr --inputs=IN.npz --repeat 3    operand P.tsr, --inputs IN.npz, --repeat 3
#pragma once

#include "lib/command/Commands.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tessera::command {

class Arguments {
public:
  // argv[0] is the first argument after the subcommand. All is read also where some of it is wrong.
  Arguments(const Command &command, int argc, const char *const *argv);

  // Empty, or what is wrong first, to be said after "error: ". Who asks for help has done nothing
  // wrong.
  const std::string &wrong() const { return wrong_; }
  bool asksForHelp() const { return help_; }

  const std::string &operand() const { return operand_; }
  bool has(std::string_view option) const;
  // The last one given; `otherwise` where none is.
  std::string value(std::string_view option, std::string_view otherwise = "") const;
  // The same of a whole number above zero; what is none is wrong from then on.
  int64_t number(std::string_view option, std::string_view noun, int64_t otherwise);
  double positive(std::string_view option, std::string_view noun, double otherwise);

  // Notes what is wrong, if it is the first.
  void fail(const std::string &what);

private:
  void misuse(const std::string &what); // that help would have told
  void take(const Option *option, std::string_view name, std::optional<std::string_view> value);

  const Command &command_;
  std::string wrong_, operand_;
  bool help_ = false;
  std::vector<std::pair<std::string_view, std::string>> values_; // by the table's name
};

// Of `names` the one that somebody who wrote `given` most likely meant; empty where none is near.
std::string_view nearest(std::string_view given, const std::vector<std::string_view> &names);

} // namespace tessera::command
