"""Layers as classes and functions in the styles of public code: state on self, dicts, flags, helpers, context objects."""
# ruff: noqa: B006, B905, UP031, E501  (written as people write it)
import functools
import math

import numpy as xp
from numpy import exp, maximum

EPS = 1e-5


def _moments(x, axis):
    mu = x.mean(axis=axis, keepdims=True)
    return mu, ((x - mu) ** 2).mean(axis=axis, keepdims=True)


def normalise(x, gamma, beta):
    def scale(v):
        return 1.0 / xp.sqrt(v + EPS)

    mu, var = _moments(x, -1)
    inv = scale(var)
    hat = (x - mu) * inv
    return hat * gamma + beta, {"hat": hat, "inv": inv, "gamma": gamma}


def normalise_back(dy, hat, inv, gamma):
    """The keys of the cache are the parameters."""
    dgamma = (dy * hat).sum(axis=0)
    dbeta = dy.sum(axis=0)
    d = dy * gamma
    dx = inv * (d - d.mean(-1, keepdims=True) - hat * (d * hat).mean(-1, keepdims=True))
    return {"dx": dx, "dgamma": dgamma, "dbeta": dbeta}


def batchnorm(x, gamma, beta, bn_param):
    mode = bn_param["mode"]
    eps = bn_param.get("eps", 1e-5)
    momentum = bn_param.get("momentum", 0.9)
    N, D = x.shape
    running_mean = bn_param.get("running_mean", xp.zeros(D, dtype=x.dtype))
    running_var = bn_param.get("running_var", xp.zeros(D, dtype=x.dtype))
    out, cache = None, None
    if mode == "train":
        mean = xp.mean(x, axis=0)
        var = xp.var(x, axis=0)
        x_hat = (x - mean) / xp.sqrt(var + eps)
        out = gamma * x_hat + beta
        cache = (x_hat, mean, var, x, gamma, eps)
        running_mean = momentum * running_mean + (1 - momentum) * mean
        running_var = momentum * running_var + (1 - momentum) * var
    elif mode == "test":
        x_hat = (x - running_mean) / xp.sqrt(running_var + eps)
        out = gamma * x_hat + beta
        cache = (x_hat, running_mean, running_var, x, gamma, eps)
    else:
        raise ValueError('Invalid forward batchnorm mode "%s"' % mode)
    bn_param["running_mean"] = running_mean
    bn_param["running_var"] = running_var
    return out, cache


def batchnorm_back(dout, cache):
    x_hat, mean, var, x, gamma, eps = cache
    N, D = dout.shape
    dbeta = xp.sum(dout, axis=0)
    dgamma = xp.sum(x_hat * dout, axis=0)
    dx_hat = dout * gamma
    dvar = xp.sum(dx_hat * (x - mean) * -0.5 * xp.power(var + eps, -3.0 / 2), axis=0)
    dmean = xp.sum(-dx_hat / xp.sqrt(var + eps), axis=0) + dvar * xp.mean(-2 * (x - mean), axis=0)
    dx = dx_hat / xp.sqrt(var + eps) + dvar * 2 * (x - mean) / N + dmean / N
    return dx, dgamma, dbeta


def layernorm_by_batchnorm(x, gamma, beta, ln_param={}):
    eps = ln_param.get("eps", 1e-5)
    out, cache = batchnorm(x.T, gamma[:, None], beta[:, None], {"mode": "train", "eps": eps})
    return out.T, cache


def layernorm_by_batchnorm_back(dout, cache):
    x_hat, mean, var, x, gamma, eps = cache
    dgamma = xp.sum(x_hat * dout.T, axis=1)
    dbeta = xp.sum(dout.T, axis=1)
    dx, _, _ = batchnorm_back(dout.T, cache)
    return dx.T, dgamma, dbeta


class Dense:
    """Weights made in the constructor, gradients kept in a dict."""

    def __init__(self, n_in, n_out):
        self.params = {"W": xp.random.randn(n_in, n_out) * 0.01, "b": xp.zeros(n_out)}
        self.grads = {}
        self.x = None

    def forward(self, x):
        self.x = x
        return x @ self.params["W"] + self.params["b"]

    def backward(self, grad):
        self.grads["W"] = self.x.T @ grad
        self.grads["b"] = grad.sum(axis=0)
        return grad @ self.params["W"].T


class Affine:
    """Gradients zeroed in the constructor and written into."""

    def __init__(self, W, b):
        self.params = [W, b]
        self.grads = [xp.zeros_like(W), xp.zeros_like(b)]
        self.x = None

    def forward(self, x):
        W, b = self.params
        out = xp.dot(x, W) + b
        self.x = x
        return out

    def backward(self, dout):
        W, b = self.params
        dx = xp.dot(dout, W.T)
        dW = xp.dot(self.x.T, dout)
        db = xp.sum(dout, axis=0)
        self.grads[0][...] = dW
        self.grads[1][...] = db
        return dx


class BatchNorm:
    def __init__(self, dim, eps=1e-5, momentum=0.1):
        self.gamma = xp.ones(dim)
        self.beta = xp.zeros(dim)
        self.running_mean = xp.zeros(dim)
        self.running_var = xp.ones(dim)
        self.eps, self.momentum = eps, momentum
        self.dgamma = xp.zeros_like(self.gamma)
        self.dbeta = xp.zeros_like(self.beta)

    def __call__(self, x, training=True):
        if training:
            mu, var = x.mean(0), x.var(0)
            self.running_mean = (1 - self.momentum) * self.running_mean + self.momentum * mu
            self.running_var = (1 - self.momentum) * self.running_var + self.momentum * var
        else:
            mu, var = self.running_mean, self.running_var
        self.training = training
        self.std = xp.sqrt(var + self.eps)
        self.xhat = (x - mu) / self.std
        return self.gamma * self.xhat + self.beta

    def backward(self, dout):
        self.dgamma += (dout * self.xhat).sum(0)
        self.dbeta += dout.sum(0)
        d = dout * self.gamma
        if self.training:
            d = d - d.mean(0) - self.xhat * (d * self.xhat).mean(0)
        return d / self.std


class ReLU:
    def forward(self, x):
        self.mask = x <= 0
        out = x.copy()
        out[self.mask] = 0
        return out

    def backward(self, dout):
        dout[self.mask] = 0
        return dout


class Block:
    """Layers inside a layer."""

    def __init__(self, n, m):
        self.fc = Dense(n, m)
        self.act = ReLU()
        self.norm = BatchNorm(m)

    def forward(self, x):
        h = x
        for layer in (self.fc, self.act):
            h = layer.forward(h)
        return self.norm(h)

    def backward(self, dout):
        dout = self.norm.backward(dout)
        for layer in reversed([self.fc, self.act]):
            dout = layer.backward(dout)
        return dout


class Square:
    """The style of torch.autograd.Function."""

    @staticmethod
    def forward(ctx, x, w, power=2):
        ctx.save_for_backward(x, w)
        ctx.power = power
        return w * x ** power

    @staticmethod
    def backward(ctx, grad_output):
        x, w = ctx.saved_tensors
        grad_x = grad_w = None
        if ctx.needs_input_grad[0]:
            grad_x = grad_output * w * ctx.power * x ** (ctx.power - 1)
        if ctx.needs_input_grad[1]:
            grad_w = (grad_output * x ** ctx.power).sum(0)
        return grad_x, grad_w, None


def prenorm(x, residual, w, eps=1e-6):
    """Two outputs."""
    s = x + residual
    r = (s ** 2).mean(-1, keepdims=True)
    rstd = (r + eps) ** -0.5
    return s * rstd * w, s, (s, rstd, w)


def prenorm_back(dout, ds, cache):
    s, rstd, w = cache
    g = dout * w
    d = rstd * (g - s * rstd ** 2 * (g * s).mean(-1, keepdims=True)) + ds
    return d, d, (dout * s * rstd).sum(0)


def dropout(x, mask, p=0.5):
    return x * mask / (1 - p), (mask, p)


def dropout_back(dout, mask, p):
    return dout * mask / (1 - p)


def gelu(x):
    c = xp.sqrt(2 / xp.pi)
    t = xp.tanh(c * (x + 0.044715 * x ** 3))
    return 0.5 * x * (1 + t)


def gelu_back(dy, x):
    c = math.sqrt(2 / math.pi)
    inner = c * (x + 0.044715 * x * x * x)
    t = xp.tanh(inner)
    return dy * (0.5 * (1 + t) + 0.5 * x * (1 - t ** 2) * c * (1 + 3 * 0.044715 * x ** 2))


def attention(x, p):
    q, k, v = x @ p["Wq"], x @ p["Wk"], x @ p["Wv"]
    s = q @ k.T / xp.sqrt(q.shape[-1])
    a = softmax(s)
    return a @ v, (x, q, k, v, a, p)


def softmax(s):
    e = exp(s - s.max(axis=-1, keepdims=True))
    return e / e.sum(axis=-1, keepdims=True)


def attention_back(dy, cache):
    x, q, k, v, a, p = cache
    dv = a.T @ dy
    da = dy @ v.T
    ds = a * (da - (da * a).sum(-1, keepdims=True)) / xp.sqrt(q.shape[-1])
    dq, dk = ds @ k, ds.T @ q
    dx = dq @ p["Wq"].T + dk @ p["Wk"].T + dv @ p["Wv"].T
    return dx, {"Wq": x.T @ dq, "Wk": x.T @ dk, "Wv": x.T @ dv}


ACTIVATIONS = {"relu": (lambda z: maximum(z, 0), lambda z: 1.0 * (z > 0)), "id": (lambda z: z, lambda z: xp.ones_like(z))}


def dense(x, w, activation="relu"):
    f, _ = ACTIVATIONS[activation]
    z = x @ w
    return f(z), (x, w, z, activation)


def dense_back(dout, cache):
    x, w, z, activation = cache
    dz = dout * ACTIVATIONS[activation][1](z)
    return dz @ w.T, x.T @ dz


def logged(function):
    @functools.wraps(function)
    def wrapper(*args, **kwargs):
        print("calling", function.__name__)
        return function(*args, **kwargs)

    return wrapper


@logged
def scaled(x, s):
    return x * s


@logged
def scaled_back(dout, x, s):
    ds = (dout * x).sum()
    return dout * s, ds


def onehot_loss(x, y):
    """Returns the loss together with its gradient."""
    p = softmax(x)
    N = y.shape[0]
    one_hot = xp.zeros_like(p)
    one_hot[xp.arange(N), y] = 1.0
    loss = -xp.sum(one_hot * xp.log(p)) / N
    dx = (p - one_hot) / N
    return loss, dx


def heads(x, H):
    B, T, D = x.shape
    E = D // H
    return x.reshape(B, T, H, E).transpose(0, 2, 1, 3)


def heads_back(dout, x, H):
    B, T, D = x.shape
    return dout.transpose(0, 2, 1, 3).reshape(B, T, D)


def groupnorm(x, gamma, beta, G, eps=1e-5):
    N, C, H, W = x.shape
    g = x.reshape(N, G, C // G, H, W)
    mu = g.mean(axis=(2, 3, 4), keepdims=True)
    var = g.var(axis=(2, 3, 4), keepdims=True)
    hat = ((g - mu) / xp.sqrt(var + eps)).reshape(N, C, H, W)
    return gamma.reshape(1, C, 1, 1) * hat + beta.reshape(1, C, 1, 1), (hat, var, gamma, G, eps)


def groupnorm_back(dout, cache):
    hat, var, gamma, G, eps = cache
    N, C, H, W = dout.shape
    M = C // G * H * W
    dbeta = dout.sum(axis=(0, 2, 3))
    dgamma = (dout * hat).sum(axis=(0, 2, 3))
    d = (dout * gamma[None, :, None, None]).reshape(N, G, C // G, H, W)
    h = hat.reshape(d.shape)
    dx = (d - d.sum(axis=(2, 3, 4), keepdims=True) / M - h * (d * h).sum(axis=(2, 3, 4), keepdims=True) / M) / xp.sqrt(var + eps)
    return dx.reshape(N, C, H, W), dgamma, dbeta
