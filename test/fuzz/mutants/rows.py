"""Long rows, lines within sectors and sorts on GPUs: windows of a row, who has which, and pairs. test/gpu/programs.py and rows.py look for them."""
from mutant import mutant

FUZZER = "gpu"
REGISTERS = "passes/codegen/gpu/RowRegisters.cpp"
ROWS = "passes/codegen/gpu/RowKernel.cpp"
SUM = "passes/codegen/gpu/BlockSum.cpp"
TURNED = "passes/codegen/gpu/TurnedKernel.cpp"
TILE = "passes/codegen/gpu/TurnedTile.cpp"
SORT = "passes/codegen/gpu/SortKernel.cpp"

MUTANTS = [
    mutant("rows.put-too-early", REGISTERS, "void RowRegisters::put() { ⟦barrier(e.b);⟧", "",
           "a window goes to registers before other threads have written their parts of it"),
    mutant("rows.written-over-too-early", REGISTERS, "others.push_back({here, std::move(pieces)}); ⟦barrier(e.b);⟧", "",
           "the next window comes over one that threads still take to their registers"),
    mutant("rows.brought-too-early", REGISTERS, "⟦barrier(e.b);⟧ for (auto [piece, value]", "",
           "a window changes places with one that other threads still read"),
    mutant("rows.not-brought-yet", REGISTERS, "held->first = std::exchange(here, number); ⟦barrier(e.b);⟧", "",
           "a window is read before other threads have brought their parts of it"),
    mutant("rows.lost-window", REGISTERS, "⟦value = before;⟧", ";",
           "what is brought stays in the registers: what was there is lost"),
    mutant("rows.first-window-always", ROWS, "place - ⟦low * byteSize(graph.buffers[buffer].kind)⟧;", "0",
           "elements of later windows are looked for behind the first"),
    mutant("rows.window-one-short", ROWS, "std::min(low + windowElements(), ⟦elements()⟧)", "elements() - 1",
           "the last element of a row in windows is left out"),
    mutant("rows.rest-of-each-window", SUM, "if (⟦high == size⟧) addRest();", "low == 0",
           "what a row has left over is added up where its first window is there, not its last"),
    mutant("rows.parts-of-the-first-window", SUM, "addFours(⟦low / each⟧,", "0",
           "each window's parts of the sum begin with those of the first"),
    mutant("rows.second-unit-first", SUM, "Value first = b.CreateSelect(inOrder, x, y); ⟦y = b.CreateSelect(inOrder, y, x); x = first;⟧", "(void)first;",
           "each second sixteen adds two units in each other's place: sums in another order"),
    mutant("turned.begins-before-the-line", TURNED, "isThere = b.CreateAnd(isThere, ⟦b.CreateICmpSGE(at, e.i64(0))⟧);", "b.getTrue()",
           "what a line has before it in its sector is written, too"),
    mutant("turned.ends-before-the-line", TURNED, "e.openLoop(⟦b.CreateNSWSub(lane, shift)⟧, e.i64(inner.side)", "b.CreateNSWAdd(lane, shift)",
           "a line's elements in its first sector are left out"),
    mutant("turned.flat-lines-too-far", TURNED, "b.CreateURem(small, ⟦side⟧)", "b.getInt32(inner.side + 1)",
           "threads that go over line ends count lines by one element too many"),
    mutant("turned.flat-place-not-turned", TURNED, "if (⟦tile.flat == TurnedTile::Across⟧) std::swap(line, at);", "false",
           "narrow results lie in the tile as operands do: it is too small for them"),
    mutant("turned.columns-in-half-the-banks", TILE, "together = all / ⟦std::gcd(pitch(bytes), all)⟧;", "1",
           "columns of an even number of elements lie in half the banks: right, but slow (the emulator counts it)"),
    mutant("sort.no-barrier-of-steps", SORT, "e.closeLoop(); }); ⟦barrier(b);⟧ e.closeLoop();", "",
           "pairs are compared before those of the step before have changed places"),
    mutant("sort.numbers-not-there", SORT, "setNumber(position, position); }); ⟦barrier(b);⟧", "",
           "pairs are compared before other threads have written their numbers"),
    mutant("sort.no-mirror", SORT, "Value between = b.CreateSelect(isFirst, ⟦inWidth⟧,", "b.CreateNSWAdd(inHalf, e.i64(1))",
           "a run's first pairs are side by side, as the others"),
    mutant("sort.equal-ones-change-places", SORT, "Value early = ⟦b.CreateBinaryIntrinsic(llvm::Intrinsic::umin, x, y)⟧;", "y",
           "of equal elements the later one may come first, and its partner is lost"),
    mutant("sort.past-the-end", SORT, "b.CreateICmpSLT(second, ⟦e.i64(size)⟧)", "e.i64(size + 1)",
           "an element past the last takes part"),
    mutant("sort.one-stage-less", SORT, "e.openLoop(e.i64(1), ⟦e.i64(stages + 1)⟧, 1,", "e.i64(stages)",
           "both halves of a row are sorted, and not merged"),
    mutant("sort.numbers-of-another-row", SORT, "b.CreateNSWMul(⟦first⟧, e.i64(bytes))", "e.i64(0)",
           "numbers of all rows lie in the first row of a result"),
]
