// Rows that stay in shared memory (kernel/KeptRows.h): a block has some of them, a team of threads each.
//
//   softmax of rows of 3     fill      rows[r][c] = x[r, c]            all threads side by side, over row ends
//                            barrier
//                            sums      max, then sum of exp            a team its row
//                            values    ofRows[r] = max, sum            the first of each team
//                            barrier
//                            elements  y[r, c] = .. ofRows[r] ..       all threads side by side
//
// What lies in memory as the rows do is read and written once, in whole lines whatever the rows' length is:
// a block begins at the line that its first row begins in. Of a row of the results' shape some elements
// may be in an operand's place: all that other threads read of it is read before the second barrier.
//
// A row that finds no room comes in windows (RowRegisters.h): each pass goes over one after the other.
#include "passes/codegen/gpu/BlockSum.h"
#include "passes/codegen/gpu/Items.h"
#include "passes/codegen/gpu/NestRoots.h"
#include "passes/codegen/gpu/RowRegisters.h"
#include "passes/codegen/gpu/RowTeams.h"
#include "passes/codegen/gpu/RowValues.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::codegen::gpu {

namespace {

constexpr int64_t kLine = 32; // bytes of memory that are moved at once

class RowBlocks {
public:
  RowBlocks(EntryFunction &function, NestGraph &nest)
      : function(function), nest(nest), graph(nest.g->graph), e(function.emitter(graph)), b(e.b),
        values(nest, e.live = Graph::reachable(nest.rootNodes())) {
    unsigned rowDims = nest.takesRows() ? nest.outerDims : nest.dims.size();
    ofRows =
        collapseLoops(graph, llvm::ArrayRef(nest.dims).take_front(rowDims), e.live, nest.stores());
    ofElements =
        collapseLoops(graph, llvm::ArrayRef(nest.dims).drop_front(rowDims), e.live, nest.stores());
  }

  bool fits() {
    if (!areWhole())
      return false;
    int64_t sumBytes = 0, sumBytesOfSixteen = 0, widest = 1;
    for (Node *node : e.live) {
      if (node->op == Op::Keep)
        widest = std::max(widest, byteSize(node->kind));
      if (values.isSum(node)) {
        if (!isBlockSum(e, *node->reduction) ||
            (windows() > 1 && node->reduction->loops.size() > 1))
          areAllBlockSums = false;
        else
          for (auto [bytes, threads] : {std::pair(&sumBytes, function.launch.threads),
                                        std::pair(&sumBytesOfSixteen, kUnitThreads)})
            *bytes = std::max(*bytes, blockSumBytes(e, *node->reduction, threads));
      }
    }
    RowSizes sizes{.elements = nest.rows->elements(),
                   .bytes = windowBytes(),
                   .valueBytes = values.count() * kValueBytes,
                   .sumBytes = sumBytes,
                   .sumBytesOfSixteen = sumBytesOfSixteen,
                   .widest = widest,
                   .arrays = arrays()};
    if (sizes.elements < kLeastTogether && itemsOf(graph, ofRows, 1) == 1)
      return false; // no loop is over it, and each thread has it for itself
    int64_t most = std::max(function.sharedLeft(), function.sharedOfLaunchLeft());
    if (std::optional<RowTeams> found =
            rowTeams(sizes, areAllBlockSums, function.launch.threads, most))
      teams = *found;
    return teams.rows == 1 || (teams.rows > 1 && windows() == 1);
  }

  void emit() {
    space = teams.bytes() > function.sharedLeft()
                ? function.takeSharedOfLaunch(teams.bytes())
                : function.takeShared(llvm::ArrayType::get(b.getInt8Ty(), teams.bytes()), "_rows");
    count = itemsOf(graph, ofRows, 1);
    std::vector<int64_t> rows = itemsOfEach(graph, ofRows, 1);
    order = lineByLine(rows);
    if (BlockOrder other = blockOrder(rows, accessesOf(nest, e.live, ofRows, 1), teams.rows);
        other != order && beginSectors(other.back().size))
      order = std::move(other);
    function.addBlocks(llvm::divideCeil(count, teams.rows),
                       [&](Value number, llvm::Instruction *before) {
                         e.openBody(before);
                         emitBlock(number);
                       });
  }

private:
  static constexpr int64_t kValueBytes = 8; // of each value of a row

  bool isRowRoot(const Root &root) const { return root.isOfRow || !nest.takesRows(); }
  // Whether the rows are taken from their first element to their last.
  bool areWhole() const {
    return llvm::all_of(nest.dims,
                        [&](unsigned dim) {
                          return graph.dims[dim].low == 0 &&
                                 graph.dims[dim].high == graph.dims[dim].size;
                        }) &&
           llvm::none_of(nest.roots, [](const Root &root) { return root.isPart; });
  }

  // Whether so many rows, one after the other, begin and end with a sector of each array that is read or written.
  bool beginSectors(int64_t rows) const {
    auto isWhole = [&](ElementKind kind) {
      return rows * elements() * byteSize(kind) % kLine == 0;
    };
    return llvm::all_of(e.live,
                        [&](Node *node) { return node->op != Op::Keep || isWhole(node->kind); }) &&
           llvm::all_of(nest.roots,
                        [&](const Root &root) { return root.isOfRow || isWhole(root.kind); });
  }

  int64_t arrays() const {
    return std::max<int64_t>(llvm::count_if(graph.buffers,
                                            [](const BufferInfo &buffer) {
                                              return buffer.source == BufferInfo::Scratch;
                                            }),
                             1);
  }
  int64_t elements() const { return nest.rows->elements(); }
  int64_t windowElements() const { return nest.rows->window ? nest.rows->window : elements(); }
  int64_t windows() const { return llvm::divideCeil(elements(), windowElements()); }
  int64_t windowBytes() const {
    int64_t bytes = nest.rows->bytes;
    return windows() == 1 ? bytes
                          : llvm::alignTo(bytes, RowRegisters::pieceBytes(function.launch.threads));
  }

  void emitBlock(Value number) {
    registers.emplace(function, e, space, windowBytes());
    findPlaces();
    first = b.CreateNSWMul(number, e.i64(teams.rows));
    here = e.i64(teams.rows);
    if (count % teams.rows != 0)
      here =
          b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWSub(e.i64(count), first), here);
    bool isRead = fill();
    isRead |= readValues();
    if (isRead)
      barrier(b);
    fold();
    barrier(b);
    forgetValues();
    storeOfRows();
    if (nest.takesRows())
      storeElements();
  }

  // At that row of the block's.
  void openRow(Value local, Value row) {
    openItem(e, ofRows, order, row, 1);
    e.scratch =
        b.CreateGEP(b.getInt8Ty(), space, b.CreateNSWMul(local, e.i64(teams.step(arrays()))));
  }
  Value rowOf(Value local) { return b.CreateNSWAdd(first, local); }

  Value valuePlace(int64_t which, Value local) {
    Value at = b.CreateNSWAdd(e.i64(which * teams.rows), local);
    Value bytes = b.CreateNSWMul(at, e.i64(kValueBytes));
    return b.CreateGEP(b.getInt8Ty(), space, b.CreateNSWAdd(bytes, e.i64(teams.valuesAt())));
  }
  void storeValue(Node *node, Value value, Value local) {
    b.CreateAlignedStore(e.toMemory(node->kind, value), valuePlace(values.numberOf(node), local),
                         llvm::Align(byteSize(node->kind)));
  }
  // The values of a row stand for what they were computed from, but those that `which` leaves out.
  // What all rows have, or the only one, is the first one's: before loops and conditions that are
  // open, as is what follows from it.
  void useValues(Value local, llvm::function_ref<bool(Node *)> which) {
    for (auto [node, number] : values) {
      if (!which(node))
        continue;
      Emitter::Level &level = e.levels[e.levelOf(node->deps)];
      b.SetInsertPoint(level.insertBefore);
      Value place = valuePlace(number, node->deps ? local : e.i64(0));
      Value stored = b.CreateAlignedLoad(memoryType(node->kind, b.getContext()), place,
                                         llvm::Align(byteSize(node->kind)));
      level.values[node] = e.fromMemory(node->kind, stored);
    }
    e.resumeInsertion();
  }
  // What threads have computed of their teams' rows, which of the only row are other teams' too.
  void forgetValues() {
    e.levels.front().values.clear();
    e.levels.front().reductions.clear();
  }

  // `body` for each window, of elements [low, high) of a row, once it is in shared memory; the one that is there
  // first.
  void overWindows(llvm::function_ref<void(int64_t low, int64_t high)> body) {
    int64_t there = registers->window();
    for (int64_t turn = 0; turn < windows(); ++turn) {
      int64_t window = (there + turn) % windows();
      registers->bring(window);
      openWindow(window, body);
    }
  }
  void openWindow(int64_t window, llvm::function_ref<void(int64_t low, int64_t high)> body) {
    int64_t low = window * windowElements();
    for (auto [buffer, place] : places)
      graph.buffers[buffer].position = place - low * byteSize(graph.buffers[buffer].kind);
    body(low, std::min(low + windowElements(), elements()));
  }
  // Where the first of the elements that are kept lies, by buffer.
  void findPlaces() {
    for (auto [number, buffer] : llvm::enumerate(graph.buffers)) {
      if (buffer.source != BufferInfo::Scratch)
        continue;
      auto before = static_cast<int64_t>(places.size());
      places.push_back({number, teams.threads == 1 ? before * teams.rows * teams.step(arrays())
                                                   : buffer.position});
    }
  }

  // `body` at elements [low, high) of all rows of the block, `lanes` at a time, by threads side by side
  // from the line of memory on in which the first lies.
  void overElements(llvm::ArrayRef<LoopGroup> groups, int64_t lanes, int64_t narrowest, int64_t low,
                    int64_t high, llvm::function_ref<void(Value local)> body) {
    int64_t items = itemsOf(graph, groups, lanes), elements = items * lanes,
            inLine = std::max<int64_t>(kLine / narrowest / lanes, 1);
    bool beginsLines = teams.rows * elements % (inLine * lanes) == 0, isWindow = windows() > 1;
    Value end = b.CreateNSWMul(here, e.i64(isWindow ? (high - low) / lanes : items)),
          shift = nullptr;
    if (!beginsLines) {
      shift = b.CreateAnd(b.CreateNSWMul(first, e.i64(items)), e.i64(inLine - 1));
      end = b.CreateNSWAdd(end, shift);
    }
    Value at = e.openLoop(function.thread, end, function.launch.threads, /*mayBeEmpty=*/true);
    if (shift) {
      at = b.CreateNSWSub(at, shift);
      e.openIf(b.CreateICmpSGE(at, e.i64(0)));
    }
    Value local = e.i64(0), column = low ? b.CreateNSWAdd(at, e.i64(low / lanes)) : at;
    if (teams.rows > 1) {
      Value small = b.CreateTrunc(at, b.getInt32Ty()), size = b.getInt32(items);
      local = b.CreateZExt(b.CreateUDiv(small, size), b.getInt64Ty());
      column = b.CreateZExt(b.CreateURem(small, size), b.getInt64Ty());
    }
    openRow(local, rowOf(local));
    openItem(e, groups, column, lanes);
    body(local);
    closeItem(e);
    closeItem(e);
    if (shift)
      e.closeLoop();
    e.closeLoop();
  }

  // Operands of which rows are kept; from here on they are there.
  bool fill() {
    llvm::SmallVector<Node *> kept;
    llvm::copy_if(e.live, std::back_inserter(kept), [&](Node *node) {
      return node->op == Op::Keep && isArgument(node->operands[0]);
    });
    for (int64_t window = 0; window < windows(); ++window) {
      if (window)
        registers->put();
      openWindow(window, [&](int64_t low, int64_t high) {
        for (Node *node : kept) {
          auto groups = collapseLoops(graph, loopsOf(node), e.live, {});
          overElements(groups, lanesOfFill(node, groups), byteSize(node->kind), low, high,
                       [&](Value) { e.emit(node); });
        }
      });
      registers->filled(window);
    }
    for (Node *node : kept) {
      node->op = Op::Load;
      node->operands.clear();
    }
    return !kept.empty();
  }
  bool isArgument(const Node *node) const {
    return node->op == Op::Load && !node->mask &&
           graph.buffers[node->buffer()].source == BufferInfo::Argument;
  }
  // Those of the pass that it is stored in.
  llvm::SmallVector<unsigned> loopsOf(const Node *kept) const {
    DimSet own = kept->deps & ~values.rows;
    for (Node *node : e.live)
      if (values.isSum(node) && (node->reduction->ownDims & own) &&
          !(own & ~node->reduction->ownDims)) {
        llvm::SmallVector<unsigned> loops;
        for (const auto &loop : node->reduction->loops)
          loops.append(loop.begin(), loop.end());
        return loops;
      }
    return {};
  }
  int64_t lanesOfFill(const Node *kept, llvm::ArrayRef<LoopGroup> groups) const {
    if (groups.empty() || teams.threads == 1 || !widestRun(kept->operands[0], groups.back()))
      return 1;
    auto [low, high] = boundsOf(graph, groups.back());
    return elementsOfThread(high - low, byteSize(kept->kind));
  }

  // What operands have one element of for each row is read by one thread each.
  bool readValues() {
    if (llvm::none_of(values, [&](auto &value) { return values.isRead(value.first); }))
      return false;
    e.openIf(b.CreateICmpSLT(function.thread, here));
    openRow(function.thread, rowOf(function.thread));
    for (auto [node, number] : values)
      if (values.isRead(node))
        storeValue(node, e.emit(node), function.thread);
    closeItem(e);
    e.closeLoop();
    return true;
  }

  // A row's sums, and what follows from them, by its team; past the last row it is the last again.
  void fold() {
    Value local = function.thread, thread = e.i64(0);
    if (teams.threads > 1) {
      // Sixteen lanes each, of another row than the sixteen beside them.
      Value sixteen = b.CreateLShr(function.thread, 4), lane = b.CreateAnd(function.thread, 15);
      local = b.CreateAnd(sixteen, teams.rows - 1);
      Value group = b.CreateLShr(sixteen, llvm::Log2_64(teams.rows));
      thread = b.CreateNSWAdd(b.CreateShl(group, 4), lane);
    }
    bool isPart = teams.threads * teams.rows < function.launch.threads;
    if (isPart)
      e.openIf(b.CreateICmpSLT(function.thread, here));
    Value row = rowOf(local);
    if (count % teams.rows != 0)
      row = b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, row, e.i64(count - 1));
    openRow(local, row);
    useValues(local, [&](Node *node) { return values.isRead(node); });
    Value sums = b.CreateGEP(
        b.getInt8Ty(), space,
        b.CreateNSWAdd(e.i64(teams.sumsAt()), b.CreateNSWMul(local, e.i64(teams.sumPitch))));
    bool isFirst = true, isKept = false; // what others of the team have put away in an earlier sum
    for (Node *node : e.live) {
      if (!values.isSum(node))
        continue;
      auto &known = e.levels[e.levelOf(node->deps)].reductions;
      if (teams.threads > 1 && !known.contains(node->reduction)) {
        if (!isFirst && (isKept || blockSumBytes(e, *node->reduction, teams.threads)))
          barrier(b);
        isFirst = false;
        isKept |= llvm::any_of(Graph::reachable(node->reduction->inputs),
                               [](Node *of) { return of->op == Op::Keep; });
        auto found = emitBlockSum({thread, teams.threads, /*isAlone=*/teams.rows == 1}, e,
                                  *node->reduction, sums, [&](auto add) { overWindows(add); });
        e.levels[e.levelOf(node->deps)].reductions[node->reduction] = std::move(found);
      }
      e.emit(node);
    }
    llvm::SmallVector<std::pair<Node *, Value>> found;
    for (auto [node, number] : values)
      if (!values.isRead(node))
        found.push_back({node, e.emit(node)});
    if (teams.threads > 1)
      e.openIf(b.CreateICmpEQ(thread, e.i64(0)));
    for (auto [node, value] : found)
      storeValue(node, value, local);
    if (teams.threads > 1)
      e.closeLoop();
    closeItem(e);
    if (isPart)
      e.closeLoop();
  }

  // Results that have one element for each row.
  void storeOfRows() {
    if (llvm::none_of(nest.roots, [&](const Root &root) { return isRowRoot(root); }))
      return;
    e.openIf(b.CreateICmpSLT(function.thread, here));
    openRow(function.thread, rowOf(function.thread));
    useValues(function.thread, [](Node *) { return true; });
    emitRoots(function, nest, e, /*ofRows=*/nest.takesRows());
    closeItem(e);
    e.closeLoop();
  }

  void storeElements() {
    for (Node *node : e.live)
      if (node->op == Op::Load)
        node->operands.clear(); // what fills it is over
    int64_t narrowest = kLine;
    for (const Root &root : nest.roots)
      if (!root.isOfRow)
        narrowest = std::min(narrowest, byteSize(root.kind));
    int64_t lanes = teams.threads == 1 ? 1 : lanesOfRow(nest, ofElements, e.live);
    overWindows([&](int64_t low, int64_t high) {
      overElements(ofElements, lanes, narrowest, low, high, [&](Value local) {
        useValues(local, [](Node *) { return true; });
        emitRoots(function, nest, e, /*ofRows=*/false);
      });
    });
  }

  EntryFunction &function;
  NestGraph &nest;
  Graph &graph;
  Emitter e;
  llvm::IRBuilder<> &b;
  const RowValues values;
  llvm::SmallVector<LoopGroup> ofRows, ofElements;
  BlockOrder order; // of the rows
  bool areAllBlockSums = true;
  RowTeams teams;
  int64_t count = 0;
  Value space = nullptr;
  std::optional<RowRegisters> registers;
  llvm::SmallVector<std::pair<size_t, int64_t>> places;
  Value first = nullptr, here = nullptr; // the block's first row, and how many it has
};

} // namespace

bool suitRowBlocks(EntryFunction &function, NestGraph &nest) {
  return nest.rows && RowBlocks(function, nest).fits();
}

bool emitRowBlocks(EntryFunction &function, NestGraph &nest) {
  if (!nest.rows)
    return false;
  RowBlocks blocks(function, nest);
  if (!blocks.fits())
    return false;
  blocks.emit();
  return true;
}

} // namespace tessera::codegen::gpu
