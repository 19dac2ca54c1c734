#include "runtime/program/Blocks.h"
#include "runtime/array/ElementType.h"
#include "runtime/array/Layout.h"
#include <algorithm>
#include <cstring>

namespace tessera::runtime {

using program::Collective;

int64_t Block::bytes() const {
  int64_t bytes = row;
  for (int64_t n : extent)
    bytes *= n;
  return bytes;
}

bool isCompact(const Block &block, const std::vector<int64_t> &strides) {
  int64_t next = block.row;
  for (size_t i = block.extent.size(); i-- > 0; next *= block.extent[i])
    if (strides[i] != next)
      return false;
  return true;
}

void copyBlock(const Block &block, const char *from, char *to, int64_t begin, int64_t end,
               int64_t skipped) {
  auto copy = [&](auto bytesOf) {
    forEachRun(block, begin, end, [&](int64_t source, int64_t target, int64_t bytes) {
      std::memcpy(to + (target - skipped), from + source, bytesOf(bytes));
    });
  };
  // Rows of an element or two are moves of a known size, where no run is a part of one.
  bool areWhole = !block.extent.empty() && begin % block.row == 0 && end % block.row == 0;
  switch (areWhole ? block.row : 0) {
  case 2:
    return copy([](int64_t) { return 2; });
  case 4:
    return copy([](int64_t) { return 4; });
  case 8:
    return copy([](int64_t) { return 8; });
  case 16:
    return copy([](int64_t) { return 16; });
  default:
    return copy([](int64_t bytes) { return bytes; });
  }
}

const char *nameOf(Collective::Kind kind) {
  switch (kind) {
  case Collective::ALL_REDUCE:
    return "all_reduce";
  case Collective::ALL_GATHER:
    return "all_gather";
  case Collective::REDUCE_SCATTER:
    return "reduce_scatter";
  case Collective::ALL_TO_ALL:
    return "all_to_all";
  case Collective::PERMUTE:
    return "permute";
  default:
    return "broadcast";
  }
}

const char *nameOf(const CollectivePlan &plan) {
  return !plan.route ? nameOf(plan.kind) : plan.sends ? "send" : "receive";
}

namespace {

Block makeBlock(const std::vector<int64_t> &extent, const std::vector<int64_t> &fromShape,
                const std::vector<int64_t> &toShape, int64_t element) {
  std::vector<int64_t> from = rowMajorStrides(fromShape), to = rowMajorStrides(toShape);
  Block block;
  block.row = element;
  size_t i = extent.size();
  while (i > 0 && ((from[i - 1] * element == block.row && to[i - 1] * element == block.row) ||
                   extent[i - 1] == 1))
    block.row *= extent[--i];
  for (size_t d = 0; d < i; ++d) {
    if (extent[d] == 1)
      continue;
    int64_t f = from[d] * element, t = to[d] * element;
    if (!block.extent.empty() && block.from.back() == f * extent[d] &&
        block.to.back() == t * extent[d]) {
      block.extent.back() *= extent[d];
      block.from.back() = f;
      block.to.back() = t;
    } else {
      block.extent.push_back(extent[d]);
      block.from.push_back(f);
      block.to.push_back(t);
    }
  }
  return block;
}

} // namespace

Status Permutation::read(const Collective &c, uint32_t groupSize) {
  if (c.source_target_size() % 2)
    return invalidProgram("permute has an odd list of pairs");
  size_ = groupSize;
  wrap_ = c.wrap();
  shift_ = wrap_ ? (c.shift() % size_ + size_) % size_ : std::clamp(c.shift(), -size_, size_);
  for (int i = 0; i < c.source_target_size(); i += 2) {
    int64_t s = c.source_target(i), d = c.source_target(i + 1);
    if (s < 0 || d < 0 || s >= size_ || d >= size_)
      return invalidProgram("permute names rank " + std::to_string(s < 0 || s >= size_ ? s : d) +
                            " of a group of " + std::to_string(size_));
    pairs_.emplace_back(static_cast<uint32_t>(d), static_cast<uint32_t>(s));
  }
  std::sort(pairs_.begin(), pairs_.end());
  for (size_t i = 1; i < pairs_.size(); ++i)
    if (pairs_[i].first == pairs_[i - 1].first)
      return invalidProgram("permute has two sources for rank " + std::to_string(pairs_[i].first));
  return {};
}

Result<CollectivePlan> planCollective(const Collective &c, uint32_t groupSize) {
  CollectivePlan plan;
  plan.kind = c.kind();
  plan.reduction = c.reduction();
  plan.type = c.type();
  plan.groupSize = groupSize;
  for (const auto &ref : c.axes())
    if (ref.size() > 1)
      plan.axes.push_back({ref.axis(), ref.pre_size(), ref.size()});
  const char *name = nameOf(c.kind());
  auto bad = [&](const std::string &what) {
    return invalidProgram(std::string(name) + ": " + what);
  };
  int64_t element = byteSize(c.type()), g = groupSize;
  if (!element || !Collective::Kind_IsValid(c.kind()) ||
      !Collective::Reduction_IsValid(c.reduction()))
    return bad("unknown kind, element type or reduction");
  if (c.shapes_size() == 0 || c.operands_size() != c.shapes_size() ||
      c.results_size() != c.shapes_size())
    return bad("operands, results and shapes differ in number");
  if (plan.kind == Collective::PERMUTE) {
    if (Status s = plan.permutation.read(c, groupSize); !s.ok())
      return s;
    plan.shift = c.source_target_size() ? 0 : c.shift();
  }
  bool complex = c.type() == program::C64 || c.type() == program::C128;
  if (plan.reduces() && complex && c.reduction() != Collective::SUM &&
      c.reduction() != Collective::PRODUCT)
    return bad("complex numbers are only added and multiplied");
  bool isFloat =
      complex || c.type() == program::F32 || c.type() == program::F64 || isSmallFloat(c.type());
  if (plan.reduces() && isFloat &&
      (c.reduction() == Collective::AND || c.reduction() == Collective::OR))
    return bad("'and' and 'or' are for integers");
  for (const auto &s : c.shapes()) {
    std::vector<int64_t> shape(s.dims().begin(), s.dims().end());
    int64_t bytes = element;
    for (int64_t n : shape)
      if (n < 0 || __builtin_mul_overflow(bytes, n, &bytes) || bytes > (int64_t{1} << 46) / g)
        return bad("impossible shape");
    std::vector<int64_t> result = shape, extent = shape;
    bool divides = c.kind() == Collective::REDUCE_SCATTER || c.kind() == Collective::ALL_TO_ALL;
    if (divides || c.kind() == Collective::ALL_GATHER) {
      if (c.dim() >= shape.size() ||
          (c.kind() == Collective::ALL_TO_ALL && c.concat_dim() >= shape.size()))
        return bad("dimension " + std::to_string(c.dim()) + " of a rank " +
                   std::to_string(shape.size()) + " array");
      if (divides && shape[c.dim()] % g)
        return bad("dimension " + std::to_string(c.dim()) + " of size " +
                   std::to_string(shape[c.dim()]) + " does not divide by the group's " +
                   std::to_string(g));
    }
    Transfer t;
    std::vector<int64_t> from = rowMajorStrides(shape);
    if (divides) {
      extent[c.dim()] /= g;
      result[c.dim()] /= g;
      t.fromStep = extent[c.dim()] * from[c.dim()] * element;
    }
    if (c.kind() == Collective::ALL_GATHER)
      result[c.dim()] *= g;
    if (c.kind() == Collective::ALL_TO_ALL)
      result[c.concat_dim()] *= g;
    if (c.kind() == Collective::ALL_GATHER || c.kind() == Collective::ALL_TO_ALL) {
      uint32_t dim = c.kind() == Collective::ALL_GATHER ? c.dim() : c.concat_dim();
      t.toStep = extent[dim] * rowMajorStrides(result)[dim] * element;
    }
    t.block = makeBlock(extent, shape, result, element);
    t.operandBytes = bytes;
    t.resultBytes = elementCount(result) * element;
    plan.bytes += c.kind() == Collective::REDUCE_SCATTER ? t.operandBytes : t.resultBytes;
    plan.transfers.push_back(std::move(t));
  }
  return plan;
}

} // namespace tessera::runtime
