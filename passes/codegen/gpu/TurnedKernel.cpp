// Elements of which some lie across the results (kernel/TurnedLoads.h), as transposes leave them: blocks
// of 32 x 32 points go through shared memory.
//
//   out[c, r] = in[r, c] + 1        tile[r][c] = in[r, c]        threads side by side along c
//                                   barrier
//                                   out[c, r] = tile[r][c] + 1   threads side by side along r
//
// A line of the tile has an odd number of words, one more than it needs, so that a column lies in as many
// banks as a row.
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/kernel/TurnedLoads.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kSide = 32;

// Elements from line to line of a tile.
int64_t pitchOf(ElementKind kind) {
  constexpr int64_t word = 4;
  return kSide + std::max<int64_t>(word / byteSize(kind), 1);
}

class TurnedBlocks {
public:
  TurnedBlocks(EntryFunction &function, const NestGraph &nest, TurnedLoads turned,
               llvm::ArrayRef<LoopGroup> groups)
      : function(function), nest(nest), graph(nest.g->graph), turned(std::move(turned)),
        along(groups[this->turned.along]), across(groups.back()), e(function.emitter(graph)),
        b(e.b) {
    e.live = Graph::reachable(nest.rootNodes());
    for (auto [i, group] : llvm::enumerate(groups.drop_back()))
      if (i != this->turned.along)
        outer.push_back(group);
  }

  void emit() {
    for (Node *load : turned.loads)
      tiles.push_back(function.takeShared(
          llvm::ArrayType::get(memoryType(load->kind, b.getContext()), kSide * pitchOf(load->kind)),
          "_turned"));
    int64_t blocks = itemsOf(graph, outer, 1) * blocksOf(along) * blocksOf(across);
    function.addBlocks(blocks, [&](Value number, llvm::Instruction *before) {
      e.openBody(before);
      emitBlock(number);
    });
  }

private:
  int64_t blocksOf(const LoopGroup &group) const {
    auto [low, high] = boundsOf(graph, group);
    return llvm::divideCeil(high - low, kSide);
  }
  // The block's first point of a loop.
  Value firstOf(const LoopGroup &group, Value number) {
    return b.CreateNSWAdd(b.CreateNSWMul(number, e.i64(kSide)),
                          e.i64(boundsOf(graph, group).first));
  }
  void emitBlock(Value number) {
    int64_t inLine = blocksOf(across), lines = blocksOf(along);
    Value acrossFirst = firstOf(across, b.CreateURem(number, e.i64(inLine)));
    number = b.CreateUDiv(number, e.i64(inLine));
    Value alongFirst = firstOf(along, b.CreateURem(number, e.i64(lines)));
    openItem(e, outer, b.CreateUDiv(number, e.i64(lines)), 1);
    overPoints(across, acrossFirst, along, alongFirst, [&](Value line, Value at) {
      for (auto [load, tile] : llvm::zip(turned.loads, tiles)) {
        Value value = e.toMemory(load->kind, e.emit(load));
        b.CreateAlignedStore(value, placeOf(load, tile, line, at),
                             llvm::Align(byteSize(load->kind)));
      }
    });
    barrier(b);
    overPoints(along, alongFirst, across, acrossFirst, [&](Value line, Value at) {
      for (auto [load, tile] : llvm::zip(turned.loads, tiles)) {
        Value stored =
            b.CreateAlignedLoad(memoryType(load->kind, b.getContext()),
                                placeOf(load, tile, at, line), llvm::Align(byteSize(load->kind)));
        e.levels.back().values[load] = e.fromMemory(load->kind, stored);
      }
      emitRoots(function, nest, e, /*ofRows=*/false);
    });
    closeItem(e);
  }

  // `body` at the points of the block: threads side by side along `inner`.
  void overPoints(const LoopGroup &outer, Value outerFirst, const LoopGroup &inner,
                  Value innerFirst, llvm::function_ref<void(Value line, Value at)> body) {
    Value at = b.CreateAnd(function.thread, e.i64(kSide - 1));
    Value line = e.openLoop(b.CreateLShr(function.thread, llvm::Log2_64(kSide)), e.i64(kSide),
                            function.launch.threads / kSide, /*mayBeEmpty=*/false);
    Value outerAt = b.CreateNSWAdd(outerFirst, line), innerAt = b.CreateNSWAdd(innerFirst, at);
    auto exists = [&](const LoopGroup &group, Value point) {
      return b.CreateICmpSLT(point, e.i64(boundsOf(graph, group).second));
    };
    e.openIf(b.CreateAnd(exists(outer, outerAt), exists(inner, innerAt)));
    e.openBlock();
    e.bindLevel(outer.back(), setOf(outer), outerAt, 1, nullptr);
    e.bindLevel(inner.back(), setOf(inner), innerAt, 1, nullptr);
    body(line, at);
    e.closeBlock();
    e.closeLoop();
    e.closeLoop();
  }

  // Of the point on that line of the tile: a line has what follows each other in memory.
  Value placeOf(Node *load, Value tile, Value line, Value at) {
    return e.element(tile, load->kind,
                     b.CreateNSWAdd(b.CreateNSWMul(line, e.i64(pitchOf(load->kind))), at));
  }

  EntryFunction &function;
  const NestGraph &nest;
  Graph &graph;
  TurnedLoads turned;
  LoopGroup along, across;
  llvm::SmallVector<LoopGroup> outer;
  Emitter e;
  llvm::IRBuilder<> &b;
  llvm::SmallVector<Value> tiles;
};

} // namespace

bool emitTurned(EntryFunction &function, const NestGraph &nest) {
  std::vector<Node *> live = Graph::reachable(nest.rootNodes());
  auto groups = collapseLoops(nest.g->graph, nest.dims, live, nest.stores());
  std::optional<TurnedLoads> turned = turnedLoads(nest.g->graph, groups, live);
  if (!turned || llvm::any_of(nest.roots, [](const Root &root) { return root.value.im; }))
    return false;
  int64_t bytes = 0;
  for (Node *load : turned->loads)
    bytes += kSide * pitchOf(load->kind) * byteSize(load->kind);
  if (function.sharedBytes + bytes > kMostSharedBytes)
    return false;
  TurnedBlocks(function, nest, std::move(*turned), groups).emit();
  return true;
}

} // namespace tessera::codegen::gpu
