"""Order and memory: what runs when, and which values share bytes."""
from mutant import mutant

ORDER = "passes/order/BlockTasks.cpp"
LIVE = "passes/memory/Liveness.cpp"
INPLACE = "passes/memory/InplaceOperands.cpp"

MUTANTS = [
    mutant("order.through-views", ORDER,
           "else ⟦for (Value operand : def->getOperands()) dependOn(operand, operands, reads);⟧", ";",
           "what is read through a reshape need not have been computed"),
    mutant("order.what-loops-read", ORDER,
           "⟦region.walk([&](Operation *inner) { for (Value operand : inner->getOperands()) dependOn(operand, operands, reads); });⟧", ";",
           "what a loop or branch reads from outside need not have been computed"),
    mutant("order.one-wait-a-task", "passes/order/Schedule.cpp",
           "if (⟦tasks[operand].isCollective() && !waited[operand]⟧) wait(operand);", "tasks[operand].isCollective() && !waited[operand] && operand == what.operands.front()",
           "a kernel that reads the results of two collectives waits for the first"),
    mutant("memory.operand-free-at-start", LIVE,
           "⟦until = 4 * result.at.begin.lookup(*start.getHandle().user_begin()) + 2;⟧", "",
           "a collective's operand is overwritten while it is being sent"),
    mutant("memory.free-within-the-loop", LIVE,
           "⟦until = std::max(until, 4 * result.at.end.lookup(loop) + 2);⟧", "",
           "what a loop reads from outside is overwritten after the reader, in the first round"),
    mutant("memory.input-overwritten", LIVE,
           "bool writable = ⟦func.getArgAttr(argument.getArgNumber(), \"tf.aliasing_output\") != nullptr⟧;", "true",
           "an argument that is not donated is overwritten"),
    mutant("memory.another-view-of-it", LIVE,
           "if (⟦readers == 1⟧)", "true",
           "a kernel overwrites an operand that it also reads by another view, elsewhere"),
    mutant("memory.reversed-in-place", INPLACE,
           "if (⟦!readsElsewhere(fusionKindOf(&op))⟧) continue;", "!readsElsewhere(fusionKindOf(&op)) || isa<ReverseOp>(op)",
           "a kernel reverses its operand in place"),
    mutant("memory.updated-and-read", INPLACE,
           "return ⟦updated && updated.hasOneUse()⟧ ?", "bool(updated)",
           "an update in place of a value that the same kernel reads elsewhere: x[i] = f(x[j])"),
    mutant("memory.gap-too-small", "passes/memory/Arena.cpp",
           "if (⟦gap >= size⟧ && gap < bestGap) {", "gap > 0",
           "an array is laid into a gap that is smaller than it"),
    mutant("memory.exchanged-without-a-third", "passes/memory/Storage.cpp",
           "return ⟦!readers[m.to]⟧; });", "true",
           "two values that a loop exchanges are copied one over the other"),
    mutant("memory.no-wait", "passes/memory/EmitProgram.cpp",
           "⟦exec::WaitOp::create(b, loc, sites.lookup(wait.getHandle().getDefiningOp()));⟧", "",
           "the program does not wait for its collectives"),
]
