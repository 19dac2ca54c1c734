// Points of a nest by number: what a block, a thread, or one access of a thread has of them.
#pragma once

#include "passes/codegen/cpu/Emitter.h"
#include "passes/codegen/gpu/BlockOrder.h"
#include "passes/codegen/kernel/NestGraph.h"

namespace tessera::codegen::gpu {

// Items of `lanes` points side by side in the innermost group.
int64_t itemsOf(const Graph &graph, llvm::ArrayRef<LoopGroup> groups, int64_t lanes);

// Opens two levels in which the loops are at the item of that number, counted like digits: the inner one
// is of the innermost group, at `lanes` points.
void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, Value number, int64_t lanes);
// The same in another order: of the groups' items.
void openItem(Emitter &e, llvm::ArrayRef<LoopGroup> groups, const BlockOrder &order, Value number,
              int64_t lanes);
int64_t itemsOf(const BlockOrder &order);
// Where each of so many groups is at the item of that number, counted from its first one.
llvm::SmallVector<Value> placesOf(llvm::IRBuilder<> &b, const BlockOrder &order, Value number,
                                  size_t loops, int64_t lanes);
// Opens the two levels at such places, counted from the loops' own beginnings.
void openPlaces(Emitter &e, llvm::ArrayRef<LoopGroup> groups, llvm::ArrayRef<Value> places,
                int64_t lanes);
// Of each group.
std::vector<int64_t> itemsOfEach(const Graph &graph, llvm::ArrayRef<LoopGroup> groups,
                                 int64_t lanes);
// What an item of `lanes` points reads and writes, but where data says; loops of the nest that are in no group it goes over.
std::vector<BlockAccess> accessesOf(const NestGraph &nest, llvm::ArrayRef<Node *> live,
                                    llvm::ArrayRef<LoopGroup> groups, int64_t lanes);

void closeItem(Emitter &e);

// Whether what the nodes load lies side by side along a loop, or is the same for all of it: the bytes
// of the widest such element (1 where nothing is loaded). Empty where some of it lies apart.
std::optional<int64_t> widestRun(llvm::ArrayRef<Node *> nodes, llvm::ArrayRef<unsigned> innermost);

// What the roots are computed from, but for reductions and what is within them.
std::vector<Node *> nodesAround(llvm::ArrayRef<Node *> roots);

// As many elements along a loop as one access moves, where all that the results are computed of lies side
// by side there, the sums that are at hand apart.
int64_t lanesOfResults(const Graph &graph, llvm::ArrayRef<Root> roots, const LoopGroup &innermost,
                       ElementKind ofSums);

} // namespace tessera::codegen::gpu
