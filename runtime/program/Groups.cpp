// Which devices meet in a collective.
#include "runtime/program/Groups.h"
#include <map>

namespace tessera::runtime {

namespace {

using program::Collective;

Result<GroupSet> fromTables(const Collective &c, const MeshGrid &mesh) {
  GroupSet set;
  set.size = static_cast<uint32_t>(c.groups(0).devices_size());
  set.groupOf.assign(mesh.size(), UINT32_MAX);
  set.rankOf.assign(mesh.size(), 0);
  for (const auto &table : c.groups()) {
    if (table.devices_size() != static_cast<int>(set.size) || set.size == 0)
      return invalidProgram("a collective's groups differ in size");
    std::vector<uint32_t> group;
    for (int64_t device : table.devices()) {
      if (device < 0 || device >= mesh.size())
        return invalidProgram("a collective's group names device " + std::to_string(device) +
                              " of " + std::to_string(mesh.size()));
      auto position = static_cast<uint32_t>(mesh.positionOf(device));
      if (set.groupOf[position] != UINT32_MAX)
        return invalidProgram("device " + std::to_string(device) +
                              " is in two groups of a collective");
      set.groupOf[position] = static_cast<uint32_t>(set.groups.size());
      set.rankOf[position] = static_cast<uint32_t>(group.size());
      group.push_back(position);
    }
    set.groups.push_back(std::move(group));
  }
  for (int64_t p = 0; p < mesh.size(); ++p)
    if (set.groupOf[p] == UINT32_MAX)
      return invalidProgram("device " + std::to_string(mesh.devices()[p]) +
                            " is in no group of a collective");
  return set;
}

GroupSet fromAxes(const Collective &c, const MeshGrid &mesh) {
  GroupSet set;
  set.size = static_cast<uint32_t>(MeshGrid::sizeOf(c.axes()));
  std::map<int64_t, uint32_t> groupOfKey;
  for (int64_t p = 0; p < mesh.size(); ++p) {
    auto [it, isNew] = groupOfKey.try_emplace(mesh.groupKey(p, c.axes()),
                                              static_cast<uint32_t>(set.groups.size()));
    if (isNew)
      set.groups.emplace_back(set.size);
    auto rank = static_cast<uint32_t>(mesh.indexAlong(p, c.axes()));
    set.groups[it->second][rank] = static_cast<uint32_t>(p);
    set.groupOf.push_back(it->second);
    set.rankOf.push_back(rank);
  }
  return set;
}

} // namespace

Result<GroupSet> groupsOf(const Collective &collective, const MeshGrid &mesh) {
  if (collective.groups_size())
    return fromTables(collective, mesh);
  if (Status s = mesh.check(collective.axes()); !s.ok())
    return s;
  return fromAxes(collective, mesh);
}

std::string groupSignature(const Collective &collective) {
  std::string text;
  for (const auto &ref : collective.axes())
    text += std::to_string(ref.axis()) + ":" + std::to_string(ref.pre_size()) + "/" +
            std::to_string(ref.size()) + ",";
  for (const auto &table : collective.groups()) {
    text += "|";
    for (int64_t device : table.devices())
      text += std::to_string(device) + ",";
  }
  return text;
}

} // namespace tessera::runtime
