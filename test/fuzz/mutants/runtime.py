"""The runtime: collectives among threads, and the interpreter of device programs."""
from mutant import mutant

LOCAL = "runtime/comm/local/LocalCommunicator.cpp"

MUTANTS = [
    mutant("runtime.block-merged-by-its-source", "runtime/program/Blocks.cpp",
           "if (!block.extent.empty() && block.from.back() == f * extent[d] && ⟦block.to.back() == t * extent[d]⟧) {", "true",
           "a collective along a middle dimension: rows that lie side by side in the operand are taken to do so in the result"),
    mutant("runtime.wait-at-no-time", LOCAL,
           "uint32_t epoch = ⟦epochs_[position][site]⟧; if (meeting.completed", "meeting.completed.load(std::memory_order_acquire)",
           "a wait returns at once"),
    mutant("runtime.only-the-first-round-waits", LOCAL,
           "uint32_t epoch = epochs_[position][site]; if (⟦meeting.completed.load(std::memory_order_acquire) == epoch⟧)",
           "meeting.completed.load(std::memory_order_acquire) != 0",
           "a collective in a loop is waited for in the first round only"),
    mutant("runtime.negative-branch", "runtime/execute/Interpreter.cpp",
           "(⟦index > last ? last : index⟧)];", "static_cast<int32_t>(index) < 0 ? 0 : index > last ? last : index",
           "a case below zero takes the first branch, not the last"),
    mutant("runtime.loop-of-no-rounds", "runtime/execute/Interpreter.cpp",
           "pc = ⟦instruction.c ? pc + 1 : instruction.b⟧;", "pc + 1",
           "a loop that runs no time runs"),
    mutant("runtime.minor-part-of-an-axis", "runtime/array/Layout.cpp",
           "return {strides_[ref.axis()] * (sizes_[ref.axis()] / (⟦ref.pre_size() * ref.size()⟧)), ref.size()};", "ref.size()",
           "a minor part of an axis is taken for its major part"),
]
