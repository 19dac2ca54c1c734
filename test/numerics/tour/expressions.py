"""The functions of the tour: JAX expressions over named inputs, by family.

  x y  float32 (5, 8)          p    positive float32 (5, 8)       u v  float32 in (-1, 1), (5, 8)
  m n  float32 matrices (6, 6)  s    positive definite (6, 6)      t    float32 (3, 4, 5)
  r    float32 (12,)            q    float32 (12,), ascending      h    bfloat16 (5, 8)
  i j  int32 (5, 8)             k    uint32 (5, 8)                 l    int32 (12,) in [0, 12)
  b c  bool (5, 8)              z w  complex64 (5, 8)              f    float32 images (2, 8, 8, 3), g kernels (3, 3, 3, 4)
"""

# Also run with NaN, infinities, signed zeros and extreme numbers in x, y, i, j, k.
# (JAX's gcd of -2^31 never ends.)
ELEMENTWISE = {
    "lax": """lax.abs(x) lax.acos(u) lax.acosh(1+p) lax.add(x,y) lax.asin(u) lax.asinh(x) lax.atan(x) lax.atan2(x,y) lax.atanh(u) lax.bitwise_and(i,j)
        lax.bitwise_not(i) lax.bitwise_or(i,j) lax.bitwise_xor(i,j) lax.population_count(k) lax.clz(k) lax.cbrt(x) lax.ceil(x) lax.clamp(-1.0,x,1.0)
        lax.complex(x,y) lax.conj(z) lax.convert_element_type(x,jnp.int32) lax.cos(x) lax.cosh(x) lax.digamma(p) lax.div(x,y) lax.eq(x,y) lax.erf(x)
        lax.erfc(x) lax.erf_inv(u) lax.exp(x) lax.exp2(x) lax.expm1(x) lax.floor(x) lax.ge(x,y) lax.gt(i,j) lax.igamma(p,p+1) lax.igammac(p,p+1)
        lax.imag(z) lax.integer_pow(x,3) lax.is_finite(x) lax.le(x,y) lax.lgamma(p) lax.log(p) lax.log1p(p) lax.logistic(x) lax.lt(i,j) lax.max(x,y)
        lax.min(x,y) lax.mul(x,y) lax.ne(x,y) lax.neg(x) lax.nextafter(x,y) lax.pow(p,y) lax.real(z) lax.reciprocal(x) lax.rem(x,y)
        lax.reduce_precision(x,5,10) lax.round(x) lax.rsqrt(p) lax.select(b,x,y) lax.shift_left(i,jnp.abs(j)%32) lax.shift_right_arithmetic(i,jnp.abs(j)%32)
        lax.shift_right_logical(k,k%32) lax.sign(x) lax.sin(x) lax.sinh(x) lax.sqrt(p) lax.square(x) lax.sub(x,y) lax.tan(x) lax.tanh(x) lax.zeta(1.5+p,p)
        lax.polygamma(jnp.float32(1),p) lax.bessel_i0e(x) lax.bessel_i1e(x) lax.random_gamma_grad(p,p)
        lax.mulhi(k,k) lax.bitcast_convert_type(x,jnp.int32) lax.add(i,j) lax.mul(i,j) lax.div(i,jnp.where(j==0,1,j)) lax.rem(i,jnp.where(j==0,1,j))""",
    "numpy": """jnp.abs(i) jnp.angle(z) jnp.arccos(u) jnp.arccosh(1+p) jnp.arcsin(u) jnp.arcsinh(x) jnp.arctan(x) jnp.arctan2(x,y) jnp.arctanh(u) jnp.bitwise_count(k)
        jnp.bitwise_invert(i) jnp.cbrt(x) jnp.ceil(x) jnp.clip(x,-1,1) jnp.copysign(x,y) jnp.cos(x) jnp.cosh(x) jnp.deg2rad(x) jnp.divide(x,y) jnp.divmod(i,jnp.where(j==0,1,j))
        jnp.equal(x,y) jnp.exp(x) jnp.exp2(x) jnp.expm1(x) jnp.fabs(x) jnp.float_power(p,y) jnp.floor(x) jnp.floor_divide(i,jnp.where(j==0,1,j)) jnp.fmax(x,y) jnp.fmin(x,y)
        jnp.fmod(x,y) jnp.frexp(x) jnp.gcd(i//2,j//2) jnp.greater(x,y) jnp.greater_equal(x,y) jnp.heaviside(x,y) jnp.hypot(x,y) jnp.i0(u) jnp.imag(z) jnp.invert(i) jnp.isclose(x,y) jnp.isfinite(x)
        jnp.isinf(x) jnp.isnan(x) jnp.isneginf(x) jnp.isposinf(x) jnp.isreal(z) jnp.iscomplex(z) jnp.lcm(i%97,j%89) jnp.ldexp(x,i%8) jnp.left_shift(i,jnp.abs(j)%32) jnp.less(x,y)
        jnp.less_equal(x,y) jnp.log(p) jnp.log10(p) jnp.log1p(p) jnp.log2(p) jnp.logaddexp(x,y) jnp.logaddexp2(x,y) jnp.logical_and(b,c) jnp.logical_not(b) jnp.logical_or(b,c)
        jnp.logical_xor(b,c) jnp.maximum(x,y) jnp.minimum(x,y) jnp.mod(x,y) jnp.modf(x) jnp.multiply(i,j) jnp.nan_to_num(x) jnp.negative(x) jnp.nextafter(x,y) jnp.not_equal(x,y)
        jnp.positive(x) jnp.power(p,y) jnp.rad2deg(x) jnp.real(z) jnp.reciprocal(x) jnp.remainder(x,y) jnp.right_shift(i,jnp.abs(j)%32) jnp.rint(x) jnp.round(x,1) jnp.sign(x) jnp.signbit(x)
        jnp.sin(x) jnp.sinc(x) jnp.sinh(x) jnp.spacing(x) jnp.sqrt(p) jnp.square(x) jnp.subtract(x,y) jnp.tan(x) jnp.tanh(x) jnp.true_divide(i,j) jnp.trunc(x) jnp.where(b,x,y)
        jnp.unwrap(x) jnp.select([b,c],[x,y],0.5) jnp.piecewise(x,[b,c],[1.0,2.0,3.0]) jnp.astype(x,jnp.bfloat16) (h*h).astype(jnp.float32) jnp.exp(h) jnp.tanh(h)""",
    "complex": """z+w z*w z/w jnp.abs(z) jnp.exp(z) jnp.log(z) jnp.sqrt(z) jnp.conj(z) jnp.sin(z) jnp.cos(z) jnp.tan(z) jnp.sinh(z) jnp.cosh(z) jnp.tanh(z) jnp.square(z)
        jnp.reciprocal(z) jnp.power(z,w) jnp.expm1(z) jnp.log1p(z) jnp.sign(z) z==w jnp.arcsin(z) jnp.arccos(z) jnp.arctan(z) jnp.arcsinh(z) jnp.arccosh(z) jnp.arctanh(z) lax.rsqrt(z)""",
    "nn": """jax.nn.relu(x) jax.nn.relu6(x) jax.nn.sigmoid(x) jax.nn.softplus(x) jax.nn.sparse_plus(x) jax.nn.sparse_sigmoid(x) jax.nn.soft_sign(x) jax.nn.silu(x) jax.nn.log_sigmoid(x)
        jax.nn.leaky_relu(x) jax.nn.hard_sigmoid(x) jax.nn.hard_silu(x) jax.nn.hard_tanh(x) jax.nn.elu(x) jax.nn.celu(x) jax.nn.selu(x) jax.nn.gelu(x) jax.nn.gelu(x,approximate=False)
        jax.nn.glu(x) jax.nn.squareplus(x) jax.nn.mish(x) jax.nn.identity(x)""",
    "special": """jsp.bernoulli(12) jsp.beta(p,p+1) jsp.betainc(p,p+1,jnp.abs(u)) jsp.betaln(p,p+1) jsp.digamma(p) jsp.entr(p) jsp.erf(x) jsp.erfc(x) jsp.erfinv(u) jsp.exp1(p)
        jsp.expi(p) jsp.expit(x) jsp.expn(2,p) jsp.factorial(p) jsp.gamma(p) jsp.gammainc(p,p+1) jsp.gammaincc(p,p+1) jsp.gammaln(p) jsp.gammasgn(x) jsp.hyp1f1(p,p+1,u)
        jsp.i0(u) jsp.i0e(x) jsp.i1(u) jsp.i1e(x) jsp.kl_div(p,p+1) jsp.log_ndtr(x) jsp.log_softmax(x,axis=1) jsp.logit(jnp.abs(u)) jsp.logsumexp(x,1) jsp.multigammaln(p+4,2) jsp.ndtr(x)
        jsp.ndtri(jnp.abs(u)) jsp.poch(p,2.0) jsp.polygamma(1,p) jsp.rel_entr(p,p+1) jsp.softmax(x,axis=1) jsp.spence(p) jsp.xlog1py(x,p) jsp.xlogy(x,p) jsp.zeta(p+1.5,p)
        jsp.bessel_jn(p,v=2) jsp.lpmn_values(2,2,r*0.05,False) jsp.sph_harm_y(jnp.array([1]),jnp.array([2]),r[:1],r[1:2],n_max=3) jsp.fresnel(x) jsp.comb(p+4,p) jsp.sici(p) jsp.wofz(z)""",
}

# Run with ordinary values.
WHOLE = {
    "reductions": """jnp.all(b) jnp.any(b,0) jnp.amax(x,1) jnp.argmax(x) jnp.argmin(x,1) jnp.average(x,0) jnp.average(x,0,weights=p) jnp.count_nonzero(i) jnp.cumprod(u,1) jnp.cumsum(x,0) jnp.cumsum(i)
        jnp.max(x) jnp.mean(x,1) jnp.median(x) jnp.median(x,1) jnp.min(x,0) jnp.nanargmax(x,1) jnp.nanmax(x) jnp.nanmean(x,0) jnp.nansum(x) jnp.nanstd(x) jnp.nanvar(x,1) jnp.nanprod(u)
        jnp.percentile(x,30) jnp.prod(p,1) jnp.ptp(x,0) jnp.quantile(x,0.3,1) jnp.std(x) jnp.sum(x) jnp.sum(i,1) jnp.var(x,0) lax.argmax(x,1,jnp.int32) lax.argmin(x,0,jnp.int32)
        lax.cumlogsumexp(x,1) lax.cummax(x,0) lax.cummin(x,1) lax.cumprod(u,0) lax.cumsum(x,1,reverse=True) lax.reduce_and(b,axes=(0,)) lax.reduce_xor(i,axes=(1,))
        lax.reduce(x,0.0,lax.add,(0,)) lax.reduce_window(x,0.0,lax.add,(2,2),(1,1),'VALID') lax.reduce_window(x,-jnp.inf,lax.max,(2,3),(2,1),'SAME') jnp.nanmedian(x,1) jnp.nanpercentile(x,20)
        jnp.cumulative_sum(r,include_initial=True) jnp.logaddexp.reduce(x,1) jnp.add.accumulate(x,1) jnp.nanmin(x,1) jnp.nancumsum(x) jax.nn.logmeanexp(x,1) jax.nn.standardize(x) jnp.trapezoid(x,axis=1)
        jax.nn.softmax(x) jax.nn.log_softmax(x,0) jax.nn.logsumexp(x) jax.nn.one_hot(l,12) jax.nn.dot_product_attention(f,f,f) jnp.all(jnp.isfinite(x),1)""",
    "movement": """jnp.append(r,q) jnp.array_split(r,5)[1] jnp.atleast_3d(x) jnp.block([[x,y],[y,x]]) jnp.broadcast_to(r,(3,12)) jnp.column_stack([r,q]) jnp.concatenate([x,y],1) jnp.delete(r,3) jnp.diag(r) jnp.diag(m,1)
        jnp.diagflat(r) jnp.diagonal(t,0,1,2) jnp.diff(x,2) jnp.dstack([x,y]) jnp.ediff1d(r) jnp.expand_dims(x,1) jnp.eye(4,5,1) jnp.fill_diagonal(m,2.0,inplace=False) jnp.flip(x) jnp.fliplr(x) jnp.flipud(x)
        jnp.full((3,2),r[0]) jnp.geomspace(1.0,100.0,7) jnp.gradient(r) jnp.hsplit(x,2)[1] jnp.hstack([x,y]) jnp.indices((3,4)) jnp.insert(r,2,5.0) jnp.kron(x[:2,:2],y[:2,:3]) jnp.linspace(r[0],r[1],9) jnp.logspace(0,2,5)
        jnp.meshgrid(r,q) jnp.moveaxis(t,0,2) jnp.pad(x,2) jnp.pad(x,((1,2),(0,3)),mode='edge') jnp.pad(x,2,mode='reflect') jnp.pad(x,3,mode='wrap') jnp.pad(x,2,mode='symmetric') jnp.pad(x,2,mode='linear_ramp')
        jnp.pad(x,1,mode='mean') jnp.permute_dims(t,(2,0,1)) jnp.put_along_axis(x,jnp.argmax(x,1,keepdims=True),0.0,1,inplace=False) jnp.ravel(t) jnp.repeat(x,3,1) jnp.repeat(r,jnp.array([1,2]*6),total_repeat_length=18)
        jnp.reshape(t,(5,12)) jnp.resize(r,(3,5)) jnp.roll(x,2,1) jnp.roll(x,(1,-2),(0,1)) jnp.rollaxis(t,2) jnp.rot90(x) jnp.split(x,4,1)[2] jnp.squeeze(t[:1]) jnp.stack([x,y],1) jnp.swapaxes(t,0,2) jnp.take(r,l)
        jnp.take(x,l%5,0) jnp.take_along_axis(x,jnp.argsort(x,1),1) jnp.tile(x,(2,3)) jnp.transpose(t) jnp.tri(4,5) jnp.tril(m,-1) jnp.triu(m,1) jnp.vander(r[:4]) jnp.vsplit(m,3)[0] jnp.vstack([x,y]) jnp.unstack(t)[1]
        jnp.choose(l%3,[r,q,r*2],mode='clip') jnp.apply_along_axis(jnp.sum,1,x) jnp.matrix_transpose(t) jnp.packbits(b) jnp.unpackbits(k[0].astype(jnp.uint8)) jnp.r_[r,q] jnp.c_[r,q] lax.rev(x,(0,))
        lax.broadcast_in_dim(r,(12,3),(0,)) lax.pad(x,0.0,((1,-1,2),(0,2,1))) lax.slice(x,(1,2),(4,8),(1,3)) lax.dynamic_slice(x,(l[0],l[1]),(2,3)) lax.dynamic_update_slice(x,y[:2,:2],(l[2],l[3])) lax.expand_dims(r,(0,))
        lax.dynamic_index_in_dim(x,l[0],1) lax.dynamic_update_index_in_dim(x,r[:5],l[1],1) lax.slice_in_dim(x,1,3) lax.concatenate([x,y],0) lax.collapse(t,0,2) lax.iota(jnp.float32,7) lax.broadcasted_iota(jnp.int32,(3,4),1)
        lax.index_take(x,(l%5,),(0,)) lax.full_like(x,2.0) lax.split(r,(3,4,5))[1]""",
    "indexing": """x[1:4,::2] x[:,-1] x[l%5,l%8] x[b[:,0].argsort()] r[l] r[-1] r[::-1] x.at[2].set(1.0) x.at[:,l%8].add(2.0) r.at[l].add(q) r.at[l].max(q) r.at[l].min(q) r.at[l].multiply(q) r.at[l].mul(2.0) r.at[l].set(q,mode='drop')
        r.at[l].get() r.at[l+6].get(mode='fill',fill_value=0.0) r.at[l+6].get(mode='clip') r.at[l*3].add(1.0,mode='clip') r.at[2:5].divide(2.0) r.at[l].power(2.0) r.at[l].apply(jnp.sin) jnp.searchsorted(q,r) jnp.searchsorted(q,r,side='right')
        jnp.digitize(r,q) jnp.interp(r,q,r) jnp.bincount(l,length=12) jnp.histogram(r,8) jnp.histogram2d(r,q,4) jnp.unravel_index(l,(3,4)) jnp.ravel_multi_index((l%3,l%4),(3,4),mode='clip') jnp.nonzero(b,size=10) jnp.argwhere(b,size=5) jnp.flatnonzero(b,size=9)
        jnp.where(b,size=6) jnp.compress(b[0],x,axis=1,size=4) jnp.extract(b,x,size=7) jnp.unique(l,size=12) jnp.place(r,r>0,q,inplace=False) jnp.tril_indices(4) jnp.triu_indices(4) jnp.diag_indices(5) jnp.isin(l,l[:3]) jnp.setdiff1d(l,l[:3],size=9)
        jnp.union1d(l,l[:3],size=12) jnp.intersect1d(l,l[:3],size=3) jax.ops.segment_sum(r,l,12) jax.ops.segment_max(r,l,12) jax.ops.segment_prod(r,l,12) jax.ops.segment_min(r,l,12)
        jnp.put(r,l[:3],q[:3],inplace=False)""",
    "sorting": """jnp.sort(x) jnp.sort(x,0) jnp.sort(i,1,descending=True) jnp.argsort(x,1) jnp.argsort(r,stable=True) jnp.lexsort((r,q)) jnp.partition(r,4) jnp.argpartition(r,4) jnp.sort_complex(z[0]) lax.sort(x) lax.sort((r,l),num_keys=1) lax.sort((l%3,r),num_keys=2)
        lax.top_k(r,5) lax.top_k(x,3) lax.approx_max_k(r,4) lax.approx_min_k(r,4) jnp.sort(z,1) jnp.sort(b,1) jnp.sort(h,0) lax.sort_key_val(l,r) jnp.max(jnp.sort(k,0),0) jnp.unique_counts(l,size=12) jnp.unique_values(l,size=12)""",
    "contractions": """jnp.convolve(r,q[:3]) jnp.correlate(r,q[:4]) jnp.cov(x) jnp.corrcoef(x) jnp.cross(x[:,:3],y[:,:3]) jnp.dot(m,n) jnp.einsum('ij,jk->ik',m,n) jnp.einsum('ij,ij->',x,y) jnp.einsum('abc,abd->acd',t,t) jnp.inner(x,y) jnp.matmul(m,n) jnp.matvec(m,r[:6])
        jnp.outer(r,q) jnp.tensordot(t,t,[[0,1],[0,1]]) jnp.trace(m) jnp.vdot(x,y) jnp.vecdot(x,y) jnp.vecmat(r[:6],m) jnp.polyval(r[:4],x) jnp.polymul(r[:3],q[:4]) jnp.polyadd(r[:3],q[:4]) jnp.polyder(r) jnp.polyint(r) jnp.poly(r[:3]) lax.dot(m,n)
        lax.dot_general(t,t,(((2,),(2,)),((0,),(0,)))) lax.dot(m,n,preferred_element_type=jnp.float32,precision='highest') lax.batch_matmul(t,jnp.swapaxes(t,1,2)) lax.conv(jnp.moveaxis(f,3,1),jnp.transpose(g,(3,2,0,1)),(1,1),'SAME')
        lax.conv_general_dilated(f,g,(2,2),'VALID',dimension_numbers=('NHWC','HWIO','NHWC')) lax.conv_general_dilated(f,g,(1,1),'SAME',rhs_dilation=(2,2),dimension_numbers=('NHWC','HWIO','NHWC'))
        lax.conv_transpose(f,g,(2,2),'SAME') lax.conv_general_dilated_patches(f,(2,2),(1,1),'VALID',dimension_numbers=('NHWC','HWIO','NHWC')) z@w.T (i%7)@(j.T%5) h@h.T jax.scipy.signal.convolve(r,q) jax.scipy.signal.convolve2d(m,n[:3,:3])
        jnp.linalg.multi_dot([m,n,m]) jnp.linalg.matmul(m,n) jnp.linalg.outer(r,q) jnp.linalg.vecdot(x,y) jnp.linalg.tensordot(m,n) jnp.linalg.cross(x[:,:3],y[:,:3]) lax.ragged_dot(t[0],t[:2].swapaxes(1,2),jnp.array([2,2],jnp.int32))
        jnp.apply_over_axes(jnp.sum,t,[0,2])""",
    "control": """lax.cond(r[0]>0,jnp.sin,jnp.cos,x) lax.switch(l[0]%3,[jnp.sin,jnp.cos,jnp.tanh],x) lax.while_loop(lambda s:s[0]<5,lambda s:(s[0]+1,s[1]*1.5),(0,x))[1] lax.fori_loop(0,4,lambda n,s:s+n,x) lax.fori_loop(0,l[0],lambda n,s:s+n,x)
        lax.scan(lambda s,e:(s+e,s*e),r[0],r) lax.scan(lambda s,e:(s*0.5+e.sum(),s),r[0],x,reverse=True) lax.map(lambda e:jnp.sum(e**2),x) lax.associative_scan(jnp.add,r) lax.associative_scan(jnp.maximum,x,axis=1) jax.vmap(jnp.dot)(x,y)
        jax.grad(lambda a:jnp.sum(jnp.tanh(a)**2))(x) jax.jacfwd(lambda a:jnp.sin(a)*a[0])(r) jax.jacrev(lambda a:jnp.sin(a)*a[0])(r) jax.hessian(lambda a:jnp.sum(a**3))(r) jax.jvp(jnp.sin,(x,),(y,)) jax.checkpoint(jnp.sin)(x)
        jax.lax.stop_gradient(x) lax.optimization_barrier(x) jnp.vectorize(jnp.dot,signature='(a),(a)->()')(x,y) jnp.piecewise(x,[x<0,x>1],[jnp.sin,jnp.cos,0.0]) jax.linearize(jnp.sin,x)[0] lax.reduce_precision(x,8,7)""",
    "linalg": """jnp.linalg.cholesky(s) jnp.linalg.cond(m) jnp.linalg.det(m) jnp.linalg.diagonal(m) jnp.linalg.eigh(s)[0] jnp.linalg.eigvalsh(s) jnp.linalg.inv(s) jnp.linalg.lstsq(m,r[:6])[0] jnp.linalg.matrix_norm(m) jnp.linalg.matrix_power(m,3)
        jnp.linalg.matrix_rank(m) jnp.linalg.matrix_transpose(m) jnp.linalg.norm(x) jnp.linalg.norm(x,axis=1,ord=1) jnp.linalg.norm(m,ord='nuc') jnp.linalg.norm(m,ord=2) jnp.linalg.pinv(m) jnp.abs(jnp.linalg.qr(m)[1]) jnp.linalg.slogdet(m) jnp.linalg.solve(s,m)
        jnp.linalg.svd(m,compute_uv=False) jnp.linalg.svdvals(m) jnp.linalg.tensorinv(m.reshape(6,3,2),1) jnp.linalg.tensorsolve(s.reshape(2,3,6),m[:2,:3]) jnp.linalg.trace(m) jnp.linalg.vector_norm(r) jnp.sort(jnp.abs(jnp.linalg.eigvals(m)))
        lax.linalg.cholesky(s) lax.linalg.triangular_solve(jnp.tril(s),m,left_side=True,lower=True) lax.linalg.lu(m)[0] jax.scipy.linalg.expm(m*0.1) jax.scipy.linalg.lu_solve(jax.scipy.linalg.lu_factor(s),r[:6]) jax.scipy.linalg.block_diag(m,n)
        jax.scipy.linalg.cho_solve((jnp.linalg.cholesky(s),True),r[:6]) jax.scipy.linalg.solve_triangular(jnp.triu(s),r[:6]) jax.scipy.linalg.toeplitz(r) jax.scipy.linalg.det(m) lax.linalg.tridiagonal_solve(r,q+9,r,m[:1].T.repeat(2,0))
        jax.scipy.linalg.hilbert(4) jax.scipy.linalg.solve(s,r[:6]) jax.scipy.linalg.polar(s)[1] jnp.linalg.det(t[:2,:0,:0]) jnp.linalg.solve(m[:0,:0],m[:0])""",
    "fourier": """jnp.fft.fft(z) jnp.fft.ifft(z) jnp.fft.rfft(x) jnp.fft.irfft(z) jnp.fft.fft2(z) jnp.fft.ifft2(z) jnp.fft.rfft2(x) jnp.fft.irfft2(z) jnp.fft.fftn(z) jnp.fft.ifftn(z) jnp.fft.rfftn(t) jnp.fft.irfftn(z) jnp.fft.hfft(z) jnp.fft.ihfft(x)
        jnp.fft.fftshift(x) jnp.fft.ifftshift(x) jnp.fft.fftfreq(9) jnp.fft.rfftfreq(9) jax.scipy.fft.dct(x) jax.scipy.fft.idct(x) jax.scipy.signal.fftconvolve(r,q)""",
    "random": """jax.random.bits(key,(9,)) jax.random.uniform(key,(9,)) jax.random.normal(key,(9,)) jax.random.randint(key,(9,),0,100) jax.random.bernoulli(key,0.3,(9,)) jax.random.permutation(key,12) jax.random.permutation(key,r) jax.random.choice(key,r,(5,))
        jax.random.choice(key,12,(5,),replace=False) jax.random.split(key,3) jax.random.fold_in(key,7) jax.random.categorical(key,x) jax.random.gumbel(key,(9,)) jax.random.exponential(key,(9,)) jax.random.laplace(key,(9,)) jax.random.logistic(key,(9,))
        jax.random.cauchy(key,(9,)) jax.random.truncated_normal(key,-1.0,1.0,(9,)) jax.random.rademacher(key,(9,)) jax.random.gamma(key,p) jax.random.beta(key,p,p) jax.random.dirichlet(key,p) jax.random.poisson(key,p) jax.random.t(key,p) jax.random.chisquare(key,p)
        jax.random.multivariate_normal(key,r[:6],s) jax.random.orthogonal(key,4) jax.random.ball(key,3,shape=(4,)) jax.random.pareto(key,p) jax.random.weibull_min(key,1.0,p,(5,8)) jax.random.maxwell(key,(9,)) jax.random.rayleigh(key,p) jax.random.triangular(key,0.0,0.5,1.0,(9,))
        jax.random.geometric(key,0.3,(9,)) jax.random.binomial(key,9.0,0.4,(9,)) jax.random.wald(key,p) jax.random.lognormal(key,1.0,(9,)) jax.random.loggamma(key,p) jax.random.double_sided_maxwell(key,0.0,1.0,(9,)) jax.random.f(key,p,p) jax.random.generalized_normal(key,2.0,(9,))""",
    "other": """jax.image.resize(f,(2,5,5,3),'bilinear') jax.image.resize(f,(2,16,16,3),'nearest') jax.image.resize(f,(2,5,5,3),'cubic') jax.scipy.stats.norm.pdf(x) jax.scipy.stats.norm.cdf(x) jax.scipy.stats.norm.logpdf(x) jax.scipy.stats.beta.pdf(jnp.abs(u),p,p)
        jax.scipy.stats.gamma.logpdf(p,p) jax.scipy.stats.poisson.pmf(l,3.0) jax.scipy.stats.multivariate_normal.logpdf(r[:6],r[:6]*0,s) jax.scipy.stats.rankdata(r) jax.scipy.stats.mode(l) jax.scipy.stats.t.logpdf(x,3.0) jax.scipy.stats.expon.cdf(p)
        jax.scipy.ndimage.map_coordinates(m,[r%5,q%5],1) jax.scipy.interpolate.RegularGridInterpolator((jnp.arange(6.0),jnp.arange(6.0)),m)(jnp.stack([jnp.abs(u[:,0]),jnp.abs(u[:,1])],1)) jax.scipy.special.logsumexp(x,axis=1,b=p)
        jax.scipy.stats.gaussian_kde(r).evaluate(q) jax.scipy.integrate.trapezoid(x) jax.scipy.signal.detrend(x) jax.scipy.signal.stft(r,nperseg=4)[2] jax.scipy.cluster.vq.vq(x,y)[0] jax.flatten_util.ravel_pytree((x,y))[0] jax.scipy.sparse.linalg.cg(s,r[:6],maxiter=4)[0]""",
}


def split(text):
    """Expressions of a family: separated by blanks outside of brackets; those that this JAX lacks are."""
    found, depth, current = [], 0, ""
    for character in " ".join(text.split()) + " ":
        depth += (character in "([{") - (character in ")]}")
        if character == " " and depth == 0:
            found.append(current)
            current = ""
        else:
            current += character
    return [e for e in found if e]
