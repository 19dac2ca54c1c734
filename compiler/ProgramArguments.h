// What `tessera compile` and `tessera explain` share: the arguments that say which program and
// which machine, and the lines that they write while they work.
#pragma once

#include "compiler/Compile.h"

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/Twine.h"

#include <functional>
#include <optional>
#include <string>

namespace tessera {

struct ProgramArguments {
  CompileOptions options;
  std::string input, topologyFile;

  // Takes an input file or an option of both commands. Empty, or what is wrong with it: an option
  // that neither has too.
  std::string take(llvm::StringRef argument);
};

// Their lines in the usage of a command.
inline constexpr llvm::StringLiteral kProgramUsage =
    R"(  --entry=NAME         the function to take (main)
  --input-shapes=LIST  shapes of arguments that have dynamic ones: in0:8x128xf32,in1:4
  --topology=FILE      the machine that costs are predicted for (a default is built in)
)";

// Writes the line to standard error; 1, the exit code.
int failCommand(const llvm::Twine &line);

// Whether the arguments ask for help, which is then written.
bool printedHelp(int argc, const char *const *argv, const llvm::Twine &usage);

// The exit code of `command`: 1, with an error line, where memory ran out or not all of standard
// output was written.
int runCommand(llvm::function_ref<int()> command);

// The program's text, with the topology file read into the options; nothing after an error line.
std::optional<std::string> readFiles(ProgramArguments &arguments);

// Shows diagnostics, and on a terminal the phase under way.
class ProgressLine {
public:
  ProgressLine();
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
