"""Kinds of wrong backward passes of activations, softmax, losses, convolutions and residual blocks, beside right ones."""

import numpy as np


def softmax(x):
    e = np.exp(x - x.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return p, p


def softmax_right(g, p):
    return p * (g - (g * p).sum(axis=1, keepdims=True))


def softmax_jacobian(g, p):
    """A Jacobian matrix for each row."""
    dx = np.zeros_like(p)
    for n in range(p.shape[0]):
        jac = np.diag(p[n]) - np.outer(p[n], p[n])
        dx[n] = jac @ g[n]
    return dx


def softmax_diagonal(g, p):
    return g * p * (1 - p)


def softmax_identity(g, p):
    return g


def softmax_by_batch(g, p):
    return p * (g - (g * p).sum(axis=1, keepdims=True)) / p.shape[0]


def log_softmax(x):
    s = x - x.max(axis=-1, keepdims=True)
    out = s - np.log(np.exp(s).sum(axis=-1, keepdims=True))
    return out, out


def log_softmax_right(g, out):
    return g - np.exp(out) * g.sum(axis=-1, keepdims=True)


def log_softmax_adds(g, out):
    return g + np.exp(out)


def cross_entropy(x, y, t=2.0):
    z = x / t
    z = z - z.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    n = x.shape[0]
    return -logp[np.arange(n), y].mean(), (np.exp(logp), y, t)


def cross_entropy_right(g, cache):
    p, y, t = cache
    n = p.shape[0]
    d = p.copy()
    d[np.arange(n), y] -= 1
    return g * d / (t * n)


def cross_entropy_temperature(g, cache):
    p, y, t = cache
    d = p.copy()
    d[np.arange(p.shape[0]), y] -= 1
    return g * d / p.shape[0]


def cross_entropy_one_hot(g, cache):
    p, y, t = cache
    return g * (p - np.eye(p.shape[1])[y]) / (t * len(y))


def cross_entropy_sum(x, y):
    z = x - x.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -logp[np.arange(x.shape[0]), y].sum(), (np.exp(logp), y)


def cross_entropy_sum_right(g, cache):
    p, y = cache
    return g * (p - np.eye(p.shape[1])[y])


def cross_entropy_sum_divided(g, cache):
    p, y = cache
    return g * (p - np.eye(p.shape[1])[y]) / p.shape[0]


def masked_entropy(x, y, keep):
    z = x - x.max(axis=1, keepdims=True)
    logp = z - np.log(np.exp(z).sum(axis=1, keepdims=True))
    return -(logp[np.arange(x.shape[0]), y] * keep).sum(), (np.exp(logp), y, keep)


def masked_entropy_right(g, cache):
    p, y, keep = cache
    return g * (p - np.eye(p.shape[1])[y]) * keep[:, None]


def masked_entropy_all_rows(g, cache):
    p, y, keep = cache
    return g * (p - np.eye(p.shape[1])[y])


def relu(x):
    out = np.maximum(x, 0)
    return out, (x, out)


def relu_right(g, cache):
    x, out = cache
    return g * (x > 0)


def relu_from_output(g, cache):
    """The mask is read off the output: where it is 0."""
    x, out = cache
    d = g.copy()
    d[out == 0] = 0
    return d


def relu_overwrites(g, cache):
    x, out = cache
    return np.where(x > 0, 1.0, 0.0)


def leaky(x, alpha=0.01):
    return np.where(x > 0, x, alpha * x), (x, alpha)


def leaky_right(g, cache):
    x, alpha = cache
    d = np.ones_like(x)
    d[x < 0] = alpha
    return g * d


def leaky_negated(g, cache):
    x, alpha = cache
    d = np.ones_like(x)
    d[x < 0] = -alpha
    return g * d


def elu(x, alpha=1.0):
    out = np.where(x > 0, x, alpha * (np.exp(x) - 1))
    return out, (x, out, alpha)


def elu_right(g, cache):
    x, out, alpha = cache
    return g * np.where(x > 0, 1, out + alpha)


def gelu(x):
    c = np.sqrt(2 / np.pi)
    t = np.tanh(c * (x + 0.044715 * x**3))
    return 0.5 * x * (1 + t), (x, t)


def gelu_right(g, cache):
    x, t = cache
    c = np.sqrt(2 / np.pi)
    return g * (0.5 * (1 + t) + 0.5 * x * (1 - t**2) * c * (1 + 3 * 0.044715 * x**2))


def gelu_density(g, cache):
    x, t = cache
    phi = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
    return g * ((1 + t) / 2 + x * phi)


def swish(x):
    s = 1 / (1 + np.exp(-x))
    return x * s, (x, x * s, s)


def swish_right(g, cache):
    x, y, s = cache
    return g * (y + s * (1 - y))


def swish_hyperbolic(g, cache):
    x, y, s = cache
    return g * (0.5 + (x + np.sinh(x)) / (4 * np.cosh(x / 2) ** 2))


def swish_parenthesis(g, cache):
    x, y, s = cache
    return g * (0.5 + x + np.sinh(x) / (4 * np.cosh(x / 2) ** 2))


def sigmoid(x):
    s = 1 / (1 + np.exp(-x))
    return s, s


def sigmoid_right(g, s):
    return g * s * (1 - s)


def sigmoid_of_gradient(g, s):
    return s * (1 - 1 / (1 + np.exp(-g)))


def exponential(x):
    y = np.exp(x)
    return y, y


def exponential_right(g, y):
    return g * y


def exponential_dropped(g, y):
    return y


def residual(x):
    return x + np.tanh(2 * x), x


def residual_right(g, x):
    return g + g * 2 * (1 - np.tanh(2 * x) ** 2)


def residual_skip_missing(g, x):
    return g * 2 * (1 - np.tanh(2 * x) ** 2)


def skip_relu(x):
    return x + np.maximum(x, 0), x


def skip_relu_right(g, x):
    branch = g.copy()
    branch[x <= 0] = 0
    return g + branch


def skip_relu_in_place(g, x):
    branch = g
    branch[x <= 0] = 0
    return g + branch


def conv1d(x, w, stride):
    n = (x.shape[0] - w.shape[0]) // stride + 1
    out = np.zeros(n)
    for i in range(n):
        out[i] = np.sum(x[i * stride : i * stride + w.shape[0]] * w)
    return out, (x, w, stride)


def conv1d_right(g, cache):
    x, w, stride = cache
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    k = w.shape[0]
    for i in range(g.shape[0]):
        dw += g[i] * x[i * stride : i * stride + k]
        dx[i * stride : i * stride + k] += g[i] * w
    return dx, dw


def conv1d_stride_forgotten(g, cache):
    x, w, stride = cache
    dx, dw = np.zeros_like(x), np.zeros_like(w)
    k = w.shape[0]
    for i in range(g.shape[0]):
        dw += g[i] * x[i : i + k]
        dx[i * stride : i * stride + k] += g[i] * w
    return dx, dw


def conv1d_averaged(g, cache):
    dx, dw = conv1d_right(g, cache)
    return dx, dw / g.shape[0]


def affine(x, w, b):
    return x.dot(w) + b, (x, w)


def affine_right(g, cache):
    x, w = cache
    return g.dot(w.T), x.T.dot(g), np.ones((1, g.shape[0])).dot(g).reshape(-1)


def affine_bias_scalar(g, cache):
    x, w = cache
    return g.dot(w.T), x.T.dot(g), np.ones(g.shape[1]) * g.sum()


def affine_bias_not_reduced(g, cache):
    x, w = cache
    return g.dot(w.T), x.T.dot(g), g


CE = "x: N C, y: N int C"
AFFINE = "x: N D, w: D M, b: M"
CASES = [
    (softmax, softmax_right, "x: N C", "x", {}),
    (softmax, softmax_jacobian, "x: N C", "x", {}),
    (softmax, softmax_diagonal, "x: N C", "x", {"x": None}),
    (softmax, softmax_identity, "x: N C", "x", {"x": "identity"}),
    (softmax, softmax_by_batch, "x: N C", "x", {"x": "factor"}),
    (log_softmax, log_softmax_right, "x: N C", "x", {}),
    (log_softmax, log_softmax_adds, "x: N C", "x", {"x": None}),
    (cross_entropy, cross_entropy_right, CE, "x", {}),
    (cross_entropy, cross_entropy_one_hot, CE, "x", {}),
    (cross_entropy, cross_entropy_temperature, CE, "x", {"x": None}),
    (cross_entropy_sum, cross_entropy_sum_right, CE, "x", {}),
    (cross_entropy_sum, cross_entropy_sum_divided, CE, "x", {"x": "factor"}),
    (masked_entropy, masked_entropy_right, CE + ", keep: N bool", "x", {}),
    (masked_entropy, masked_entropy_all_rows, CE + ", keep: N bool", "x", {"x": None}),
    (relu, relu_right, "x: N D", "x", {}),
    (relu, relu_from_output, "x: N D", "x", {}),
    (relu, relu_overwrites, "x: N D", "x", {"x": "upstream-dropped"}),
    (leaky, leaky_right, "x: N D", "x", {}),
    (leaky, leaky_negated, "x: N D", "x", {"x": None}),
    (elu, elu_right, "x: N D", "x", {}),
    (gelu, gelu_right, "x: N D", "x", {}),
    (gelu, gelu_density, "x: N D", "x", {"x": None}),
    (swish, swish_right, "x: N D", "x", {}),
    (swish, swish_hyperbolic, "x: N D", "x", {}),
    (swish, swish_parenthesis, "x: N D", "x", {"x": None}),
    (sigmoid, sigmoid_right, "x: N D", "x", {}),
    (sigmoid, sigmoid_of_gradient, "x: N D", "x", {"x": None}),
    (exponential, exponential_right, "x: N D", "x", {}),
    (exponential, exponential_dropped, "x: N D", "x", {"x": "upstream-dropped"}),
    (residual, residual_right, "x: N D", "x", {}),
    (residual, residual_skip_missing, "x: N D", "x", {"x": "skip-missing"}),
    (skip_relu, skip_relu_right, "x: N D", "x", {}),
    (skip_relu, skip_relu_in_place, "x: N D", "x", {"x": None}),
    (conv1d, conv1d_right, "x: L, w: K", "x, w", {}),
    (conv1d, conv1d_stride_forgotten, "x: L, w: K", "x, w", {"w": None}),
    (conv1d, conv1d_averaged, "x: L, w: K", "x, w", {"w": "factor"}),
    (affine, affine_right, AFFINE, "x, w, b", {}),
    (affine, affine_bias_scalar, AFFINE, "x, w, b", {"b": None}),
    (affine, affine_bias_not_reduced, AFFINE, "x, w, b", {"b": None}),
]
SET = {conv1d: {"stride": 2}}
