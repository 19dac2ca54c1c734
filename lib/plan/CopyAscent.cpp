#include "lib/plan/CopyAscent.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>

namespace tessera::plan {

namespace {

constexpr double kGreatest = 1e300, kRounding = 1e-9;

// The least of factor * row[i] - less[i].
double leastOf(const double *row, const double *less, size_t count, double factor) {
  constexpr size_t kLanes = 8;
  double lanes[kLanes];
  std::fill(lanes, lanes + kLanes, kGreatest);
  size_t i = 0;
  for (; i + kLanes <= count; i += kLanes)
    for (size_t lane = 0; lane < kLanes; ++lane) {
      double each = factor * row[i + lane] - less[i + lane];
      lanes[lane] = each < lanes[lane] ? each : lanes[lane];
    }
  for (; i < count; ++i)
    lanes[0] = std::min(lanes[0], factor * row[i] - less[i]);
  return *std::min_element(lanes, lanes + kLanes);
}

} // namespace

CopyAscent::CopyAscent(const Formulation &problem, SharedCopies &copies)
    : problem(problem), copies(copies), order(problem.order()) {
  const solver::Graph &graph = problem.graph;
  placeOf.resize(order.size());
  for (auto [place, vertex] : llvm::enumerate(order))
    placeOf[vertex] = int32_t(place);
  edgesOf.resize(order.size());
  int64_t choices = 0, messages = 0;
  for (const std::vector<double> &each : graph.costs) {
    first.push_back(choices);
    choices += int64_t(each.size());
    out.emplace_back(each.size());
  }
  costs.resize(size_t(choices));
  for (auto [e, edge] : llvm::enumerate(graph.edges)) {
    int64_t toFrom = messages, toTo = toFrom + int64_t(graph.costs[edge.from].size());
    messages = toTo + int64_t(graph.costs[edge.to].size());
    edges.push_back(
        {edge.from, edge.to, edge.factor, nullptr, problem.sharers[e], 0, toFrom, toTo});
    edgesOf[edge.from].push_back(int32_t(e));
    edgesOf[edge.to].push_back(int32_t(e));
  }
  message.resize(size_t(messages));
  begin();
}

// Messages stay: with other costs they are as good as any to begin with.
void CopyAscent::begin() {
  const solver::Graph &graph = problem.graph;
  shares = copies.getShares();
  edgeOf.clear();
  for (const SharedCopies::Shares &each : shares)
    edgeOf.emplace_back(each.paid.size(), -1);
  for (auto [e, edge] : llvm::enumerate(edges)) {
    if (edge.sharer.value >= 0) {
      edgeOf[edge.sharer.value][edge.sharer.reader] = int32_t(e);
      edge.columns = shares[edge.sharer.value].paid[edge.sharer.reader].columns;
      continue;
    }
    const solver::Matrix &matrix = graph.matrices[graph.edges[e].matrix];
    edge.seconds = matrix.costs.data();
    edge.columns = size_t(matrix.columns);
  }
  if (bestShares.empty())
    bestShares = shares;
  for (auto [vertex, each] : llvm::enumerate(graph.costs))
    llvm::copy(each, costs.begin() + first[vertex]);
  isBound = false;
}

// Of choices of the reader that need one sharding, what they gave at most.
void CopyAscent::greatestByColumn(const Edge &edge, std::vector<double> &into) const {
  const double *from = &message[edge.toTo];
  size_t choices = problem.graph.costs[edge.to].size();
  if (edge.seconds) {
    into.assign(from, from + choices);
    return;
  }
  into.assign(edge.columns, -kGreatest);
  for (size_t i = 0; i < choices; ++i) {
    double &most = into[(*edge.sharer.columns)[i]];
    most = std::max(most, from[i]);
  }
}

void CopyAscent::sendFrom(const Edge &edge) {
  greatestByColumn(edge, given);
  const double *row = rowsOf(edge);
  size_t rows = problem.graph.costs[edge.from].size();
  for (size_t i = 0; i < rows; ++i, row += edge.columns)
    message[edge.toFrom + i] =
        std::min(most, leastOf(row, given.data(), edge.columns, edge.factor));
}

void CopyAscent::sendTo(const Edge &edge) {
  const double *row = rowsOf(edge);
  size_t rows = problem.graph.costs[edge.from].size();
  given.assign(edge.columns, most);
  for (size_t i = 0; i < rows; ++i, row += edge.columns) {
    double less = message[edge.toFrom + i];
    for (size_t column = 0; column < edge.columns; ++column) {
      double each = edge.factor * row[column] - less;
      given[column] = each < given[column] ? each : given[column];
    }
  }
  for (size_t i = 0; i < problem.graph.costs[edge.to].size(); ++i)
    message[edge.toTo + i] = given[edge.seconds ? i : (*edge.sharer.columns)[i]];
}

// What is left at a vertex: its part of the bound. It takes what edges from behind can give, and passes it
// on ahead in equal parts.
double CopyAscent::visit(int32_t vertex, bool forward, double limit) {
  size_t size = problem.graph.costs[vertex].size();
  sum.assign(costs.begin() + first[vertex], costs.begin() + first[vertex] + size);
  for (size_t i = 0; i < size; ++i)
    sum[i] = out[vertex][i] ? most : std::min(sum[i], most);
  auto isAhead = [&](const Edge &edge) {
    int32_t other = edge.from == vertex ? edge.to : edge.from;
    return (placeOf[other] > placeOf[vertex]) == forward;
  };
  int64_t ahead = 0, behind = 0;
  for (int32_t e : edgesOf[vertex]) {
    const Edge &edge = edges[e];
    bool isFrom = edge.from == vertex;
    if (isAhead(edge)) {
      ++ahead;
    } else {
      ++behind;
      isFrom ? sendFrom(edge) : sendTo(edge);
    }
    const double *to = &message[isFrom ? edge.toFrom : edge.toTo];
    for (size_t i = 0; i < size; ++i)
      sum[i] += to[i];
  }
  double least = *llvm::min_element(sum);
  for (size_t i = 0; i < size; ++i)
    if (sum[i] - least > limit)
      out[vertex][i] = true;
  if (ahead == 0)
    return least;
  double share = 1 / double(std::max(ahead, behind));
  for (int32_t e : edgesOf[vertex])
    if (const Edge &edge = edges[e]; isAhead(edge)) {
      double *to = &message[edge.from == vertex ? edge.toFrom : edge.toTo];
      for (size_t i = 0; i < size; ++i)
        to[i] -= share * sum[i];
    }
  return (1 - double(ahead) * share) * least;
}

void CopyAscent::pass(bool forward, double wanted) {
  double limit = isBound ? (1 + kRounding) * wanted - lower : kGreatest, total = 0;
  for (size_t n = 0; n < order.size(); ++n)
    total += visit(order[forward ? n : order.size() - 1 - n], forward, limit);
  lower = total;
  isBound = true;
}

// What readers need not pay others do, who have nothing left: each edge keeps all that it gives.
void CopyAscent::shiftPaid(size_t value) {
  SharedCopies::Shares &all = shares[value];
  gave.resize(std::max(gave.size(), all.paid.size()));
  for (auto [reader, e] : llvm::enumerate(edgeOf[value]))
    if (e >= 0)
      greatestByColumn(edges[e], gave[reader]);
  payers.clear();
  for (const SharedCopies::Sharing &copy : all.copies)
    for (auto [reader, column] : copy) {
      Matrix &paid = all.paid[reader];
      Payer &payer = payers.emplace_back();
      payer.paid = paid.at.data() + column;
      payer.columns = paid.columns;
      int32_t e = edgeOf[value][reader];
      payer.took = e < 0 ? nullptr : &message[edges[e].toFrom];
      if (e < 0)
        continue;
      payer.factor = edges[e].factor;
      payer.gave = gave[reader][size_t(column)];
    }
  llvm::SmallVector<double, 8> left; // that each could pay less; below zero: it takes more
  for (size_t row = 0; row < all.full[0]->rows; ++row) {
    const Payer *next = payers.data();
    for (const SharedCopies::Sharing &copy : all.copies) {
      llvm::ArrayRef<Payer> sharers(next, copy.size());
      next += copy.size();
      double full = (*all.full[copy[0].first])(row, size_t(copy[0].second));
      if (full == 0 || full == kImpossible)
        continue;
      // Mostly nobody has nothing left, or all have: that is seen without dividing.
      bool mayTake = false, mayGive = false;
      for (const Payer &payer : sharers)
        if (payer.took) {
          double over =
              payer.factor * payer.paid[row * payer.columns] - payer.took[row] - payer.gave;
          mayTake |= over <= 2 * kRounding * full * payer.factor;
          mayGive |= over > 0;
        }
      if (!mayTake || !mayGive)
        continue;
      left.resize_for_overwrite(sharers.size());
      double freed = 0, takers = 0;
      for (auto [i, payer] : llvm::enumerate(sharers)) {
        double paid = payer.paid[row * payer.columns], spare = 0;
        if (payer.took)
          spare = (payer.factor * paid - payer.took[row] - payer.gave) / payer.factor;
        bool takes = payer.took && spare <= kRounding * full;
        left[i] = takes ? -1 : payer.took ? std::min(spare, paid) : 0;
        takers += takes;
        freed += takes ? 0 : left[i];
      }
      if (takers == 0 || freed <= kRounding * full)
        continue;
      for (auto [payer, spare] : llvm::zip_equal(sharers, left))
        payer.paid[row * payer.columns] += spare < 0 ? freed / takers : -spare;
    }
  }
}

void CopyAscent::run(int64_t rounds, double wanted, double gap) {
  constexpr int64_t kOften = 8;
  constexpr double kGained = 0.02; // of what is missing, in so many rounds
  most = 8 * wanted;
  double before = 0;
  for (int64_t round = 1; round <= rounds; ++round) {
    for (bool forward : {true, false}) {
      pass(forward, wanted);
      for (size_t value = 0; value < shares.size(); ++value)
        shiftPaid(value);
    }
    if (lower >= (1 - gap) * wanted)
      break;
    if (round % kOften == 0) {
      if (lower - before <= kGained * (wanted - lower))
        break;
      before = lower;
    }
  }
  if (lower > best) {
    best = lower;
    bestShares = shares;
  }
}

} // namespace tessera::plan
