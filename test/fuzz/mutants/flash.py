"""Attention on GPUs: stages, masks, what is known of rows, and what a block goes past. test/gpu/programs.py looks for them."""
from mutant import mutant

FUZZER = "gpu"
TILES = "passes/codegen/gpu/FlashTiles.cpp"
FORWARD = "passes/codegen/gpu/FlashForward.cpp"
GRADIENT = "passes/codegen/gpu/FlashGradient.cpp"
CORES = "passes/codegen/gpu/TileByCores.cpp"
THREADS = "passes/codegen/gpu/TileByThreads.cpp"
PLAN = "passes/codegen/gpu/FlashPlan.cpp"

MUTANTS = [
    mutant("flash.no-barrier-of-slices", TILES, "loader.await(); ⟦barrier(b);⟧", "",
           "slices and factors are multiplied before other threads have stored their parts of them"),
    mutant("flash.no-wait-for-copies", TILES, "⟦loader.await();⟧ barrier(b);", "",
           "slices that are copied meanwhile are not waited for"),
    mutant("flash.one-stage", TILES, "b.CreateNSWSub(⟦e.i64(plan.stage)⟧, currentStage());", "e.i64(0)",
           "both stages are one: slices come over those that are multiplied"),
    mutant("flash.slice-of-the-tile-before", TILES, "fetch(isLast ? 0 : segment + 1, e.i64(0), ⟦isLast ? next : tile⟧);", "tile",
           "keys of a tile are multiplied again instead of those of the next"),
    mutant("flash.own-of-the-first-terms", TILES,
           "ownPlace = ⟦b.CreateNSWAdd(b.CreateNSWMul(number, e.i64(layout.elements(product.ownSide.shape))), e.i64(product.kept))⟧;", "e.i64(product.kept)",
           "each slice of keys is multiplied with the first of queries"),
    mutant("flash.keys-past-the-end", TILES, "return ⟦side.size % tile⟧ ?", "0",
           "past the last key the last counts again"),
    mutant("flash.lanes-of-half-a-row", TILES, "distance < ⟦multiplier.lanesOfRow()⟧;", "multiplier.lanesOfRow() / 2",
           "what is known of a row is known of half of it"),
    mutant("flash.results-over-slices", TILES, "⟦barrier(b);⟧ // all are done with what lies there", "",
           "results are put where other threads still read slices"),
    mutant("flash.results-not-there", TILES, "multiplier.stage(multiplier.lineOf(i, from), pitch, result.columns, values); } ⟦barrier(b);⟧", "",
           "results are read from shared memory before other threads have put them there"),
    mutant("flash.parts-added-twice", TILES, "⟦clear(e, result.parts);⟧", "",
           "the sum of each tile starts with that of the tile before"),
    mutant("flash.sums-not-scaled", FORWARD, "⟦multiplySums(i, scale);⟧", "",
           "what was added up before a larger score is not made smaller"),
    mutant("flash.total-not-scaled", FORWARD, "b.CreateFAdd(⟦b.CreateFMul(load(totals[i]), scale)⟧, total)", "load(totals[i])",
           "the sum of exponentials before a larger score is not made smaller"),
    mutant("flash.blind-rows", FORWARD, "b.CreateStore(⟦isBlind()⟧, again);", "b.getFalse()",
           "queries that see nothing get what is in tiles that were not left out"),
    mutant("flash.tile-of-the-first-key", FORWARD, "seen.low = ⟦b.CreateAnd(seen.low, e.i64(-plan.other))⟧;", "seen.low",
           "a window begins within a tile: slices go past the last key"),
    mutant("flash.rows-not-known", FORWARD, "e.closeLoop(); } ⟦barrier(b);⟧ e.openIf(", "",
           "a row's sum is read before the lane that knows it has stored it"),
    mutant("flash.last-tile-of-queries", GRADIENT, "widen(high, llvm::Intrinsic::smax, ⟦b.CreateAdd(number, b.getInt32(1))⟧);", "number",
           "the last tile of queries that see a block's keys is left out"),
    mutant("flash.gradient-of-blind-rows", GRADIENT, "⟦b.CreateStore(b.CreateOr(b.CreateLoad(b.getInt1Ty(), sees), blind), sees);⟧", ";",
           "queries that see nothing give nothing to keys of other tiles"),
    mutant("flash.factor-of-the-first-result", GRADIENT, "size_t factor = ⟦llvm::find(part.factors, loops.factors[result.factor]) - part.factors.begin()⟧;", "0",
           "gradients of keys are made of the factors of values"),
    mutant("flash.eight-rows-further", CORES, "return {first, b.CreateNSWAdd(first, e.i64(⟦kLines⟧))};", "kLines / 2",
           "a thread's second row is taken for another"),
    mutant("flash.lines-of-another-warp", CORES, "Value ofWarp = b.CreateAnd(b.CreateLShr(line, ⟦llvm::Log2_64(kLines)⟧), e.i64(kDown - 1));", "llvm::Log2_64(kMmaRows)",
           "results are stored as rows of another warp"),
    mutant("flash.columns-of-the-first-warp", CORES, "b.CreateNSWAdd(⟦warpColumn(right.shape.extent)⟧, e.i64(j))", "e.i64(0)",
           "both warps that have rows together multiply the same columns"),
    mutant("flash.row-of-the-line", THREADS, "b.CreateNSWAdd(b.CreateNSWMul(thread, e.i64(kRows)), ⟦number⟧)", "e.i64(0)",
           "each of a thread's rows is stored as its first"),
    mutant("flash.columns-left-out", PLAN, "first < sizes[result]; first += ⟦mostOfOne⟧", "2 * mostOfOne",
           "of more than 128 columns of a result the second 128 are not computed"),
]
