#include "lib/cost/TopologyText.h"

#include "lib/cost/TopologyFields.h"
#include "lib/text/Json.h"

#include <charconv>
#include <iterator>

namespace tessera::cost {
namespace {

class Writer {
public:
  explicit Writer(int depth = 0) : indent(2 * (depth + 1), ' ') {}

  void text(const char *name, std::string &value) { member(name, tessera::text::quoted(value)); }
  void number(const char *name, double &value, Least) { member(name, shortest(value)); }
  void count(const char *name, int64_t &value, Least, int64_t = 0) {
    member(name, std::to_string(value));
  }

  template <class Map> void numbers(const char *name, Map &values, Least) {
    Writer inner(depth() + 1);
    for (auto &[key, value] : values)
      inner.member(key, shortest(value));
    member(name, inner.object());
  }
  template <class Map, class T, class F>
  void map(const char *name, Map &values, const T &, F each) {
    Writer inner(depth() + 1);
    for (auto &[key, value] : values) {
      Writer entry(depth() + 2);
      each(value, entry);
      inner.member(key, entry.object());
    }
    member(name, inner.object());
  }
  template <class List, class T, class F>
  void list(const char *name, List &values, const T &, F each) {
    std::string all;
    for (auto &value : values) {
      Writer entry(depth() + 1);
      each(value, entry);
      all += (all.empty() ? "" : ", ") + entry.object();
    }
    member(name, "[" + all + "]");
  }

  std::string object() const {
    return members.empty() ? "{}" : "{\n" + members + "\n" + indent.substr(2) + "}";
  }

private:
  int depth() const { return static_cast<int>(indent.size() / 2) - 1; }
  void member(const std::string &name, const std::string &value) {
    members += (members.empty() ? "" : ",\n") + indent + tessera::text::quoted(name) + ": " + value;
  }
  static std::string shortest(double value) {
    char digits[32];
    return {digits, std::to_chars(digits, std::end(digits), value).ptr};
  }

  std::string indent, members;
};

} // namespace

std::string topologyText(const Topology &topology) {
  Topology copy = topology;
  Writer writer;
  visitFields(copy, writer);
  return writer.object() + "\n";
}

} // namespace tessera::cost
