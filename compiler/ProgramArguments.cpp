#include "compiler/ProgramArguments.h"

#include "lib/files/InputFile.h"
#include "lib/process/OutOfMemory.h"

#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace tessera {

std::string ProgramArguments::take(llvm::StringRef argument) {
  auto [name, value] = argument.split('=');
  if (name == "--entry")
    options.entry = value.str();
  else if (name == "--input-shapes")
    options.inputShapes = value.str();
  else if (name == "--topology")
    topologyFile = value.str();
  else if (argument.starts_with("-") && argument != "-")
    return ("unknown option " + argument).str();
  else if (input.empty())
    input = argument.str();
  else
    return ("two inputs: " + input + " and " + argument).str();
  return "";
}

int failCommand(const llvm::Twine &line) {
  llvm::errs() << line << "\n";
  return 1;
}

bool printedHelp(int argc, const char *const *argv, const llvm::Twine &usage) {
  for (int i = 0; i < argc; ++i)
    if (llvm::StringRef argument = argv[i]; argument == "--help" || argument == "-h") {
      llvm::outs() << usage;
      return true;
    }
  return false;
}

int runCommand(llvm::function_ref<int()> command) {
  int code = 1;
  if (!runWithinMemory([&] { code = command(); }))
    code = failCommand(llvm::Twine("error: ") + kOutOfMemory);
  llvm::outs().flush();
  if (std::error_code error = llvm::outs().error()) {
    llvm::outs().clear_error(); // LLVM would end the process
    code = failCommand("error: standard output: cannot be written: " + error.message());
  }
  llvm::errs().clear_error(); // there is nowhere to say so
  return code;
}

std::optional<std::string> readFiles(ProgramArguments &arguments) {
  std::string wrong;
  auto input = files::readWhole(arguments.input, wrong);
  arguments.options.inputName = arguments.input == "-" ? "<stdin>" : arguments.input;
  if (input && !arguments.topologyFile.empty()) {
    if (auto topology = files::readWhole(arguments.topologyFile, wrong))
      arguments.options.topology = std::move(*topology);
    else
      input.reset();
  }
  if (!input)
    failCommand("error: " + wrong);
  return input;
}

ProgressLine::ProgressLine() : onTerminal(isatty(STDERR_FILENO)) {
  diagnostic = [this](const std::string &line) {
    clear();
    llvm::errs() << line << "\n";
  };
  began = [this](llvm::StringRef phase) {
    clear();
    if (onTerminal)
      llvm::errs() << "tessera: " << phase;
  };
  print = [](llvm::StringRef text) { llvm::outs() << text; };
}

void ProgressLine::clear() const {
  if (onTerminal)
    llvm::errs() << "\r\033[K";
}

} // namespace tessera
