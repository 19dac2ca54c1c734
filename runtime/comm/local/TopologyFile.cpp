#include "runtime/comm/local/TopologyFile.h"
#include "lib/files/InputFile.h"
#include "runtime/FileStatus.h"
#include <charconv>
#include <memory>

namespace tessera::runtime {

namespace {

// As much JSON as topology files use: objects, numbers, strings; members of other kinds are
// refused.
struct Value {
  double number = 0;
  bool isNumber = false;
  std::map<std::string, Value> members;
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
    if (text_[0] == '"') {
      std::string ignored;
      return parseString(ignored);
    }
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

  std::string_view text_;
};

// The link that an object describes; what it leaves out is as in `base`.
Status readLink(const Value &object, Link base, Link &link) {
  link = base;
  for (auto [name, field] : {std::pair("alpha", &link.alpha), {"beta", &link.beta}}) {
    auto it = object.members.find(name);
    if (it != object.members.end())
      *field = it->second.isNumber ? it->second.number : -1;
  }
  if (!(link.alpha >= 0 && link.alpha <= 10) || !(link.beta >= 1000))
    return invalidArgument("alpha (seconds) must be from 0 to 10, and beta (bytes per second) at "
                           "least 1000");
  return {};
}

} // namespace

Result<std::shared_ptr<const Links>> parseTopology(std::string_view text,
                                                   const LoadedProgram &program) {
  if (program.programs().size() > 1)
    return Status(Code::Unimplemented,
                  "a topology simulates the links of one mesh, and the file has " +
                      std::to_string(program.programs().size()) + " programs");
  Value root;
  if (!Parser(text).parseFile(root))
    return invalidArgument("a topology is a JSON object of numbers, strings and objects, such as "
                           "{\"alpha\": 1e-6, \"beta\": 1e10}");
  Link link;
  if (Status s = readLink(root, {1e-6, 5e9}, link); !s.ok())
    return s;
  std::map<std::string, Link> axes;
  for (const auto &[name, object] : root.members["axes"].members)
    if (Status s = readLink(object, link, axes[name]); !s.ok())
      return invalidArgument("axis '" + name + "': " + s.message());
  return std::make_shared<const Links>(link, axes, program.manifest().programs(0).mesh());
}

Result<std::shared_ptr<const Links>> readTopology(const std::string &path,
                                                  const LoadedProgram &program) {
  std::string wrong;
  auto text = files::readWhole(path, wrong);
  if (!text)
    return cannotRead(path, wrong);
  auto links = parseTopology(*text, program);
  if (!links.ok())
    return invalidArgument(path + ": " + links.status().message());
  return links;
}

} // namespace tessera::runtime
