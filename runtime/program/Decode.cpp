#include "include/tessera/container.h"
#include "runtime/array/ElementType.h"
#include "runtime/library/Library.h"
#include "runtime/program/Decoded.h"
#include "runtime/program/Groups.h"
#include "runtime/program/OutsideKernel.h"
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>
#include <unordered_map>

namespace tessera::runtime {

namespace {

using program::Collective;
using Space = program::Buffer;
using Body = google::protobuf::RepeatedPtrField<program::Instruction>;

constexpr uint64_t kMostBytes = uint64_t{1} << 46; // of anything

class Decoder {
public:
  Decoder(const program::Program &program, const MeshGrid &mesh) : program_(program), mesh_(mesh) {}

  Result<Decoded> run() {
    for (const auto &kernel : program_.kernels()) {
      if (kernel.grid() == 0)
        return invalidProgram("kernel '" + kernel.symbol() + "' has an empty grid");
      if (!std::isfinite(kernel.flops()) || kernel.scratch_bytes() > kMostBytes)
        return invalidProgram("kernel '" + kernel.symbol() + "' has an impossible size");
      out_.kernels.push_back({nullptr, kernel.grid(), kernel.grid(), false, kernel.symbol(),
                              static_cast<uint32_t>(kernel.operands_size())});
      if (!kernel.outside().empty())
        if (Status s = checkOutside(kernel); !s.ok())
          return s;
      if (!kernel.library().empty())
        if (Status s = findInLibrary(kernel); !s.ok())
          return s;
      out_.scratchBytes = std::max(out_.scratchBytes, kernel.scratch_bytes());
    }
    kernelBytes_.assign(program_.kernels_size(), 0);
    isAliased_.resize(program_.inputs_size());
    for (const auto &output : program_.outputs())
      if (output.alias())
        isAliased_[output.alias() - 1] = true;
    if (Status s = numberSites(program_.body()); !s.ok())
      return s;
    if (Status s = decodeBody(program_.body(), 0); !s.ok())
      return s;
    emit({Opcode::End});
    shareKernels();
    return std::move(out_);
  }

private:
  Status findInLibrary(const program::Kernel &kernel) {
    auto found =
        findLibraryKernel({kernel.library(), {kernel.numbers().begin(), kernel.numbers().end()}});
    if (!found.ok())
      return found.status();
    bool fits = kernel.grid() == found->grid && kernel.scratch_bytes() >= found->scratchBytes &&
                kernel.operands_size() == static_cast<int>(found->operandBytes.size());
    for (int i = 0; fits && i < kernel.operands_size(); ++i)
      fits = kernel.operands(i).bytes() >= found->operandBytes[i] &&
             kernel.operands(i).written() == (i >= static_cast<int>(found->inputs));
    if (!fits)
      return invalidProgram("kernel '" + kernel.symbol() +
                            "' has another grid, other operands or less scratch than its library "
                            "needs: compile the program again");
    out_.kernels.back().function = found->function;
    out_.kernels.back().plan = std::move(found->plan);
    out_.kernels.back().prepare = found->prepare;
    return {};
  }

  Status error(const std::string &what) const {
    std::string where = location_ < static_cast<uint32_t>(program_.locations_size()) && location_
                            ? program_.locations(static_cast<int>(location_))
                            : "instruction " + std::to_string(out_.code.size());
    return invalidProgram(where + ": " + what);
  }

  uint32_t emit(Instruction instruction) {
    instruction.location = location_;
    out_.code.push_back(instruction);
    return static_cast<uint32_t>(out_.code.size() - 1);
  }

  // Waits may come before their start in the order of the text (loops), so sites are numbered
  // first.
  Status numberSites(const Body &body) {
    for (const auto &instruction : body) {
      if (instruction.has_start())
        sites_.try_emplace(instruction.start().site(), static_cast<uint32_t>(sites_.size()));
      if (instruction.has_loop())
        for (const Body *inner : {&instruction.loop().condition(), &instruction.loop().body()})
          if (Status s = numberSites(*inner); !s.ok())
            return s;
      for (const auto &block : instruction.branch().blocks())
        if (Status s = numberSites(block.body()); !s.ok())
          return s;
    }
    out_.sites = static_cast<uint32_t>(sites_.size());
    return {};
  }

  // Appends a slot for `buffer`; `bytes` is what the instruction needs, 0 for whatever the buffer
  // has.
  Status addSlot(const program::Buffer &buffer, uint64_t bytes, bool written) {
    Slot slot{buffer.space(), buffer.index(), buffer.offset()};
    uint64_t limit = 0;
    std::string where;
    switch (buffer.space()) {
    case Space::ARENA:
      limit = program_.arena_bytes();
      where = "the arena";
      break;
    case Space::CONSTANT:
      limit = program_.constant_bytes();
      where = "the constants";
      if (written)
        return error("writes to the constants");
      break;
    case Space::INPUT:
    case Space::OUTPUT: {
      const auto &list = buffer.space() == Space::INPUT ? program_.inputs() : program_.outputs();
      where =
          (buffer.space() == Space::INPUT ? "input " : "output ") + std::to_string(buffer.index());
      if (buffer.index() >= static_cast<uint32_t>(list.size()))
        return error(where + " does not exist");
      const auto &parameter = list[static_cast<int>(buffer.index())];
      limit = static_cast<uint64_t>(localBytes(parameter));
      if (buffer.space() == Space::OUTPUT && parameter.alias())
        slot = {Space::INPUT, static_cast<uint32_t>(parameter.alias() - 1), buffer.offset()};
      else if (buffer.space() == Space::INPUT && written && !mayOverwrite(buffer.index()))
        return error("writes to " + where + ", which the caller keeps");
      break;
    }
    default:
      return error("a buffer in an unknown space");
    }
    if (buffer.offset() > limit || buffer.bytes() > limit - buffer.offset())
      return error("bytes " + std::to_string(buffer.offset()) + " to " +
                   std::to_string(buffer.offset() + buffer.bytes()) + " of " + where +
                   ", which has " + std::to_string(limit));
    if (buffer.offset() % container::kAlignment)
      return error("a buffer at byte " + std::to_string(buffer.offset()) + " of " + where +
                   ", which is no multiple of " + std::to_string(container::kAlignment));
    if (bytes && buffer.bytes() < bytes)
      return error("a buffer of " + std::to_string(buffer.bytes()) + " bytes where " +
                   std::to_string(bytes) + " are used");
    out_.slots.push_back(slot);
    return {};
  }

  // Whether the program takes the input over: it is donated, or an output has its buffer.
  bool mayOverwrite(uint32_t input) const {
    return program_.inputs(static_cast<int>(input)).donated() || isAliased_[input];
  }

  uint32_t nextSlot() const { return static_cast<uint32_t>(out_.slots.size()); }

  Status decodeBody(const Body &body, uint32_t depth) {
    for (const auto &instruction : body) {
      location_ = instruction.location();
      if (location_ && location_ >= static_cast<uint32_t>(program_.locations_size()))
        location_ = 0;
      if (Status s = decodeOne(instruction, depth); !s.ok())
        return s;
    }
    return {};
  }

  Status decodeOne(const program::Instruction &instruction, uint32_t depth) {
    switch (instruction.kind_case()) {
    case program::Instruction::kDispatch:
      return decodeDispatch(instruction.dispatch());
    case program::Instruction::kStart:
      return decodeStart(instruction.start());
    case program::Instruction::kWait: {
      auto it = sites_.find(instruction.wait().site());
      if (it == sites_.end())
        return error("waits for site " + std::to_string(instruction.wait().site()) +
                     ", which nothing starts");
      emit({Opcode::Wait, it->second});
      return {};
    }
    case program::Instruction::kLoop:
      return decodeLoop(instruction.loop(), depth);
    case program::Instruction::kBranch:
      return decodeBranch(instruction.branch(), depth);
    case program::Instruction::kCopy: {
      const auto &copy = instruction.copy();
      uint32_t slot = nextSlot();
      if (copy.from().bytes() != copy.to().bytes())
        return error("copies " + std::to_string(copy.from().bytes()) + " bytes to " +
                     std::to_string(copy.to().bytes()));
      if (Status s = addSlot(copy.from(), 0, false); !s.ok())
        return s;
      if (Status s = addSlot(copy.to(), 0, true); !s.ok())
        return s;
      emit({Opcode::Copy, 0, slot, 0, copy.from().bytes()});
      return {};
    }
    case program::Instruction::kCoordinate: {
      uint32_t slot = nextSlot();
      AxisRefs axes = instruction.coordinate().axes();
      if (Status s = mesh_.check(axes); !s.ok())
        return error(s.message());
      dropTrivial(axes);
      if (Status s = addSlot(instruction.coordinate().to(), 4, true); !s.ok())
        return s;
      out_.coordinates.push_back(std::move(axes));
      emit({Opcode::Coordinate, static_cast<uint32_t>(out_.coordinates.size() - 1), slot});
      return {};
    }
    default:
      return error("an instruction of an unknown kind");
    }
  }

  Status decodeDispatch(const program::Dispatch &dispatch) {
    if (dispatch.kernel() >= out_.kernels.size())
      return error("kernel " + std::to_string(dispatch.kernel()) + " does not exist");
    uint32_t slot = nextSlot();
    uint64_t bytes = 0;
    const auto &kernel = program_.kernels(static_cast<int>(dispatch.kernel()));
    if (kernel.operands_size() != dispatch.operands_size())
      return error("kernel '" + kernel.symbol() + "' takes " +
                   std::to_string(kernel.operands_size()) + " operands, not " +
                   std::to_string(dispatch.operands_size()));
    for (int i = 0; i < dispatch.operands_size(); ++i) {
      const auto &buffer = dispatch.operands(i);
      if (Status s = addSlot(buffer, kernel.operands(i).bytes(), kernel.operands(i).written());
          !s.ok())
        return s;
      bytes += buffer.bytes();
    }
    if (!out_.kernels[dispatch.kernel()].used)
      out_.kernels[dispatch.kernel()].location = location_;
    out_.kernels[dispatch.kernel()].used = true;
    kernelBytes_[dispatch.kernel()] = std::max(kernelBytes_[dispatch.kernel()], bytes);
    emit({Opcode::Dispatch, dispatch.kernel(), slot});
    return {};
  }

  Status decodeStart(const program::Start &start) {
    const Collective &c = start.collective();
    auto [known, isNew] =
        groupSetOf_.try_emplace(groupSignature(c), static_cast<uint32_t>(out_.groupSets.size()));
    if (isNew) {
      auto groups = GroupSet::make(c, mesh_);
      if (!groups.ok())
        return error(groups.status().message());
      out_.groupSets.push_back(std::move(*groups));
    }
    auto plan = planCollective(c, out_.groupSets[known->second].size());
    if (!plan.ok())
      return error(plan.status().message());
    plan->groupSet = known->second;
    plan->site = sites_[start.site()];
    plan->location = location_;
    if (!groupSetOfSite_.try_emplace(plan->site, plan->groupSet).second &&
        groupSetOfSite_[plan->site] != plan->groupSet)
      return error("site " + std::to_string(start.site()) + " is started over two kinds of groups");
    uint32_t slot = nextSlot();
    for (int i = 0; i < c.operands_size(); ++i)
      if (Status s = addSlot(c.operands(i), plan->transfers[i].operandBytes, false); !s.ok())
        return s;
    for (int i = 0; i < c.results_size(); ++i)
      if (Status s = addSlot(c.results(i), plan->transfers[i].resultBytes, true); !s.ok())
        return s;
    if (Status s = checkOverlap(*plan, slot); !s.ok())
      return s;
    out_.collectives.push_back(std::move(*plan));
    emit({Opcode::Start, static_cast<uint32_t>(out_.collectives.size() - 1), slot});
    return {};
  }

  // Peers read operands while results are written: only an all-reduce may use one buffer for both.
  Status checkOverlap(const CollectivePlan &plan, uint32_t slot) const {
    struct Range {
      int space;
      uint32_t index;
      uint64_t begin, end;
      bool written;
    };
    std::vector<Range> ranges;
    auto count = static_cast<uint32_t>(plan.transfers.size());
    auto add = [&](const Slot &at, int64_t bytes, bool written) {
      uint32_t index = at.space == Space::ARENA ? 0 : at.index;
      if (bytes)
        ranges.push_back({at.space, index, at.offset, at.offset + bytes, written});
    };
    for (uint32_t i = 0; i < count; ++i) {
      const Slot &from = out_.slots[slot + i], &to = out_.slots[slot + count + i];
      bool inPlace = plan.kind == Collective::ALL_REDUCE && from.space == to.space &&
                     (from.space == Space::ARENA || from.index == to.index) &&
                     from.offset == to.offset;
      if (!inPlace)
        add(from, plan.transfers[i].operandBytes, false);
      add(to, plan.transfers[i].resultBytes, true);
    }
    std::sort(ranges.begin(), ranges.end(), [](const Range &a, const Range &b) {
      return std::tie(a.space, a.index, a.begin) < std::tie(b.space, b.index, b.begin);
    });
    uint64_t readEnd = 0, writtenEnd = 0; // of what begins before, in one buffer
    for (size_t i = 0; i < ranges.size(); ++i) {
      const Range &range = ranges[i];
      if (i &&
          std::tie(ranges[i - 1].space, ranges[i - 1].index) != std::tie(range.space, range.index))
        readEnd = writtenEnd = 0;
      if (range.written && range.begin < writtenEnd)
        return error(std::string(nameOf(plan.kind)) + " writes two results to the same place");
      if (range.begin < (range.written ? readEnd : writtenEnd))
        return error(std::string(nameOf(plan.kind)) + " writes a result over an operand");
      uint64_t &end = range.written ? writtenEnd : readEnd;
      end = std::max(end, range.end);
    }
    return {};
  }

  Status decodeLoop(const program::Loop &loop, uint32_t depth) {
    if (depth >= container::kDeepestNesting)
      return error("loops and branches are nested more than " +
                   std::to_string(container::kDeepestNesting) + " deep");
    uint32_t location = location_;
    if (loop.trip_count() >= 0) {
      if (loop.condition_size())
        return error("a counted loop has a condition");
      uint32_t counter = out_.counters++;
      uint32_t enter =
          emit({Opcode::EnterLoop, counter, 0, 0, static_cast<uint64_t>(loop.trip_count())});
      if (Status s = decodeBody(loop.body(), depth + 1); !s.ok())
        return s;
      location_ = location;
      emit({Opcode::NextTrip, counter, enter + 1});
      out_.code[enter].b = static_cast<uint32_t>(out_.code.size());
      return {};
    }
    auto start = static_cast<uint32_t>(out_.code.size());
    if (Status s = decodeBody(loop.condition(), depth + 1); !s.ok())
      return s;
    location_ = location;
    uint32_t slot = nextSlot();
    if (Status s = addSlot(loop.predicate(), 1, false); !s.ok())
      return s;
    uint32_t test = emit({Opcode::JumpIfFalse, slot});
    if (Status s = decodeBody(loop.body(), depth + 1); !s.ok())
      return s;
    location_ = location;
    emit({Opcode::Jump, 0, start});
    out_.code[test].b = static_cast<uint32_t>(out_.code.size());
    return {};
  }

  Status decodeBranch(const program::Branch &branch, uint32_t depth) {
    if (depth >= container::kDeepestNesting)
      return error("loops and branches are nested more than " +
                   std::to_string(container::kDeepestNesting) + " deep");
    if (branch.blocks_size() == 0)
      return error("a branch without blocks");
    uint32_t location = location_, slot = nextSlot();
    if (Status s = addSlot(branch.index(), 4, false); !s.ok())
      return s;
    auto first = static_cast<uint32_t>(out_.targets.size());
    auto count = static_cast<uint32_t>(branch.blocks_size());
    out_.targets.resize(first + count);
    emit({Opcode::Switch, slot, first, 0, count});
    std::vector<uint32_t> exits;
    for (uint32_t i = 0; i < count; ++i) {
      out_.targets[first + i] = static_cast<uint32_t>(out_.code.size());
      if (Status s = decodeBody(branch.blocks(static_cast<int>(i)).body(), depth + 1); !s.ok())
        return s;
      location_ = location;
      exits.push_back(emit({Opcode::Jump}));
    }
    for (uint32_t exit : exits)
      out_.code[exit].b = static_cast<uint32_t>(out_.code.size());
    return {};
  }

  // Grids worth sharing are cut into chunks of some microseconds, whatever the number of cores.
  void shareKernels() {
    constexpr double flopsPerMicrosecond = 40e3, bytesPerMicrosecond = 10e3, chunkMicroseconds = 8;
    for (size_t i = 0; i < out_.kernels.size(); ++i) {
      KernelEntry &kernel = out_.kernels[i];
      double cost = std::max(program_.kernels(static_cast<int>(i)).flops() / flopsPerMicrosecond,
                             static_cast<double>(kernelBytes_[i]) / bytesPerMicrosecond);
      if (cost < 1.5 * chunkMicroseconds)
        continue;
      kernel.chunk =
          std::max<uint32_t>(1, static_cast<uint32_t>(kernel.grid * (chunkMicroseconds / cost)));
      kernel.wakes = cost > 4 * chunkMicroseconds;
    }
  }

  const program::Program &program_;
  const MeshGrid &mesh_;
  Decoded out_;
  uint32_t location_ = 0;
  std::unordered_map<uint32_t, uint32_t> sites_;
  std::unordered_map<uint32_t, uint32_t> groupSetOfSite_;
  std::map<std::string, uint32_t> groupSetOf_;
  std::vector<uint64_t> kernelBytes_;
  std::vector<bool> isAliased_; // by input
};

} // namespace

Result<Decoded> decode(const program::Program &program, const MeshGrid &mesh) {
  return Decoder(program, mesh).run();
}

const Instruction *longestLoop(const Decoded &decoded, uint32_t instruction) {
  // Only loops jump back, and inner ones do it before outer ones.
  const Instruction *counted = nullptr;
  for (uint32_t i = instruction; i < decoded.code.size(); ++i) {
    const Instruction &jump = decoded.code[i];
    if (jump.b > instruction)
      continue;
    if (jump.opcode == Opcode::Jump)
      return &jump;
    if (jump.opcode == Opcode::NextTrip)
      counted = &jump;
  }
  return counted;
}

Status resolveKernels(const program::Program &program, const SymbolResolver &symbols,
                      Decoded &decoded) {
  for (size_t i = 0; i < decoded.kernels.size(); ++i) {
    KernelEntry &kernel = decoded.kernels[i];
    if (kernel.function)
      continue; // the runtime brings it
    if (const auto &said = program.kernels(static_cast<int>(i)); !said.outside().empty()) {
      auto found = findOutside(
          said, kernel.grid,
          kernel.location ? program.locations(static_cast<int>(kernel.location)) : "the program");
      if (!found.ok())
        return found.status();
      kernel.function = found->function;
      kernel.plan = std::move(found->plan);
      continue;
    }
    kernel.function = reinterpret_cast<TesseraKernel>(symbols(kernel.symbol));
    if (!kernel.function)
      return invalidProgram("the code section lacks kernel '" + kernel.symbol + "'");
  }
  return {};
}

} // namespace tessera::runtime
