#include "passes/package/Kinds.h"

#pragma clang diagnostic error "-Wswitch" // each case has a place here

namespace tessera {

program::Buffer::Space toProgram(exec::Space space) {
  switch (space) {
  case exec::Space::Arena:
    return program::Buffer::ARENA;
  case exec::Space::Input:
    return program::Buffer::INPUT;
  case exec::Space::Output:
    return program::Buffer::OUTPUT;
  case exec::Space::Constant:
    return program::Buffer::CONSTANT;
  case exec::Space::HostArena:
    return program::Buffer::HOST_ARENA;
  case exec::Space::FileArena:
    return program::Buffer::FILE_ARENA;
  case exec::Space::Argument:
    return program::Buffer::ARGUMENT;
  }
  llvm_unreachable("every case is above");
}

program::Memory toProgram(exec::Memory memory) {
  switch (memory) {
  case exec::Memory::Device:
    return program::DEVICE_MEMORY;
  case exec::Memory::Host:
    return program::HOST_MEMORY;
  case exec::Memory::File:
    return program::FILE_MEMORY;
  }
  llvm_unreachable("every case is above");
}

program::Collective::Kind toProgram(exec::CollectiveKind kind) {
  switch (kind) {
  case exec::CollectiveKind::AllReduce:
    return program::Collective::ALL_REDUCE;
  case exec::CollectiveKind::AllGather:
    return program::Collective::ALL_GATHER;
  case exec::CollectiveKind::ReduceScatter:
    return program::Collective::REDUCE_SCATTER;
  case exec::CollectiveKind::AllToAll:
    return program::Collective::ALL_TO_ALL;
  case exec::CollectiveKind::Permute:
    return program::Collective::PERMUTE;
  case exec::CollectiveKind::Broadcast:
    return program::Collective::BROADCAST;
  }
  llvm_unreachable("every case is above");
}

program::Collective::Reduction toProgram(exec::Reduction reduction) {
  switch (reduction) {
  case exec::Reduction::Sum:
    return program::Collective::SUM;
  case exec::Reduction::Product:
    return program::Collective::PRODUCT;
  case exec::Reduction::Max:
    return program::Collective::MAX;
  case exec::Reduction::Min:
    return program::Collective::MIN;
  case exec::Reduction::And:
    return program::Collective::AND;
  case exec::Reduction::Or:
    return program::Collective::OR;
  }
  llvm_unreachable("every case is above");
}

} // namespace tessera
