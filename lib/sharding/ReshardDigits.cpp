#include "lib/sharding/ReshardDigits.h"

#include "lib/sharding/AxisAtoms.h"
#include "lib/sharding/ReshardMoves.h"
#include "lib/sharding/ReshardPrice.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"
#include <numeric>
#include <set>

namespace tessera::sharding {
namespace {

constexpr int none = -1;

struct Digit {
  int dim;
  int64_t size;
  int source = none, target = none; // atoms; of the same size
};

// Digits in the dimensions that they are seen in. One dimension's digits are all local, all on
// atoms, or those on atoms come first.
using Arrangement = std::vector<std::vector<int>>;

class DigitPlan {
public:
  DigitPlan(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, int64_t elementBytes,
            const LocalLayout &from, const LocalLayout &to, const AxisAtoms &atoms,
            const cost::Topology &topology)
      : mesh(mesh), shape(shape), elementBytes(elementBytes), from(from), to(to), atoms(atoms),
        topology(topology), layout(from) {}

  // False where the layouts have no digits in common. Uneven dimensions get the target's padding if
  // it can be the source's, or the other way round.
  bool findDigits(bool targetsPadding);
  // Values that change their places first, or those that change the split dimension.
  ReshardPlan run(bool placesFirst);
  llvm::ArrayRef<int64_t> paddedSizes() const { return padded; }
  bool changesPlaces() const {
    return llvm::any_of(digits, [](const Digit &d) {
      return d.source != none && d.target != none && d.source != d.target;
    });
  }

private:
  void retile(llvm::ArrayRef<int64_t> tiles);
  void sliceWhereWanted();
  void sliceForCycles();
  bool allToAll();
  void permute();
  void gather();

  void view(Arrangement wanted, llvm::ArrayRef<int64_t> global);
  Arrangement flatWith(llvm::ArrayRef<std::vector<int>> merged) const;
  LocalLayout layoutOf(const Arrangement &arrangement) const;
  std::vector<int64_t> sizesOf(const Arrangement &arrangement) const;
  void step(ReshardKind kind, int32_t dim, int32_t fromDim, llvm::ArrayRef<uint8_t> along,
            LocalLayout after);
  double localBytes(const LocalLayout &of) const {
    double bytes = elementBytes;
    for (int64_t n : localShape(of))
      bytes *= n;
    return bytes;
  }
  // Runs of neighbours in one dimension among `chosen`, which is in order.
  std::vector<std::vector<int>> runs(llvm::ArrayRef<int> chosen) const;

  const Mesh &mesh;
  llvm::ArrayRef<int64_t> shape;
  int64_t elementBytes;
  const LocalLayout &from, &to;
  const AxisAtoms &atoms;
  const cost::Topology &topology;

  std::vector<int64_t> padded; // by dimension
  std::vector<Digit> digits;   // by dimension, major to minor
  Arrangement plain;           // as the tensor has them

  ReshardPlan plan;
  LocalLayout layout;
  Arrangement seen;
  std::vector<int> held;            // the atom of each digit
  std::vector<int> digitOf, goalOf; // of each atom
};

bool DigitPlan::findDigits(bool targetsPadding) {
  for (int d = 0; d < int(shape.size()); ++d) {
    Atoms own = atoms.cut(from.dims[d].axes), wanted = atoms.cut(to.dims[d].axes);
    int64_t shards = atoms.shards(own), goal = atoms.shards(wanted);
    int64_t ours = from.dims[d].tile * shards, theirs = to.dims[d].tile * goal;
    int64_t both = std::lcm(shards, goal);
    if (wanted.empty())
      padded.push_back(ours);
    else if (own.empty())
      padded.push_back(theirs);
    else if ((targetsPadding || ours % both != 0) && theirs % both == 0)
      padded.push_back(theirs);
    else
      padded.push_back(ours % both == 0 ? ours : llvm::divideCeil(shape[d], both) * both);

    plain.emplace_back();
    int64_t above = 1; // product of the digits so far
    for (size_t i = 0, j = 0, a = 1, b = 1; i < own.size() || j < wanted.size();) {
      int64_t nextA = i < own.size() ? a * atoms.size(own[i]) : 0;
      int64_t nextB = j < wanted.size() ? b * atoms.size(wanted[j]) : 0;
      int64_t next = !nextA ? nextB : !nextB ? nextA : std::min(nextA, nextB);
      // A digit of one layout is one of the other, too, or local there.
      if ((nextA && nextA % next != 0) || (nextB && nextB % next != 0))
        return false;
      Digit digit{d, next / above};
      if (nextA == next)
        digit.source = own[i++], a = next;
      if (nextB == next)
        digit.target = wanted[j++], b = next;
      plain.back().push_back(digits.size());
      digits.push_back(digit);
      above = next;
    }
    if (padded[d] > above) {
      plain.back().push_back(digits.size());
      digits.push_back({d, padded[d] / above});
    }
  }
  return true;
}

std::vector<std::vector<int>> DigitPlan::runs(llvm::ArrayRef<int> chosen) const {
  std::vector<std::vector<int>> found;
  for (int i : chosen) {
    if (found.empty() || found.back().back() + 1 != i || digits[i].dim != digits[i - 1].dim)
      found.emplace_back();
    found.back().push_back(i);
  }
  return found;
}

LocalLayout DigitPlan::layoutOf(const Arrangement &arrangement) const {
  LocalLayout out;
  out.reduction = from.reduction;
  for (const std::vector<int> &dim : arrangement) {
    Atoms on;
    int64_t tile = 1;
    for (int i : dim)
      if (held[i] == none)
        tile *= digits[i].size;
      else
        on.push_back(held[i]);
    out.dims.push_back({atoms.refs(on), tile});
  }
  return out;
}

std::vector<int64_t> DigitPlan::sizesOf(const Arrangement &arrangement) const {
  std::vector<int64_t> sizes;
  for (const std::vector<int> &dim : arrangement) {
    sizes.push_back(1);
    for (int i : dim)
      sizes.back() *= digits[i].size;
  }
  return sizes;
}

// Every digit a dimension, in order, but the merged ones are one dimension where the first is.
Arrangement DigitPlan::flatWith(llvm::ArrayRef<std::vector<int>> merged) const {
  Arrangement out;
  for (int i = 0; i < int(digits.size()); ++i) {
    auto group =
        llvm::find_if(merged, [&](const std::vector<int> &g) { return llvm::is_contained(g, i); });
    if (group == merged.end())
      out.push_back({i});
    else if (*llvm::min_element(*group) == i)
      out.push_back(*group);
  }
  return out;
}

void DigitPlan::step(ReshardKind kind, int32_t dim, int32_t fromDim, llvm::ArrayRef<uint8_t> along,
                     LocalLayout after) {
  AxisRefs axes = atoms.refs(along);
  StepPrice price = priceOf(kind, localBytes(layout), localBytes(after), axes, mesh, topology);
  plan.seconds += price.seconds;
  plan.wireBytes += price.wireBytes;
  layout = after;
  plan.steps.push_back({kind, dim, fromDim, std::move(axes), std::move(after), {}, {}, {}, {}});
}

void DigitPlan::view(Arrangement wanted, llvm::ArrayRef<int64_t> global) {
  if (seen == wanted)
    return;
  llvm::SmallVector<int> before, after; // digits that are not of local size 1
  for (auto [arrangement, list] : {std::pair{&seen, &before}, std::pair{&wanted, &after}})
    for (const std::vector<int> &dim : *arrangement)
      llvm::copy_if(dim, std::back_inserter(*list), [&](int i) { return held[i] == none; });
  seen = std::move(wanted);
  step(ReshardKind::View, none, none, {}, layoutOf(seen));
  ReshardStep &made = plan.steps.back();
  for (int i : before)
    made.digits.push_back(digits[i].size);
  for (int i : after)
    made.order.push_back(llvm::find(before, i) - before.begin());
  made.shape.assign(global.begin(), global.end());
}

void DigitPlan::retile(llvm::ArrayRef<int64_t> tiles) {
  for (int32_t d = 0; d < int32_t(shape.size()); ++d) {
    const DimLayout dim = layout.dims[d];
    if (dim.tile == tiles[d])
      continue;
    StepPrice price =
        retilePrice(shape[d], dim.tile, tiles[d], localBytes(layout), dim.axes, mesh, topology);
    layout.dims[d].tile = tiles[d];
    plan.seconds += price.seconds;
    plan.wireBytes += price.wireBytes;
    plan.steps.push_back({ReshardKind::Retile, d, none, {}, layout, {}, {}, {}, {}});
  }
}

void DigitPlan::sliceWhereWanted() {
  llvm::SmallVector<int> chosen;
  for (auto [i, digit] : llvm::enumerate(digits))
    if (held[i] == none && digit.target != none && digitOf[digit.target] == none)
      chosen.push_back(i);
  for (const std::vector<int> &run : runs(chosen)) {
    view(flatWith({run}), sizesOf(flatWith({run})));
    Atoms along;
    for (int i : run) {
      held[i] = digits[i].target;
      digitOf[held[i]] = i;
      along.push_back(held[i]);
    }
    step(ReshardKind::Slice, llvm::find(seen, run) - seen.begin(), none, along, layoutOf(seen));
  }
}

// An atom that nobody uses yet takes another's place, which takes another's, and so on; the last
// goes to a local digit. There the first can wait for free, and less is permuted.
void DigitPlan::sliceForCycles() {
  for (auto [i, digit] : llvm::enumerate(digits)) {
    if (held[i] == none || digit.target == none || digitOf[digit.target] != none)
      continue;
    int last = i;
    while (last != none && held[last] != none)
      last = goalOf[held[last]];
    if (last == none)
      continue;
    view(flatWith({}), sizesOf(flatWith({})));
    held[last] = digit.target;
    digitOf[digit.target] = last;
    step(ReshardKind::Slice, last, none, {uint8_t(digit.target)}, layoutOf(seen));
  }
}

// All atoms whose digit is free go there at once.
bool DigitPlan::allToAll() {
  std::vector<int> sources, targets;
  Atoms along;
  for (int i = 0; i < int(digits.size()); ++i) {
    int goal = held[i] == none ? none : goalOf[held[i]];
    if (goal == none || goal == i || held[goal] != none)
      continue;
    sources.push_back(i);
    targets.push_back(goal);
    along.push_back(held[i]);
  }
  if (sources.empty())
    return false;
  Arrangement merged = flatWith({sources, targets});
  view(merged, sizesOf(merged));
  for (auto [source, target] : llvm::zip_equal(sources, targets)) {
    held[target] = held[source];
    digitOf[held[target]] = target;
    held[source] = none;
  }
  step(ReshardKind::AllToAll, llvm::find(seen, targets) - seen.begin(),
       llvm::find(seen, sources) - seen.begin(), along, layoutOf(seen));
  return true;
}

// Every digit on an atom that shall lie on another one gets it; the digits that had those get what
// was displaced. An atom that was not used before displaces one for good.
void DigitPlan::permute() {
  std::vector<int> next = held;
  std::set<int> coming, displaced;
  for (auto [i, digit] : llvm::enumerate(digits))
    if (held[i] != none && digit.target != none && digit.target != held[i]) {
      next[i] = digit.target;
      coming.insert(digit.target);
      displaced.insert(held[i]);
    }
  if (coming.empty())
    return;
  for (int atom : coming)
    displaced.erase(atom);
  for (int atom : coming) {
    int hole = digitOf[atom];
    if (hole == none || next[hole] != atom)
      continue;
    int filler =
        *llvm::find_if(displaced, [&](int other) { return atoms.size(other) == atoms.size(atom); });
    next[hole] = filler;
    displaced.erase(filler);
  }
  Atoms along;
  for (auto [was, is] : llvm::zip_equal(held, next))
    if (was != is)
      along.append({uint8_t(was), uint8_t(is)});
  llvm::sort(along);
  along.erase(llvm::unique(along), along.end());
  held = std::move(next);
  std::fill(digitOf.begin(), digitOf.end(), none);
  for (auto [i, atom] : llvm::enumerate(held))
    if (atom != none)
      digitOf[atom] = i;
  step(ReshardKind::Permute, none, none, along, layoutOf(seen));
}

void DigitPlan::gather() {
  llvm::SmallVector<int> chosen;
  for (auto [i, digit] : llvm::enumerate(digits))
    if (held[i] != digit.target)
      chosen.push_back(i);
  for (const std::vector<int> &run : runs(chosen)) {
    view(flatWith({run}), sizesOf(flatWith({run})));
    Atoms along;
    for (int i : run) {
      along.push_back(held[i]);
      held[i] = none;
    }
    step(ReshardKind::AllGather, llvm::find(seen, run) - seen.begin(), none, along, layoutOf(seen));
  }
}

ReshardPlan DigitPlan::run(bool placesFirst) {
  plan = {};
  layout = from;
  seen = plain;
  held.clear();
  digitOf.assign(atoms.count(), none);
  goalOf.assign(atoms.count(), none);
  for (auto [i, digit] : llvm::enumerate(digits)) {
    held.push_back(digit.source);
    if (digit.source != none)
      digitOf[digit.source] = i;
    if (digit.target != none)
      goalOf[digit.target] = i;
  }
  llvm::SmallVector<int64_t> tiles;
  for (auto [size, dim] : llvm::zip_equal(padded, from.dims))
    tiles.push_back(size / shardCount(dim.axes));
  retile(tiles);
  sliceWhereWanted();
  if (!placesFirst)
    while (allToAll())
      sliceWhereWanted();
  sliceForCycles();
  permute();
  sliceWhereWanted();
  allToAll();
  gather();
  view(plain, shape);
  retile(localShape(to));
  return std::move(plan);
}

} // namespace

std::optional<ReshardPlan> planByDigits(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                        int64_t elementBytes, const LocalLayout &from,
                                        const LocalLayout &to, const cost::Topology &topology) {
  std::optional<ReshardPlan> best;
  AxisAtoms atoms(mesh, allRefs(from, to), /*primes=*/true);
  if (!atoms.valid() || shardCount(from.partial) > 1 || llvm::is_contained(shape, 0))
    return best;
  llvm::SmallVector<int64_t> tried;
  for (bool targetsPadding : {true, false}) {
    DigitPlan search(mesh, shape, elementBytes, from, to, atoms, topology);
    if (!search.findDigits(targetsPadding) || search.paddedSizes() == llvm::ArrayRef(tried))
      return best;
    tried.assign(search.paddedSizes().begin(), search.paddedSizes().end());
    for (bool placesFirst : {true, false}) {
      if (!placesFirst && !search.changesPlaces())
        continue;
      ReshardPlan plan = search.run(placesFirst);
      if (!best || plan.seconds < best->seconds)
        best = std::move(plan);
    }
  }
  return best;
}

} // namespace tessera::sharding
