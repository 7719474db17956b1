"""Kinds of wrong backward passes of normalisations, each beside the right one, as people write them."""

import numpy as np


def ln(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    rstd = 1.0 / np.sqrt(var + eps)
    x_hat = (x - mu) * rstd
    return gamma * x_hat + beta, (x_hat, rstd, gamma)


def ln_right(dy, cache):
    x_hat, rstd, gamma = cache
    k = dy * gamma
    dx = rstd * (k - k.mean(-1, keepdims=True) - x_hat * (k * x_hat).mean(-1, keepdims=True))
    lead = tuple(range(dy.ndim - 1))
    return dx, (dy * x_hat).sum(axis=lead), dy.sum(axis=lead)


def ln_mean_twice(dy, cache):
    x_hat, rstd, gamma = cache
    k = dy * gamma
    dx = rstd * (k - 2 * k.mean(-1, keepdims=True) - x_hat * (k * x_hat).mean(-1, keepdims=True))
    return dx, (dy * x_hat).sum(axis=0), dy.sum(axis=0)


def ln_rebuilt(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=1, keepdims=True)
    rstd = (((x - mu) ** 2).mean(axis=1, keepdims=True) + eps) ** -0.5
    y = gamma * (x - mu) * rstd + beta
    return y, (y, gamma, beta)


def ln_rebuilt_right(dy, cache):
    y, gamma, beta = cache
    return ((dy * (y - beta)) / gamma).sum(axis=0), dy.sum(axis=0)


def ln_rebuilt_wrong(dy, cache):
    """The output is turned back with the parameters of another axis."""
    y, gamma, beta = cache
    return ((dy * (y - beta[0])) / gamma[0]).sum(axis=0), dy.sum(axis=0)


def ln_block_3d(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=2, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=2, keepdims=True) + eps)
    return gamma * (x - mu) * rstd + beta, (x, gamma, eps)


def ln_block_3d_right(dy, cache):
    x, gamma, eps = cache
    mu = x.mean(axis=2, keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=2, keepdims=True) + eps)
    h = (x - mu) * rstd
    k = gamma * dy
    return rstd * (k - k.mean(2, keepdims=True) - h * (k * h).mean(2, keepdims=True))


def ln_block_3d_rows(dy, cache):
    """One pair of statistics for each batch element instead of each token."""
    x, gamma, eps = cache
    mu = x.mean(axis=(1, 2), keepdims=True)
    rstd = 1 / np.sqrt(x.var(axis=(1, 2), keepdims=True) + eps)
    h = (x - mu) * rstd
    k = gamma * dy
    return rstd * (k - k.mean((1, 2), keepdims=True) - h * (k * h).mean((1, 2), keepdims=True))


def bn(x, gamma, beta, eps=1e-5):
    mean = np.mean(x, axis=0)
    var = np.mean((x - mean) ** 2, axis=0)
    inv = 1 / np.sqrt(var + eps)
    h = (x - mean) * inv
    return gamma * h + beta, (h, inv, var, gamma, eps, x - mean)


def bn_right(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    n = dy.shape[0]
    k = dy * gamma
    dx = inv / n * (n * k - np.sum(k, axis=0) - h * np.sum(k * h, axis=0))
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_statistics_constant(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    return dy * gamma * inv, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_direct_term_summed(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    n = dy.shape[0]
    k = dy * gamma
    total = k.sum(0)
    dx = inv / n * (n * total - total - h * (k * h).sum(0))
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_variance_sign(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    n = dy.shape[0]
    k = dy * gamma
    v = 0.5 * inv**3 * np.sum(k * centred, axis=0)
    dx = k * inv + 2 * centred * v / n - np.sum(k * inv, axis=0) / n
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_mean_not_divided(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    n = dy.shape[0]
    k = dy * gamma
    v = -0.5 * inv**3 * np.sum(k * centred, axis=0)
    dx = k * inv + 2 * centred * v / n - np.sum(k * inv, axis=0)
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_saved_as_variance(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    s = 1 / np.sqrt(inv + eps)
    n = dy.shape[0]
    k = dy * gamma
    h2 = centred * s
    dx = s / n * (n * k - np.sum(k, axis=0) - h2 * np.sum(k * h2, axis=0))
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_times_std(dy, cache):
    h, inv, var, gamma, eps, centred = cache
    k = dy * gamma
    dx = k * np.sqrt(var + eps) - inv * (k.mean(0) + h * (k * h).mean(0))
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_four_terms(dy, cache):
    """Complete with the path through the mean inside the variance, which vanishes."""
    h, inv, var, gamma, eps, centred = cache
    n = dy.shape[0]
    k = dy * gamma
    dvar = np.sum(k * centred, axis=0) * -0.5 * np.power(var + eps, -3.0 / 2)
    dmean = np.sum(-k * inv, axis=0) + dvar * np.sum(-2 * centred, axis=0) / n
    dx = k * inv + dvar * 2 * centred / n + dmean / n
    return dx, np.sum(dy * h, axis=0), np.sum(dy, axis=0)


def bn_spatial(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=(0, 2, 3), keepdims=True)
    var = x.var(axis=(0, 2, 3), keepdims=True)
    inv = 1 / np.sqrt(var + eps)
    h = (x - mean) * inv
    return gamma[None, :, None, None] * h + beta[None, :, None, None], (h, inv, gamma)


def bn_spatial_right(dy, cache):
    h, inv, gamma = cache
    n, _, hh, ww = dy.shape
    m = n * hh * ww
    k = dy * gamma.reshape(1, -1, 1, 1)
    total = k.sum((0, 2, 3), keepdims=True)
    dx = inv / m * (m * k - total - h * (k * h).sum((0, 2, 3), keepdims=True))
    return dx, (dy * h).sum((0, 2, 3)), dy.sum((0, 2, 3))


def bn_spatial_count(dy, cache):
    """Divides by N where the statistics run over N·H·W."""
    h, inv, gamma = cache
    n = dy.shape[0]
    k = dy * gamma.reshape(1, -1, 1, 1)
    dx = inv * (k - k.sum((0, 2, 3), keepdims=True) / n - h * (k * h).sum((0, 2, 3), keepdims=True) / n)
    return dx, (dy * h).sum((0, 2, 3)), dy.sum((0, 2, 3))


def gn(x, gamma, beta, groups, eps=1e-5):
    n, c, hh, ww = x.shape
    g = x.reshape(n, groups, c // groups, hh, ww)
    mean = g.mean(axis=(2, 3, 4), keepdims=True)
    var = g.var(axis=(2, 3, 4), keepdims=True)
    h = ((g - mean) / np.sqrt(var + eps)).reshape(n, c, hh, ww)
    out = h * gamma.reshape(1, c, 1, 1) + beta.reshape(1, c, 1, 1)
    return out, (h, var, gamma, groups, eps)


def _gn_backward(dy, cache, count):
    h, var, gamma, groups, eps = cache
    n, c, hh, ww = dy.shape
    k = (dy * gamma.reshape(1, c, 1, 1)).reshape(n, groups, c // groups, hh, ww)
    u = h.reshape(n, groups, c // groups, hh, ww)
    m = count(c // groups, hh, ww)
    s = k.sum((2, 3, 4), keepdims=True)
    q = (k * u).sum((2, 3, 4), keepdims=True)
    dx = (k - s / m - u * q / m) / np.sqrt(var + eps)
    return dx.reshape(n, c, hh, ww), (dy * h).sum((0, 2, 3)), dy.sum((0, 2, 3))


def gn_right(dy, cache):
    return _gn_backward(dy, cache, lambda c, h, w: c * h * w)


def gn_count(dy, cache):
    """Counts W instead of H·W."""
    return _gn_backward(dy, cache, lambda c, h, w: c * w)


def gn_gamma_outside(dy, cache):
    h, var, gamma, groups, eps = cache
    n, c, hh, ww = dy.shape
    k = dy.reshape(n, groups, c // groups, hh, ww)
    u = h.reshape(n, groups, c // groups, hh, ww)
    dx = (k - k.mean((2, 3, 4), keepdims=True) - u * (k * u).mean((2, 3, 4), keepdims=True)) / np.sqrt(var + eps)
    return dx.reshape(n, c, hh, ww) * gamma.reshape(1, c, 1, 1), (dy * h).sum((0, 2, 3)), dy.sum((0, 2, 3))


def rms(x, w, eps=1e-6):
    r = np.sqrt(np.mean(x * x, axis=-1, keepdims=True) + eps)
    return w * x / r, (x, w, r)


def rms_right(dy, cache):
    x, w, r = cache
    k = dy * w
    dx = k / r - x * np.mean(k * x, axis=-1, keepdims=True) / r**3
    return dx, np.sum(dy * x / r, axis=0)


def rms_weight_forgotten(dy, cache):
    x, w, r = cache
    dx = dy / r - x * np.mean(dy * x, axis=-1, keepdims=True) / r**3
    return dx, np.sum(dy * x / r, axis=0)


def rms_mean_twice(dy, cache):
    x, w, r = cache
    k = dy * w
    d = x.shape[-1]
    dx = k / r - x * np.mean(k * x, axis=-1, keepdims=True) / (d * r**2)
    return dx, np.sum(dy * x / r, axis=0)


def prenorm(x, r, w, eps=1e-6):
    """Fused residual addition and normalisation, with two results."""
    s = x + r
    rms_ = np.sqrt(np.mean(s * s, axis=-1, keepdims=True) + eps)
    return w * s / rms_, s, (s, w, rms_)


def prenorm_right(dy, ds_out, cache):
    s, w, r = cache
    k = dy * w
    ds = ds_out + k / r - s * np.mean(k * s, axis=-1, keepdims=True) / r**3
    return ds, ds, np.sum(dy * s / r, axis=0)


def prenorm_through_norm(dy, ds_out, cache):
    """The residual gradient is pushed through the norm."""
    s, w, r = cache
    k = (dy + ds_out) * w
    ds = k / r - s * np.mean(k * s, axis=-1, keepdims=True) / r**3
    return ds, ds, np.sum(dy * s / r, axis=0)


def l2(x):
    norm = np.sqrt(np.sum(x**2, axis=1, keepdims=True))
    return x / norm, (x / norm, norm)


def l2_right(dy, cache):
    y, norm = cache
    return (dy - y * np.sum(dy * y, axis=1, keepdims=True)) / norm


def l2_identity(dy, cache):
    return dy


LN, BN, RMS = "x: N D, gamma: D, beta: D", "x: N D, gamma: D, beta: D", "x: N D, w: D"
MAPS = "x: N C H W, gamma: C, beta: C"
# forward, backward, shapes, results, wrong gradients with the kind of fault (None: any)
CASES = [
    (ln, ln_right, LN, "x, gamma, beta", {}),
    (ln, ln_mean_twice, LN, "x, gamma, beta", {"x": "mean-path-doubled"}),
    (ln_rebuilt, ln_rebuilt_right, LN, "gamma, beta", {}),
    (ln_rebuilt, ln_rebuilt_wrong, LN, "gamma, beta", {"gamma": None}),
    (ln_block_3d, ln_block_3d_right, "x: B T D, gamma: D, beta: D", "x", {}),
    (ln_block_3d, ln_block_3d_rows, "x: B T D, gamma: D, beta: D", "x", {"x": None}),
    (bn, bn_right, BN, "x, gamma, beta", {}),
    (bn, bn_four_terms, BN, "x, gamma, beta", {}),
    (bn, bn_statistics_constant, BN, "x, gamma, beta", {"x": "statistics-constant"}),
    (bn, bn_direct_term_summed, BN, "x, gamma, beta", {"x": None}),
    (bn, bn_variance_sign, BN, "x, gamma, beta", {"x": "variance-path-sign"}),
    (bn, bn_mean_not_divided, BN, "x, gamma, beta", {"x": "mean-path-scale"}),
    (bn, bn_saved_as_variance, BN, "x, gamma, beta", {"x": None}),
    (bn, bn_times_std, BN, "x, gamma, beta", {"x": None}),
    (bn_spatial, bn_spatial_right, MAPS, "x, gamma, beta", {}),
    (bn_spatial, bn_spatial_count, MAPS, "x, gamma, beta", {"x": None}),
    (gn, gn_right, MAPS, "x, gamma, beta", {}),
    (gn, gn_count, MAPS, "x, gamma, beta", {"x": None}),
    (gn, gn_gamma_outside, MAPS, "x, gamma, beta", {"x": "gamma-outside"}),
    (rms, rms_right, RMS, "x, w", {}),
    (rms, rms_weight_forgotten, RMS, "x, w", {"x": "w-forgotten"}),
    (rms, rms_mean_twice, RMS, "x, w", {"x": None}),
    (prenorm, prenorm_right, "x: N D, r: N D, w: D", "x, r, w", {}),
    (prenorm, prenorm_through_norm, "x: N D, r: N D, w: D", "x, r, w", {"x": None, "r": None}),
    (l2, l2_right, "x: N D", "x", {}),
    (l2, l2_identity, "x: N D", "x", {"x": "identity"}),
]
SET = {gn: {"groups": 2}}
