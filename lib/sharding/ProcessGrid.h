// How StableHLO's tables of replica and partition numbers name devices.
//
// A program runs on replicas x partitions devices; device = replica * partitions + partition. With
// 2 replicas and 2 partitions, and the table {{0, 1}}:
//   CrossReplica              {0, 2}, {1, 3}    replicas 0 and 1, for each partition
//   CrossPartition            {0, 1}, {2, 3}    partitions 0 and 1, for each replica
//   CrossReplicaAndPartition  {0, 2, 1, 3}      all partitions of replicas 0 and 1
//   FlattenedIds              {0, 1}            devices
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include <cstdint>
#include <vector>

namespace tessera::sharding {

struct ProcessGrid {
  int64_t replicas = 1, partitions = 1;
  int64_t numDevices() const { return replicas * partitions; }
};

enum class Addressing { CrossReplica, CrossPartition, CrossReplicaAndPartition, FlattenedIds };

using DeviceGroups = std::vector<llvm::SmallVector<int64_t>>;

// The devices of each group. An empty table is one group of all that it numbers. Numbers that the
// grid has no replica or partition for are taken for devices: frontends that know one kind of
// device leave out how they number them.
DeviceGroups devicesOf(const DeviceGroups &table, Addressing addressing, ProcessGrid grid);

} // namespace tessera::sharding
