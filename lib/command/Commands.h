// The one table of commands and options: parsing (Arguments.h), `--help` (Help.h), completion
// (Completion.h), the manual page (ManPage.h) and the test of docs/command-line.md go by it.
#pragma once

#include <span>
#include <string_view>

namespace tessera::command {

struct Option {
  std::string_view name;  // "--inputs"
  std::string_view value; // what stands for its value: "FILE", "cpu|shadow"; empty: it has none
  std::string_view help;  // a line or more, wrapped where it is shown
  std::string_view choices = {};   // what the value can be, where `value` is one word for it: "a|b"
  std::string_view otherwise = {}; // the value of an option that is given without one, if it can be

  // Those of the value's words that stand for themselves: cpu, shadow.
  std::string_view words() const {
    return choices.empty() && value.find('|') != value.npos ? value : choices;
  }
  bool takesFile() const { return value == "FILE"; }
  bool canStandAlone() const { return value.empty() || !otherwise.empty(); }
  // What stands before its value, and after it: --repeat=N, -o FILE, --profile[=N].
  std::string_view before() const {
    return !name.starts_with("--") ? " " : otherwise.empty() ? "=" : "[=";
  }
  std::string_view after() const { return otherwise.empty() ? "" : "]"; }
};

struct Command {
  std::string_view name;    // "run"
  std::string_view usage;   // what follows the name: "P.tsr [options]"
  std::string_view operand; // what the operand is: "program"; empty: there is none
  std::string_view endings; // of files that it may be: ".mlir|.mlirbc"; or the words it may be
  std::string_view summary; // a line of `tessera --help`
  std::string_view about;   // a paragraph of its own help
  std::span<const Option> options;
};

std::span<const Command> commands();
// Null where there is none.
const Command *findCommand(std::string_view name);
const Option *findOption(const Command &command, std::string_view name);

} // namespace tessera::command
