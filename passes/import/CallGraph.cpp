#include "passes/import/CallGraph.h"

#include <algorithm>

namespace tessera::import {

std::vector<size_t> CallGraph::calleesFirst(size_t entry, bool &recursive) const {
  enum class State : uint8_t { New, Open, Done };
  std::vector<State> states(functions.size(), State::New);
  std::vector<size_t> order;
  struct Visit {
    size_t function, next; // call of it
  };
  std::vector<Visit> stack{{entry, 0}};
  recursive = false;
  while (!stack.empty()) { // no recursion of ours: chains of calls are as long as the file allows
    auto &[function, next] = stack.back();
    states[function] = State::Open;
    if (next == functions[function].calls.size()) {
      states[function] = State::Done;
      order.push_back(function);
      stack.pop_back();
      continue;
    }
    size_t callee = functions[function].calls[next++].callee;
    if (states[callee] == State::Open) {
      recursive = true;
      order.push_back(callee);
      return order;
    }
    if (states[callee] == State::New)
      stack.push_back({callee, 0});
  }
  return order;
}

std::vector<InlinedSize> CallGraph::sizes(const std::vector<size_t> &order) const {
  std::vector<InlinedSize> sizes(functions.size());
  for (size_t number : order) {
    const CalledFunction &function = functions[number];
    InlinedSize size{function.operations, function.regions, 0};
    for (const CalledFunction::Call &call : function.calls) {
      const InlinedSize &inner = sizes[call.callee];
      size.operations = std::min(kUncountable, size.operations + inner.operations);
      size.regions = std::max(size.regions, call.regions + inner.regions);
      size.calls = std::max(size.calls, inner.calls + 1);
    }
    sizes[number] = size;
  }
  return sizes;
}

} // namespace tessera::import
