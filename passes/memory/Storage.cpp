#include "passes/memory/Storage.h"

#include "llvm/ADT/STLExtras.h"
#include <map>

namespace tessera::memory {

int Storages::add(int64_t bytes, Place place, bool shareable, Memory memory) {
  parent.push_back(parent.size());
  classes.push_back({bytes, place, shareable, memory, {}});
  return parent.back();
}

void Storages::live(int value, int64_t begin, int64_t end) {
  Class &c = classes[find(value)];
  c.live = united(c.live, {{begin, end}});
}

int Storages::find(int value) const {
  while (parent[value] != value)
    value = parent[value] = parent[parent[value]];
  return value;
}

// Without the last read at positions, until another one, which what is written there follows.
static Segments readBefore(Segments live, llvm::ArrayRef<int64_t> positions, int64_t until) {
  for (int64_t at : positions)
    for (Segment &s : live)
      if (at >= 0 && s.end == 4 * (until < 0 ? at : until) + 2 && s.begin <= 4 * at)
        s.end = 4 * at;
  return live;
}

bool Storages::share(int from, int to, llvm::ArrayRef<int64_t> at, int64_t back, int64_t until) {
  int a = find(from), b = find(to);
  if (a == b)
    return true;
  Class &x = classes[a], &y = classes[b];
  if (!x.shareable || !y.shareable || x.bytes != y.bytes || x.memory != y.memory ||
      (x.place.kind != Place::Arena && y.place.kind != Place::Arena))
    return false;
  if (overlap(readBefore(x.live, at, until), readBefore(y.live, back, -1)))
    return false;
  if (x.place.kind == Place::Arena)
    x.place = y.place;
  x.live = united(x.live, y.live);
  parent[b] = a;
  return true;
}

bool Storages::moveTo(int value, Place place) {
  Class &c = classes[find(value)];
  if (c.place.kind != Place::Arena || !c.shareable)
    return false;
  c.place = place;
  return true;
}

std::vector<Move> sequenced(llvm::ArrayRef<Move> moves, llvm::function_ref<int(int)> temporary) {
  std::vector<Move> pending, result;
  std::map<int, int> readers; // array -> pending moves that read it
  for (const Move &move : moves)
    if (move.from != move.to) {
      pending.push_back(move);
      ++readers[move.from];
    }
  while (!pending.empty()) {
    auto free = llvm::find_if(pending, [&](const Move &m) { return !readers[m.to]; });
    if (free != pending.end()) {
      result.push_back(*free);
      --readers[free->from];
      pending.erase(free);
      continue;
    }
    // All targets are still read: break a cycle at the first one.
    int target = pending.front().to, saved = temporary(target);
    result.push_back({target, saved});
    for (Move &move : pending)
      if (move.from == target)
        move.from = saved;
    readers[saved] = readers[target];
    readers[target] = 0;
  }
  return result;
}

} // namespace tessera::memory
