#include "passes/memory/WrittenArrays.h"

#include <set>

namespace tessera::memory {

void WrittenArrays::put(const ByteRange &range) {
  spaces[range.space][range.begin] = range.end;
  journal.push_back({range, true});
}

void WrittenArrays::add(const ByteRange &range) {
  remove(range);
  if (range.begin != range.end)
    put(range);
}

void WrittenArrays::remove(const ByteRange &range) {
  auto space = spaces.find(range.space);
  if (range.begin == range.end || space == spaces.end())
    return;
  auto &arrays = space->second;
  auto it = arrays.upper_bound(range.begin);
  if (it != arrays.begin() && std::prev(it)->second > range.begin)
    --it;
  while (it != arrays.end() && it->first < range.end) {
    journal.push_back({{range.space, it->first, it->second}, false});
    it = arrays.erase(it);
  }
}

bool WrittenArrays::has(const ByteRange &range) const {
  int64_t at = range.begin;
  if (auto space = spaces.find(range.space); space != spaces.end())
    for (auto it = space->second.find(at);
         it != space->second.end() && it->first == at && at < range.end && it->second <= range.end;
         ++it)
      at = it->second;
  return at == range.end;
}

bool WrittenArrays::hasAround(const ByteRange &range) const {
  auto space = spaces.find(range.space);
  if (space == spaces.end())
    return false;
  auto it = space->second.upper_bound(range.begin);
  return it != space->second.begin() && std::prev(it)->second >= range.end;
}

WrittenArrays::Changes WrittenArrays::takeBack(size_t mark) {
  std::map<ByteRange, int> sum; // an array that comes and goes is no change
  while (journal.size() > mark) {
    auto [range, added] = journal.back();
    journal.pop_back();
    sum[range] += added ? 1 : -1;
    if (added)
      spaces[range.space].erase(range.begin);
    else
      spaces[range.space][range.begin] = range.end;
  }
  Changes changes;
  for (auto [range, times] : sum)
    if (times)
      (times > 0 ? changes.added : changes.removed).push_back(range);
  return changes;
}

void WrittenArrays::apply(const Changes &changes) {
  for (const ByteRange &range : changes.removed)
    remove(range);
  for (const ByteRange &range : changes.added)
    put(range);
}

// The first way's arrays that all others have: those that nobody changes, and of the rest what each
// is asked for.
void WrittenArrays::join(llvm::ArrayRef<Changes> ways) {
  std::set<ByteRange> asked(ways.front().added.begin(), ways.front().added.end());
  for (const Changes &way : ways.drop_front())
    asked.insert(way.removed.begin(), way.removed.end());
  for (const ByteRange &range : ways.front().removed)
    asked.erase(range);
  for (const Changes &way : ways.drop_front()) {
    size_t before = mark();
    apply(way);
    std::erase_if(asked, [&](const ByteRange &range) { return !has(range); });
    takeBack(before);
  }
  for (const Changes &way : ways)
    for (const ByteRange &range : way.removed)
      remove(range);
  for (const ByteRange &range : asked)
    put(range);
}

} // namespace tessera::memory
