#include "compiler/ExplainMemory.h"

#include "compiler/source/SourcePlaces.h"
#include "passes/package/Figures.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <set>

namespace tessera {

using namespace mlir;

namespace {

constexpr size_t kPoints = 240; // of the picture
constexpr size_t kAtPeak = 40;

using Place = std::pair<int64_t, int64_t>; // an output, or -1 for the arena; offset

Place placeIn(exec::BufferOp buffer) {
  bool isOutput = buffer.getSpace() == exec::Space::Output;
  return {isOutput ? int64_t(buffer.getIndex()) : -1, buffer.getOffset()};
}

struct Life {
  int64_t begin, end;
  Operation *first; // that uses it
};

class Lives {
public:
  void addBlock(Block &block) {
    for (Operation &op : block) {
      if (isa<exec::BufferOp, exec::ConstantOp, exec::FunctionOp>(op))
        continue;
      int64_t begin = int64_t(order.size());
      order.push_back(&op);
      for (Value operand : op.getOperands())
        use(operand, &op);
      if (auto start = dyn_cast<exec::StartOp>(op))
        underWay[start.getSite()] = llvm::to_vector(op.getOperands());
      if (auto wait = dyn_cast<exec::WaitOp>(op))
        for (Value buffer : underWay[wait.getSite()])
          use(buffer, &op);
      for (Region &region : op.getRegions())
        if (!region.empty())
          addBlock(region.front());
      if (isa<exec::LoopOp>(op))
        carry(begin, int64_t(order.size()) - 1);
    }
  }

  // What is written last of an output stays; before, temporaries may lie there.
  void keepOutputs() {
    std::map<int64_t, Life *> last;
    for (auto &[buffer, life] : lives)
      if (auto made = buffer.getDefiningOp<exec::BufferOp>();
          made.getSpace() == exec::Space::Output) {
        Life *&kept = last[made.getIndex()];
        kept = kept && kept->end > life.end ? kept : &life;
      }
    for (auto [output, life] : last)
      life->end = int64_t(order.size()) - 1;
  }

  llvm::MapVector<Value, Life> lives;
  std::vector<Operation *> order;

private:
  void use(Value buffer, Operation *by) {
    auto made = buffer.getDefiningOp<exec::BufferOp>();
    if (!made || (made.getSpace() != exec::Space::Arena && made.getSpace() != exec::Space::Output))
      return;
    int64_t now = int64_t(order.size()) - 1;
    auto [at, fresh] = lives.insert({buffer, {now, now, by}});
    at->second.end = now;
  }

  // What comes into a loop, or is read in it before it is written, is there through all trips.
  void carry(int64_t begin, int64_t end) {
    for (auto &[buffer, life] : lives) {
      if (life.end < begin)
        continue;
      auto dispatch = dyn_cast<exec::DispatchOp>(life.first);
      bool readFirst = dispatch && llvm::is_contained(dispatch.getInputs(), buffer);
      if (life.begin >= begin && !readFirst)
        continue;
      life.begin = std::min(life.begin, begin);
      life.end = end;
    }
  }

  std::map<int64_t, SmallVector<Value>> underWay; // by site
};

explain::AtPeak described(exec::BufferOp buffer, Operation *first) {
  SourcePlace place = placeOf(first->getLoc());
  explain::AtPeak entry;
  entry.name = place.name;
  if (auto dispatch = dyn_cast<exec::DispatchOp>(first); dispatch && entry.name.empty())
    entry.name = dispatch.getKernel().str();
  if (entry.name.empty())
    entry.name = first->getName().stripDialect().str();
  entry.place = explain::whereText(place.frames);
  entry.bytes = buffer.getBytes();
  return entry;
}

} // namespace

explain::Memory memoryOf(exec::ProgramOp program) {
  explain::Memory memory;
  MemoryFigures figures = memoryFigures(program);
  memory.arguments = figures.arguments, memory.outputs = figures.outputs,
  memory.arena = figures.arena;
  MemoryFigures host = memoryFigures(program, exec::Memory::Host);
  memory.hostArguments = host.arguments, memory.hostOutputs = host.outputs,
  memory.hostArena = host.arena;
  Lives all;
  all.addBlock(*program.getBlock());
  all.keepOutputs();
  std::vector<std::vector<std::pair<Value, Life>>> begins(all.order.size()), ends(all.order.size());
  for (auto &each : all.lives) {
    begins[each.second.begin].push_back(each);
    ends[each.second.end].push_back(each);
  }
  // Arrays at the same place at the same time are one, seen twice.
  std::map<Place, std::multiset<int64_t>> at;
  int64_t held = 0, most = -1, peak = 0;
  std::vector<int64_t> heldAt(all.order.size());
  auto largest = [&](Place place) { return at[place].empty() ? 0 : *at[place].rbegin(); };
  for (size_t i = 0; i < all.order.size(); ++i) {
    for (auto &[buffer, life] : begins[i]) {
      auto op = buffer.getDefiningOp<exec::BufferOp>();
      held -= largest(placeIn(op));
      at[placeIn(op)].insert(op.getBytes());
      held += largest(placeIn(op));
    }
    heldAt[i] = std::min(held, memory.arena + memory.outputs);
    if (heldAt[i] > most)
      most = heldAt[i], peak = int64_t(i);
    for (auto &[buffer, life] : ends[i]) {
      auto op = buffer.getDefiningOp<exec::BufferOp>();
      held -= largest(placeIn(op));
      at[placeIn(op)].erase(at[placeIn(op)].find(op.getBytes()));
      held += largest(placeIn(op));
    }
  }
  for (size_t i = 0; i < heldAt.size();) {
    size_t next = std::max(i + 1, i + heldAt.size() / kPoints), top = i;
    for (size_t k = i; k < std::min(next, heldAt.size()); ++k)
      top = heldAt[k] > heldAt[top] ? k : top;
    memory.overStep.push_back(
        {explain::whereText(placeOf(all.order[top]->getLoc()).frames), heldAt[top]});
    i = next;
  }
  std::set<Place> places;
  for (auto &[buffer, life] : all.lives) {
    auto op = buffer.getDefiningOp<exec::BufferOp>();
    if (life.begin <= peak && peak <= life.end && places.insert(placeIn(op)).second)
      memory.atPeak.push_back(described(op, life.first));
  }
  llvm::stable_sort(memory.atPeak, [](const auto &a, const auto &b) { return a.bytes > b.bytes; });
  if (memory.atPeak.size() > kAtPeak)
    memory.atPeak.resize(kAtPeak);
  return memory;
}

} // namespace tessera
