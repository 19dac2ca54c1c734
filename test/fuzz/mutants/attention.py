"""Attention and its gradient: tiles past which strips of keys go, what is known of each query, masks' limits. Hunted by random_attention.py."""
from mutant import mutant

FUZZER = "random_attention"

FORWARD = "passes/codegen/cpu/Attention.cpp"
BACKWARD = "passes/codegen/cpu/AttentionGradient.cpp"
STRIPS = "passes/codegen/cpu/AttentionStrips.cpp"
RANGE = "passes/codegen/cpu/KeyRange.cpp"
LOOPS = "passes/codegen/kernel/AttentionLoops.cpp"
LIMITS = "passes/codegen/kernel/KeyLimits.cpp"
SUM = "passes/fuse/SoftmaxSum.cpp"

MUTANTS = [
    mutant("attention.sums-not-rescaled", FORWARD,
           "store(b.CreateFMul(load(type, at), ⟦e.splat(scale, plan.columns())⟧), at);", "llvm::ConstantFP::get(type, 1)",
           "keys of several strips: what was added up before a larger score stays as it is"),
    mutant("attention.total-not-rescaled", FORWARD,
           "store(b.CreateFAdd(⟦b.CreateFMul(old, scales)⟧, total), totalAt(row));", "old",
           "keys of several strips: the sum of the exponentials before a larger score stays as it is"),
    mutant("attention.keys-past-the-end", FORWARD,
           "if (mask) x = ⟦b.CreateSelect(mask, x, least)⟧; store(x, place);", "x",
           "a number of keys that fills no vector: what lies behind the last key counts"),
    mutant("attention.total-of-the-factors", FORWARD,
           "b.CreateStore(b.CreateFAdd(b.CreateLoad(rowType(), slot), ⟦exponential⟧), slot);", "factor",
           "dropout: the sum is of what is kept"),
    mutant("attention.blind-rows", FORWARD,
           "Value isBlind = ⟦codegen::seesNothing(e, loops.limits, load(b.getFloatTy(), largestAt(row)))⟧;", "b.getFalse()",
           "a mask with a finite fill: queries that see nothing have no equal probabilities"),
    mutant("attention.last-visible-key", RANGE,
           "b.CreateBinaryIntrinsic(llvm::Intrinsic::smin, seen.high, ⟦b.CreateAdd(room, e.i64(1))⟧);", "room",
           "a causal mask: the last key that a tile of queries sees is left out"),
    mutant("attention.first-visible-key", RANGE,
           "seen.low = b.CreateBinaryIntrinsic(llvm::Intrinsic::smax, seen.low, ⟦b.CreateNeg(room)⟧);", "b.CreateSub(e.i64(1), room)",
           "a window: the first key that a tile of queries sees is left out"),
    mutant("attention.widest-row", LIMITS,
           "limit.atLastRow = ⟦*perQuery > 0⟧;", "*perQuery < 0",
           "the keys that a tile sees are taken from its narrowest row"),
    mutant("attention.strict-comparison", LIMITS,
           "limit.least = ⟦compare->aux == GT || compare->aux == LT⟧;", "compare->aux == GT || compare->aux == LE",
           "keys are left out or kept by the comparison with its border taken the wrong way"),
    mutant("attention.rows-of-the-result-alone", LOOPS,
           "contractionOf(nest, product, nests.rootNodes(), ⟦nests.stores()⟧);", "nest.stores()",
           "heads that share keys: queries and heads run as one loop though largest scores and sums lie in another order"),
    mutant("attention.sums-of-the-strip-before", BACKWARD,
           "else ⟦sums->clear(rowsOfColumns());⟧", ";",
           "the gradient of keys: a strip's sums go on from those of the one before"),
    mutant("attention.one-head-for-all", BACKWARD,
           "Value row = b.CreateNSWAdd(⟦b.CreateNSWMul(around, e.i64(rowsOfCell()))⟧, b.CreateNSWSub(m0, rowLow)); if (isLimited())", "e.i64(0)",
           "heads that share keys: the gradients of their queries are added up in one place"),
    mutant("attention.factors-before-the-first-key", BACKWARD,
           "if (isLimited()) ⟦clearFactors(m, block.low, keys.low);⟧ emitFactors(", ";",
           "a window's gradient: keys before the first that a tile sees have what was there before"),
    mutant("attention.factors-behind-the-last-key", BACKWARD,
           "⟦clearFactors(m, end, b.CreateNSWAdd(block.high, e.i64(plan.columnRows)));⟧", ";",
           "a causal mask's gradient: keys behind the last that a tile sees have what was there before"),
    mutant("attention.gradient-of-blind-rows", BACKWARD,
           "Value isBlind = ⟦seesNothing(e, loops.limits, e.emit(loops.shift))⟧;", "b.getFalse()",
           "the gradient where queries see nothing and the fill is finite"),
    mutant("attention.block-of-all-queries", BACKWARD,
           "product->multiplyInto(m0, n0, ⟦placeOf(i, m0, n0)⟧, plan.stride);", "placeOf(i, blockLow, n0)",
           "the gradient: products of a block's second tile lie where those of the first do"),
    mutant("attention.dropout-not-in-the-sum", SUM,
           "for (Factors &term : terms) ⟦term.pairs[op->getOperand(0)] += 1;⟧", ";",
           "the gradient of dropout: the sum over keys is divided by one without its selection"),
    mutant("attention.sign-of-the-sum", SUM,
           "ratio.isNegative = ⟦above.isNegative != below.isNegative⟧;", "false",
           "the gradient: a sum over keys that is subtracted elsewhere keeps the sign of the result's"),
    mutant("attention.rows-multiplied-twice", SUM,
           "for (const Factors::OfRow &factor : below.rows) add(factor, ⟦-factor.exponent⟧);", "factor.exponent",
           "the gradient: what is of rows alone is multiplied where it is to be divided by"),
    mutant("attention.copies-of-the-second-strip", FORWARD,
           "scores.packKeys(⟦strip.low⟧, strip.high);", "e.i64(0)",
           "keys of several strips: the first ones' are copied with each"),
    mutant("attention.values-of-another-key", STRIPS,
           "Value to = b.CreateNSWMul(⟦b.CreateNSWSub(k, low)⟧, e.i64(plan.columns()));", "k",
           "keys of several strips: values of the second lie behind their panel"),
]
