// JSON as plain data, in which each value knows where it stands.
//
//   JsonValue topology;
//   if (std::string wrong = parseJson(text, /*deepest=*/8, topology); !wrong.empty())
//     return wrong;                      // "1:16: a member's name in quotation marks is expected"
//   topology.place({"axes", "data"});    // "1:32", where the value of that member begins
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

struct JsonValue {
  enum class Kind { Null, Boolean, Number, String, List, Object };

  // The line and column of the value that the keys and numbers of entries lead to, or of the last
  // that is there.
  std::string place(const std::vector<std::string> &path) const;

  Kind kind = Kind::Null;
  bool boolean = false;
  double number = 0;
  std::string string;
  std::vector<JsonValue> entries;
  std::map<std::string, JsonValue> members;
  size_t line = 1, column = 1; // column counts bytes
};

// RFC 8259, but that a member may not be there twice, and that lists and objects are nested
// `deepest` deep at most. What is wrong, which begins with its line and column; else empty.
std::string parseJson(std::string_view text, int deepest, JsonValue &value);

} // namespace tessera::text
