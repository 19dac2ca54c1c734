#include "lib/sharding/ProcessGrid.h"

#include "llvm/ADT/STLExtras.h"

namespace tessera::sharding {

static int64_t numbered(Addressing addressing, ProcessGrid grid) {
  switch (addressing) {
  case Addressing::CrossReplica:
  case Addressing::CrossReplicaAndPartition:
    return grid.replicas;
  case Addressing::CrossPartition:
    return grid.partitions;
  case Addressing::FlattenedIds:
    return grid.numDevices();
  }
  return 0;
}

DeviceGroups devicesOf(const DeviceGroups &table, Addressing addressing, ProcessGrid grid) {
  int64_t count = numbered(addressing, grid);
  DeviceGroups rows = table;
  if (rows.empty()) {
    rows.emplace_back();
    for (int64_t i = 0; i < count; ++i)
      rows.back().push_back(i);
  }
  auto outside = [&](int64_t number) { return number >= count; };
  if (addressing == Addressing::FlattenedIds ||
      llvm::any_of(rows, [&](const auto &row) { return llvm::any_of(row, outside); }))
    return rows;
  DeviceGroups groups;
  for (const auto &row : rows) {
    int64_t others = addressing == Addressing::CrossPartition ? grid.replicas : grid.partitions;
    llvm::SmallVector<int64_t> together;
    for (int64_t other = 0; other < others; ++other) {
      llvm::SmallVector<int64_t> group;
      for (int64_t number : row)
        group.push_back(addressing == Addressing::CrossPartition
                            ? other * grid.partitions + number
                            : number * grid.partitions + other);
      if (addressing == Addressing::CrossReplicaAndPartition)
        together.append(group);
      else
        groups.push_back(group);
    }
    if (addressing == Addressing::CrossReplicaAndPartition)
      groups.push_back(together);
  }
  return groups;
}

} // namespace tessera::sharding
