// One block of a launch: its threads, its shared memory, and who touched what.
#pragma once

#include "test/gpu/emulator/Arithmetic.h"
#include "test/gpu/emulator/Machine.h"
#include "test/gpu/emulator/Proxies.h"
#include "test/gpu/emulator/TensorMap.h"

#include <array>
#include <memory>
#include <random>
#include <stdexcept>

namespace tessera::emulator {

// Generic addresses of what is a block's and a thread's own.
constexpr uint64_t kSharedWindow = uint64_t{1} << 60,
                   kLocalWindow = kSharedWindow + (uint64_t{1} << 32),
                   kParamWindow = kLocalWindow + (uint64_t{1} << 32), kWindow = uint64_t{1} << 32;
constexpr uint32_t kWarp = 32, kWarpgroup = 4; // threads, warps

struct Wrong : std::runtime_error {
  using runtime_error::runtime_error;
};

struct Thread {
  // AtWarp: at what its warp does together. AtPhase: it asks whether a phase is over.
  enum State : uint8_t { Ready, AtBarrier, AtWarp, AtPhase, Ended } state = Ready;
  uint32_t number = 0, place = 0;
  bool carry = false; // of its last sum or difference that gives one (.cc)
  std::vector<uint64_t> registers;
  std::vector<uint8_t> local;
  uint32_t before = Loops::kNone; // the instruction before this one
  std::vector<uint32_t> turns;    // of each loop, since it was entered
  std::vector<uint32_t> visits;   // of each instruction of warpgroups that reads
  // Copies that are under way, in groups; the last one is not committed yet.
  struct Copy {
    uint64_t to, from;
    unsigned bytes, read; // the rest of them is zeros
  };
  std::vector<std::vector<Copy>> copies{1};
  // Of kernels with products of warpgroups, by register: when it was written, and whether a product that
  // is under way adds to it; and when the last wgmma.fence was.
  std::vector<uint64_t> written;
  std::vector<uint8_t> isAddedTo;
  uint64_t writes = 0, fence = 0;
  uint64_t told = 0; // the wait that it knows to be in vain yet
};

// A product of matrices that a warp has its part of.
struct WarpProduct {
  const Instruction *instruction;
  uint64_t a, b; // descriptors
};

// What a warpgroup's warps do one after the other, and how far each has come.
struct Warpgroup {
  std::vector<WarpProduct> products;
  std::array<size_t, kWarpgroup> done{};
  // By warp, in groups; the last one is not committed yet.
  std::array<std::vector<std::vector<WarpProduct>>, kWarpgroup> groups;
};

// A copy of a tensor's box that is under way.
struct TensorCopy {
  TensorMap map;
  std::array<int64_t, TensorMap::kMostRank> first; // coordinates
  uint64_t to, barrier;
};

// One block of a launch.
class BlockRun {
public:
  BlockRun(const Kernel &kernel, const Shape &shape, const uint8_t *parameters, uint32_t launch,
           uint32_t block, Memory &memory, const std::map<std::string, uint64_t> &globals,
           const Module &module, std::mt19937_64 &random, Counts &counts, Sectors &sectors,
           bool notesBanks)
      : kernel_(kernel), shape_(shape), parameters_(parameters), launch_(launch), block_(block),
        memory_(memory), globals_(globals), module_(module), random_(random), counts_(counts),
        sectors_(sectors),
        shared_(kernel.added.value_or(kernel.sharedBytes) + shape.sharedBytes, 0xff),
        sharedTraces_(shared_.size()), isUnderWay_(shared_.size(), 0), notesBanks_(notesBanks) {}

  void run();

private:
  std::string where(const Thread &thread) const {
    return "line " +
           std::to_string(
               kernel_.instructions[std::min<size_t>(thread.place, kernel_.instructions.size() - 1)]
                   .line) +
           ", block " + std::to_string(block_) + ", thread " + std::to_string(thread.number);
  }
  [[noreturn]] void fail(const Thread &thread, const std::string &what) const {
    throw Wrong(where(thread) + ": " + what);
  }

  // Nobody can go on: all are at one barrier, or have ended.
  void release(std::vector<uint32_t> &ready);

  using Lanes = std::array<Thread *, kWarp>;

  // Once all lanes have come that take part, they do it together.
  void meet(Thread &last, std::vector<uint32_t> &ready);

  uint64_t part(const Thread &thread, const Operand &vector, uint32_t number) const {
    return value(thread, kernel_.vectors[vector.index + number]);
  }
  void setPart(Thread &thread, const Operand &vector, uint32_t number, uint64_t bits) {
    set(thread, vector.kind == Operand::Vector ? kernel_.vectors[vector.index + number] : vector,
        bits, Type::B32);
  }

  // Matrices of 8 x 8 elements of 16 bits; eight lanes each name the rows of one, and each lane gets two
  // elements of each: of row lane / 4, or of a column.
  void loadMatrices(const Instruction &i, const Lanes &lanes);

  // d = a * b + c, of 16 x 16, 16 x 8 and 16 x 8 elements. In which order, and how exactly, the products
  // are added is the processor's own: here as if at once.
  void multiplyBytes(const Instruction &i, const Lanes &lanes);
  void multiplyFloats(const Instruction &i, const Lanes &lanes);
  void multiplyMatrices(const Instruction &i, const Lanes &lanes);

  void exchange(const Instruction &i, const Lanes &lanes);

  // Warpgroup.cpp: wgmma. A product is carried out as late as its warp waits for it.
  void meetForProducts(const Instruction &i, const Lanes &lanes);
  void beginProduct(const Instruction &i, const Lanes &lanes);
  void finishProducts(const Lanes &lanes, uint64_t left);
  void finishProduct(const WarpProduct &product, const Lanes &lanes);
  Warpgroup &warpgroupOf(const Lanes &lanes) {
    return warpgroups_[lanes[0]->number / kWarp / kWarpgroup];
  }
  // Whoever is left in the middle of something.
  void checkProductsAtEnd();

  // Tensors.cpp: copies of boxes, and the barriers that count their bytes.
  bool atBarrierOfBytes(Thread &thread, const Instruction &i);
  void startTensorCopy(Thread &thread, const Instruction &i);
  void landTensorCopy();
  void wakeAtPhases(std::vector<uint32_t> &ready);
  // Of an operand that is an address in shared memory, in that space or generic.
  uint64_t sharedAddress(const Thread &thread, const Operand &operand) const {
    uint64_t address = value(thread, operand);
    return address - kSharedWindow < kWindow ? address - kSharedWindow : address;
  }

  uint64_t special(const Thread &thread, uint32_t which) const;

  uint64_t value(const Thread &thread, const Operand &operand) const {
    switch (operand.kind) {
    case Operand::Register: {
      if (!thread.isAddedTo.empty() && thread.isAddedTo[operand.index])
        fail(thread, "reads a sum to which a product that is under way adds");
      uint64_t all = (thread.registers[operand.index] ^ (operand.negated ? 1 : 0)) +
                     static_cast<uint64_t>(operand.value);
      return operand.isShort ? static_cast<uint32_t>(all) : all;
    }
    case Operand::Immediate:
      return static_cast<uint64_t>(operand.value);
    case Operand::SpecialRegister:
      return special(thread, operand.index);
    case Operand::Symbol: {
      if (operand.space != Space::Global)
        return static_cast<uint64_t>(operand.value);
      return globals_.at(module_.globalNames[operand.index]) + static_cast<uint64_t>(operand.value);
    }
    default:
      return 0;
    }
  }

  void set(Thread &thread, const Operand &to, uint64_t bits, Type type) {
    if (to.kind == Operand::Register)
      write(thread, to.index, masked(bits, type));
    else if (to.kind != Operand::None)
      fail(thread, "a result that is no register");
  }

  void write(Thread &thread, uint32_t number, uint64_t bits) {
    if (!thread.written.empty()) {
      if (thread.isAddedTo[number])
        fail(thread, "writes a sum to which a product that is under way adds");
      thread.written[number] = ++thread.writes;
    }
    thread.registers[number] = bits;
  }

  void countTurn(Thread &thread);
  uint32_t turn(const Thread &thread) const;
  void step(Thread &thread);

  void execute(Thread &thread, const Instruction &i);

  static uint64_t windowOf(Space space) {
    return space == Space::Shared  ? kSharedWindow
           : space == Space::Local ? kLocalWindow
           : space == Space::Param ? kParamWindow
                                   : 0;
  }

  void load(Thread &thread, const Instruction &i, uint64_t address);

  void store(Thread &thread, const Instruction &i);

  // From global to shared memory, whenever it likes until the thread waits for its group: here as late as
  // that. Who touches the bytes meanwhile is in error, and who does so where it begins.
  void startCopy(Thread &thread, const Instruction &i);

  // All but the last `left` groups that were committed; `all`: what is not committed, too.
  void finishCopies(Thread &thread, uint64_t left, bool all);

  // Where the bytes of an access lie, which is checked and counted.
  uint8_t *place(Thread &thread, const Instruction &i, uint64_t address, unsigned bytes,
                 bool isWrite);

  uint8_t *global(Thread &thread, uint64_t address, unsigned bytes, bool isWrite);

  // Whether it is the launch's first such access to the byte.
  bool note(const Thread &thread, Trace &trace, bool isWrite);

  void countSectors();
  void noteBanks(Thread &thread, uint64_t address, unsigned bytes);
  void noteWords(uint64_t key, uint64_t address, unsigned bytes);
  void countBanks();

  const Kernel &kernel_;
  const Shape &shape_;
  const uint8_t *parameters_;
  const uint32_t launch_, block_;
  Memory &memory_;
  const std::map<std::string, uint64_t> &globals_;
  const Module &module_;
  std::mt19937_64 &random_;
  Counts &counts_;
  Sectors &sectors_;
  std::vector<uint8_t> shared_;
  std::vector<Trace> sharedTraces_;
  std::vector<uint8_t> isUnderWay_;  // of shared bytes: a copy writes them
  std::unique_ptr<Proxies> proxies_; // of a kernel that has such
  std::vector<TensorCopy> tensorCopies_;
  std::vector<Warpgroup> warpgroups_;
  uint64_t haste_ =
      0; // how often copies of tensors come before somebody waits for them: of 256 times
  std::array<std::array<uint32_t, 4>, kWarp> results_;
  std::vector<Thread> threads_;
  uint32_t epoch_ = 0;
  std::vector<std::pair<uint64_t, uint64_t>> read_, written_; // (warp, place, visit) and sector
  bool notesBanks_;
  std::vector<std::pair<uint64_t, uint32_t>> banks_; // (warp, place, visit, part of it) and word
};

} // namespace tessera::emulator
