#include "runtime/array/SafetensorsHeader.h"
#include <algorithm>
#include <charconv>

namespace tessera::runtime {

namespace {

void appendUtf8(std::string &text, uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  static constexpr unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(leads[more] | code >> (6 * more));
  while (more-- > 0)
    text += static_cast<char>(0x80 | (code >> (6 * more) & 0x3f));
}

class Parser {
public:
  explicit Parser(std::string_view text) : text_(text) { skipBlanks(); }

  std::optional<std::vector<SafetensorsEntry>> parse() {
    std::vector<SafetensorsEntry> entries;
    bool ok = parseMembers([&](const std::string &name) {
      if (name == "__metadata__")
        return parseMembers([&](const std::string &) { return parseString().has_value(); });
      auto entry = parseEntry();
      if (!entry)
        return false;
      entry->name = name;
      entries.push_back(std::move(*entry));
      return true;
    });
    return ok && text_.empty() ? std::optional(std::move(entries)) : std::nullopt;
  }

private:
  void skipBlanks() {
    text_.remove_prefix(std::min(text_.size(), text_.find_first_not_of(" \t\r\n")));
  }

  // A token, and the blanks after it.
  bool eat(char token) {
    if (!text_.starts_with(token))
      return false;
    text_.remove_prefix(1);
    skipBlanks();
    return true;
  }

  // {"name": .., ..}, of whose values `each` takes one after the other.
  template <class F> bool parseMembers(F each) {
    if (!eat('{'))
      return false;
    if (eat('}'))
      return true;
    do {
      auto name = parseString();
      if (!name || !eat(':') || !each(*name))
        return false;
    } while (eat(','));
    return eat('}');
  }

  std::optional<SafetensorsEntry> parseEntry() {
    SafetensorsEntry entry;
    unsigned seen = 0;
    bool ok = parseMembers([&](const std::string &name) {
      unsigned which = name == "dtype" ? 1 : name == "shape" ? 2 : name == "data_offsets" ? 4 : 0;
      if (!which || (seen & which))
        return false;
      seen |= which;
      if (which == 1) {
        auto dtype = parseString();
        entry.dtype = dtype.value_or("");
        return dtype.has_value();
      }
      auto numbers = parseNumbers();
      if (!numbers || (which == 4 && numbers->size() != 2))
        return false;
      if (which == 2) {
        entry.shape = std::move(*numbers);
      } else {
        entry.begin = static_cast<uint64_t>((*numbers)[0]);
        entry.end = static_cast<uint64_t>((*numbers)[1]);
      }
      return true;
    });
    return ok && seen == 7 ? std::optional(std::move(entry)) : std::nullopt;
  }

  // [3, 5]: whole numbers from 0 on.
  std::optional<std::vector<int64_t>> parseNumbers() {
    std::vector<int64_t> numbers;
    if (!eat('['))
      return std::nullopt;
    if (eat(']'))
      return numbers;
    do {
      int64_t n = -1;
      auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), n);
      auto length = static_cast<size_t>(end - text_.data());
      if (error != std::errc() || n < 0 || (text_[0] == '0' && length > 1))
        return std::nullopt;
      numbers.push_back(n);
      text_.remove_prefix(length);
      skipBlanks();
    } while (eat(','));
    return eat(']') ? std::optional(std::move(numbers)) : std::nullopt;
  }

  std::optional<uint32_t> parseHex() {
    uint32_t code = 0;
    if (text_.size() < 4)
      return std::nullopt;
    auto [end, error] = std::from_chars(text_.data(), text_.data() + 4, code, 16);
    if (error != std::errc() || end != text_.data() + 4)
      return std::nullopt;
    text_.remove_prefix(4);
    return code;
  }

  // What follows a backslash.
  bool parseEscape(std::string &string) {
    static constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
    char kind = text_.empty() ? '\0' : text_[0];
    text_.remove_prefix(!text_.empty());
    if (size_t at = from.find(kind); at != from.npos && kind) {
      string += to[at];
      return true;
    }
    auto code = kind == 'u' ? parseHex() : std::nullopt;
    if (!code || (*code >= 0xdc00 && *code < 0xe000))
      return false;
    if (*code >= 0xd800 && *code < 0xdc00) { // the first of a pair
      if (!text_.starts_with("\\u"))
        return false;
      text_.remove_prefix(2);
      auto second = parseHex();
      if (!second || *second < 0xdc00 || *second >= 0xe000)
        return false;
      *code = 0x10000 + ((*code - 0xd800) << 10) + (*second - 0xdc00);
    }
    appendUtf8(string, *code);
    return true;
  }

  std::optional<std::string> parseString() {
    if (!text_.starts_with('"'))
      return std::nullopt;
    text_.remove_prefix(1);
    std::string string;
    while (!text_.empty() && text_[0] != '"') {
      char c = text_[0];
      if (static_cast<unsigned char>(c) < 0x20)
        return std::nullopt;
      text_.remove_prefix(1);
      if (c != '\\')
        string += c;
      else if (!parseEscape(string))
        return std::nullopt;
    }
    return eat('"') ? std::optional(std::move(string)) : std::nullopt;
  }

  std::string_view text_;
};

} // namespace

std::optional<std::vector<SafetensorsEntry>> parseSafetensorsHeader(std::string_view text) {
  return Parser(text).parse();
}

} // namespace tessera::runtime
