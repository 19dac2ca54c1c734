#include "passes/codegen/gpu/EqualKernels.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/Twine.h"

#include <algorithm>
#include <string>

namespace tessera::codegen::gpu {

static constexpr llvm::StringRef kEntry = ".visible .entry ";

// Up to the brace that ends the body.
static size_t endOf(llvm::StringRef entry) {
  unsigned depth = 0;
  for (size_t at = 0; at < entry.size(); ++at) {
    depth += entry[at] == '{';
    if (entry[at] == '}' && --depth == 0)
      return at + 1;
  }
  return entry.size();
}

static bool isOfWord(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

// A parameter, or memory that is declared within the entry: what is declared before it has a size that the entry does
// not tell.
static bool isOwn(llvm::StringRef word, llvm::StringRef entry, llvm::StringRef name) {
  return word.consume_front(name) &&
         (word.starts_with("_param_") || entry.contains((" " + name + word + "[").str()));
}

// The entry without what is its own of names: of itself, parameters, memory and labels. In the second part of a text
// memory has other names (PtxCode.cpp), that of the launch too; so do tables, which may differ.
static std::string codeOf(llvm::StringRef entry, llvm::StringRef name) {
  constexpr llvm::StringRef kLabel = "$L__BB", kOfLaunch = "tessera_shared", kRest = "_of_rest";
  constexpr char kOwn = '@'; // followed by no name elsewhere, but by %p1
  std::string code;
  code.reserve(entry.size());
  for (llvm::StringRef rest = entry.drop_front(kEntry.size() + name.size()); !rest.empty();) {
    llvm::StringRef word = rest.take_while(isOfWord);
    if (word.empty()) {
      code += rest.front();
      rest = rest.drop_front();
      continue;
    }
    rest = rest.drop_front(word.size());
    if (isOwn(word, entry, name)) {
      word.consume_back(kRest);
      (code += kOwn) += word.drop_front(name.size());
    } else if (word.consume_front(kLabel)) { // of the function that has this number
      (code += kLabel) += word.drop_while(llvm::isDigit);
    } else {
      code += word.starts_with(kOfLaunch) ? kOfLaunch : word;
    }
  }
  return code;
}

void mergeEqualKernels(llvm::SmallVectorImpl<char> &text,
                       llvm::function_ref<LaunchOfCode(llvm::StringRef)> launchOf) {
  std::string left;
  llvm::StringMap<llvm::StringRef> known; // names, by code
  for (llvm::StringRef rest(text.data(), text.size()); !rest.empty();) {
    size_t before = std::min(rest.find(kEntry), rest.size());
    left += rest.take_front(before);
    rest = rest.drop_front(before);
    llvm::StringRef entry = rest.take_front(endOf(rest));
    rest = rest.drop_front(entry.size());
    if (entry.empty())
      break;
    llvm::StringRef name = entry.drop_front(kEntry.size()).take_while(isOfWord);
    auto [threads, sharedBytes] = launchOf(name);
    std::string code =
        (llvm::Twine(threads) + "," + llvm::Twine(sharedBytes) + codeOf(entry, name)).str();
    auto [first, isNew] = known.try_emplace(code, name);
    left += isNew ? entry.str() : ("// .alias " + name + ", " + first->second + ";").str();
  }
  text.assign(left.begin(), left.end());
}

} // namespace tessera::codegen::gpu
