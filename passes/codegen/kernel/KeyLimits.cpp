#include "passes/codegen/kernel/KeyLimits.h"
#include "passes/codegen/kernel/InnerProducts.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

namespace tessera::codegen {

// How far an integer moves with each step of a loop, where that is always as far.
static std::optional<int64_t> slopeOf(Node *node, llvm::ArrayRef<unsigned> group) {
  if (!(node->deps & setOf(group)))
    return 0;
  if (node->op == Op::Iota)
    return strideOf(node->index, group);
  if (node->op == Op::Convert && isInteger(node->operands[0]->kind))
    return slopeOf(node->operands[0], group);
  if (node->op != Op::Add && node->op != Op::Sub)
    return std::nullopt;
  auto left = slopeOf(node->operands[0], group), right = slopeOf(node->operands[1], group);
  if (!left || !right)
    return std::nullopt;
  return node->op == Op::Add ? *left + *right : *left - *right;
}

static bool isPosition(Node *node) {
  return node->kind == ElementKind::I32 || node->kind == ElementKind::I64;
}

// a - b >= least, from a comparison.
static std::optional<KeyLimit> limitOf(Node *compare, const LoopGroup &queries,
                                       const LoopGroup &keys) {
  if (compare->op != Op::Compare || !isPosition(compare->operands[0]) ||
      (compare->aux & TotalOrder))
    return std::nullopt;
  KeyLimit limit{compare->operands[0], compare->operands[1], 0, false, false};
  switch (compare->aux) {
  case LE:
  case LT:
    std::swap(limit.a, limit.b);
    [[fallthrough]];
  case GE:
  case GT:
    limit.least = compare->aux == GT || compare->aux == LT;
    break;
  default:
    return std::nullopt;
  }
  auto along = [&](llvm::ArrayRef<unsigned> group) -> std::optional<int64_t> {
    auto a = slopeOf(limit.a, group), b = slopeOf(limit.b, group);
    return a && b ? std::optional(*a - *b) : std::nullopt;
  };
  auto perKey = along(keys), perQuery = along(queries);
  if (!perKey || !perQuery || std::abs(*perKey) != 1)
    return std::nullopt;
  limit.fromAbove = *perKey < 0;
  limit.atLastRow = *perQuery > 0;
  return limit;
}

static void addLimits(Node *predicate, const LoopGroup &queries, const LoopGroup &keys,
                      KeyLimits &limits) {
  if (predicate->op == Op::And) {
    addLimits(predicate->operands[0], queries, keys, limits);
    addLimits(predicate->operands[1], queries, keys, limits);
  } else if (auto limit = limitOf(predicate, queries, keys)) {
    limits.each.push_back(*limit);
  }
}

KeyLimits limitsOf(Node *score, const LoopGroup &queries, const LoopGroup &keys) {
  KeyLimits limits;
  Node *node = throughConvert(score);
  if (node->op != Op::Select || node->operands[2]->op != Op::Constant)
    return limits;
  limits.fill = numberOf(node->operands[2]);
  if (limits.fill < 0)
    addLimits(node->operands[0], queries, keys, limits);
  return limits;
}

// An integer at a query, the first key and the first of all else.
static std::optional<int64_t> atQuery(Node *node, const LoopGroup &queries, int64_t query) {
  switch (node->op) {
  case Op::Constant:
    return node->bits;
  case Op::Iota:
    if (auto stride = strideOf(node->index, queries); stride && node->index->nodes.empty())
      return node->index->constant + *stride * query;
    return std::nullopt;
  case Op::Convert:
    return atQuery(node->operands[0], queries, query);
  case Op::Add:
  case Op::Sub: {
    auto left = atQuery(node->operands[0], queries, query),
         right = atQuery(node->operands[1], queries, query);
    if (!left || !right)
      return std::nullopt;
    return node->op == Op::Add ? *left + *right : *left - *right;
  }
  default:
    return std::nullopt;
  }
}

bool areMoving(const KeyLimits &limits, const LoopGroup &queries) {
  return llvm::any_of(limits.each, [&](const KeyLimit &limit) {
    return !atQuery(limit.a, queries, 0) || !atQuery(limit.b, queries, 0);
  });
}

// How far a - b moves with each step of a loop.
static int64_t stepOf(const KeyLimit &limit, const LoopGroup &group) {
  return slopeOf(limit.a, group).value_or(0) - slopeOf(limit.b, group).value_or(0);
}

double shareWithin(const KeyLimits &limits, const LoopGroup &queries, int64_t queryCount,
                   int64_t keyCount, const Graph &graph, llvm::ArrayRef<LoopGroup> outer,
                   KeyTile tile) {
  constexpr int64_t mostSamples = 64, mostParts = 16;
  const LoopGroup *moving = llvm::find_if(outer, [&](const LoopGroup &group) {
    return llvm::any_of(limits.each,
                        [&](const KeyLimit &limit) { return stepOf(limit, group) != 0; });
  });
  int64_t parts = moving == outer.end() ? 1 : std::min(boundsOf(graph, *moving).second, mostParts);
  int64_t tiles = llvm::divideCeil(queryCount, tile.queries),
          samples = std::min(tiles, mostSamples);
  double queriesSeen = 0, seen = 0;
  for (int64_t i = 0; i < samples * parts; ++i) {
    int64_t first = (2 * (i / parts) + 1) * tiles / (2 * samples) * tile.queries,
            last = std::min(first + tile.queries, queryCount) - 1, low = 0, high = keyCount;
    for (const KeyLimit &limit : limits.each) {
      int64_t query = limit.atLastRow ? last : first;
      auto a = atQuery(limit.a, queries, query), b = atQuery(limit.b, queries, query);
      if (!a || !b)
        continue;
      int64_t room = *a - *b - limit.least;
      if (parts > 1)
        room += i % parts * stepOf(limit, *moving);
      if (limit.fromAbove)
        high = std::min(high, room + 1);
      else
        low = std::max(low, -room);
    }
    auto rows = double(last - first + 1);
    queriesSeen += rows;
    if (low < high)
      seen += rows * double(llvm::divideCeil(high, tile.keys) - low / tile.keys);
  }
  int64_t tilesOfKeys = llvm::divideCeil(keyCount, tile.keys);
  seen = std::max(seen, 1.0); // one tile of one query's, where none that was looked at sees any
  return seen / (queriesSeen * double(tilesOfKeys));
}

} // namespace tessera::codegen
