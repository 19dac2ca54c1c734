#include "lib/compiler/SourceText.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MathExtras.h"

#include <optional>

namespace tessera {
namespace {

constexpr unsigned long long kMostResults = 1 << 20;

// Whether the text before `at`, in its line, ends in a value's name: `%x`.
bool followsValue(llvm::StringRef text, size_t at) {
  size_t i = at;
  while (i > 0 && (llvm::isAlnum(text[i - 1]) || llvm::StringRef("_$.-").contains(text[i - 1])))
    --i;
  return i > 0 && i < at && text[i - 1] == '%';
}

bool inString(llvm::StringRef line, size_t at) {
  bool inside = false;
  for (size_t i = 0; i < at; ++i)
    if (line[i] == '\\')
      ++i;
    else if (line[i] == '"')
      inside = !inside;
  return inside;
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

std::string packBooleans(llvm::StringRef text) {
  std::string packed;
  if (text.starts_with("ML\xefR"))
    return packed; // bytecode
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

std::string refuseText(llvm::StringRef text, llvm::StringRef name) {
  if (text.starts_with("ML\xefR"))
    return ""; // bytecode
  for (size_t at = text.find('#'); at != llvm::StringRef::npos; at = text.find('#', at + 1)) {
    llvm::StringRef number =
        text.substr(at + 1).take_while([](char c) { return llvm::isDigit(c); });
    unsigned long long index;
    bool small = number.size() < 7 || (!number.getAsInteger(10, index) && index <= kMostResults);
    if (small || !followsValue(text, at))
      continue;
    size_t begin = text.rfind('\n', at);
    begin = begin == llvm::StringRef::npos ? 0 : begin + 1;
    if (inString(text.substr(begin), at - begin))
      continue;
    size_t line = 1 + text.take_front(begin).count('\n');
    return (name + ":" + llvm::Twine(line) + ":" + llvm::Twine(at - begin + 2) +
            ": no operation has a result number " + number + "; results are numbered from 0")
        .str();
  }
  return "";
}

} // namespace tessera
