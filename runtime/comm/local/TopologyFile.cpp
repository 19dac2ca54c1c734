#include "runtime/comm/local/TopologyFile.h"
#include "lib/files/InputFile.h"
#include "lib/machines/Machines.h"
#include "runtime/FileStatus.h"
#include <charconv>
#include <memory>

namespace tessera::runtime {

namespace {

// As much JSON as topology files use: objects, lists, numbers, strings; other kinds are refused.
struct Value {
  double number = 0;
  bool isNumber = false, isObject = false, isList = false;
  std::string text;
  std::map<std::string, Value> members;
  std::vector<Value> entries;
};

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  bool parseFile(Value &value) { return parse(value, 0) && (skipSpace(), text_.empty()); }

private:
  void skipSpace() {
    size_t n = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(n == text_.npos ? text_.size() : n);
  }
  bool eat(char c) {
    skipSpace();
    if (text_.empty() || text_[0] != c)
      return false;
    text_.remove_prefix(1);
    return true;
  }
  bool parseString(std::string &out) {
    if (!eat('"'))
      return false;
    size_t end = text_.find('"');
    if (end == text_.npos)
      return false;
    out = text_.substr(0, end);
    text_.remove_prefix(end + 1);
    return true;
  }
  bool parse(Value &value, int depth) {
    skipSpace();
    if (text_.empty() || depth > 8)
      return false;
    if (text_[0] == '"')
      return parseString(value.text);
    value.isList = eat('[');
    if (value.isList)
      return eat(']') || parseEntries(value, depth);
    value.isObject = eat('{');
    if (!value.isObject) {
      auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value.number);
      value.isNumber = error == std::errc();
      text_.remove_prefix(end - text_.data());
      return value.isNumber;
    }
    if (eat('}'))
      return true;
    do {
      std::string key;
      if (!parseString(key) || !eat(':') || !parse(value.members[key], depth + 1))
        return false;
    } while (eat(','));
    return eat('}');
  }

  bool parseEntries(Value &value, int depth) {
    do {
      if (!parse(value.entries.emplace_back(), depth + 1))
        return false;
    } while (eat(','));
    return eat(']');
  }

  std::string_view text_;
};

// Where the member is there, its number; -1 where it is something else.
void readNumber(const Value &object, const char *name, double &into) {
  auto member = object.members.find(name);
  if (member != object.members.end())
    into = member->second.isNumber ? member->second.number : -1;
}

// Members, each between spaces. Most of a topology's are the compiler's (lib/cost/TopologyFields.h).
constexpr std::string_view kOfLinks = " alpha beta directions ";
constexpr std::string_view kOfLevels = " name devices alpha beta directions ";
constexpr std::string_view kOfTopologies =
    " name about alpha beta directions axes levels spaces computing_at_once flops flops_by_type "
    "memory kernels processors cache shared_cache others near vector tiles beside_tiles step "
    "short_step waking launch instruction sharing together meeting ";

// A misspelt member would leave a link as in the default.
Status refuseUnknown(const Value &object, std::string_view known) {
  if (!object.isObject)
    return invalidArgument("must be an object");
  for (const auto &[name, member] : object.members)
    if (name.find(' ') != name.npos || known.find(" " + name + " ") == known.npos)
      return invalidArgument("no member '" + name + "' here");
  return {};
}

// The link that an object describes; what it leaves out is as in `base`.
Status readLink(const Value &object, Link base, Link &link) {
  link = base;
  readNumber(object, "alpha", link.alpha);
  readNumber(object, "beta", link.beta);
  double directions = static_cast<double>(link.directions);
  readNumber(object, "directions", directions);
  if (!(link.alpha >= 0 && link.alpha <= 10) || !(link.beta >= 1000))
    return invalidArgument("alpha (seconds) must be from 0 to 10, and beta (bytes per second) at "
                           "least 1000");
  link.directions = directions == 1 || directions == 2 ? static_cast<int64_t>(directions) : 0;
  return {};
}

Status readLevel(const Value &object, Link base, links::Level &level) {
  if (auto name = object.members.find("name"); name != object.members.end())
    level.name = name->second.text;
  double devices = 0;
  readNumber(object, "devices", devices);
  if (!(devices >= 0 && devices <= 1e9))
    return invalidArgument("devices must be from 0 (all) to 1e9");
  level.devices = static_cast<int64_t>(devices);
  if (Status s = refuseUnknown(object, kOfLevels); !s.ok())
    return s;
  return readLink(object, base, level.link);
}

} // namespace

Result<std::shared_ptr<const Links>> parseTopology(std::string_view nameOrText,
                                                   const LoadedProgram &program) {
  std::string_view text = machines::topologyText(nameOrText);
  if (program.programs().size() > 1)
    return Status(Code::Unimplemented,
                  "a topology simulates the links of one mesh, and the file has " +
                      std::to_string(program.programs().size()) + " programs");
  Value root;
  if (!Parser(text).parseFile(root) || !root.isObject)
    return invalidArgument(
        "a topology is a JSON object of numbers, strings, lists and objects, such as "
        "{\"alpha\": 1e-6, \"beta\": 1e10}");
  links::Network network;
  if (Status s = readLink(root, {1e-6, 5e9}, network.link); !s.ok())
    return s;
  if (Status s = refuseUnknown(root, kOfTopologies); !s.ok())
    return s;
  if (auto axes = root.members.find("axes"); axes != root.members.end() && !axes->second.isObject)
    return invalidArgument("'axes' must be an object of objects");
  if (auto all = root.members.find("levels"); all != root.members.end() && !all->second.isList)
    return invalidArgument("'levels' must be a list");
  for (const auto &[name, object] : root.members["axes"].members) {
    Status s = refuseUnknown(object, kOfLinks);
    if (s.ok())
      s = readLink(object, network.link, network.axes[name]);
    if (!s.ok())
      return invalidArgument("axis '" + name + "': " + s.message());
  }
  for (const Value &object : root.members["levels"].entries)
    if (Status s = readLevel(object, network.link, network.levels.emplace_back()); !s.ok())
      return invalidArgument("level '" + network.levels.back().name + "': " + s.message());
  if (std::string wrong = links::wrongOf(network); !wrong.empty())
    return invalidArgument(wrong);
  return std::make_shared<const Links>(network, program.manifest().programs(0).mesh());
}

Result<std::shared_ptr<const Links>> readTopology(const std::string &path,
                                                  const LoadedProgram &program) {
  if (machines::isName(path))
    return parseTopology(path, program);
  std::string wrong;
  auto text = files::readWhole(path, wrong);
  if (!text)
    return cannotRead(path, wrong + machines::orMachine(path));
  auto links = parseTopology(*text, program);
  if (!links.ok())
    return invalidArgument(path + ": " + links.status().message());
  return links;
}

} // namespace tessera::runtime
