// Who pays how much of the copies of a value that several ops read.
//
// Ops that need a value under one other sharding share one copy. A sum over pairs of neighbours can't say
// so, but can have each of these ops pay its part of the copy: as long as the parts of all are together
// no more than the copy takes, the least sum is no more than what any assignment takes.
//
//   w lies as {x}{}, and is gathered for 4 ms         forward pays 2 ms, backward pays 2 ms,
//   forward, backward and update read it              the update pays for it what is left: nothing
//
// Whatever the parts are, the bound holds; the nearer they are to who uses a copy in the best plan, the
// tighter it is.
#pragma once

#include "lib/plan/MeshTables.h"

#include <memory>

namespace tessera::plan {

// Where values lie, and under which shardings ops read them.
struct Uses {
  std::vector<int32_t> at;                           // by value: which of its candidates; -1: none
  std::vector<llvm::SmallVector<int32_t, 4>> needed; // by op and operand: the sharding's number
};

class SharedCopies {
public:
  // It is kept by reference. Each op pays for all of its copies.
  explicit SharedCopies(MeshTables &tables);

  // What an op pays for bringing an operand there.
  struct Paid {
    const Matrix *seconds; // once: rows are candidates of the value, columns what is needed
    double times;
    int64_t key; // equal for equal seconds of ops of one table, for the same operand
  };
  Paid paidBy(int32_t op, size_t operand) const;

  // The number of a value whose copies this operand may share, and of this reader of it; -1, -1.
  std::pair<int32_t, int32_t> placeOf(int32_t op, size_t operand) const {
    return places[op].empty() ? std::pair<int32_t, int32_t>(-1, -1) : places[op][operand];
  }

  // For each copy of a value who may share it: readers, and their columns of what is paid.
  using Sharing = llvm::SmallVector<std::pair<int32_t, int32_t>, 4>;
  struct Shares {
    std::vector<Matrix> paid;         // by reader: rows are candidates of the value
    std::vector<const Matrix *> full; // likewise: what a copy takes
    std::vector<Sharing> copies;
  };
  std::vector<Shares> getShares() const; // by value
  void setPaid(const std::vector<Shares> &shares);

  // Those that use a copy pay equal parts of it; where none does, all that might.
  void share(const Uses &uses);

  // What these uses' copies take beyond what is paid for them by who uses them.
  double unpaid(const Uses &uses) const;

  // Who uses a copy pays more of it, others less: altogether so much as makes the least sum rise by
  // `missing` seconds where these remain its uses (a subgradient step: Polyak, Introduction to
  // Optimization, 1987).
  void shift(const Uses &uses, double missing);

private:
  struct Reader {
    int32_t op;
    size_t operand;
    const OpTable *table;
  };
  // What each reader of a value pays, once: rows are candidates of the value, columns what it needs.
  struct Parts {
    int64_t number;
    std::vector<Matrix> seconds;
  };
  struct Value {
    int32_t value;
    std::vector<Reader> readers;
    double times = 0; // that it is brought to who reads it most often
    std::shared_ptr<const Parts> parts = {};
  };
  // Columns of readers for one copy of a value.
  struct Column {
    size_t reader, column; // of the value's readers, of what it needs
    bool uses;
  };
  double timesOf(const Reader &reader) const; // that a value is brought to it
  static double usersOf(llvm::ArrayRef<Column> columns);
  using Columns = std::map<int32_t, llvm::SmallVector<Column, 4>>; // by the sharding's number

  bool isReader(int32_t op, size_t operand) const;
  std::vector<int32_t> usedOf(const Value &value, const Uses &uses) const;
  Columns columnsOf(const Value &value, llvm::ArrayRef<int32_t> used) const;
  // Values whose readers are alike, and use what others do, stay alike.
  template <typename Make> void renew(const Uses &uses, Make make);

  MeshTables &tables;
  std::vector<Value> values;
  std::vector<llvm::SmallVector<std::pair<int32_t, int32_t>, 4>> places; // by op and operand
  int64_t made = 0;
};

} // namespace tessera::plan
