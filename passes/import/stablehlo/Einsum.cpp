#include "passes/import/stablehlo/Einsum.h"
#include "dialects/stablehlo/Sums.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tessera::import {

namespace {

// A value and the letter of each of its dimensions.
struct Lettered {
  Value value;
  SmallVector<char> letters;

  RankedTensorType type() const { return cast<RankedTensorType>(value.getType()); }
  bool has(char letter) const { return llvm::is_contained(letters, letter); }
  int64_t place(char letter) const { return llvm::find(letters, letter) - letters.begin(); }
};

// One letter a dimension; the dimensions of "..." are counted from their last one, as '\1', '\2'..
std::optional<SmallVector<char>> lettersOf(StringRef text, int64_t rank) {
  SmallVector<char> letters;
  size_t dots = text.find("...");
  int64_t named = text.size() - (dots == StringRef::npos ? 0 : 3);
  if (named > rank || (dots == StringRef::npos && named != rank))
    return std::nullopt;
  for (size_t i = 0; i < text.size(); ++i) {
    if (i == dots) {
      for (int64_t k = rank - named; k > 0; --k)
        letters.push_back(static_cast<char>(k));
      i += 2;
      continue;
    }
    if (!llvm::isAlpha(text[i]) || llvm::is_contained(letters, text[i]))
      return std::nullopt;
    letters.push_back(text[i]);
  }
  return letters;
}

// Without the letters that `keep` refuses: sums over them.
Lettered summed(OpBuilder &b, Location loc, Lettered x, llvm::function_ref<bool(char)> keep) {
  SmallVector<int64_t> over, shape;
  Lettered result;
  for (auto [d, letter] : llvm::enumerate(x.letters)) {
    if (!keep(letter)) {
      over.push_back(d);
      continue;
    }
    shape.push_back(x.type().getDimSize(d));
    result.letters.push_back(letter);
  }
  if (over.empty())
    return x;
  result.value = stablehlo::sumOver(b, loc, x.value, over);
  return result;
}

Lettered product(OpBuilder &b, Location loc, Lettered x, Lettered y, ArrayRef<char> kept,
                 Type element) {
  SmallVector<int64_t> batching[2], contracting[2], shape;
  Lettered result;
  auto add = [&](const Lettered &from, char letter) {
    shape.push_back(from.type().getDimSize(from.place(letter)));
    result.letters.push_back(letter);
  };
  for (char letter : x.letters)
    if (y.has(letter)) {
      bool isBatch = llvm::is_contained(kept, letter);
      (isBatch ? batching : contracting)[0].push_back(x.place(letter));
      (isBatch ? batching : contracting)[1].push_back(y.place(letter));
      if (isBatch)
        add(x, letter);
    }
  for (const auto &[one, other] : {std::pair(&x, &y), std::pair(&y, &x)})
    for (char letter : one->letters)
      if (!other->has(letter))
        add(*one, letter);
  auto numbers = stablehlo::DotDimensionNumbersAttr::get(b.getContext(), batching[0], batching[1],
                                                         contracting[0], contracting[1]);
  result.value =
      stablehlo::DotGeneralOp::create(b, loc, RankedTensorType::get(shape, element), x.value,
                                      y.value, numbers, ArrayAttr(), stablehlo::DotAlgorithmAttr());
  return result;
}

} // namespace

Value fromEinsum(OpBuilder &b, Operation *op, ValueRange operands, StringRef config) {
  auto [from, to] = config.split("->");
  SmallVector<StringRef> texts;
  from.split(texts, ',');
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  auto kept = lettersOf(to, type.getRank());
  if (texts.size() != operands.size() || !kept)
    return {};
  SmallVector<Lettered> values;
  for (auto [text, value] : llvm::zip(texts, operands)) {
    auto letters = lettersOf(text, cast<RankedTensorType>(value.getType()).getRank());
    if (!letters)
      return {};
    values.push_back({value, *letters});
  }
  for (char letter : *kept)
    if (llvm::none_of(values, [&](Lettered &x) { return x.has(letter); }))
      return {};
  Lettered all = values.front();
  if (values.size() == 2) {
    for (size_t i : {0, 1})
      values[i] = summed(b, op->getLoc(), values[i], [&](char letter) {
        return values[1 - i].has(letter) || llvm::is_contained(*kept, letter);
      });
    all = product(b, op->getLoc(), values[0], values[1], *kept, type.getElementType());
  }
  all =
      summed(b, op->getLoc(), all, [&](char letter) { return llvm::is_contained(*kept, letter); });
  SmallVector<int64_t> order;
  for (char letter : *kept)
    order.push_back(all.place(letter));
  return stablehlo::TransposeOp::create(b, op->getLoc(), type, all.value, order);
}

} // namespace tessera::import
