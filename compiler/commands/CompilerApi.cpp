// The symbols that libtessera_compiler.so exports: the C interface, and the command for
// tools/tessera.
#include "tessera/compiler_api.h"

#include "compiler/Compile.h"
#include "compiler/commands/CommandLine.h"
#include "compiler/explain/Explain.h"
#include "compiler/plan/Plan.h"
#include "lib/process/OutOfMemory.h"
#include "lib/version/Version.h"

#include "llvm/Support/JSON.h"

#include <forward_list>
#include <new>
#include <vector>

#define TESSERA_EXPORT extern "C" __attribute__((visibility("default")))

struct tessera_compiled {
  tessera::CompileResult result;
  bool ranOut = false; // of memory: there is none for a message
  std::forward_list<std::string> strings;
  std::vector<tessera_collective> collectives;
};

struct tessera_planned {
  tessera::PlanResult result;
  bool ranOut = false;
};

struct tessera_explanation {
  tessera::ExplainResult result;
  bool ranOut = false;
  std::forward_list<std::string> texts;
};

namespace {

// The error line of what was made, null where all went well; `ofNone` where nothing was given.
template <class Made> const char *errorOf(const Made *made, const char *ofNone) {
  if (!made)
    return ofNone;
  if (made->ranOut)
    return "error: out of memory";
  return made->result.error.empty() ? nullptr : made->result.error.c_str();
}

const char *keep(tessera_compiled &compiled, std::optional<llvm::StringRef> text) {
  return compiled.strings.emplace_front(text.value_or("").str()).c_str();
}

void readCollectives(tessera_compiled &compiled) {
  llvm::Expected<llvm::json::Value> report = llvm::json::parse(compiled.result.report);
  const llvm::json::Object *object = report ? report->getAsObject() : nullptr;
  if (!report)
    llvm::consumeError(report.takeError());
  const llvm::json::Array *sites = object ? object->getArray("collectives") : nullptr;
  if (!sites)
    return;
  for (const llvm::json::Value &value : *sites) {
    const llvm::json::Object &site = *value.getAsObject();
    auto number = [&](llvm::StringRef key) { return site.getInteger(key).value_or(-1); };
    compiled.collectives.push_back({keep(compiled, site.getString("kind")),
                                    keep(compiled, site.getString("axes")),
                                    keep(compiled, site.getString("location")), number("trips"),
                                    number("count"), number("bytes"), number("wire_bytes")});
  }
}

// Members that a caller of an older version does not know have their defaults.
tessera_compile_options complete(const tessera_compile_options *given) {
  tessera_compile_options options{};
  if (given)
    std::memcpy(&options, given, std::min(given->struct_size, sizeof options));
  return options;
}

tessera::CompileOptions chosenBy(const tessera_compile_options &options, std::string &error) {
  tessera::CompileOptions chosen;
  for (auto [value, into] : {std::pair(options.name, &chosen.inputName),
                             {options.entry, &chosen.entry},
                             {options.target, &chosen.target},
                             {options.target_cpu, &chosen.targetCpu},
                             {options.topology, &chosen.topology},
                             {options.topology_name, &chosen.topologyName},
                             {options.input_shapes, &chosen.inputShapes}})
    if (value)
      *into = value;
  std::string wrong = tessera::readSchedule(options.overlap ? options.overlap : "",
                                            options.memory ? options.memory : "", chosen.schedule);
  if (!wrong.empty())
    error = "error: " + wrong;
  return chosen;
}

tessera::PlanRequest requestOf(const tessera_compile_options &options, std::string &error) {
  tessera::PlanRequest request;
  auto text = [](int64_t number) { return number ? std::to_string(number) : std::string(); };
  std::string wrong = tessera::readPlanRequest(
      text(options.devices), options.mesh ? options.mesh : "", text(options.effort), request);
  if (!wrong.empty())
    error = "error: " + wrong;
  return request;
}

// Advice names options as the command line has them, " --input-shapes="; those of the interface are
// members of the same names, " input_shapes=". A whole command, `tessera compile --..`, stays.
void adviseMembers(std::string &error) {
  llvm::StringRef rest(error);
  std::string advice;
  for (size_t at; (at = rest.find(" --")) != llvm::StringRef::npos;) {
    auto [before, after] = std::pair(rest.take_front(at), rest.drop_front(at + 3));
    llvm::StringRef name = after.take_while([](char c) { return llvm::isAlpha(c) || c == '-'; });
    advice += before;
    bool isCommand = llvm::count(advice, '`') % 2 != 0;
    std::string member = name.str();
    llvm::replace(member, '-', '_');
    bool isOption = !name.empty() && !isCommand && after.drop_front(name.size()).starts_with("=");
    advice += isOption ? " " + member : " --" + name.str();
    rest = after.drop_front(name.size());
  }
  error = advice + rest.str();
}

// Runs `work`, which gets the caller's options and a listener; false where memory ran out. `error` is
// set where there is no module.
template <class F>
bool run(const char *module, size_t bytes, const tessera_compile_options *given, std::string &error,
         F work) {
  return tessera::runWithinMemory([&] {
    if (!module && bytes) {
      error = "error: a null module";
      return;
    }
    tessera_compile_options options = complete(given);
    auto diagnostic = [&](const std::string &line) {
      if (options.diagnostic)
        options.diagnostic(options.user, line.c_str());
    };
    tessera::CompileOptions chosen = chosenBy(options, error);
    if (!error.empty())
      return;
    work(llvm::StringRef(module ? module : "", bytes), chosen,
         tessera::CompileListener{.diagnostic = diagnostic,
                                  .began = [](llvm::StringRef) {},
                                  .print = [](llvm::StringRef) {}});
    adviseMembers(error);
  });
}

} // namespace

TESSERA_EXPORT const char *tessera_compiler_version() { return tessera::versionText(); }

TESSERA_EXPORT tessera_compiled *tessera_compile(const char *module, size_t bytes,
                                                 const tessera_compile_options *given) {
  auto *compiled = new (std::nothrow) tessera_compiled;
  if (!compiled)
    return nullptr;
  compiled->ranOut = !run(module, bytes, given, compiled->result.error,
                          [&](llvm::StringRef text, const tessera::CompileOptions &options,
                              const tessera::CompileListener &listener) {
                            tessera_compile_options asked = complete(given);
                            tessera::PlanRequest request = requestOf(asked, compiled->result.error);
                            if (!compiled->result.error.empty())
                              return;
                            compiled->result =
                                asked.plan
                                    ? tessera::compilePlanned(text, options, request, listener)
                                    : tessera::compile(text, options, listener);
                            readCollectives(*compiled);
                          });
  return compiled;
}

TESSERA_EXPORT void tessera_compiled_free(tessera_compiled *compiled) { delete compiled; }

TESSERA_EXPORT const char *tessera_compiled_error(const tessera_compiled *compiled) {
  return errorOf(compiled, "error: tessera_compiled_error: a null argument");
}

TESSERA_EXPORT const void *tessera_compiled_program(const tessera_compiled *compiled,
                                                    size_t *bytes) {
  if (bytes)
    *bytes = compiled ? compiled->result.program.size() : 0;
  return compiled ? compiled->result.program.data() : nullptr;
}

TESSERA_EXPORT const char *tessera_compiled_report(const tessera_compiled *compiled) {
  return compiled ? compiled->result.report.c_str() : "";
}

TESSERA_EXPORT const tessera_collective *
tessera_compiled_collectives(const tessera_compiled *compiled, size_t *count) {
  if (count)
    *count = compiled ? compiled->collectives.size() : 0;
  return compiled ? compiled->collectives.data() : nullptr;
}

TESSERA_EXPORT tessera_planned *tessera_plan(const char *module, size_t bytes,
                                             const tessera_compile_options *given) {
  auto *planned = new (std::nothrow) tessera_planned;
  if (!planned)
    return nullptr;
  tessera::PlanResult &result = planned->result;
  planned->ranOut = !run(module, bytes, given, result.error,
                         [&](llvm::StringRef text, const tessera::CompileOptions &options,
                             const tessera::CompileListener &listener) {
                           tessera::PlanRequest request = requestOf(complete(given), result.error);
                           if (result.error.empty())
                             result = tessera::planProgram(text, options, request, listener);
                         });
  return planned;
}

TESSERA_EXPORT void tessera_planned_free(tessera_planned *planned) { delete planned; }

TESSERA_EXPORT const char *tessera_planned_error(const tessera_planned *planned) {
  return errorOf(planned, "error: tessera_planned_error: a null argument");
}

TESSERA_EXPORT const char *tessera_planned_program(const tessera_planned *planned) {
  return planned ? planned->result.program.c_str() : "";
}

TESSERA_EXPORT const char *tessera_planned_report(const tessera_planned *planned) {
  return planned ? planned->result.report.c_str() : "";
}

TESSERA_EXPORT const char *tessera_planned_text(const tessera_planned *planned) {
  return planned ? planned->result.text.c_str() : "";
}

TESSERA_EXPORT tessera_explanation *tessera_explain(const char *module, size_t bytes,
                                                    const tessera_compile_options *given) {
  auto *explanation = new (std::nothrow) tessera_explanation;
  if (!explanation)
    return nullptr;
  explanation->ranOut =
      !run(module, bytes, given, explanation->result.error,
           [&](llvm::StringRef text, const tessera::CompileOptions &options,
               const tessera::CompileListener &listener) {
             tessera_compile_options asked = complete(given);
             tessera::ExplainResult &result = explanation->result;
             tessera::PlanRequest request = requestOf(asked, result.error);
             tessera::ExplainWishes wishes{!asked.no_mends, asked.frontier != 0};
             if (!result.error.empty())
               return;
             result = asked.plan ? tessera::explainPlanned(text, options, request, listener, wishes)
                                 : tessera::explainProgram(text, options, listener, wishes);
           });
  return explanation;
}

TESSERA_EXPORT void tessera_explanation_free(tessera_explanation *explanation) {
  delete explanation;
}

TESSERA_EXPORT const char *tessera_explanation_error(const tessera_explanation *explanation) {
  return errorOf(explanation, "error: tessera_explanation_error: a null argument");
}

// The text that `make` makes of it; null for an empty one.
template <class F> static const char *textOf(tessera_explanation *explanation, F make) {
  if (tessera_explanation_error(explanation))
    return nullptr;
  const char *text = nullptr;
  tessera::runWithinMemory([&] {
    std::string made = make(explanation->result.explanation);
    if (!made.empty())
      text = explanation->texts.emplace_front(std::move(made)).c_str();
  });
  return text;
}

TESSERA_EXPORT const char *tessera_explanation_text(tessera_explanation *explanation) {
  return textOf(explanation,
                [](auto &e) { return tessera::explain::programText(e, /*all=*/false); });
}

TESSERA_EXPORT const char *tessera_explanation_html(tessera_explanation *explanation) {
  return textOf(explanation, [](auto &e) { return tessera::explain::pageText(e); });
}

TESSERA_EXPORT const char *tessera_explanation_memory(tessera_explanation *explanation) {
  return textOf(explanation, [](auto &e) {
    std::string text = tessera::explain::memoryText(e);
    adviseMembers(text);
    return text;
  });
}

TESSERA_EXPORT const char *tessera_explanation_value(tessera_explanation *explanation,
                                                     const char *name) {
  return textOf(explanation,
                [&](auto &e) { return tessera::explain::valueText(e, name ? name : ""); });
}

TESSERA_EXPORT const char *tessera_explanation_line(tessera_explanation *explanation,
                                                    const char *file, int64_t line) {
  return textOf(explanation,
                [&](auto &e) { return tessera::explain::lineText(e, file ? file : "", line); });
}

TESSERA_EXPORT int tessera_compile_command(int argc, const char *const *argv) {
  return tessera::compileCommand(argc, argv);
}

TESSERA_EXPORT int tessera_plan_command(int argc, const char *const *argv) {
  return tessera::planCommand(argc, argv);
}

TESSERA_EXPORT int tessera_explain_command(int argc, const char *const *argv) {
  return tessera::explainCommand(argc, argv);
}

TESSERA_EXPORT int tessera_calibrate_command(int argc, const char *const *argv,
                                             const tessera::command::Measuring &measuring) {
  return tessera::calibrateCommand(argc, argv, measuring);
}
