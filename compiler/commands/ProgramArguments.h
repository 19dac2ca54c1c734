// What `tessera compile` and `tessera explain` share: the arguments that say which program and
// which machine, and the lines that they write while they work.
#pragma once

#include "compiler/Compile.h"
#include "lib/command/Arguments.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <functional>
#include <initializer_list>
#include <optional>
#include <string>

namespace tessera {

struct ProgramArguments {
  CompileOptions options;
  std::string input, topologyFile;

  // The input file and the options of both commands.
  explicit ProgramArguments(command::Arguments &arguments);

  // "", or which of these files is the module itself: nobody wants that replaced by what is made of it, a name
  // was typed twice. No name is none.
  std::string refuseInPlace(std::initializer_list<std::string> written) const;
};

// Writes the line to standard error; 1, the exit code.
int failCommand(const llvm::Twine &line);

// The exit code of `command`: 1, with an error line, where memory ran out or not all of standard
// output was written.
int runCommand(llvm::function_ref<int()> command);

// The program's text, with the topology file read into the options; nothing after an error line.
std::optional<std::string> readFiles(ProgramArguments &arguments);

// Shows diagnostics, and on a terminal the phase under way, but for commands that are to be quiet.
class ProgressLine {
public:
  explicit ProgressLine(bool quiet = false);
  ~ProgressLine() { clear(); }
  void clear() const;
  // Valid as long as this; texts that the compiler prints go to standard output.
  CompileListener listener() const { return {diagnostic, began, print}; }

private:
  bool onTerminal;
  std::function<void(const std::string &)> diagnostic;
  std::function<void(llvm::StringRef)> began, print;
};

} // namespace tessera
