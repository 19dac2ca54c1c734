#include "compiler/commands/ProgramArguments.h"

#include "lib/files/InputFile.h"
#include "lib/machines/Machines.h"
#include "lib/process/OutOfMemory.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace tessera {

ProgramArguments::ProgramArguments(command::Arguments &arguments)
    : input(arguments.operand()), topologyFile(arguments.value("--topology")) {
  options.entry = arguments.value("--entry", options.entry);
  options.inputShapes = arguments.value("--input-shapes");
  // Of explain, --memory is a switch, which has no value.
  std::string wrong =
      readSchedule(arguments.value("--overlap"), arguments.value("--memory"), options.schedule);
  if (!wrong.empty())
    arguments.fail("--" + wrong);
}

std::string ProgramArguments::refuseInPlace(std::initializer_list<std::string> written) const {
  namespace fs = llvm::sys::fs;
  fs::file_status module, other;
  bool isStandardInput = input == "-" || input == "/dev/stdin";
  if (isStandardInput ? fs::status(STDIN_FILENO, module) : fs::status(input, module))
    return "";
  for (const std::string &path : written)
    if (!fs::status(path, other) && fs::is_regular_file(other) && fs::equivalent(other, module))
      return path + ": is the module that is compiled; write to another file";
  return "";
}

int failCommand(const llvm::Twine &line) {
  llvm::errs() << line << "\n";
  return 1;
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
  if (machines::isName(arguments.topologyFile)) {
    arguments.options.topology = arguments.topologyFile;
  } else if (input && !arguments.topologyFile.empty()) {
    if (auto topology = files::readWhole(arguments.topologyFile, wrong))
      arguments.options.topology = std::move(*topology);
    arguments.options.topologyName = arguments.topologyFile;
    if (wrong.empty() && arguments.options.topology.empty()) // which would be the default
      wrong = arguments.topologyFile + ": is empty; a topology is a JSON object, such as " +
              "{\"alpha\": 1e-6, \"beta\": 1e11}";
    if (!wrong.empty()) {
      wrong += machines::orMachine(arguments.topologyFile);
      input.reset();
    }
  }
  if (!input)
    failCommand("error: " + wrong);
  return input;
}

ProgressLine::ProgressLine(bool quiet) : onTerminal(!quiet && isatty(STDERR_FILENO)) {
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
