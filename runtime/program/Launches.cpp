#include "runtime/program/Launches.h"

#include <algorithm>

namespace tessera::runtime {

namespace {

constexpr uint32_t kMostThreads = 1024, kMostShared = 227 << 10;

Status impossible(const program::Kernel &kernel, const char *what) {
  return invalidProgram("kernel '" + kernel.symbol() + "' has an impossible " + what);
}

uint64_t bytesOf(program::ElementType type) {
  return type == program::BF16 || type == program::F16 ? 2 : 0;
}

// What cuTensorMapEncodeTiled asks for, and that all of it is the operand's.
bool isWithin(const program::TensorMap &map, const program::Kernel &kernel) {
  constexpr uint64_t kMostSize = uint64_t{1} << 31, kMostStride = uint64_t{1} << 40, kLine = 128;
  constexpr uint32_t kMostBox = 256;
  constexpr int kMostRank = 5;
  uint64_t element = bytesOf(map.type());
  int rank = map.sizes_size();
  if (!element || rank < 1 || rank > kMostRank || map.strides_size() != rank - 1 ||
      map.box_size() != rank || map.offset() % 16 || map.box(0) * element != kLine ||
      static_cast<int>(map.operand()) >= kernel.operands_size())
    return false;
  uint64_t operand = kernel.operands(static_cast<int>(map.operand())).bytes();
  if (map.offset() > operand)
    return false;
  unsigned __int128 last = map.offset() + element;
  for (int i = 0; i < rank; ++i) {
    uint64_t stride = i ? map.strides(i - 1) : element;
    bool isPossible = map.sizes(i) >= 1 && map.sizes(i) <= kMostSize && map.box(i) >= 1 &&
                      map.box(i) <= kMostBox && (!i || stride % 16 == 0) && stride < kMostStride;
    if (!isPossible)
      return false;
    last += static_cast<unsigned __int128>(map.sizes(i) - 1) * stride;
  }
  return last <= operand;
}

} // namespace

Result<std::vector<KernelLaunch>> readLaunches(const program::File &file,
                                               const program::CodeImage &image) {
  bool hasGrids = !image.grids().empty();
  if (image.launches_size() != file.kernels_size() ||
      (hasGrids && image.grids_size() != file.kernels_size()))
    return invalidProgram("an image of code launches " + std::to_string(image.launches_size()) +
                          " kernels of " + std::to_string(file.kernels_size()));
  std::vector<KernelLaunch> launches;
  for (int number = 0; number < file.kernels_size(); ++number) {
    const program::Kernel &kernel = file.kernels(number);
    const program::Launch &said = image.launches(number);
    KernelLaunch launch{
        hasGrids ? image.grids(number) : kernel.grid(), said.threads(), said.shared_bytes(), {}};
    if (launch.threads < 1 || launch.threads > kMostThreads || launch.grid < 1 ||
        launch.grid > INT32_MAX || launch.sharedBytes > kMostShared)
      return impossible(kernel, "launch");
    for (const program::TensorMap &map : said.maps()) {
      if (!isWithin(map, kernel))
        return impossible(kernel, "map of an operand");
      launch.maps.push_back({map.operand(),
                             map.offset(),
                             map.type(),
                             {map.sizes().begin(), map.sizes().end()},
                             {map.strides().begin(), map.strides().end()},
                             {map.box().begin(), map.box().end()}});
    }
    launches.push_back(std::move(launch));
  }
  return launches;
}

} // namespace tessera::runtime
