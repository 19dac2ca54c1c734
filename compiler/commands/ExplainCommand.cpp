// `tessera explain`.
#include "compiler/commands/CommandLine.h"

#include "compiler/commands/ProgramArguments.h"
#include "compiler/plan/Plan.h"
#include "lib/files/OutputFile.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>

namespace tessera {
namespace {

struct Request {
  ProgramArguments program;
  std::string value, line, html, mended;
  bool all, memory, plans;
  PlanRequest plan;

  explicit Request(command::Arguments &arguments)
      : program(arguments), value(arguments.value("--value")), line(arguments.value("--line")),
        html(arguments.value("--html")), mended(arguments.value("--mended")),
        all(arguments.has("--all")), memory(arguments.has("--memory")),
        plans(arguments.has("--plan")) {
    readPlanArguments(arguments, plans, plan);
  }
};

int print(const explain::Explanation &explanation, const Request &request) {
  std::string text;
  if (!request.value.empty()) {
    text = explain::valueText(explanation, request.value);
    if (text.empty())
      return failCommand("error: " + request.program.input + ": no value " + request.value +
                         "; names are those of the text, of arguments, or of scopes");
  } else if (!request.line.empty()) {
    auto [file, number] = llvm::StringRef(request.line).rsplit(':');
    int64_t line;
    if (number.getAsInteger(10, line))
      return failCommand("error: --line=" + request.line + " is not of the form FILE:N");
    text = explain::lineText(explanation, file, line);
    if (text.empty())
      return failCommand("error: " + request.program.input + ": line " + request.line +
                         " made nothing; export with debug_info=True to keep source lines");
  } else if (request.memory) {
    text = explain::memoryText(explanation);
  } else {
    text = explain::programText(explanation, request.all);
  }
  llvm::outs() << text;
  return 0;
}

std::string written(files::OutputFile &file, const std::string &text) {
  std::string wrong = file.write(text);
  return wrong.empty() ? file.commit() : wrong;
}

// The exit code.
int explainInput(int argc, const char *const *argv) {
  command::Arguments arguments(*command::findCommand("explain"), argc, argv);
  Request request(arguments);
  if (!arguments.wrong().empty())
    return failCommand("error: " + arguments.wrong());
  std::optional<std::string> input = readFiles(request.program);
  if (!input)
    return 1;
  if (std::string wrong = request.program.refuseInPlace({request.html}); !wrong.empty())
    return failCommand("error: " + wrong);
  files::OutputFile page, mended;
  for (auto [file, name] : {std::pair(&page, &request.html), {&mended, &request.mended}})
    if (!name->empty())
      if (std::string wrong = file->open(*name); !wrong.empty())
        return failCommand("error: " + wrong);
  ProgressLine progress;
  bool isOfAll = request.value.empty() && request.line.empty();
  ExplainWishes wishes;
  wishes.mends = (isOfAll && !request.memory) || !request.mended.empty();
  wishes.frontier = isOfAll && (request.memory || !request.html.empty());
  ExplainResult result =
      request.plans ? explainPlanned(*input, request.program.options, request.plan,
                                     progress.listener(), wishes)
                    : explainProgram(*input, request.program.options, progress.listener(), wishes);
  progress.clear();
  if (!result.error.empty())
    return failCommand(result.error);
  if (!request.mended.empty()) {
    if (result.mended.empty())
      return failCommand("error: " + request.program.input +
                         ": the change that saves most is one of GSPMD's annotations, which "
                         "--mended does not write; without it the change is said in words");
    if (!result.isChanged)
      llvm::errs() << "remark: " << request.program.input
                   << ": no change was found that saves time; " << request.mended
                   << " is the program as it was\n";
    if (std::string wrong = written(mended, result.mended); !wrong.empty())
      return failCommand("error: " + wrong);
  }
  if (request.html.empty())
    return print(result.explanation, request);
  std::string wrong = written(page, explain::pageText(result.explanation));
  return wrong.empty() ? 0 : failCommand("error: " + wrong);
}

} // namespace

int explainCommand(int argc, const char *const *argv) {
  return runCommand([&] { return explainInput(argc, argv); });
}

} // namespace tessera
