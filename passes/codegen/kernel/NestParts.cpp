#include "passes/codegen/kernel/NestParts.h"

#include "passes/codegen/kernel/ContractionLoops.h"
#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <utility>

namespace tessera::codegen {

// Every choice of one entry of each list, that of the first list changing fastest.
template <class List> static auto choicesOf(llvm::ArrayRef<List> lists) {
  using Choice = llvm::SmallVector<typename List::value_type>;
  std::vector<Choice> choices{{}};
  for (const List &list : llvm::reverse(lists)) {
    std::vector<Choice> longer;
    for (const Choice &choice : choices)
      for (const auto &entry : list) {
        longer.push_back({entry});
        longer.back().append(choice.begin(), choice.end());
      }
    choices = std::move(longer);
  }
  return choices;
}

std::vector<Box> boxesOf(const NestGraph &nest) {
  constexpr size_t most = 9;
  if (nest.sums)
    return {}; // which all of a part's rows would have
  llvm::SmallVector<llvm::SmallVector<int64_t, 2>> cuts(nest.dims.size()); // inside of a loop
  for (auto [dim, at] : nest.g->graph.wantedCuts)
    if (dim < nest.dims.size() && !llvm::is_contained(cuts[dim], at))
      cuts[dim].push_back(at);
  size_t count = 1;
  llvm::SmallVector<Box> pieces;
  for (auto [dim, list] : llvm::enumerate(cuts)) {
    llvm::sort(list);
    if (count * (list.size() + 1) > most)
      list.clear();
    count *= list.size() + 1;
    list.push_back(nest.g->graph.dims[dim].size);
    int64_t low = 0;
    for (Box &ofLoop = pieces.emplace_back(); int64_t high : list)
      ofLoop.push_back({std::exchange(low, high), high});
  }
  return count > 1 ? choicesOf(llvm::ArrayRef(pieces)) : std::vector<Box>();
}

// What is left of a convolution's terms where its result is cut at its borders; 1 where it is better
// off whole: small parts read the filter again, and short ones of a row are written element by element.
static double borderShare(const NestGraph &nest) {
  constexpr double most = 0.8, termsOfCycle = 32, cyclesOfRead = 1.4, cyclesOfApart = 1.5;
  double share = 1, parts = 1, points = 1;
  bool cutsRows = false;
  DimSet seen = 0;
  if (!nest.g->graph.wantedPhases.empty())
    return 1;
  for (const Graph::Borders &borders : nest.g->graph.wantedBorders) {
    const GraphBuilder::Origin &origin = nest.g->builder.origins()[borders.dim];
    bool isWhole = llvm::is_contained(nest.dims, borders.dim) &&
                   nest.g->graph.dims[borders.dim].size == nest.shape()[origin.loop];
    if (!isWhole || (seen >> borders.dim & 1))
      return 1;
    seen |= DimSet(1) << borders.dim;
    share *= borders.share;
    parts *= double(borders.cuts.size() + 1);
    cutsRows |= origin.loop + 1 == nest.shape().size();
  }
  std::optional<ContractionLoops> loops = share <= most ? findContraction(nest) : std::nullopt;
  if (!loops)
    return 1;
  for (int64_t size : nest.shape())
    points *= double(size);
  auto k = double(loops->kSize);
  double read = k * double(loops->nSize) * cyclesOfRead;
  double whole = points * k / termsOfCycle + read;
  double cut =
      share * (points * k / termsOfCycle + parts * read) + (cutsRows ? points * cyclesOfApart : 0);
  return cut < most * whole ? share : 1;
}

// Of each of the result's dimensions the parts that phases have; none of one that is no loop of its
// own.
static llvm::SmallVector<llvm::SmallVector<Every, 4>> partsOfDims(const NestGraph &nest) {
  llvm::SmallVector<llvm::SmallVector<Every, 4>> parts(nest.shape().size(), {Every()});
  for (auto [dim, step] : nest.g->graph.wantedPhases) {
    GraphBuilder::Origin origin = nest.g->builder.origins()[dim];
    // All of its loop, or the inner part of one that is split.
    int64_t size = nest.g->graph.dims[dim].size;
    bool isInner = llvm::is_contained(nest.dims, dim) && origin.inner == 1 &&
                   (size == nest.shape()[origin.loop] || size % step == 0);
    auto &list = parts[isInner ? origin.loop : 0];
    if (!isInner || (list.size() > 1 && list[0].step != step))
      return {};
    list.clear();
    for (int64_t first = 0; first < std::min(step, nest.shape()[origin.loop]); ++first)
      list.push_back({step, first});
  }
  if (borderShare(nest) == 1)
    return parts;
  for (const Graph::Borders &borders : nest.g->graph.wantedBorders) {
    auto &list = parts[nest.g->builder.origins()[borders.dim].loop];
    if (list.size() > 1)
      continue;
    list.clear();
    int64_t first = 0;
    for (int64_t cut : borders.cuts) {
      list.push_back({1, first, cut - first});
      first = cut;
    }
    list.push_back({1, first});
  }
  return parts;
}

double shareInPhases(const NestGraph &nest) {
  return phasesOf(nest).empty() ? 1 : borderShare(nest);
}

std::vector<Phase> phasesOf(const NestGraph &nest) {
  constexpr size_t most = 16;
  auto parts = partsOfDims(nest);
  size_t count = 1;
  for (const auto &list : parts)
    count *= list.size();
  if (parts.empty() || count == 1 || count > most)
    return {};
  return choicesOf(llvm::ArrayRef(parts));
}

} // namespace tessera::codegen
