// An explanation as a page: the template page.html with the explanation as JSON in it.
#include "compiler/explanation/Explanation.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

#include <map>

namespace tessera::explain {

static const char kPage[] =
#include "compiler/explanation/page.html.inc"
    ;

namespace {

// The page's data: texts stand once each, and everything else names them by number, since thousands of
// ops share types, shardings, scopes and call stacks. page.html has the way back.
//   texts   ["dot_general", ..]
//   frames  [[function, file, line], ..]   stacks  [[frame, ..], ..]
//   values  [[name, op, type, sharding, scope, stack, origins, conflicts, [operand, ..]], ..]
//   origins, conflicts  [[part, ..], ..]: parts with ", " between them
std::string withoutDirectories(llvm::StringRef text) {
  size_t place = text.find(" at ");
  if (place == llvm::StringRef::npos)
    return text.str();
  llvm::StringRef path = text.drop_front(place + 4);
  size_t directories = path.rfind('/');
  return directories == llvm::StringRef::npos
             ? text.str()
             : (text.take_front(place + 4) + path.drop_front(directories + 1)).str();
}

class Tables {
public:
  int64_t text(llvm::StringRef text) {
    auto [at, fresh] = texts.try_emplace(text, int64_t(list.size()));
    if (fresh) // names and places are bytes of the source; JSON takes UTF-8 only
      list.push_back(llvm::json::fixUTF8(text));
    return at->second;
  }

  // Reasons name the same ops again and again: by their parts, and without directories, which the
  // frames of the ops have.
  llvm::json::Array reasons(llvm::ArrayRef<std::string> many) {
    llvm::json::Array array;
    for (llvm::StringRef rest : many) {
      llvm::json::Array parts;
      while (!rest.empty()) {
        auto [part, more] = rest.split(", ");
        parts.push_back(text(withoutDirectories(part)));
        rest = more;
      }
      array.push_back(std::move(parts));
    }
    return array;
  }

  int64_t stack(llvm::ArrayRef<Frame> many) {
    std::vector<int64_t> key;
    for (const Frame &each : many) {
      auto [at, fresh] = frames.try_emplace({text(each.function), text(each.file), each.line},
                                            int64_t(frames.size()));
      if (fresh)
        frameList.push_back(llvm::json::Array{text(each.function), text(each.file), each.line});
      key.push_back(at->second);
    }
    auto [at, fresh] = stacks.try_emplace(key, int64_t(stacks.size()));
    if (fresh)
      stackList.push_back(llvm::json::Array(key));
    return at->second;
  }

  llvm::json::Array list, frameList, stackList;

private:
  llvm::StringMap<int64_t> texts;
  std::map<std::tuple<int64_t, int64_t, int64_t>, int64_t> frames;
  std::map<std::vector<int64_t>, int64_t> stacks;
};

} // namespace

static llvm::json::Object memoryJson(const Memory &memory, Tables &tables) {
  llvm::json::Array over, at, frontier;
  for (const Held &each : memory.overStep)
    over.push_back(llvm::json::Array{each.bytes, tables.text(each.place)});
  for (const AtPeak &each : memory.atPeak)
    at.push_back(llvm::json::Array{each.bytes, tables.text(each.name), tables.text(each.place)});
  for (const LessMemory &point : memory.frontier)
    frontier.push_back(llvm::json::Array{point.bytes, point.seconds, point.computedAgain});
  return llvm::json::Object{{"arguments", memory.arguments},
                            {"host", memory.hostArguments + memory.hostOutputs + memory.hostArena},
                            {"frontier", std::move(frontier)},
                            {"outputs", memory.outputs},
                            {"arena", memory.arena},
                            {"over", std::move(over)},
                            {"peak", std::move(at)}};
}

static llvm::json::Array groupsJson(const Explanation &explanation, Tables &tables) {
  llvm::json::Array groups;
  for (const Group &each : explanation.groups) {
    llvm::json::Array mends;
    for (const Mend &mend : each.mends)
      mends.push_back(llvm::json::Object{{"text", tables.text(mend.text)},
                                         {"seconds", mend.seconds},
                                         {"wire", mend.wireBytes},
                                         {"bytes", mend.bytes}});
    groups.push_back(llvm::json::Object{{"what", tables.text(each.what)},
                                        {"place", tables.text(each.place)},
                                        {"scope", tables.text(each.scope)},
                                        {"cause", tables.text(each.cause)},
                                        {"seconds", each.seconds},
                                        {"wire", each.wireBytes},
                                        {"collectives", llvm::json::Array(each.collectives)},
                                        {"value", each.value},
                                        {"mends", std::move(mends)}});
  }
  return groups;
}

static llvm::json::Array decisionsOf(const Explanation &explanation) {
  llvm::json::Array decisions;
  for (const Decision &each : explanation.decisions)
    decisions.push_back(llvm::json::Array{llvm::json::fixUTF8(each.what),
                                          llvm::json::fixUTF8(each.spec),
                                          llvm::json::fixUTF8(otherwiseText(each))});
  return decisions;
}

static llvm::json::Value toJson(const Explanation &explanation) {
  Tables tables;
  llvm::json::Array values, collectives;
  for (const Value &value : explanation.values)
    values.push_back(
        llvm::json::Array{tables.text(value.name), tables.text(value.op), tables.text(value.type),
                          tables.text(value.sharding), tables.text(value.scope),
                          tables.stack(value.frames), tables.reasons(value.origins),
                          tables.reasons(value.conflicts), llvm::json::Array(value.operands)});
  for (const Collective &each : explanation.collectives)
    collectives.push_back(llvm::json::Object{
        {"kind", each.kind},
        {"axes", llvm::json::fixUTF8(each.axes)},
        {"count", each.trips ? llvm::json::Value(each.count) : llvm::json::Value(nullptr)},
        {"bytes", each.bytes},
        {"wire", each.wireBytes},
        {"seconds", each.seconds},
        {"location", tables.text(each.location)},
        {"value", each.value},
        {"cause", tables.text(each.cause)}});
  llvm::json::Array groups = groupsJson(explanation, tables);
  llvm::json::Object memory = memoryJson(explanation.memory, tables);
  return llvm::json::Object{{"name", llvm::json::fixUTF8(explanation.name)},
                            {"mesh", llvm::json::fixUTF8(explanation.mesh)},
                            {"topology", llvm::json::fixUTF8(explanation.topology)},
                            {"devices", explanation.devices},
                            {"seconds", explanation.seconds},
                            {"compute", explanation.compute},
                            {"exposed", explanation.exposed},
                            {"values", std::move(values)},
                            {"collectives", std::move(collectives)},
                            {"groups", std::move(groups)},
                            {"memory", std::move(memory)},
                            {"decisions", decisionsOf(explanation)},
                            {"texts", std::move(tables.list)},
                            {"frames", std::move(tables.frameList)},
                            {"stacks", std::move(tables.stackList)}};
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
