#include "compiler/plan/Calls.h"

#include "passes/OpsWithin.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/MapVector.h"

#include <map>

namespace tessera::planning {

using namespace mlir;

namespace {

constexpr size_t kMostOps =
    20000; // of copies: larger programs are folded, and equal layers lie alike

constexpr int kMostDepth = 16; // of functions that call each other

// The calls of each private function, in program order; none of what else refers to.
llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> callsOf(ModuleOp module) {
  llvm::MapVector<func::FuncOp, SmallVector<func::CallOp>> calls;
  SymbolTable symbols(module);
  std::map<StringRef, size_t> uses;
  if (auto all = SymbolTable::getSymbolUses(&module.getBodyRegion()))
    for (const SymbolTable::SymbolUse &use : *all)
      ++uses[use.getSymbolRef().getRootReference()];
  module.walk([&](func::CallOp call) {
    if (auto function = symbols.lookup<func::FuncOp>(call.getCallee()))
      if (function.isPrivate() && !function.isExternal())
        calls[function].push_back(call);
  });
  calls.remove_if([&](auto &each) { return each.second.size() != uses[each.first.getName()]; });
  return calls;
}

// What a function does, whatever it is called.
std::string bodyOf(func::FuncOp function) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  function->print(stream, OpPrintingFlags().useLocalScope());
  return text.substr(text.find('('));
}

} // namespace

SeparateCalls separateCalls(ModuleOp module) {
  SeparateCalls separate;
  std::map<std::string, size_t> groupOf; // of each function that has copies, or is one
  size_t copied = 0;
  bool isDone = false;
  for (int depth = 0; depth < kMostDepth && !isDone; ++depth) {
    isDone = true;
    SymbolTable symbols(module);
    for (auto &[function, calls] : callsOf(module)) {
      auto isInside = [inside = function.getOperation()](Operation *call) {
        return inside->isProperAncestor(call);
      };
      if (calls.size() < 2 || llvm::any_of(calls, isInside))
        continue;
      copied += (calls.size() - 1) * countOps(function);
      if (copied > kMostOps)
        return separate;
      std::string name = function.getName().str();
      auto [group, isNew] = groupOf.try_emplace(name, separate.size());
      if (isNew)
        separate.push_back({name});
      Operation *last = function;
      for (func::CallOp call : ArrayRef(calls).drop_front()) {
        func::FuncOp copy = function.clone();
        symbols.insert(copy, std::next(last->getIterator()));
        last = copy;
        call.setCallee(copy.getName());
        groupOf[copy.getName().str()] = group->second;
        separate[group->second].push_back(copy.getName().str());
      }
      isDone = false; // what the copies call has more calls now
    }
  }
  return separate;
}

void joinAlike(ModuleOp module, const SeparateCalls &separate) {
  bool isJoined = true;
  while (isJoined) { // who calls what has become one is alike then
    isJoined = false;
    SymbolTable symbols(module);
    llvm::StringMap<SmallVector<func::CallOp>> calls; // by whom they call
    module.walk([&](func::CallOp call) { calls[call.getCallee()].push_back(call); });
    for (const std::vector<std::string> &names : separate) {
      std::map<std::string, func::FuncOp> known;
      for (const std::string &name : names) {
        auto function = symbols.lookup<func::FuncOp>(name);
        if (!function)
          continue;
        auto [first, isNew] = known.try_emplace(bodyOf(function), function);
        if (isNew)
          continue;
        StringRef kept = first->second.getName();
        for (func::CallOp call : calls[name])
          call.setCallee(kept);
        llvm::append_range(calls[kept], calls[name]);
        function.walk([&](func::CallOp call) { llvm::erase(calls[call.getCallee()], call); });
        symbols.erase(function);
        isJoined = true;
      }
    }
  }
}

} // namespace tessera::planning
