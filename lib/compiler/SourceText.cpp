#include "lib/compiler/SourceText.h"

#include "llvm/ADT/StringExtras.h"

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

} // namespace

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
