#include "runtime/array/NpyHeader.h"
#include <algorithm>
#include <charconv>

namespace tessera::runtime {

namespace {

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) {}

  std::optional<NpyHeader> parse() {
    std::optional<std::string> descr;
    std::optional<bool> columnMajor;
    std::optional<std::vector<int64_t>> shape;
    if (!eat("{"))
      return std::nullopt;
    while (!eat("}")) {
      auto key = parseString();
      bool ok = key && eat(":");
      if (ok && key == "descr" && !descr)
        ok = (descr = parseString()).has_value();
      else if (ok && key == "fortran_order" && !columnMajor)
        ok = (columnMajor = parseTruth()).has_value();
      else if (ok && key == "shape" && !shape)
        ok = (shape = parseTuple()).has_value();
      else
        ok = false;
      if (!ok || !(eat(",") || text_.starts_with("}")))
        return std::nullopt;
    }
    bool atEnd = text_.find_first_not_of(" \n") == text_.npos;
    if (!atEnd || !descr || !columnMajor || !shape)
      return std::nullopt;
    return NpyHeader{*descr, *columnMajor, *shape};
  }

private:
  // A token, and the blanks after it.
  bool eat(std::string_view token) {
    if (!text_.starts_with(token))
      return false;
    text_.remove_prefix(token.size());
    text_.remove_prefix(std::min(text_.size(), text_.find_first_not_of(' ')));
    return true;
  }

  std::optional<std::string> parseString() {
    size_t end = text_.empty() || (text_[0] != '\'' && text_[0] != '"') ? text_.npos
                                                                        : text_.find(text_[0], 1);
    if (end == text_.npos)
      return std::nullopt;
    std::string string(text_.substr(1, end - 1));
    eat(text_.substr(0, end + 1));
    return string;
  }

  std::optional<bool> parseTruth() {
    if (eat("True"))
      return true;
    return eat("False") ? std::optional(false) : std::nullopt;
  }

  // (), (3,), (3, 5)
  std::optional<std::vector<int64_t>> parseTuple() {
    std::vector<int64_t> tuple;
    if (!eat("("))
      return std::nullopt;
    bool comma = true;
    while (!eat(")")) {
      int64_t n = 0;
      auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
      bool isNumber = error == std::errc() && (text_[0] != '0' || end == text_.data() + 1);
      if (!comma || !isNumber)
        return std::nullopt;
      tuple.push_back(n);
      eat(text_.substr(0, end - text_.data()));
      comma = eat(",");
    }
    if (tuple.size() == 1 && !comma) // a number in parentheses
      return std::nullopt;
    return tuple;
  }

  std::string_view text_;
};

} // namespace

std::optional<NpyHeader> parseNpyHeader(std::string_view text) { return Parser(text).parse(); }

} // namespace tessera::runtime
