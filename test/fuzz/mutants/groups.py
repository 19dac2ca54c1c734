"""Products of groups, and running reductions of GPUs: runs of rows, ranges of terms, what goes from chunk to chunk. test/gpu/programs.py, which has both on
the cpu and on the stand-in, looks for them."""
from mutant import mutant

FUZZER = "gpu"
TILES = "passes/codegen/cpu/Contraction.cpp"
ROWS = "passes/codegen/cpu/GroupedRows.cpp"
PRODUCT = "passes/codegen/gpu/ProductEmitter.cpp"
RUNNING = "passes/codegen/gpu/RunningKernel.cpp"

MUTANTS = [
    mutant("groups.rows-before-a-run", TILES, "from = ⟦b.CreateBinaryIntrinsic(smax, from, b.CreateNSWSub(rowsLow, tile.m0))⟧;", "from",
           "rows of the group before are stored with a run's, as its tile has them"),
    mutant("groups.first-run-only", ROWS, "⟦b.CreateICmpNE(group, read(scratchGroups, before))⟧", "b.getFalse()",
           "rows of a cell after its first run are not computed"),
    mutant("groups.terms-cut-short", TILES, "Value whole = b.CreateAnd(⟦b.CreateNSWAdd(last, e.i64(block - 1))⟧, e.i64(-block));", "last",
           "the last block of a group's contracted elements is left out where it has not all of it"),
    mutant("groups.rows-of-all-runs", PRODUCT, "exists = ⟦b.CreateAnd(exists, b.CreateICmpEQ(groupOf(rowOf(group, row)), runGroup))⟧;", "exists",
           "each run stores all rows of the tile"),
    mutant("groups.next-run-early", PRODUCT, "emitResults(); ⟦barrier(b);⟧", "",
           "slices of the next run come over sums of the last one that are not stored yet"),
    mutant("groups.from-the-end", PRODUCT, "if (Node *low = ⟦loops.terms->low⟧)", "loops.terms->high",
           "a group's contracted elements begin where they end"),
    mutant("groups.rows-past-the-last", PRODUCT, "Value m = ⟦b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, b.CreateNSWAdd(left.first, row), constant(loops.mSize - 1))⟧;",
           "b.CreateNSWAdd(left.first, row)", "groups of rows that are not there are read"),
    mutant("running.elements-not-there", RUNNING, "write(inChunk[0], row, column, terms); }); ⟦barrier(b);⟧", "",
           "elements are reduced before other threads have stored them"),
    mutant("running.chunks-apart", RUNNING, "Value isAlone = b.CreateAnd(isFirst, ⟦b.CreateICmpEQ(chunk, e.i64(0))⟧);", "b.getTrue()",
           "what comes before a chunk is left out of its first sixteens"),
    mutant("running.first-for-last", RUNNING, "read(inChunk[level], ⟦e.i64(inChunk[level].count - 1)⟧, column));", "e.i64(0)",
           "the first total of a chunk, not the last one, goes on to the next"),
    mutant("running.own-sixteen", RUNNING, "smax, ⟦b.CreateNSWSub(sixteen, e.i64(1))⟧, e.i64(0));", "sixteen",
           "a sixteen's own total counts among what comes before it"),
    mutant("running.totals-not-handed-on", RUNNING, "e.openIf(b.CreateICmpEQ(digit, ⟦e.i64(kBlock - 1)⟧));", "e.i64(0)",
           "sixteen chunks' total goes up a level when the first of them is done"),
    mutant("running.rows-past-the-last", RUNNING, "Value left = ⟦b.CreateNSWSub(e.i64(loops.outer), outer)⟧;", "e.i64(loops.outer)",
           "the last block of short rows reads and writes rows that are not there"),
    mutant("running.rows-of-whole-sixteens", RUNNING, "std::tie(column, row) = divided(number, ⟦most⟧);", "rows",
           "short rows are taken to begin where their last sixteen would end"),
    mutant("running.first-sixteen-twice", RUNNING, "return {earlier, ⟦b.CreateNot(isFirst)⟧};", "b.getTrue()",
           "a short row's first sixteen is combined with its own total"),
    mutant("running.totals-one-level-up", RUNNING, "combineTotals(level, chunk); if (⟦!isWhole || levels > 1⟧)", "!isWhole",
           "sixteens of a short row don't get what comes before them"),
]
