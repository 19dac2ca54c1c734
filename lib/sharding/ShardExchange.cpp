#include "lib/sharding/ShardExchange.h"

#include "lib/sharding/AxisAtoms.h"
#include "llvm/ADT/STLExtras.h"

namespace tessera::sharding {
namespace {

constexpr int64_t maxRanks = 256, maxRounds = 64;

struct Range {
  int64_t begin, end;
  int64_t rows() const { return end - begin; }
};
using Box = llvm::SmallVector<Range, 4>;

struct Message {
  int64_t source, target;
  Box box; // of the whole tensor
  int64_t elements() const {
    int64_t n = 1;
    for (Range range : box)
      n *= range.rows();
    return n;
  }
};

// Rounds for messages such that no rank has two in one: as many as the busiest rank has messages.
// (König 1916: the edges of a bipartite graph.) Messages come largest first, and take the first
// round that is free.
std::vector<int> roundsOf(llvm::ArrayRef<Message> messages, int64_t ranks, int64_t rounds) {
  std::vector<int> of(messages.size(), -1);
  // [0] by source, [1] by target: the message of each round.
  std::vector<std::vector<int>> at[2];
  for (auto &side : at)
    side.assign(ranks, std::vector<int>(rounds, -1));
  auto endOf = [&](int message, int side) {
    return side == 0 ? messages[message].source : messages[message].target;
  };
  auto freeRound = [&](llvm::ArrayRef<int> taken) { return llvm::find(taken, -1) - taken.begin(); };
  for (int m = 0; m < int(messages.size()); ++m) {
    llvm::ArrayRef<int> source = at[0][messages[m].source], target = at[1][messages[m].target];
    int round = 0;
    while (round < rounds && (source[round] != -1 || target[round] != -1))
      ++round;
    if (round == rounds) {
      // `a` is free at the source, `b` at the target: the chain of messages in a and b that begins
      // at the target changes places, and never comes to the source.
      int a = freeRound(source), b = freeRound(target);
      llvm::SmallVector<int> chain;
      for (int64_t rank = messages[m].target, side = 1, next = a; at[side][rank][next] != -1;
           side = 1 - side, next = a + b - next) {
        chain.push_back(at[side][rank][next]);
        rank = endOf(chain.back(), 1 - side);
      }
      for (int link : chain)
        for (int side : {0, 1})
          at[side][endOf(link, side)][of[link]] = -1;
      for (int link : chain) {
        of[link] = a + b - of[link];
        for (int side : {0, 1})
          at[side][endOf(link, side)][of[link]] = link;
      }
      round = a;
    }
    of[m] = round;
    for (int side : {0, 1})
      at[side][endOf(m, side)][round] = m;
  }
  return of;
}

class Exchange {
public:
  Exchange(const Mesh &mesh, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<DimLayout> held,
           llvm::ArrayRef<WantedDim> wanted)
      : shape(shape), held(held), wanted(wanted), atoms(mesh, allRefs(), /*primes=*/false) {}

  std::optional<ShardExchange> plan(bool alike);

private:
  llvm::SmallVector<AxisRef> allRefs() const {
    llvm::SmallVector<AxisRef> refs;
    for (auto [own, want] : llvm::zip_equal(held, wanted)) {
      refs.append(own.axes.begin(), own.axes.end());
      refs.append(want.axes.begin(), want.axes.end());
      refs.append(want.within.begin(), want.within.end());
    }
    return refs;
  }
  int64_t index(llvm::ArrayRef<uint8_t> of, llvm::ArrayRef<int64_t> coordinate) const {
    int64_t n = 0;
    for (uint8_t atom : of)
      n = n * atoms.size(atom) + coordinate[atom];
    return n;
  }
  void findBoxes();
  bool findMessages();
  bool cutMessages();
  ExchangeRound roundOf(llvm::ArrayRef<const Message *> messages, bool kept) const;

  llvm::ArrayRef<int64_t> shape;
  llvm::ArrayRef<DimLayout> held;
  llvm::ArrayRef<WantedDim> wanted;
  AxisAtoms atoms;

  using Block = llvm::SmallVector<int64_t, 4>; // by dimension
  // Of all blocks, row-major.
  int64_t numberOf(const Block &block) const {
    int64_t number = 0;
    for (auto [own, at] : llvm::zip_equal(held, block))
      number = number * shardCount(own.axes) + at;
    return number;
  }
  std::vector<Block> blocks;                 // by rank
  std::vector<Box> wants;                    // by rank
  std::vector<std::vector<int64_t>> holders; // by number of a block
  std::vector<Message> messages, kept;
};

void Exchange::findBoxes() {
  int64_t ranks = 1;
  for (size_t atom = 0; atom < atoms.count(); ++atom)
    ranks *= atoms.size(atom);
  std::vector<Atoms> own, outer, inner;
  for (auto [has, want] : llvm::zip_equal(held, wanted)) {
    own.push_back(atoms.cut(has.axes));
    outer.push_back(atoms.cut(want.axes));
    inner.push_back(atoms.cut(want.within));
  }
  int64_t count = 1;
  for (const DimLayout &has : held)
    count *= shardCount(has.axes);
  holders.resize(count);
  llvm::SmallVector<int64_t> coordinate(atoms.count(), 0);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    int64_t rest = rank;
    for (size_t atom = atoms.count(); atom-- > 0;) {
      coordinate[atom] = rest % atoms.size(atom);
      rest /= atoms.size(atom);
    }
    Block block;
    Box box;
    for (size_t d = 0; d < shape.size(); ++d) {
      block.push_back(index(own[d], coordinate));
      int64_t tile = index(outer[d], coordinate) * wanted[d].tile;
      int64_t end = std::min(tile + wanted[d].tile, shape[d]);
      int64_t begin = std::min(tile + index(inner[d], coordinate) * wanted[d].part, end);
      box.push_back({begin, std::min(begin + wanted[d].part, end)});
    }
    holders[numberOf(block)].push_back(rank);
    blocks.push_back(std::move(block));
    wants.push_back(std::move(box));
  }
}

// Of the devices that hold what is wanted, each sends as much as the others. False when that is too
// much.
bool Exchange::findMessages() {
  std::vector<int64_t> sent(holders.size()); // of each block
  for (int64_t rank = 0; rank < int64_t(wants.size()); ++rank) {
    const Box &box = wants[rank];
    if (llvm::any_of(box, [](Range range) { return range.rows() <= 0; }))
      continue;
    Block block;
    for (size_t d = 0; d < shape.size(); ++d)
      block.push_back(box[d].begin / held[d].tile);
    while (true) {
      Message message{rank, rank, box};
      for (size_t d = 0; d < shape.size(); ++d) {
        Range &range = message.box[d];
        range.begin = std::max(range.begin, block[d] * held[d].tile);
        range.end = std::min(range.end, (block[d] + 1) * held[d].tile);
      }
      if (block == blocks[rank]) {
        kept.push_back(std::move(message));
      } else {
        int64_t number = numberOf(block);
        const std::vector<int64_t> &from = holders[number];
        message.source = from[sent[number]++ % from.size()];
        messages.push_back(std::move(message));
        if (messages.size() > size_t(maxRounds * maxRanks))
          return false;
      }
      size_t d = shape.size();
      while (d > 0 && ++block[d - 1] * held[d - 1].tile >= box[d - 1].end) {
        --d;
        block[d] = box[d].begin / held[d].tile;
      }
      if (d == 0)
        break;
    }
  }
  return true;
}

ExchangeRound Exchange::roundOf(llvm::ArrayRef<const Message *> of, bool stays) const {
  ExchangeRound round;
  round.shape.assign(shape.size(), 0);
  for (auto *table : {&round.from, &round.to, &round.rows})
    table->assign(shape.size(), std::vector<int64_t>(blocks.size(), 0));
  for (const Message *message : of) {
    if (!stays)
      round.pairs.append({message->source, message->target});
    for (size_t d = 0; d < shape.size(); ++d) {
      Range range = message->box[d];
      round.shape[d] = std::max(round.shape[d], range.rows());
      round.from[d][message->source] = range.begin - blocks[message->source][d] * held[d].tile;
      round.to[d][message->target] = range.begin - wants[message->target][d].begin;
      round.rows[d][message->target] = range.rows();
    }
  }
  return round;
}

// Along each dimension to pieces of as many rows as the smallest has. False when those are too many.
bool Exchange::cutMessages() {
  for (size_t d = 0; d < shape.size() && !messages.empty(); ++d) {
    int64_t rows = shape[d];
    for (const Message &message : messages)
      rows = std::min(rows, message.box[d].rows());
    std::vector<Message> pieces;
    for (const Message &message : messages)
      for (Range all = message.box[d]; all.begin < all.end; all.begin += rows) {
        if (pieces.size() == size_t(maxRounds * maxRanks))
          return false;
        pieces.push_back(message);
        pieces.back().box[d] = {all.begin, std::min(all.begin + rows, all.end)};
      }
    messages = std::move(pieces);
  }
  return true;
}

std::optional<ShardExchange> Exchange::plan(bool alike) {
  ShardExchange exchange;
  Atoms all;
  int64_t ranks = 1;
  if (!atoms.valid())
    return std::nullopt;
  for (size_t atom = 0; atom < atoms.count(); ++atom) {
    all.push_back(atom);
    ranks *= atoms.size(atom);
    if (ranks > maxRanks)
      return std::nullopt;
  }
  exchange.axes = atoms.refs(all);
  for (const WantedDim &dim : wanted)
    exchange.shape.push_back(dim.part);
  findBoxes();
  if (!findMessages())
    return std::nullopt;
  if (alike && !cutMessages())
    return std::nullopt;
  if (!kept.empty()) {
    llvm::SmallVector<const Message *> stay;
    for (const Message &message : kept)
      stay.push_back(&message);
    exchange.rounds.push_back(roundOf(stay, true));
  }
  std::vector<int64_t> sends(ranks, 0), receives(ranks, 0);
  for (const Message &message : messages) {
    ++sends[message.source];
    ++receives[message.target];
  }
  int64_t count = std::max(*llvm::max_element(sends), *llvm::max_element(receives));
  if (count > maxRounds)
    return std::nullopt;
  auto isLarger = [](const Message &a, const Message &b) { return a.elements() > b.elements(); };
  if (!llvm::is_sorted(messages, isLarger)) // mostly they are of one size
    llvm::stable_sort(messages, isLarger);
  std::vector<std::vector<const Message *>> together(count);
  for (auto [message, round] : llvm::zip_equal(messages, roundsOf(messages, ranks, count)))
    together[round].push_back(&message);
  for (const std::vector<const Message *> &each : together)
    exchange.rounds.push_back(roundOf(each, false));
  return exchange;
}

} // namespace

std::optional<ShardExchange> planShardExchange(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                                               llvm::ArrayRef<DimLayout> held,
                                               llvm::ArrayRef<WantedDim> wanted, bool alike) {
  return Exchange(mesh, shape, held, wanted).plan(alike);
}

} // namespace tessera::sharding
