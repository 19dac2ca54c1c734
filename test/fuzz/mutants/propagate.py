"""Import and propagate: what a program says, and which value lies where. Propagation that is only slower is no mutant."""
from mutant import mutant

STEP = "lib/sharding/FactorPropagation.cpp"
COMBINER = "dialects/stablehlo/Combiner.cpp"

MUTANTS = [
    mutant("import.trips-rounded-down", "passes/import/loops/MarkCountedLoops.cpp",
           "return int64_t(⟦(distance + step - 1) / step⟧);", "distance / step",
           "a loop whose step does not divide its distance runs once less"),
    mutant("import.bound-not-counted", "passes/import/loops/MarkCountedLoops.cpp",
           "n = ⟦trips(c.bound - c.start + 1, c.step)⟧;", "trips(c.bound - c.start, c.step)",
           "a loop while the counter is at most its bound runs once less"),
    mutant("propagate.axis-twice", STEP,
           "if (f != candidate.factor) ⟦taken.append(row[f].axes);⟧", "",
           "a dimension takes an axis that another dimension of the tensor has: where two operands want it for two"),
    mutant("propagate.unreduced-taken", STEP,
           "⟦taken.append(tensors[t]->unreduced);⟧", "",
           "a dimension takes an axis that the value is partial over"),
    mutant("propagate.later-priority-taken", STEP,
           "⟦taken.append(limits->reserved);⟧", "",
           "a dimension takes an axis that another one has with a later priority"),
    mutant("propagate.manual-axis-inside", "lib/sharding/PropagationGraph.cpp",
           "⟦outside.replicated.append(view.replicated);⟧", "",
           "inside of a manual computation a dimension takes an axis that is manual, where the operand is replicated over it"),
    mutant("propagate.constraint-before-itself", "passes/propagate/ApplyConstraints.cpp",
           "use.getOwner() != constraint && ⟦isAfter(use.getOwner(), constraint)⟧ &&", "true",
           "uses that come before a constraint on a loop's value read the constrained value, which is not there yet"),
    mutant("propagate.minimum-is-maximum", COMBINER,
           "if (llvm::isa<MinOp>(op)) return predicate ? ReductionKind::And : ⟦ReductionKind::Min⟧;", "ReductionKind::Max",
           "minima of the parts are combined by maximum, where the reduced dimension is sharded"),
    mutant("propagate.unreduced-argument", "passes/propagate/FinalizeShardings.cpp",
           "return ⟦function.isPublic() ? reduced(made) : made⟧;", "made",
           "an argument that a constraint makes unreduced is passed whole to all devices, and summed (a mistake of ours until this list)"),
]
