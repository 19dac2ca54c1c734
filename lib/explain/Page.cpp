// An explanation as a page: the template page.html with the explanation as JSON in it.
#include "lib/explain/Explanation.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

namespace tessera::explain {

static const char kPage[] =
#include "lib/explain/page.html.inc"
    ;

static llvm::json::Array strings(llvm::ArrayRef<std::string> list) {
  llvm::json::Array array;
  for (const std::string &each : list)
    array.push_back(each);
  return array;
}

static llvm::json::Value toJson(const Explanation &explanation) {
  llvm::json::Array values, collectives;
  for (const Value &value : explanation.values) {
    llvm::json::Array frames, operands(value.operands);
    for (const Frame &frame : value.frames)
      frames.push_back(llvm::json::Array{frame.function, frame.file, frame.line});
    values.push_back(llvm::json::Object{{"name", value.name},
                                        {"op", value.op},
                                        {"type", value.type},
                                        {"sharding", value.sharding},
                                        {"scope", value.scope},
                                        {"frames", std::move(frames)},
                                        {"origins", strings(value.origins)},
                                        {"conflicts", strings(value.conflicts)},
                                        {"operands", std::move(operands)}});
  }
  for (const Collective &each : explanation.collectives)
    collectives.push_back(llvm::json::Object{
        {"kind", each.kind},
        {"axes", each.axes},
        {"count", each.trips ? llvm::json::Value(each.count) : llvm::json::Value(nullptr)},
        {"bytes", each.bytes},
        {"wire", each.wireBytes},
        {"seconds", each.seconds},
        {"location", each.location},
        {"value", each.value},
        {"cause", each.cause},
        {"remedies", strings(each.remedies)}});
  return llvm::json::Object{
      {"name", explanation.name},         {"mesh", explanation.mesh},
      {"topology", explanation.topology}, {"devices", explanation.devices},
      {"values", std::move(values)},      {"collectives", std::move(collectives)}};
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
