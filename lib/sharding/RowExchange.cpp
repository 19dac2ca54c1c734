#include "lib/sharding/RowExchange.h"

#include <algorithm>
#include <map>

namespace tessera::sharding {

int64_t RowExchange::rowsSent() const {
  int64_t rows = 0;
  for (const RowPiece &piece : pieces)
    rows += piece.distance == 0 ? 0 : piece.end - piece.begin;
  return rows;
}

RowExchange planExchange(const HeldRows &held, const WantedRows &wanted) {
  std::map<int64_t, std::pair<int64_t, int64_t>> byDistance;
  RowExchange plan;
  plan.drift = wanted.step - held.tile;
  plan.start = wanted.offset - held.origin;
  bool any = false;
  for (int64_t i = 0; i < held.shards; ++i) {
    int64_t first = i * wanted.step + wanted.offset;
    int64_t begin = std::max<int64_t>(first, 0), end = std::min(first + wanted.length, held.size);
    if (begin >= end)
      continue;
    int64_t relative = i * plan.drift + plan.start;
    plan.begin = any ? std::min(plan.begin, relative) : relative;
    plan.end = any ? std::max(plan.end, relative + wanted.length) : relative + wanted.length;
    any = true;
    for (int64_t at = begin; at < end;) {
      int64_t source = (at - held.origin) / held.tile;
      int64_t rowsFrom = source * held.tile + held.origin;
      int64_t upto = std::min(end, rowsFrom + held.tile);
      auto [it, fresh] = byDistance.try_emplace(source - i, at - rowsFrom, upto - rowsFrom);
      it->second.first = std::min(it->second.first, at - rowsFrom);
      it->second.second = std::max(it->second.second, upto - rowsFrom);
      at = upto;
    }
  }
  if (!any)
    plan.begin = plan.start, plan.end = plan.start + wanted.length;
  for (auto [distance, rows] : byDistance)
    plan.pieces.push_back({distance, rows.first, rows.second});
  return plan;
}

} // namespace tessera::sharding
