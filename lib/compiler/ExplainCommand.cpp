// `tessera explain`.
#include "lib/compiler/CommandLine.h"

#include "lib/compiler/Explain.h"

#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <unistd.h>

namespace tessera {
namespace {

const char kUsage[] = R"(usage: tessera explain IN.mlir|IN.mlirbc [options]

Says of every sharding where it comes from and of every collective why it is there, what it moves, and which
annotation would remove it.

  --value=NAME         only this value: %12 as in IN.mlir, an argument's name, or the last part of a scope
  --line=FILE:N        only what this line of your source made
  --html=FILE          write one page with the program as a graph, and print nothing (- is standard output)
  --entry=NAME         the function to explain (main)
  --topology=FILE      the machine that costs are predicted for (a default is built in)
)";

struct Request {
  CompileOptions options;
  std::string input, value, line, html, topologyFile;
};

int fail(const llvm::Twine &line) {
  llvm::errs() << line << "\n";
  return 1;
}

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
    else if (name == "--entry")
      request.options.entry = value.str();
    else if (name == "--topology")
      request.topologyFile = value.str();
    else if (argument.starts_with("-") && argument != "-")
      return ("unknown option " + argument).str();
    else if (request.input.empty())
      request.input = argument.str();
    else
      return ("two inputs: " + request.input + " and " + argument).str();
  }
  if (request.input.empty())
    return "no input file";
  return "";
}

int write(llvm::StringRef path, llvm::StringRef text) {
  std::error_code code;
  llvm::raw_fd_ostream file(path, code);
  if (!code) {
    file << text;
    file.close();
    code = file.error();
    file.clear_error();
  }
  return code ? fail("error: " + path + ": cannot be written: " + code.message()) : 0;
}

int print(const explain::Explanation &explanation, const Request &request) {
  if (!request.html.empty())
    return write(request.html, explain::pageText(explanation));
  std::string text;
  if (!request.value.empty()) {
    text = explain::valueText(explanation, request.value);
    if (text.empty())
      return fail("error: " + request.input + ": no value " + request.value +
                  "; names are those of the text, of arguments, or last parts of scopes");
  } else if (!request.line.empty()) {
    auto [file, number] = llvm::StringRef(request.line).rsplit(':');
    int64_t line;
    if (number.getAsInteger(10, line))
      return fail("error: --line=" + request.line + " is not of the form FILE:N");
    text = explain::lineText(explanation, file, line);
    if (text.empty())
      return fail("error: " + request.input + ": line " + request.line +
                  " made nothing; export with debug_info=True to keep source lines");
  } else {
    text = explain::programText(explanation);
  }
  llvm::outs() << text;
  return 0;
}

} // namespace

int explainCommand(int argc, const char *const *argv) {
  for (int i = 0; i < argc; ++i)
    if (llvm::StringRef(argv[i]) == "--help" || llvm::StringRef(argv[i]) == "-h") {
      llvm::outs() << kUsage;
      return 0;
    }
  Request request;
  if (std::string wrong = parseArguments(argc, argv, request); !wrong.empty())
    return fail("error: " + wrong + "; see tessera explain --help");
  auto input = llvm::MemoryBuffer::getFileOrSTDIN(request.input);
  if (!input)
    return fail("error: " + request.input + ": cannot be read: " + input.getError().message());
  request.options.inputName = request.input == "-" ? "<stdin>" : request.input;
  if (!request.topologyFile.empty()) {
    auto topology = llvm::MemoryBuffer::getFile(request.topologyFile);
    if (!topology)
      return fail("error: " + request.topologyFile +
                  ": cannot be read: " + topology.getError().message());
    request.options.topology = (*topology)->getBuffer().str();
  }
  bool progress = isatty(STDERR_FILENO);
  auto clear = [&] {
    if (progress)
      llvm::errs() << "\r\033[K";
  };
  ExplainResult result = explainProgram((*input)->getBuffer(), request.options,
                                        {.diagnostic =
                                             [&](const std::string &line) {
                                               clear();
                                               llvm::errs() << line << "\n";
                                             },
                                         .began =
                                             [&](llvm::StringRef phase) {
                                               clear();
                                               if (progress)
                                                 llvm::errs() << "tessera: " << phase;
                                             },
                                         .print = [](llvm::StringRef) {}});
  clear();
  if (!result.error.empty())
    return fail(result.error);
  return print(result.explanation, request);
}

} // namespace tessera
