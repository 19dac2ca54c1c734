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
  bool isNumber = false;
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
    if (eat('['))
      return eat(']') || parseEntries(value, depth);
    if (!eat('{')) {
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
  if (!Parser(text).parseFile(root))
    return invalidArgument(
        "a topology is a JSON object of numbers, strings, lists and objects, such as "
        "{\"alpha\": 1e-6, \"beta\": 1e10}");
  links::Network network;
  if (Status s = readLink(root, {1e-6, 5e9}, network.link); !s.ok())
    return s;
  for (const auto &[name, object] : root.members["axes"].members)
    if (Status s = readLink(object, network.link, network.axes[name]); !s.ok())
      return invalidArgument("axis '" + name + "': " + s.message());
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
