#include "test/unit/sharding/SimulatedDevices.h"

#include "gtest/gtest.h"

namespace tessera::sharding {

std::vector<int64_t> Devices::group(int64_t device, llvm::ArrayRef<AxisRef> axes) const {
  std::vector<int64_t> members(shardCount(axes), -1);
  auto rest = [&](int64_t d) { // coordinates outside the group, as a number
    int64_t key = 0;
    for (size_t a = 0; a < mesh.axes.size(); ++a)
      for (int64_t pre = 1; pre < mesh.axes[a].size; pre *= 2) {
        int64_t size = std::min<int64_t>(2, mesh.axes[a].size / pre);
        if (mesh.axes[a].size / pre % 2)
          size = mesh.axes[a].size / pre;
        AxisRef atom{int32_t(a), pre, size};
        key = key * size + (overlap(axes, llvm::ArrayRef(atom)) ? 0 : indexAlong(mesh, d, atom));
        if (size != 2)
          break;
      }
    return key;
  };
  int64_t own = rest(device);
  for (int64_t d = 0; d < mesh.numDevices(); ++d)
    if (rest(d) == own)
      members[indexAlong(mesh, d, axes)] = d;
  return members;
}

Array Devices::padded(Array array, int64_t dim, int64_t size, int64_t fill) const {
  std::vector<int64_t> shape = array.shape;
  shape[dim] = size;
  Array out(shape, fill);
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> index) {
    if (index[dim] < array.shape[dim])
      out.at(index) = array.at(index);
  });
  return out;
}

Array Devices::part(Array &array, int64_t dim, int64_t index, int64_t size) const {
  std::vector<int64_t> shape = array.shape;
  shape[dim] = size;
  Array out(shape);
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> at) {
    std::vector<int64_t> from(at.begin(), at.end());
    from[dim] += index * size;
    out.at(at) = array.at(from);
  });
  return out;
}

static Array concat(std::vector<Array> parts, int64_t dim) {
  std::vector<int64_t> shape = parts[0].shape;
  int64_t size = shape[dim];
  shape[dim] *= parts.size();
  Array out(shape);
  forEachIndex(shape, [&](llvm::ArrayRef<int64_t> at) {
    std::vector<int64_t> from(at.begin(), at.end());
    from[dim] %= size;
    out.at(at) = parts[at[dim] / size].at(from);
  });
  return out;
}

static Array viewed(Array array, const ReshardStep &step) {
  std::vector<int64_t> transposed;
  for (int64_t i : step.order)
    transposed.push_back(step.digits[i]);
  array.shape.assign(step.digits.begin(), step.digits.end());
  Array out(transposed);
  forEachIndex(transposed, [&](llvm::ArrayRef<int64_t> at) {
    std::vector<int64_t> from(at.size());
    for (size_t i = 0; i < at.size(); ++i)
      from[step.order[i]] = at[i];
    out.at(at) = array.at(from);
  });
  llvm::SmallVector<int64_t> shape = localShape(step.after);
  out.shape.assign(shape.begin(), shape.end());
  return out;
}

Array Devices::exchanged(const ShardExchange &exchange, int64_t rank,
                         const std::vector<int64_t> &peers, llvm::ArrayRef<int64_t> shape) {
  Array out(exchange.shape, poison);
  for (const ExchangeRound &round : exchange.rounds) {
    int64_t source = round.pairs.empty() ? rank : -1;
    for (size_t i = 0; i < round.pairs.size(); i += 2)
      if (round.pairs[i + 1] == rank)
        source = round.pairs[i];
    std::vector<int64_t> rows;
    for (size_t d = 0; d < exchange.shape.size(); ++d)
      rows.push_back(source < 0 ? 0 : round.rows[d][rank]);
    forEachIndex(rows, [&](llvm::ArrayRef<int64_t> index) {
      std::vector<int64_t> at(index.begin(), index.end()), from(at);
      for (size_t d = 0; d < at.size(); ++d) {
        at[d] += round.to[d][rank];
        from[d] += round.from[d][source];
      }
      out.at(at) = arrays[peers[source]].at(from);
    });
  }
  out.shape.assign(shape.begin(), shape.end());
  return out;
}

void Devices::execute(const ReshardStep &step) {
  const LocalLayout &after = step.after;
  std::vector<Array> next;
  int64_t k = shardCount(step.axes), d = step.dim;
  for (int64_t device = 0; device < mesh.numDevices(); ++device) {
    std::vector<int64_t> peers = group(device, step.axes);
    int64_t rank = indexAlong(mesh, device, step.axes);
    auto splitPart = [&](Array array, int64_t index) {
      if (array.shape[d] != k * after.dims[d].tile) {
        EXPECT_TRUE(layout.dims[d].axes.empty()) << "only unsharded dimensions are padded";
        EXPECT_LT(array.shape[d], k * after.dims[d].tile);
        array = padded(array, d, k * after.dims[d].tile, poison);
      }
      return part(array, d, index, after.dims[d].tile);
    };
    auto sum = [&] {
      Array total(arrays[device].shape);
      for (int64_t peer : peers)
        for (size_t i = 0; i < total.data.size(); ++i)
          total.data[i] += arrays[peer].data[i];
      return total;
    };
    std::vector<Array> parts;
    switch (step.kind) {
    case ReshardKind::AllGather:
      for (int64_t peer : peers)
        parts.push_back(arrays[peer]);
      next.push_back(concat(parts, d));
      break;
    case ReshardKind::Broadcast:
      next.push_back(arrays[peers[0]]);
      break;
    case ReshardKind::Slice:
      next.push_back(splitPart(arrays[device], rank));
      break;
    case ReshardKind::AllToAll:
      for (int64_t peer : peers)
        parts.push_back(splitPart(arrays[peer], rank));
      next.push_back(concat(parts, step.fromDim));
      break;
    case ReshardKind::AllReduce:
      next.push_back(sum());
      break;
    case ReshardKind::ReduceScatter:
      next.push_back(splitPart(sum(), rank));
      break;
    case ReshardKind::Permute: {
      Array arrived(arrays[device].shape, poison);
      for (auto [source, target] : permutePairs(mesh, layout, after, step.axes))
        if (target == rank)
          arrived = arrays[peers[source]];
      next.push_back(arrived);
      break;
    }
    case ReshardKind::Exchange:
      next.push_back(exchanged(*step.exchange, rank, peers, localShape(after)));
      break;
    case ReshardKind::View:
      next.push_back(viewed(arrays[device], step));
      break;
    case ReshardKind::Retile: {
      std::vector<int64_t> line = group(device, layout.dims[d].axes);
      int64_t index = indexAlong(mesh, device, layout.dims[d].axes);
      Array moved(localShape(after), poison);
      forEachIndex(moved.shape, [&](llvm::ArrayRef<int64_t> at) {
        int64_t row = index * after.dims[d].tile + at[d];
        if (row >= shape[d])
          return;
        std::vector<int64_t> from(at.begin(), at.end());
        from[d] = row % layout.dims[d].tile;
        moved.at(at) = arrays[line[row / layout.dims[d].tile]].at(from);
      });
      next.push_back(moved);
      break;
    }
    }
    EXPECT_EQ(llvm::ArrayRef<int64_t>(next.back().shape), llvm::ArrayRef(localShape(after)));
  }
  arrays = std::move(next);
  layout = after;
  if (!step.shape.empty())
    shape.assign(step.shape.begin(), step.shape.end());
}

} // namespace tessera::sharding
