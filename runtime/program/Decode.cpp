#include "include/tessera/container.h"
#include "runtime/program/BufferPlaces.h"
#include "runtime/program/Decoded.h"
#include "runtime/program/Sites.h"
#include "runtime/program/SlotRanges.h"
#include <algorithm>
#include <map>

namespace tessera::runtime {

namespace {

using program::Collective;
using Space = program::Buffer;
using Reach = BufferPlaces::Reach;
using Body = google::protobuf::RepeatedPtrField<program::Instruction>;

class Decoder {
public:
  Decoder(const DecodeContext &context, uint32_t program, const MeshGrid &mesh)
      : context_(context), file_(context.file), number_(program),
        program_(context.file.programs(static_cast<int>(program))), mesh_(mesh), places_(program_) {
  }

  Result<Decoded> run() {
    if (std::string wrong = sites_.read(program_); !wrong.empty())
      return invalidProgram(wrong);
    out_.sites = sites_.count(Sites::Collective);
    out_.transferSites = sites_.count(Sites::Transfer);
    out_.copies = sites_.count(Sites::Copy);
    out_.functions.resize(program_.functions_size());
    if (Status s = decodeBody(program_.body(), 0); !s.ok())
      return s;
    location_ = 0;
    emit({Opcode::End});
    for (int f = 0; f < program_.functions_size(); ++f)
      if (Status s = decodeFunction(static_cast<uint32_t>(f)); !s.ok())
        return s;
    return std::move(out_);
  }

private:
  Status decodeFunction(uint32_t number) {
    function_ = &program_.functions(static_cast<int>(number));
    callable_ = number;
    for (const auto &argument : function_->arguments())
      if (argument.bytes() > kMostBytes)
        return invalidProgram("function '" + function_->name() + "' takes an impossible size");
    FunctionPlan &plan = out_.functions[number];
    plan.entry = static_cast<uint32_t>(out_.code.size());
    uint32_t first = nextSlot();
    if (Status s = decodeBody(function_->body(), 0); !s.ok())
      return s;
    location_ = 0;
    emit({Opcode::Return, number});
    for (uint32_t slot = first; slot < nextSlot(); ++slot)
      if (out_.slots[slot].space == Space::ARGUMENT)
        plan.arguments.emplace_back(slot, out_.slots[slot].index);
    return {};
  }

  Status error(const std::string &what) const {
    std::string where = location_ < static_cast<uint32_t>(file_.locations_size()) && location_
                            ? file_.locations(static_cast<int>(location_))
                            : "instruction " + std::to_string(out_.code.size());
    return invalidProgram(where + ": " + what);
  }

  uint32_t emit(Instruction instruction) {
    instruction.location = location_;
    out_.code.push_back(instruction);
    return static_cast<uint32_t>(out_.code.size() - 1);
  }

  // Appends a slot for `buffer`; `bytes` is what the instruction needs, 0 for whatever the buffer
  // has.
  Status addSlot(const program::Buffer &buffer, uint64_t bytes, bool written,
                 Reach reach = Reach::Device) {
    auto slot = places_.slotOf(buffer, bytes, written, reach, function_);
    if (!slot.ok())
      return error(slot.status().message());
    out_.slots.push_back(*slot);
    return {};
  }

  uint32_t nextSlot() const { return static_cast<uint32_t>(out_.slots.size()); }

  Status decodeBody(const Body &body, uint32_t depth) {
    for (const auto &instruction : body) {
      location_ = instruction.location();
      if (location_ && location_ >= static_cast<uint32_t>(file_.locations_size()))
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
      const Sites::Site *site = sites_.find(instruction.wait().site());
      if (!site || site->body != bodyNumber())
        return error("waits for site " + std::to_string(instruction.wait().site()) +
                     ", which nothing starts");
      if (site->kind == Sites::Copy)
        emit({Opcode::Land, site->number});
      else
        emit({Opcode::Wait, site->number + (site->kind == Sites::Transfer ? out_.sites : 0)});
      return {};
    }
    case program::Instruction::kSend:
      return decodeTransfer(instruction.send().site(), instruction.send().channel(),
                            instruction.send().from(), true);
    case program::Instruction::kReceive:
      return decodeTransfer(instruction.receive().site(), instruction.receive().channel(),
                            instruction.receive().to(), false);
    case program::Instruction::kCopyStart:
      return decodeCopyStart(instruction.copy_start());
    case program::Instruction::kCall:
      return decodeCall(instruction.call());
    case program::Instruction::kLoop:
      return decodeLoop(instruction.loop(), depth);
    case program::Instruction::kBranch:
      return decodeBranch(instruction.branch(), depth);
    case program::Instruction::kCopy: {
      const auto &copy = instruction.copy();
      uint32_t slot = nextSlot();
      if (Status s = addCopy(copy.from(), copy.to(), Reach::Host); !s.ok())
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

  Status addCopy(const program::Buffer &from, const program::Buffer &to, Reach reach) {
    if (from.bytes() != to.bytes())
      return error("copies " + std::to_string(from.bytes()) + " bytes to " +
                   std::to_string(to.bytes()));
    if (Status s = addSlot(from, 0, false, reach); !s.ok())
      return s;
    return addSlot(to, 0, true, reach);
  }

  Result<const Route *> findChannel(uint32_t channel, bool sends) const {
    if (channel >= context_.channels.size())
      return error("channel " + std::to_string(channel) + " does not exist");
    const Route &route = context_.channels[channel];
    if ((sends ? route.from() : route.to()) != number_)
      return error(std::string(sends ? "sends" : "receives") + " on channel '" + route.name() +
                   "', whose end is another program's");
    return &route;
  }

  Status decodeTransfer(uint32_t site, uint32_t channel, const program::Buffer &buffer,
                        bool sends) {
    auto route = findChannel(channel, sends);
    if (!route.ok())
      return route.status();
    uint32_t slot = nextSlot();
    if (Status s = addSlot(buffer, (*route)->bytes(), !sends); !s.ok())
      return s;
    out_.slots.push_back(out_.slots.back()); // an operand and a result, one of them without bytes
    out_.transfers.push_back(planTransfer(**route, sends));
    CollectivePlan &plan = out_.transfers.back();
    plan.site = out_.sites + sites_.find(site)->number;
    plan.location = location_;
    emit({Opcode::Transfer, static_cast<uint32_t>(out_.transfers.size() - 1), slot});
    return {};
  }

  Status decodeCopyStart(const program::CopyStart &copy) {
    uint32_t slot = nextSlot();
    if (Status s = copy.step() ? addPart(copy) : addCopy(copy.from(), copy.to(), Reach::Anywhere);
        !s.ok())
      return s;
    if (out_.slots[slot].memory == program::FILE_MEMORY &&
        out_.slots[slot + 1].memory == program::FILE_MEMORY)
      return error("copies from file to file");
    uint32_t number = sites_.find(copy.site())->number;
    if (copy.step()) {
      uint64_t from = copy.from().bytes(), to = copy.to().bytes();
      uint64_t last = (std::max(from, to) - std::min(from, to)) / copy.step() * copy.step();
      out_.parts.push_back({number, to > from, copy.step(), last});
      emit({Opcode::CopyPart, static_cast<uint32_t>(out_.parts.size() - 1), slot, 0,
            std::min(from, to)});
    } else {
      emit({Opcode::StartCopy, number, slot, 0, copy.from().bytes()});
    }
    return {};
  }

  // Of a part of one side: both sides, and the index.
  Status addPart(const program::CopyStart &copy) {
    if (copy.step() > kMostBytes)
      return error("copies a part that begins at an impossible place");
    if (Status s = addSlot(copy.from(), 0, false, Reach::Anywhere); !s.ok())
      return s;
    if (Status s = addSlot(copy.to(), 0, true, Reach::Anywhere); !s.ok())
      return s;
    return addSlot(copy.index(), 4, false);
  }

  Status decodeCall(const program::Call &call) {
    if (call.function() >= out_.functions.size())
      return error("function " + std::to_string(call.function()) + " does not exist");
    if (call.function() >= callable_)
      return error("a function calls itself or one behind it");
    const auto &function = program_.functions(static_cast<int>(call.function()));
    if (call.operands_size() != function.arguments_size())
      return error("function '" + function.name() + "' takes " +
                   std::to_string(function.arguments_size()) + " operands, not " +
                   std::to_string(call.operands_size()));
    uint32_t slot = nextSlot();
    SlotRanges ranges;
    for (int i = 0; i < call.operands_size(); ++i) {
      const auto &argument = function.arguments(i);
      if (Status s = addSlot(call.operands(i), argument.bytes(), argument.written()); !s.ok())
        return s;
      ranges.add(out_.slots.back(), static_cast<int64_t>(argument.bytes()), argument.written());
    }
    if (const char *wrong = ranges.overlap())
      return error("gives function '" + function.name() + "' " + wrong);
    emit({Opcode::Call, call.function(), slot});
    return {};
  }

  Status decodeDispatch(const program::Dispatch &dispatch) {
    if (dispatch.kernel() >= context_.kernels.size())
      return error("kernel " + std::to_string(dispatch.kernel()) + " does not exist");
    uint32_t slot = nextSlot();
    uint64_t bytes = 0;
    const auto &kernel = file_.kernels(static_cast<int>(dispatch.kernel()));
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
    if (dispatch.has_scratch())
      if (Status s = addScratch(dispatch, kernel.scratch_bytes()); !s.ok())
        return s;
    KernelEntry &entry = context_.kernels[dispatch.kernel()];
    if (!entry.used)
      entry.location = location_;
    entry.used = true;
    entry.mostOperands = std::max(entry.mostOperands, bytes);
    if (dispatch.has_scratch())
      entry.scratchBytes = kernel.scratch_bytes();
    else
      out_.scratchBytes = std::max(out_.scratchBytes, kernel.scratch_bytes());
    emit({Opcode::Dispatch, dispatch.kernel(), slot, 0, dispatch.has_scratch()});
    return {};
  }

  // Its slot is behind those of the operands.
  Status addScratch(const program::Dispatch &dispatch, uint64_t bytes) {
    const auto &scratch = dispatch.scratch();
    if (scratch.space() != Space::ARENA && scratch.space() != Space::INPUT &&
        scratch.space() != Space::OUTPUT)
      return error("gives a kernel scratch outside of the arena, of inputs and of outputs");
    size_t first = out_.slots.size() - static_cast<size_t>(dispatch.operands_size());
    if (Status s = addSlot(scratch, bytes, true); !s.ok())
      return s;
    SlotRanges range;
    range.add(out_.slots.back(), static_cast<int64_t>(scratch.bytes()), true);
    for (int i = 0; i < dispatch.operands_size(); ++i) {
      SlotRanges both(range);
      both.add(out_.slots[first + static_cast<size_t>(i)],
               static_cast<int64_t>(dispatch.operands(i).bytes()), false);
      if (both.overlap())
        return error("gives a kernel the same bytes as an operand and as scratch");
    }
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
    plan->site = sites_.find(start.site())->number;
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
    SlotRanges ranges;
    auto count = static_cast<uint32_t>(plan.transfers.size());
    for (uint32_t i = 0; i < count; ++i) {
      const Slot &from = out_.slots[slot + i], &to = out_.slots[slot + count + i];
      bool inPlace = plan.kind == Collective::ALL_REDUCE && from.space == to.space &&
                     (from.space == Space::ARENA || from.index == to.index) &&
                     from.offset == to.offset;
      if (!inPlace)
        ranges.add(from, plan.transfers[i].operandBytes, false);
      ranges.add(to, plan.transfers[i].resultBytes, true);
    }
    if (const char *wrong = ranges.overlap())
      return error(std::string(nameOf(plan.kind)) + " writes " + wrong);
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

  static constexpr uint64_t kMostBytes = uint64_t{1} << 46;

  uint32_t bodyNumber() const { return function_ ? callable_ + 1 : 0; } // as Sites counts them

  const DecodeContext &context_;
  const program::File &file_;
  const uint32_t number_;
  const program::Program &program_;
  const MeshGrid &mesh_;
  const BufferPlaces places_;
  Decoded out_;
  uint32_t location_ = 0;
  const program::Function *function_ = nullptr; // whose body it is; null: the program's own
  uint32_t callable_ = UINT32_MAX;              // functions below may be called
  Sites sites_;
  std::unordered_map<uint32_t, uint32_t> groupSetOfSite_;
  std::map<std::string, uint32_t> groupSetOf_;
};

} // namespace

Result<Decoded> decode(const DecodeContext &context, uint32_t program, const MeshGrid &mesh) {
  return Decoder(context, program, mesh).run();
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

} // namespace tessera::runtime
