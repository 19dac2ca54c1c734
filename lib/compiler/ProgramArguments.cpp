#include "lib/compiler/ProgramArguments.h"

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

std::unique_ptr<llvm::MemoryBuffer> readFiles(ProgramArguments &arguments) {
  auto input = llvm::MemoryBuffer::getFileOrSTDIN(arguments.input);
  if (!input) {
    failCommand("error: " + arguments.input + ": cannot be read: " + input.getError().message());
    return nullptr;
  }
  arguments.options.inputName = arguments.input == "-" ? "<stdin>" : arguments.input;
  if (!arguments.topologyFile.empty()) {
    auto topology = llvm::MemoryBuffer::getFile(arguments.topologyFile);
    if (!topology) {
      failCommand("error: " + arguments.topologyFile +
                  ": cannot be read: " + topology.getError().message());
      return nullptr;
    }
    arguments.options.topology = (*topology)->getBuffer().str();
  }
  return std::move(*input);
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
