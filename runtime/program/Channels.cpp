#include "runtime/program/Channels.h"
#include "runtime/array/ElementType.h"

namespace tessera::runtime {

Result<Route> Route::make(const program::Channel &channel,
                          const std::vector<const MeshGrid *> &meshes) {
  auto wrong = [&](const std::string &what) {
    return invalidProgram("channel '" + channel.name() + "' " + what);
  };
  Route route;
  route.name_ = channel.name();
  route.from_ = channel.from();
  route.to_ = channel.to();
  if (route.from_ >= meshes.size() || route.to_ >= meshes.size())
    return wrong("joins programs " + std::to_string(route.from_) + " and " +
                 std::to_string(route.to_) + " of " + std::to_string(meshes.size()));
  route.bytes_ = static_cast<uint64_t>(byteSize(channel.type()));
  if (!route.bytes_)
    return wrong("has an unknown element type");
  for (int64_t size : channel.shape()) {
    if (size < 0 || (size && route.bytes_ > (uint64_t{1} << 46) / static_cast<uint64_t>(size)))
      return wrong("is for arrays of an impossible size");
    route.bytes_ *= static_cast<uint64_t>(size);
  }
  int64_t sources = meshes[route.from_]->size(), targets = meshes[route.to_]->size();
  if (channel.source_target_size() == 0) {
    if (sources != targets)
      return wrong("joins " + std::to_string(sources) + " devices and " + std::to_string(targets) +
                   " without saying which");
    return route;
  }
  // Each target once: the table is as long as the receiving mesh is large.
  if (channel.source_target_size() != 2 * targets)
    return wrong("has " + std::to_string(channel.source_target_size() / 2) + " pairs for " +
                 std::to_string(targets) + " devices that receive");
  route.isTable_ = true;
  route.sources_.assign(targets, UINT32_MAX);
  for (int i = 0; i < channel.source_target_size(); i += 2) {
    int64_t source = channel.source_target(i), target = channel.source_target(i + 1);
    if (source < 0 || source >= sources || target < 0 || target >= targets)
      return wrong("names a pair of positions " + std::to_string(source) + ", " +
                   std::to_string(target) + " that the meshes have not");
    if (route.sources_[target] != UINT32_MAX)
      return wrong("has two senders for position " + std::to_string(target));
    route.sources_[target] = static_cast<uint32_t>(source);
    route.bySource_.emplace_back(static_cast<uint32_t>(source), static_cast<uint32_t>(target));
  }
  std::sort(route.bySource_.begin(), route.bySource_.end());
  return route;
}

uint32_t Route::sourceOf(uint32_t target) const { return isTable_ ? sources_[target] : target; }

CollectivePlan planTransfer(const Route &route, bool sends) {
  CollectivePlan plan;
  plan.kind = program::Collective::BROADCAST; // which moves bytes as they are
  plan.reduction = program::Collective::SUM;
  plan.type = program::U8;
  plan.groupSize = 2;
  plan.route = &route;
  plan.sends = sends;
  auto bytes = static_cast<int64_t>(route.bytes());
  Transfer transfer;
  transfer.block.row = bytes;
  (sends ? transfer.operandBytes : transfer.resultBytes) = bytes;
  plan.transfers.push_back(transfer);
  if (!sends)
    plan.bytes = bytes;
  return plan;
}

} // namespace tessera::runtime
