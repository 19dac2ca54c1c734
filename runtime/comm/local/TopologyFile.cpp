#include "runtime/comm/local/TopologyFile.h"
#include "lib/files/InputFile.h"
#include "lib/machines/Machines.h"
#include "lib/text/JsonValue.h"
#include "runtime/FileStatus.h"

#include <cmath>
#include <memory>

namespace tessera::runtime {

namespace {

using Value = text::JsonValue;
using Kind = Value::Kind;

// Members, each between spaces. Most of a topology's are the compiler's (lib/cost/TopologyFields.h).
constexpr std::string_view kOfLinks = " alpha beta directions ";
constexpr std::string_view kOfLevels = " name devices alpha beta directions ";
constexpr std::string_view kOfTopologies =
    " name about alpha beta directions axes levels spaces computing_at_once flops flops_by_type "
    "memory kernels processors cache shared_cache others near vector tiles beside_tiles step "
    "short_step waking launch instruction sharing together meeting ";

// What is wrong with the value, and where it is.
Status wrongAt(const Value &value, const std::string &what) {
  return invalidArgument(value.place({}) + ": " + what);
}

// A misspelt member would leave a link as in the default.
Status refuseUnknown(const Value &object, std::string_view known) {
  if (object.kind != Kind::Object)
    return wrongAt(object, "must be an object");
  for (const auto &[name, member] : object.members)
    if (name.find(' ') != name.npos || known.find(" " + name + " ") == known.npos)
      return wrongAt(member, "no member '" + name + "' here");
  return {};
}

// Where the member is there, its number, which is to be from `least` to `most`.
Status readNumber(const Value &object, const std::string &name, double least, double most,
                  const char *what, double &into) {
  auto member = object.members.find(name);
  if (member == object.members.end())
    return {};
  into = member->second.number;
  if (member->second.kind == Kind::Number && into >= least && into <= most)
    return {};
  return wrongAt(member->second, "'" + name + "' must be " + what);
}

// A whole number.
Status readCount(const Value &object, const std::string &name, double least, double most,
                 const char *what, int64_t &into) {
  double number = static_cast<double>(into);
  if (Status s = readNumber(object, name, least, most, what, number); !s.ok())
    return s;
  if (number != std::floor(number))
    return wrongAt(object.members.at(name), "'" + name + "' must be " + what);
  into = static_cast<int64_t>(number);
  return {};
}

// The link that an object describes; what it leaves out is as in `base`.
Status readLink(const Value &object, Link base, Link &link) {
  link = base;
  if (Status s =
          readNumber(object, "alpha", 0, 10, "seconds from 0 to 10, to simulate it", link.alpha);
      !s.ok())
    return s;
  if (Status s = readNumber(object, "beta", 1000, 1e30,
                            "bytes per second from 1000 to 1e30, to simulate it", link.beta);
      !s.ok())
    return s;
  return readCount(object, "directions", 1, 2, "1 or 2", link.directions);
}

Status readLevel(const Value &object, Link base, links::Level &level) {
  if (Status s = refuseUnknown(object, kOfLevels); !s.ok())
    return s;
  if (auto name = object.members.find("name"); name != object.members.end()) {
    if (name->second.kind != Kind::String)
      return wrongAt(name->second, "'name' must be a string");
    level.name = name->second.string;
  }
  Status s =
      readCount(object, "devices", 0, 9e15, "a whole number from 0 (all) to 9e15", level.devices);
  return s.ok() ? readLink(object, base, level.link) : s;
}

// The member, which is of that kind; null where it is not there.
Result<const Value *> findMember(const Value &root, const std::string &name, Kind kind,
                                 const char *what) {
  auto member = root.members.find(name);
  if (member == root.members.end())
    return nullptr;
  if (member->second.kind != kind)
    return wrongAt(member->second, "'" + name + "' must be " + what);
  return &member->second;
}

Status readNetwork(const Value &root, links::Network &network) {
  if (root.kind != Kind::Object)
    return wrongAt(root, "a topology is a JSON object, such as {\"alpha\": 1e-6, \"beta\": 1e10}");
  if (Status s = refuseUnknown(root, kOfTopologies); !s.ok())
    return s;
  if (Status s = readLink(root, {1e-6, 5e9}, network.link); !s.ok())
    return s;
  auto axes = findMember(root, "axes", Kind::Object, "an object of objects");
  if (!axes.ok())
    return axes.status();
  auto levels = findMember(root, "levels", Kind::List, "a list");
  if (!levels.ok())
    return levels.status();
  if (*axes)
    for (const auto &[name, object] : (*axes)->members) {
      Status s = refuseUnknown(object, kOfLinks);
      if (s.ok())
        s = readLink(object, network.link, network.axes[name]);
      if (!s.ok())
        return s;
    }
  if (*levels)
    for (const Value &object : (*levels)->entries)
      if (Status s = readLevel(object, network.link, network.levels.emplace_back()); !s.ok())
        return s;
  std::string wrong = links::wrongOf(network);
  return wrong.empty() ? Status() : invalidArgument(root.place({"levels"}) + ": " + wrong);
}

} // namespace

Result<std::shared_ptr<const Links>> parseTopology(std::string_view nameOrText,
                                                   const LoadedProgram &program) {
  if (program.programs().size() > 1)
    return Status(Code::Unimplemented,
                  "a topology simulates the links of one mesh, and the file has " +
                      std::to_string(program.programs().size()) + " programs");
  Value root;
  if (std::string wrong =
          text::parseJson(machines::topologyText(nameOrText), machines::kMostNested, root);
      !wrong.empty())
    return invalidArgument(wrong);
  links::Network network;
  if (Status s = readNetwork(root, network); !s.ok())
    return s;
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
    return Status(links.status().code(),
                  path + (links.status().code() == Code::InvalidArgument ? ":" : ": ") +
                      links.status().message());
  return links;
}

} // namespace tessera::runtime
