#include "passes/codegen/cpu/ColumnValues.h"

#include "passes/codegen/cpu/LoopNest.h"

namespace tessera::codegen {

ColumnValues::ColumnValues(KernelFunction &function, Emitter &e, llvm::ArrayRef<Node *> nodes,
                           llvm::ArrayRef<unsigned> columns, unsigned lanes)
    : e(e), columns(columns.begin(), columns.end()), lanes(lanes), place(e.graph.constant(0)) {
  constexpr int64_t mostBytes = 32 << 10; // that stay in the first cache beside the rows
  constexpr int64_t lineBytes = 64;
  int64_t count = 1, bytes = 0;
  for (unsigned dim : columns) {
    count *= e.graph.dims[dim].size;
    place = e.graph.add(e.graph.multiply(place, e.graph.dims[dim].size), e.graph.dim(dim));
  }
  for (Node *node : nodes) {
    int64_t row = llvm::alignTo(count * byteSize(node->kind), lineBytes);
    if (bytes + row > mostBytes)
      continue;
    BufferInfo buffer;
    buffer.source = BufferInfo::Scratch;
    buffer.kind = node->kind;
    buffer.elements = count;
    buffer.position = bytes; // behind the area's begin
    bytes += row;
    auto number = static_cast<int>(e.graph.buffers.size());
    e.graph.buffers.push_back(buffer);
    kept.push_back({node, e.graph.load(node->kind, number, place, nullptr)});
  }
  int64_t area = function.reserveScratchOfBox(bytes);
  for (auto [node, load] : kept)
    e.graph.buffers[load->buffer()].position += area;
}

void ColumnValues::compute(Value from, Value to, int64_t step) {
  if (kept.empty())
    return;
  overVectors(e, columns, lanes, from, to, step, [&](Value) {
    for (auto [node, load] : kept)
      e.store(e.bufferPointer(load->buffer()), node->kind, place, e.splat(e.emit(node), e.lanes()));
  });
}

void ColumnValues::bind() {
  for (auto [node, load] : kept)
    e.levels.back().values[node] = e.emit(load);
}

} // namespace tessera::codegen
