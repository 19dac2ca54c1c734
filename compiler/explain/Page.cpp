// An explanation as a page: the template page.html with the explanation as JSON in it.
#include "compiler/explain/Explanation.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace tessera::explain {

static const char kPage[] =
#include "compiler/explain/page.html.inc"
    ;

// Names and places are bytes of the source; JSON takes UTF-8 only.
static std::string utf8(const std::string &text) { return llvm::json::fixUTF8(text); }

static llvm::json::Array strings(llvm::ArrayRef<std::string> list) {
  llvm::json::Array array;
  for (const std::string &each : list)
    array.push_back(utf8(each));
  return array;
}

static llvm::json::Value toJson(const Explanation &explanation) {
  llvm::json::Array values, collectives;
  for (const Value &value : explanation.values) {
    llvm::json::Array frames, operands(value.operands);
    for (const Frame &frame : value.frames)
      frames.push_back(llvm::json::Array{utf8(frame.function), utf8(frame.file), frame.line});
    values.push_back(llvm::json::Object{{"name", utf8(value.name)},
                                        {"op", utf8(value.op)},
                                        {"type", utf8(value.type)},
                                        {"sharding", utf8(value.sharding)},
                                        {"scope", utf8(value.scope)},
                                        {"frames", std::move(frames)},
                                        {"origins", strings(value.origins)},
                                        {"conflicts", strings(value.conflicts)},
                                        {"operands", std::move(operands)}});
  }
  for (const Collective &each : explanation.collectives)
    collectives.push_back(llvm::json::Object{
        {"kind", utf8(each.kind)},
        {"axes", utf8(each.axes)},
        {"count", each.trips ? llvm::json::Value(each.count) : llvm::json::Value(nullptr)},
        {"bytes", each.bytes},
        {"wire", each.wireBytes},
        {"seconds", each.seconds},
        {"location", utf8(each.location)},
        {"value", each.value},
        {"cause", utf8(each.cause)},
        {"remedies", strings(each.remedies)}});
  return llvm::json::Object{{"name", utf8(explanation.name)},
                            {"mesh", utf8(explanation.mesh)},
                            {"topology", utf8(explanation.topology)},
                            {"devices", explanation.devices},
                            {"values", std::move(values)},
                            {"collectives", std::move(collectives)}};
}

std::string pageText(const Explanation &explanation) {
  // In a page, "</script>" would end the data: in JSON, < stands in strings only.
  std::string data = llvm::formatv("{0}", toJson(explanation)).str(), safe;
  for (char c : data)
    safe += c == '<' ? std::string("\\u003c") : std::string(1, c);
  std::string page = kPage;
  constexpr llvm::StringLiteral mark = "@EXPLANATION@";
  return page.replace(page.find(mark), mark.size(), safe);
}

} // namespace tessera::explain
