#include "compiler/source/SourceText.h"

#include "compiler/source/Nesting.h"
#include "tessera/container.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <optional>

namespace tessera {
namespace {

constexpr unsigned long long kMostResults = 1 << 20;

size_t behindString(llvm::StringRef text, size_t at) {
  for (++at; at < text.size() && text[at] != '"' && text[at] != '\n'; ++at)
    at += text[at] == '\\';
  return std::min(at + 1, text.size());
}

// Whether the text before `at`, in its line, ends in a value's name: `%x`.
bool followsValue(llvm::StringRef text, size_t at) {
  size_t i = at;
  while (i > 0 && (llvm::isAlnum(text[i - 1]) || llvm::StringRef("_$.-").contains(text[i - 1])))
    --i;
  return i > 0 && i < at && text[i - 1] == '%';
}

// Booleans in hexadecimal: `count` of them, by `digits`, which begin at `at`.
struct Booleans {
  size_t at;
  llvm::StringRef digits;
  uint64_t count;
};

// The number of elements of the type of booleans that `text` begins with, such as `tensor<2x8xi1>`.
std::optional<uint64_t> countBooleans(llvm::StringRef text) {
  if (!text.consume_front("tensor<") && !text.consume_front("vector<"))
    return std::nullopt;
  uint64_t count = 1, size;
  while (!text.consumeInteger(10, size)) {
    bool overflows;
    count = llvm::SaturatingMultiply(count, size, &overflows);
    if (overflows || !text.consume_front("x"))
      return std::nullopt;
  }
  if (!text.consume_front("i1") || !(text.starts_with(">") || text.starts_with(",")))
    return std::nullopt;
  return count;
}

// The next one at or behind `from`.
std::optional<Booleans> findBooleans(llvm::StringRef text, size_t from) {
  constexpr llvm::StringRef begin = "dense<\"0x";
  for (size_t at = text.find(begin, from); at != llvm::StringRef::npos; at = text.find(begin, at)) {
    at += begin.size();
    llvm::StringRef digits = text.substr(at).take_while([](char c) { return llvm::isHexDigit(c); });
    llvm::StringRef rest = text.substr(at + digits.size());
    if (!rest.consume_front("\""))
      continue;
    rest = rest.ltrim();
    if (!rest.consume_front(">"))
      continue;
    rest = rest.ltrim();
    if (!rest.consume_front(":"))
      continue;
    if (std::optional<uint64_t> count = countBooleans(rest.ltrim()))
      return Booleans{at, digits, *count};
  }
  return std::nullopt;
}

} // namespace

size_t behindStringOrComment(llvm::StringRef text, size_t at) {
  if (text[at] == '"')
    return behindString(text, at);
  if (text.substr(at).starts_with("//"))
    return std::min(text.find('\n', at), text.size());
  return at;
}

std::string lineAndColumn(llvm::StringRef text, size_t at) {
  llvm::StringRef before = text.take_front(at);
  size_t begin = before.rfind('\n') + 1; // npos + 1 is 0
  return std::to_string(before.count('\n') + 1) + ":" + std::to_string(at - begin + 1);
}

// Empty where nothing is to be changed.
static std::string packBooleans(llvm::StringRef text) {
  std::string packed;
  size_t from = 0;
  while (std::optional<Booleans> found = findBooleans(text, from)) {
    auto [at, digits, count] = *found;
    from = at + digits.size();
    // One byte for all, or one for each: never as many as there would be with eight in a byte.
    bool forAll = digits == "01" && (count == 1 || count > 8);
    if (!forAll && (count < 2 || digits.size() != 2 * count))
      continue;
    std::string bits;
    for (uint64_t i = 0; !forAll && i < count; i += 8) {
      unsigned byte = 0;
      for (uint64_t j = i; j < std::min(i + 8, count); ++j)
        byte |= (digits.substr(2 * j, 2) != "00") << (j - i);
      bits += {llvm::hexdigit(byte >> 4), llvm::hexdigit(byte & 15)};
    }
    if (forAll)
      bits = "FF";
    bits += '"';
    bits.resize(digits.size() + 1, ' ');
    if (packed.empty())
      packed = text.str();
    packed.replace(at, bits.size(), bits);
  }
  return packed;
}

std::string unpackBooleans(llvm::StringRef text) {
  std::string unpacked;
  size_t from = 0;
  while (std::optional<Booleans> found = findBooleans(text, from)) {
    auto [at, digits, count] = *found;
    if (count > 8 && digits.size() == 2 * llvm::divideCeil(count, 8)) {
      unpacked += text.slice(from, at);
      for (uint64_t i = 0; i < count; ++i) {
        unsigned byte = llvm::hexDigitValue(digits[i / 8 * 2]) << 4 |
                        llvm::hexDigitValue(digits[i / 8 * 2 + 1]);
        unpacked += byte >> i % 8 & 1 ? "01" : "00";
      }
    } else {
      unpacked += text.slice(from, at + digits.size());
    }
    from = at + digits.size();
  }
  return unpacked += text.substr(from);
}

// Why the parser can't have the `#` at `at`, if so: a value's result has a number that no operation
// has results for.
static std::string refuseResultNumber(llvm::StringRef text, size_t at) {
  llvm::StringRef number = text.substr(at + 1).take_while([](char c) { return llvm::isDigit(c); });
  unsigned long long index;
  bool small = number.size() < 7 || (!number.getAsInteger(10, index) && index <= kMostResults);
  if (small || !followsValue(text, at))
    return "";
  return ("no operation has a result number " + number + "; results are numbered from 0").str();
}

// Why the parser can't have the word at `at`, if so: it begins an array of numbers whose type has no
// width, or is called by another name.
static std::string refuseArrayType(llvm::StringRef text, size_t at) {
  bool isWord = at == 0 || !(llvm::isAlnum(text[at - 1]) ||
                             llvm::StringRef("_$.-#!@%^").contains(text[at - 1]));
  llvm::StringRef rest = text.substr(at);
  if (!isWord || !rest.consume_front("array"))
    return "";
  rest = rest.ltrim();
  if (!rest.consume_front("<"))
    return "";
  rest = rest.ltrim();
  if (!rest.starts_with("index") && !rest.starts_with("!"))
    return "";
  return "an array<..> of numbers is of integers or floats of some width, such as i64";
}

// Empty, or the first place of a text that the parser would not survive, and why.
static std::string refuseTokens(llvm::StringRef text, llvm::StringRef name) {
  for (size_t at = 0; at < text.size(); ++at) {
    char c = text[at];
    if (c == '"' || c == '/')
      at = std::max(behindStringOrComment(text, at), at + 1) - 1;
    if (c != '#' && c != 'a')
      continue;
    std::string wrong = c == '#' ? refuseResultNumber(text, at) : refuseArrayType(text, at);
    if (!wrong.empty())
      return (name + ":" + lineAndColumn(text, at + (text[at] == '#')) + ": " + wrong).str();
  }
  return "";
}

std::unique_ptr<llvm::MemoryBuffer> readableText(llvm::StringRef text, llvm::StringRef name,
                                                 std::string &wrong) {
  if (text.starts_with("ML\xefR")) // bytecode
    return llvm::MemoryBuffer::getMemBuffer(text, name, /*RequiresNullTerminator=*/false);
  if (text.starts_with(llvm::StringRef(container::kMagic, sizeof(container::kMagic)))) {
    wrong = (name + ": is a program that is compiled already: tessera run takes it").str();
    return nullptr;
  }
  wrong = refuseNestedText(text, name);
  if (wrong.empty())
    wrong = refuseTokens(text, name);
  if (!wrong.empty())
    return nullptr;
  std::string packed = packBooleans(text);
  return llvm::MemoryBuffer::getMemBufferCopy(packed.empty() ? text : packed, name);
}

} // namespace tessera
