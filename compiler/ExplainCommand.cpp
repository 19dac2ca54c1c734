// `tessera explain`.
#include "compiler/CommandLine.h"

#include "compiler/Explain.h"
#include "compiler/ProgramArguments.h"
#include "lib/files/OutputFile.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tessera {
namespace {

const char kUsage[] = R"(usage: tessera explain IN.mlir|IN.mlirbc [options]

Says of every sharding where it comes from and of every collective why it is there, what it moves, and which
annotation would remove it.

  --value=NAME         only this value: %12 as in IN.mlir, an argument's name, or the last part of a scope
  --line=FILE:N        only what this line of your source made
  --html=FILE          write one page with the program as a graph, and print nothing (- is standard output)
)";

struct Request {
  ProgramArguments program;
  std::string value, line, html;
};

// Empty, or what is wrong with the arguments.
std::string parseArguments(int argc, const char *const *argv, Request &request) {
  for (int i = 0; i < argc; ++i) {
    llvm::StringRef argument = argv[i];
    auto [name, value] = argument.split('=');
    if (name == "--value")
      request.value = value.str();
    else if (name == "--line")
      request.line = value.str();
    else if (name == "--html")
      request.html = value.str();
    else if (std::string wrong = request.program.take(argument); !wrong.empty())
      return wrong;
  }
  return request.program.input.empty() ? "no input file" : "";
}

int print(const explain::Explanation &explanation, const Request &request) {
  std::string text;
  if (!request.value.empty()) {
    text = explain::valueText(explanation, request.value);
    if (text.empty())
      return failCommand("error: " + request.program.input + ": no value " + request.value +
                         "; names are those of the text, of arguments, or last parts of scopes");
  } else if (!request.line.empty()) {
    auto [file, number] = llvm::StringRef(request.line).rsplit(':');
    int64_t line;
    if (number.getAsInteger(10, line))
      return failCommand("error: --line=" + request.line + " is not of the form FILE:N");
    text = explain::lineText(explanation, file, line);
    if (text.empty())
      return failCommand("error: " + request.program.input + ": line " + request.line +
                         " made nothing; export with debug_info=True to keep source lines");
  } else {
    text = explain::programText(explanation);
  }
  llvm::outs() << text;
  return 0;
}

// The exit code.
int explainInput(int argc, const char *const *argv) {
  if (printedHelp(argc, argv, llvm::Twine(kUsage) + kProgramUsage))
    return 0;
  Request request;
  if (std::string wrong = parseArguments(argc, argv, request); !wrong.empty())
    return failCommand("error: " + wrong + "; see tessera explain --help");
  std::optional<std::string> input = readFiles(request.program);
  if (!input)
    return 1;
  files::OutputFile page;
  if (!request.html.empty())
    if (std::string wrong = page.open(request.html); !wrong.empty())
      return failCommand("error: " + wrong);
  ProgressLine progress;
  ExplainResult result = explainProgram(*input, request.program.options, progress.listener());
  progress.clear();
  if (!result.error.empty())
    return failCommand(result.error);
  if (request.html.empty())
    return print(result.explanation, request);
  std::string wrong = page.write(explain::pageText(result.explanation));
  if (wrong.empty())
    wrong = page.commit();
  return wrong.empty() ? 0 : failCommand("error: " + wrong);
}

} // namespace

int explainCommand(int argc, const char *const *argv) {
  return runCommand([&] { return explainInput(argc, argv); });
}

} // namespace tessera
