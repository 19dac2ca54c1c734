#include "runtime/program/Groups.h"

namespace tessera::runtime {

using program::Collective;

uint32_t GroupSet::index(uint32_t position, const Parts &parts) {
  int64_t index = 0;
  for (const auto &part : parts)
    index = index * part.size + position / part.stride % part.size;
  return static_cast<uint32_t>(index);
}

uint32_t GroupSet::place(uint32_t index, const Parts &parts) {
  int64_t position = 0;
  for (size_t i = parts.size(); i-- > 0; index /= parts[i].size)
    position += index % parts[i].size * parts[i].stride;
  return static_cast<uint32_t>(position);
}

Status GroupSet::fromTables(const Collective &c, const MeshGrid &mesh) {
  size_ = static_cast<uint32_t>(c.groups(0).devices_size());
  count_ = static_cast<uint32_t>(c.groups_size());
  groupOf_.assign(mesh.size(), UINT32_MAX);
  rankOf_.assign(mesh.size(), 0);
  for (const auto &group : c.groups()) {
    if (group.devices_size() != static_cast<int>(size_) || size_ == 0)
      return invalidProgram("a collective's groups differ in size");
    for (int64_t device : group.devices()) {
      if (mesh.positionOf(device) < 0)
        return invalidProgram("a collective's group names device " + std::to_string(device) +
                              ", which is none of its program's " + std::to_string(mesh.size()));
      auto position = static_cast<uint32_t>(mesh.positionOf(device));
      if (groupOf_[position] != UINT32_MAX)
        return invalidProgram("device " + std::to_string(device) +
                              " is in two groups of a collective");
      groupOf_[position] = static_cast<uint32_t>(table_.size() / size_);
      rankOf_[position] = static_cast<uint32_t>(table_.size() % size_);
      table_.push_back(position);
    }
  }
  for (int64_t p = 0; p < mesh.size(); ++p)
    if (groupOf_[p] == UINT32_MAX)
      return invalidProgram("device " + std::to_string(mesh.deviceAt(p)) +
                            " is in no group of a collective");
  return {};
}

Result<GroupSet> GroupSet::make(const Collective &collective, const MeshGrid &mesh) {
  GroupSet set;
  if (collective.groups_size()) {
    if (Status s = set.fromTables(collective, mesh); !s.ok())
      return s;
    return set;
  }
  if (Status s = mesh.check(collective.axes()); !s.ok())
    return s;
  AxisRefs axes = collective.axes();
  dropTrivial(axes);
  for (const auto &ref : axes)
    set.along_.push_back(mesh.part(ref));
  set.beside_ = mesh.partsBeside(axes);
  set.size_ = static_cast<uint32_t>(MeshGrid::sizeOf(axes));
  set.count_ = static_cast<uint32_t>(mesh.size() / set.size_);
  return set;
}

std::string groupSignature(const Collective &collective) {
  std::string text;
  for (const auto &ref : collective.axes())
    if (ref.size() != 1)
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
