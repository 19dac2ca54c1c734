#include "lib/mends/ArgumentNames.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

namespace tessera::mends {

// Runs of digits as one sign.
static std::string withoutNumbers(llvm::StringRef text, char sign) {
  std::string result;
  for (char c : text)
    if (!llvm::isDigit(c))
      result += c;
    else if (result.empty() || result.back() != sign)
      result += sign;
  return result;
}

ArgumentName readName(llvm::StringRef name) {
  ArgumentName read;
  bool first = true;
  std::string part;
  auto end = [&] {
    std::string plain = withoutNumbers(part, '#');
    if (first)
      read.tree = part;
    else if (!plain.empty() && plain != "#")
      read.path.push_back(plain);
    first &= part.empty();
    part.clear();
  };
  for (char c : name)
    if (llvm::StringRef("[]'\".").contains(c))
      end();
    else
      part += c;
  end();
  if (read.path.empty())
    read.path.push_back(withoutNumbers(read.tree, '#'));
  return read;
}

static bool endsIn(const std::vector<std::string> &path, const std::vector<std::string> &end) {
  return path.size() >= end.size() && std::equal(end.rbegin(), end.rend(), path.rbegin());
}

std::vector<int32_t> parametersOf(llvm::ArrayRef<ArgumentName> names,
                                  llvm::ArrayRef<std::string> types) {
  llvm::StringMap<std::vector<int32_t>> alike; // by type
  for (auto [i, type] : llvm::enumerate(types))
    alike[type].push_back(int32_t(i));
  std::vector<int32_t> parameters;
  for (auto [i, name] : llvm::enumerate(names)) {
    int32_t best = int32_t(i);
    for (int32_t other : alike[types[i]])
      if (names[other].path.size() < names[best].path.size() ||
          (names[other].path.size() == names[best].path.size() && other < best))
        if (endsIn(name.path, names[other].path))
          best = other;
    parameters.push_back(best);
  }
  return parameters;
}

// The runs of digits of a text.
static std::vector<llvm::StringRef> numbersIn(llvm::StringRef text) {
  std::vector<llvm::StringRef> numbers;
  while (!text.empty()) {
    text = text.drop_while([](char c) { return !llvm::isDigit(c); });
    llvm::StringRef number = text.take_while([](char c) { return llvm::isDigit(c); });
    if (!number.empty())
      numbers.push_back(number);
    text = text.drop_front(number.size());
  }
  return numbers;
}

// A name with a star for each number in which others of its form differ.
static std::string withStars(llvm::StringRef name, llvm::ArrayRef<std::string> names) {
  std::string form = withoutNumbers(name, '*'), text;
  std::vector<llvm::StringRef> own = numbersIn(name);
  std::vector<bool> differs(own.size());
  for (const std::string &other : names)
    if (withoutNumbers(other, '*') == form)
      for (auto [i, number] : llvm::enumerate(numbersIn(other)))
        differs[i] = differs[i] || number != own[i];
  size_t next = 0;
  for (char c : form)
    if (c != '*' || next == own.size())
      text += c;
    else {
      text += differs[next] ? "*" : own[next].str();
      ++next;
    }
  return text;
}

std::string namesText(llvm::ArrayRef<std::string> names) {
  std::vector<std::string> shown;
  for (const std::string &name : names)
    if (std::string text = withStars(name, names); !llvm::is_contained(shown, text))
      shown.push_back(text);
  std::string text;
  for (const std::string &each : llvm::ArrayRef(shown).take_front(3))
    text += (text.empty() ? "" : ", ") + each;
  if (shown.size() > 3)
    text += ", ..";
  if (names.size() > 1)
    text += " (" + std::to_string(names.size()) + " arguments)";
  return text;
}

} // namespace tessera::mends
