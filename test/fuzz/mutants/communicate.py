"""Communicate: collectives merged, moved and made smaller."""
from mutant import mutant

FOLD = "passes/communicate/FoldCollectives.cpp"
MERGE = "passes/communicate/MergeReductions.cpp"
BUCKET = "passes/communicate/BucketCollectives.cpp"

MUTANTS = [
    mutant("communicate.slice-of-another-dimension", FOLD,
           "gather && gather.getAxes() == slice.getAxes() && ⟦gather.getDim() == slice.getDim()⟧)", "true",
           "a part along one dimension of what was gathered along another is taken for the operand (shapes agree for squares)"),
    mutant("communicate.hoist-what-changes", "passes/communicate/HoistCollectives.cpp",
           "return ⟦body.front().getTerminator()->getOperand(i) == value⟧ ? loop->getOperand(i) : Value();", "true",
           "a collective on what a loop changes leaves the loop"),
    mutant("communicate.merge-another-kind", MERGE,
           "op->getNumOperands() == 1 && ⟦op.getReduction() == kind⟧ && value.hasOneUse()", "true",
           "the maximum of two sums over devices becomes the sum of the maxima"),
    mutant("communicate.narrowed-under-other-readers", "passes/communicate/NarrowCollectives.cpp",
           "⟦if (!convert || (to && to != getElementTypeOrSelf(convert.getType()))) return {}; to = getElementTypeOrSelf(convert.getType());⟧",
           "if (!convert) continue; if (to && to != getElementTypeOrSelf(convert.getType())) return {}; to = getElementTypeOrSelf(convert.getType());",
           "a gathered value is sent in the narrow type that one of its readers converts it to"),
    mutant("communicate.bucket-of-mixed-kinds", BUCKET,
           "Key key{reduce.getAxes(), ⟦int32_t(reduce.getReduction())⟧,", "0",
           "a sum and a maximum over the same devices travel together and become one kind"),
    mutant("communicate.bucket-past-a-loop", BUCKET,
           "for (Region &region : op.getRegions()) ⟦region.walk([&](Operation *inner) { llvm::for_each(inner->getOperands(), close); });⟧", "",
           "a reduction moves behind the loop or branch that reads its result inside"),
]
