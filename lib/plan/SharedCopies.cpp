#include "lib/plan/SharedCopies.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::plan {

using sharding::PropagatedOp;

SharedCopies::SharedCopies(MeshTables &tables)
    : tables(tables), places(tables.program.graph.ops.size()) {
  const Program &program = tables.program;
  std::map<int32_t, std::vector<Reader>> all;
  for (size_t op = 0; op < program.graph.ops.size(); ++op)
    for (auto [i, v] : llvm::enumerate(program.graph.ops[op].operands))
      if (isReader(int32_t(op), i))
        all[v].push_back({int32_t(op), i, &tables.of(int32_t(op))});
  for (auto &[v, readers] : all) {
    if (readers.size() < 2)
      continue;
    Value &value = values.emplace_back(Value{v, std::move(readers)});
    for (auto [r, reader] : llvm::enumerate(value.readers)) {
      value.times = std::max(value.times, timesOf(reader));
      auto &own = places[reader.op];
      own.resize(program.graph.ops[reader.op].operands.size(), {-1, -1});
      own[reader.operand] = {int32_t(values.size()) - 1, int32_t(r)};
    }
  }
}

// Edges of loops and branches move values for themselves alone. An update in place has its result where
// the value lies.
bool SharedCopies::isReader(int32_t index, size_t operand) const {
  const PropagatedOp &op = tables.program.graph.ops[index];
  int32_t value = op.operands[operand];
  if (tables.program.ops[index].moves || op.viewed >= 0 || !tables.isMoved(value) ||
      llvm::all_of(op.results, [&](int32_t v) { return tables.program.graph.values[v].free; }))
    return false;
  const OpTable &table = tables.of(index);
  if (isRepeated(op, table, operand))
    return false;
  if (table.byResult.empty() || tables.vertexOf[value] != tables.vertexOf[op.results[0]])
    return true;
  const TensorChoices &needed = table.needed[operand];
  for (auto [i, number] : llvm::enumerate(tables.lists.numbersOf(tables.listOf[value])))
    if (tables.lists.numbersOf(needed.list)[needed.at[table.byResult[i]]] != number)
      return true;
  return false;
}

SharedCopies::Paid SharedCopies::paidBy(int32_t op, size_t operand) const {
  auto [value, reader] = placeOf(op, operand);
  if (value < 0 || !values[value].parts)
    return {tables.of(op).in[operand], tables.program.ops[op].operandTimes[operand], -1};
  const Parts &parts = *values[value].parts;
  return {&parts.seconds[reader], timesOf(values[value].readers[reader]),
          parts.number << 24 | reader};
}

double SharedCopies::timesOf(const Reader &reader) const {
  return tables.program.ops[reader.op].operandTimes[reader.operand];
}

std::vector<int32_t> SharedCopies::usedOf(const Value &value, const Uses &uses) const {
  std::vector<int32_t> used;
  for (const Reader &reader : value.readers)
    used.push_back(uses.needed[reader.op].empty() ? -1 : uses.needed[reader.op][reader.operand]);
  return used;
}

SharedCopies::Columns SharedCopies::columnsOf(const Value &value,
                                              llvm::ArrayRef<int32_t> used) const {
  Columns columns;
  for (auto [r, reader] : llvm::enumerate(value.readers))
    for (auto [column, number] :
         llvm::enumerate(tables.lists.numbersOf(reader.table->needed[reader.operand].list)))
      columns[number].push_back({r, column, used[r] == number});
  return columns;
}

double SharedCopies::usersOf(llvm::ArrayRef<Column> columns) {
  return double(llvm::count_if(columns, [](const Column &each) { return each.uses; }));
}

template <typename Make> void SharedCopies::renew(const Uses &uses, Make make) {
  std::map<std::string, std::shared_ptr<const Parts>> renewed;
  for (Value &value : values) {
    std::vector<int32_t> used = usedOf(value, uses);
    std::string key;
    appendKey(key, value.parts ? value.parts->number : -1);
    appendKey(key, int64_t(uses.at[value.value]));
    appendKey(key, int64_t(value.times));
    for (auto [reader, number] : llvm::zip_equal(value.readers, used)) {
      appendKey(key, reinterpret_cast<intptr_t>(reader.table));
      appendKey(key, int64_t(reader.operand));
      appendKey(key, int64_t(number));
    }
    std::shared_ptr<const Parts> &parts = renewed[std::move(key)];
    if (!parts)
      parts = make(value, used);
    value.parts = parts;
  }
}

std::vector<SharedCopies::Shares> SharedCopies::getShares() const {
  std::vector<Shares> all;
  for (const Value &value : values) {
    Shares &shares = all.emplace_back();
    shares.paid = value.parts->seconds;
    for (const Reader &reader : value.readers)
      shares.full.push_back(reader.table->in[reader.operand]);
    for (const auto &[number, columns] :
         columnsOf(value, std::vector<int32_t>(value.readers.size(), -1)))
      if (columns.size() > 1) {
        Sharing &sharing = shares.copies.emplace_back();
        for (const Column &each : columns)
          sharing.push_back({int32_t(each.reader), int32_t(each.column)});
      }
  }
  return all;
}

void SharedCopies::setPaid(const std::vector<Shares> &shares) {
  for (auto [value, each] : llvm::zip_equal(values, shares))
    value.parts = std::make_shared<Parts>(Parts{made++, each.paid});
}

void SharedCopies::share(const Uses &uses) {
  renew(uses, [&](const Value &value, llvm::ArrayRef<int32_t> used) {
    auto parts = std::make_shared<Parts>(Parts{made++, {}});
    for (const Reader &reader : value.readers)
      parts->seconds.push_back(*reader.table->in[reader.operand]);
    for (auto [number, columns] : columnsOf(value, used)) {
      // Among folded values who reads most of them pays: for the others they are there.
      double most = 0;
      for (const Column &each : columns)
        most = std::max(most, each.uses * timesOf(value.readers[each.reader]));
      for (Column &each : columns)
        each.uses &= timesOf(value.readers[each.reader]) >= most;
      double users = usersOf(columns);
      for (const Column &each : columns) {
        double part = users == 0 ? 1 / double(columns.size()) : each.uses / users;
        Matrix &seconds = parts->seconds[each.reader];
        for (size_t row = 0; row < seconds.rows; ++row)
          if (seconds(row, each.column) != kImpossible)
            seconds(row, each.column) *= part;
      }
    }
    return parts;
  });
}

namespace {

// To the nearest parts of at least zero that are `whole` together.
void project(llvm::MutableArrayRef<double> parts, double whole) {
  llvm::SmallVector<double, 8> sorted(parts.begin(), parts.end());
  llvm::sort(sorted, std::greater<>());
  double sum = 0, less = 0;
  for (auto [i, part] : llvm::enumerate(sorted)) {
    sum += part;
    if (double each = (sum - whole) / double(i + 1); part > each)
      less = each;
  }
  for (double &part : parts)
    part = std::max(0.0, part - less);
}

} // namespace

double SharedCopies::unpaid(const Uses &uses) const {
  double seconds = 0;
  for (const Value &value : values) {
    auto row = size_t(uses.at[value.value]);
    for (const auto &[number, columns] : columnsOf(value, usedOf(value, uses))) {
      double paid = 0, whole = 0, times = 0;
      for (const Column &each : columns)
        if (each.uses) {
          const Reader &reader = value.readers[each.reader];
          whole = (*reader.table->in[reader.operand])(row, each.column);
          times = std::max(times, timesOf(reader));
          paid += timesOf(reader) * value.parts->seconds[each.reader](row, each.column);
        }
      seconds += times * whole - paid;
    }
  }
  return seconds;
}

void SharedCopies::shift(const Uses &uses, double missing) {
  double norm = 0;
  for (const Value &value : values)
    for (const auto &[number, columns] : columnsOf(value, usedOf(value, uses)))
      if (double users = usersOf(columns))
        norm += users * (1 - users / double(columns.size()));
  if (norm == 0)
    return;
  double step = missing / norm;
  renew(uses, [&](const Value &value, llvm::ArrayRef<int32_t> used) {
    auto row = size_t(uses.at[value.value]);
    std::shared_ptr<Parts> parts;
    for (const auto &[number, columns] : columnsOf(value, used)) {
      double users = usersOf(columns);
      if (users == 0 || users == double(columns.size()))
        continue;
      const Reader &first = value.readers[columns[0].reader];
      const Matrix &whole = *first.table->in[first.operand];
      double price = whole(row, columns[0].column);
      if (price == 0 || price == kImpossible)
        continue;
      if (!parts) {
        parts = std::make_shared<Parts>(*value.parts);
        parts->number = made++;
      }
      // Wherever the value lies: candidates that are like this one would be next otherwise.
      for (size_t other = 0; other < whole.rows; ++other) {
        double most = whole(other, columns[0].column);
        if (most == 0 || most == kImpossible)
          continue;
        double more = step / value.times * most / price;
        llvm::SmallVector<double, 8> shares;
        for (const Column &each : columns)
          shares.push_back(parts->seconds[each.reader](other, each.column) + each.uses * more);
        project(shares, most);
        for (auto [each, share] : llvm::zip_equal(columns, shares))
          parts->seconds[each.reader](other, each.column) = share;
      }
    }
    return parts ? std::shared_ptr<const Parts>(parts) : value.parts;
  });
}

} // namespace tessera::plan
