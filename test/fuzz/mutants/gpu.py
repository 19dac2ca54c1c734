"""Kernels for GPUs: barriers, edges, stages of shared memory, and what is counted. test/gpu/programs.py looks for them."""
from mutant import mutant

FUZZER = "gpu"
PRODUCT = "passes/codegen/gpu/ProductEmitter.cpp"
THREADS = "passes/codegen/gpu/ProductByThreads.cpp"
CORE_SUMS = "passes/codegen/gpu/CoreSums.cpp"
LOADER = "passes/codegen/gpu/SliceLoader.cpp"
TILES = "passes/codegen/gpu/ThreadTiles.cpp"
MATRICES = "passes/codegen/gpu/WarpMatrices.cpp"
LINES = "passes/codegen/gpu/WarpMatrices.h"
TILE = "passes/codegen/gpu/TurnedTile.cpp"
TURNED = "passes/codegen/gpu/TurnedKernel.cpp"
NEST = "passes/codegen/gpu/NestKernel.cpp"
SUM = "passes/codegen/gpu/BlockSum.cpp"

MUTANTS = [
    mutant("gpu.no-barrier-of-slices", PRODUCT,
           "loader.await(); ⟦barrier(b);⟧", "",
           "slices of a product are multiplied before other threads have stored their parts of them"),
    mutant("gpu.no-wait-for-copies", PRODUCT,
           "if (left.isCopied || right.isCopied) ⟦loader.await();⟧", "",
           "slices that are copied meanwhile are not waited for"),
    mutant("gpu.stale-stage", PRODUCT, "multiply(⟦stageOf(k0)⟧);", "stageOf(next)",
           "the stage that comes next is multiplied, not the one that has come"),
    mutant("gpu.one-stage", PRODUCT, "b.CreateAnd(b.CreateLShr(k0, llvm::Log2_64(tile.depth)), ⟦constant(1)⟧);", "constant(0)",
           "both stages are one: slices come over those that are multiplied"),
    mutant("gpu.terms-past-the-end", LOADER, "exists = ⟦b.CreateICmpSLT(k, constant(side.kSize))⟧;", "b.getTrue()",
           "past the end of the contracted elements the last one counts again"),
    mutant("gpu.terms-outside", LOADER, "k = ⟦last(k, side.kSize, kLanes)⟧;", "k",
           "past the end of the contracted elements memory is read"),
    mutant("gpu.rows-outside", LOADER, "row = ⟦last(row, side.size, rowLanes)⟧;", "row",
           "rows past the last are read"),
    mutant("gpu.one-row-more", PRODUCT, "b.CreateICmpSLT(m, ⟦constant(loops.mSize)⟧)", "constant(loops.mSize + 1)",
           "a row past the last is stored"),
    mutant("gpu.one-column-more", PRODUCT, "b.CreateICmpSLT(n, ⟦constant(loops.nSize)⟧)", "constant(loops.nSize + 1)",
           "a column past the last is stored"),
    mutant("gpu.one-column-less", PRODUCT, "Value n = ⟦b.CreateNSWAdd(right.first, column)⟧;", "b.CreateNSWAdd(right.first, b.CreateNSWAdd(column, constant(1)))",
           "columns of the result are stored one too far on"),
    mutant("gpu.stages-not-free", PRODUCT, "⟦barrier(b);⟧ // the stages are free", "",
           "sums are put where other threads still read slices"),
    mutant("gpu.sums-not-there", PRODUCT, "stageSums(group); ⟦barrier(b);⟧", "",
           "results are read from shared memory before other threads have put them there"),
    mutant("gpu.groups-of-rows-collide", PRODUCT, "if (tile.rowGroups > 1) ⟦barrier(b);⟧ // before the next", "",
           "the second half of a tile's rows is put where the first is still read"),
    mutant("gpu.blocks-added-twice", PRODUCT, "b.CreateLoad(type, part)), sum); ⟦clear(parts);⟧", "",
           "a product of more than 128 terms: each block's sum starts with that of the block before"),
    mutant("gpu.rows-not-turned-back", TILES, "Value turn = ⟦ThreadLayout::turnOf(b, from)⟧;", "e.i64(0)",
           "rows that change places in shared memory are read where they do not lie"),
    mutant("gpu.groups-side-by-side", TILES, "e.i64(⟦group * operand.extent / run.groups⟧)", "group * run.together",
           "a thread's second group of rows is its neighbour's first"),
    mutant("gpu.columns-of-the-first-run", THREADS, "constant(⟦run * tile.columns / tile.columnGroups⟧)", "0",
           "a thread's second run of columns is put over its first"),
    mutant("gpu.matrices-in-another-order", MATRICES, "Value rowEight = b.CreateShl(⟦isLeft ? second : fourth⟧, 3);", "second",
           "tensor cores get the columns of two matrices in each other's place"),
    mutant("gpu.matrix-not-turned", MATRICES,
           "auto id = ⟦operand.shape.alongK ? llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16 : llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16⟧;",
           "llvm::Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16",
           "an operand whose rows lie side by side is read as if its terms did"),
    mutant("gpu.columns-twice", MATRICES, "right[⟦half * 2 + i⟧]", "i",
           "tensor cores multiply each second eight of columns as the first"),
    mutant("gpu.eight-rows-further", CORE_SUMS, "constant(i * kMmaRows + ⟦half * 8⟧)", "half * 4",
           "half of what tensor cores have added up is put four rows further, not eight"),
    mutant("gpu.group-of-the-first-rows", CORE_SUMS, "Value within = b.CreateNSWAdd(⟦b.CreateNSWMul(group, constant(each))⟧, bits(row, each - 1));", "constant(0)",
           "the second half of a warp's rows is stored as the first"),
    mutant("gpu.lines-in-the-same-banks", LINES, "(shape.alongK ? shape.depth : shape.extent) + ⟦pad⟧;", "0",
           "lines of slices begin in the same banks: right, but slow (the emulator counts it)"),
    mutant("gpu.columns-in-one-bank", TILE, "if (flat == None) return ⟦along + word⟧;", "along",
           "columns of a transpose's blocks lie in one bank: right, but slow (the emulator counts it)"),
    mutant("gpu.turned-too-early", TURNED, "⟦barrier(b);⟧ const Root &root", "",
           "a transpose reads its block before other threads have written it"),
    mutant("gpu.turned-past-the-edge", TURNED, "b.CreateICmpSLT(point, ⟦e.i64(boundsOf(graph, lines.group).second)⟧);", "e.i64(boundsOf(graph, lines.group).second + 1)",
           "a transpose's last block is one line larger"),
    mutant("gpu.row-overwritten-early", NEST, "if (kernel.sharesBuffers()) ⟦barrier(e.b);⟧", "",
           "elements of a row are stored where other threads still read it"),
    mutant("gpu.everybody-stores-the-row", NEST, "e.openIf(⟦e.b.CreateICmpEQ(function.thread, e.i64(0))⟧);", "e.b.getTrue()",
           "what there is once for a row is stored by all threads"),
    mutant("gpu.elements-past-the-end", NEST, "SplitBlockAndInsertIfThen(b.CreateICmpSLT(item, ⟦b.getInt64(items)⟧),", "b.getInt64(items + 1)",
           "an element past the last is computed"),
    mutant("gpu.fours-not-there", SUM, "addAll(0, size); ⟦barrier(b);⟧", "",
           "a row's partial sums are added up before they are there"),
    mutant("gpu.lanes-not-there", SUM, "addLane(); e.closeLoop(); ⟦barrier(b);⟧", "",
           "a row's lanes are folded before they are there"),
    mutant("gpu.rest-of-a-row", SUM, "if (⟦hasRest()⟧) {", "false",
           "what a row has beyond whole fours of units is left out"),
    mutant("gpu.sixteen-fours-of-the-first", SUM, "Value low = ⟦b.CreateNSWMul(part, e.i64(foursTogether))⟧;", "part",
           "a long row: sixteens of fours begin one after the other, not sixteen apart"),
]
