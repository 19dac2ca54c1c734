#include "lib/text/JsonValue.h"

#include <charconv>
#include <cstdint>

namespace tessera::text {
namespace {

// Bytes of the UTF-8 sequence that `text` begins with; 0 where it is none.
size_t sequenceLength(std::string_view text) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  size_t length = byte(0) < 0x80 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (length == 1)
    return 1;
  if (text.size() < length || byte(0) < 0xc2 || byte(0) > 0xf4)
    return 0;
  for (size_t i = 1; i < length; ++i)
    if (byte(i) >> 6 != 2)
      return 0;
  bool isOverlong = (byte(0) == 0xe0 && byte(1) < 0xa0) || (byte(0) == 0xf0 && byte(1) < 0x90);
  bool isNone = (byte(0) == 0xed && byte(1) > 0x9f) || (byte(0) == 0xf4 && byte(1) > 0x8f);
  return isOverlong || isNone ? 0 : length;
}

void appendUtf8(std::string &out, uint32_t point) {
  auto add = [&](uint32_t byte) { out += static_cast<char>(byte); };
  if (point < 0x80)
    return add(point);
  if (point >= 0x10000) {
    add(0xf0 | point >> 18);
    add(0x80 | (point >> 12 & 63));
  } else if (point >= 0x800) {
    add(0xe0 | point >> 12);
  }
  add(point >= 0x800 ? 0x80 | (point >> 6 & 63) : 0xc0 | point >> 6);
  add(0x80 | (point & 63));
}

class Parser {
public:
  Parser(std::string_view text, int deepest) : text(text), deepest(deepest) {}

  std::string parseAll(JsonValue &value) {
    if (parse(value, 0)) {
      skipSpace();
      if (at != text.size())
        refuse("nothing more is expected");
    }
    return wrong;
  }

private:
  // The first thing that is wrong is said, with the place where reading has come to.
  bool refuse(const std::string &what) {
    if (wrong.empty())
      wrong = std::to_string(line) + ":" + std::to_string(at - lineBegin + 1) + ": " + what;
    return false;
  }

  void skipSpace() {
    for (; at < text.size() && std::string_view(" \t\r\n").find(text[at]) != text.npos; ++at)
      if (text[at] == '\n') {
        ++line;
        lineBegin = at + 1;
      }
  }
  bool sees(char c) const { return at < text.size() && text[at] == c; }
  bool eat(char c) {
    bool is = sees(c);
    at += is;
    return is;
  }
  bool eatWord(std::string_view word) {
    bool is = text.substr(at, word.size()) == word;
    at += is ? word.size() : 0;
    return is;
  }
  bool eatDigits() {
    size_t begin = at;
    while (at < text.size() && text[at] >= '0' && text[at] <= '9')
      ++at;
    return at != begin;
  }

  bool parse(JsonValue &value, int depth) {
    skipSpace();
    value.line = line;
    value.column = at - lineBegin + 1;
    using Kind = JsonValue::Kind;
    if (sees('{') || sees('[')) {
      value.kind = sees('{') ? Kind::Object : Kind::List;
      if (depth == deepest)
        return refuse("nested more than " + std::to_string(deepest) + " deep");
      return sees('{') ? parseObject(value, depth) : parseList(value, depth);
    }
    if (sees('"')) {
      value.kind = Kind::String;
      return parseString(value.string);
    }
    if (eatWord("null"))
      return true;
    value.kind = Kind::Boolean;
    if ((value.boolean = eatWord("true")) || eatWord("false"))
      return true;
    value.kind = Kind::Number;
    return parseNumber(value.number);
  }

  bool parseObject(JsonValue &value, int depth) {
    eat('{');
    skipSpace();
    if (eat('}'))
      return true;
    do {
      skipSpace();
      if (!sees('"'))
        return refuse("a member's name in quotation marks is expected");
      size_t begin = at;
      std::string name;
      if (!parseString(name))
        return false;
      auto [member, isNew] = value.members.try_emplace(name);
      if (!isNew) {
        at = begin;
        return refuse("'" + name + "' is there twice");
      }
      skipSpace();
      if (!eat(':'))
        return refuse("':' is expected");
      if (!parse(member->second, depth + 1))
        return false;
      skipSpace();
    } while (eat(','));
    return eat('}') || refuse("',' or '}' is expected");
  }

  bool parseList(JsonValue &value, int depth) {
    eat('[');
    skipSpace();
    if (eat(']'))
      return true;
    do {
      if (!parse(value.entries.emplace_back(), depth + 1))
        return false;
      skipSpace();
    } while (eat(','));
    return eat(']') || refuse("',' or ']' is expected");
  }

  bool parseNumber(double &number) {
    size_t begin = at;
    eat('-');
    bool isNumber = eat('0') || eatDigits();
    if (isNumber && eat('.'))
      isNumber = eatDigits();
    if (isNumber && (eat('e') || eat('E'))) {
      eat('+') || eat('-');
      isNumber = eatDigits();
    }
    const char *end = text.data() + at;
    if (isNumber && std::from_chars(text.data() + begin, end, number).ec == std::errc())
      return true;
    at = begin;
    return refuse(isNumber ? "a number that is too large or too small for f64"
                           : "a value is expected: a number, a string, a list or an object");
  }

  bool parseString(std::string &out) {
    eat('"');
    while (!eat('"')) {
      if (at == text.size())
        return refuse("a string has no end");
      if (eat('\\')) {
        if (!parseEscape(out))
          return false;
        continue;
      }
      if (static_cast<unsigned char>(text[at]) < 32)
        return refuse("a control character in a string: write it as \\u00XX");
      size_t length = sequenceLength(text.substr(at));
      if (!length)
        return refuse("bytes that are no UTF-8");
      out += text.substr(at, length);
      at += length;
    }
    return true;
  }

  bool parseEscape(std::string &out) {
    constexpr std::string_view kWritten = "\"\\/bfnrt", kMeant = "\"\\/\b\f\n\r\t";
    if (at < text.size())
      if (size_t i = kWritten.find(text[at]); i != kWritten.npos) {
        ++at;
        out += kMeant[i];
        return true;
      }
    uint32_t point = 0, low = 0;
    bool isPoint = eat('u') && parseHex(point);
    if (isPoint && point >= 0xd800 && point < 0xdc00) { // the first half of a pair
      isPoint = eatWord("\\u") && parseHex(low) && low >= 0xdc00 && low < 0xe000;
      point = 0x10000 + ((point - 0xd800) << 10) + (low - 0xdc00);
    } else if (point >= 0xdc00 && point < 0xe000) {
      isPoint = false;
    }
    if (!isPoint)
      return refuse("an escape that JSON has not");
    appendUtf8(out, point);
    return true;
  }
  bool parseHex(uint32_t &point) {
    std::string_view digits = text.substr(at, 4);
    auto [end, error] =
        std::from_chars(digits.data(), digits.data() + digits.size(), point, /*base=*/16);
    at += digits.size();
    return error == std::errc() && end == digits.data() + 4;
  }

  std::string_view text;
  int deepest;
  size_t at = 0, line = 1, lineBegin = 0;
  std::string wrong;
};

} // namespace

std::string JsonValue::place(const std::vector<std::string> &path) const {
  const JsonValue *value = this;
  for (const std::string &key : path) {
    size_t entry = value->entries.size();
    std::from_chars(key.data(), key.data() + key.size(), entry);
    auto member = value->members.find(key);
    if (member != value->members.end())
      value = &member->second;
    else if (entry < value->entries.size())
      value = &value->entries[entry];
    else
      break;
  }
  return std::to_string(value->line) + ":" + std::to_string(value->column);
}

std::string parseJson(std::string_view text, int deepest, JsonValue &value) {
  value = {};
  return Parser(text, deepest).parseAll(value);
}

} // namespace tessera::text
