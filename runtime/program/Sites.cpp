#include "runtime/program/Sites.h"
#include <unordered_set>

namespace tessera::runtime {

struct Sites::Open {
  std::unordered_set<uint32_t> sites;
  // Takes what is left of an inner block, the smaller set into the larger one.
  void merge(Open &inner) {
    if (inner.sites.size() > sites.size())
      sites.swap(inner.sites);
    sites.insert(inner.sites.begin(), inner.sites.end());
  }
};

std::string Sites::add(uint32_t site, Kind kind, uint32_t body) {
  auto [it, isNew] = sites_.try_emplace(site, Site{counts_[kind], kind, body});
  if (isNew)
    ++counts_[kind];
  if (it->second.kind != kind)
    return "site " + std::to_string(site) + " is started in two kinds of instructions";
  if (it->second.body != body)
    return "site " + std::to_string(site) + " is started in two functions";
  return "";
}

std::string Sites::readBody(const Body &body, uint32_t number, Open &open) {
  std::string wrong;
  auto start = [&](uint32_t site, Kind kind) {
    if (number || kind != Collective)
      open.sites.insert(site);
    wrong = add(site, kind, number);
  };
  auto inner = [&](const Body &block) {
    Open left;
    wrong = wrong.empty() ? readBody(block, number, left) : wrong;
    open.merge(left);
  };
  for (const auto &instruction : body) {
    switch (instruction.kind_case()) {
    case program::Instruction::kStart:
      start(instruction.start().site(), Collective);
      break;
    case program::Instruction::kSend:
      start(instruction.send().site(), Transfer);
      break;
    case program::Instruction::kReceive:
      start(instruction.receive().site(), Transfer);
      break;
    case program::Instruction::kCopyStart:
      start(instruction.copy_start().site(), Copy);
      break;
    case program::Instruction::kWait:
      open.sites.erase(instruction.wait().site());
      break;
    case program::Instruction::kLoop:
      inner(instruction.loop().condition());
      inner(instruction.loop().body());
      break;
    case program::Instruction::kBranch:
      for (const auto &block : instruction.branch().blocks())
        inner(block.body());
      break;
    default:
      break;
    }
    if (!wrong.empty())
      return wrong;
  }
  return "";
}

std::string Sites::read(const program::Program &program) {
  for (int f = -1; f < program.functions_size(); ++f) {
    bool isMain = f < 0;
    Open left;
    std::string wrong = readBody(isMain ? program.body() : program.functions(f).body(),
                                 static_cast<uint32_t>(f + 1), left);
    if (!wrong.empty())
      return wrong;
    if (!left.sites.empty())
      return (isMain ? "the program" : "function '" + program.functions(f).name() + "'") +
             " ends without waiting for site " + std::to_string(*left.sites.begin());
  }
  return "";
}

} // namespace tessera::runtime
