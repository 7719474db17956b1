"""More styles of public code: index loops, parameter objects, shape flags, lists of layers, pooling, masks."""
# ruff: noqa: B006, B905, UP031, E501  (written as people write it)
import numpy as np


def layernorm_loops(inp, weight, bias, eps=1e-5):
    """inp: (B, T, C); written for C compilers."""
    B, T, C = inp.shape
    out = np.zeros((B, T, C))
    mean = np.zeros((B, T))
    rstd = np.zeros((B, T))
    for b in range(B):
        for t in range(T):
            m = 0.0
            for i in range(C):
                m += inp[b, t, i]
            m = m / C
            v = 0.0
            for i in range(C):
                xshift = inp[b, t, i] - m
                v += xshift * xshift
            v = v / C
            s = 1.0 / np.sqrt(v + eps)
            for i in range(C):
                n = s * (inp[b, t, i] - m)
                out[b, t, i] = n * weight[i] + bias[i]
            mean[b, t] = m
            rstd[b, t] = s
    return out, (inp, weight, mean, rstd)


def layernorm_loops_back(dout, cache):
    inp, weight, mean, rstd = cache
    B, T, C = inp.shape
    dinp, dweight, dbias = np.zeros_like(inp), np.zeros_like(weight), np.zeros(C)
    for b in range(B):
        for t in range(T):
            dnorm_mean = 0.0
            dnorm_norm_mean = 0.0
            for i in range(C):
                norm_bti = (inp[b, t, i] - mean[b, t]) * rstd[b, t]
                dnorm_i = weight[i] * dout[b, t, i]
                dnorm_mean += dnorm_i
                dnorm_norm_mean += dnorm_i * norm_bti
            dnorm_mean /= C
            dnorm_norm_mean /= C
            for i in range(C):
                norm_bti = (inp[b, t, i] - mean[b, t]) * rstd[b, t]
                dnorm_i = weight[i] * dout[b, t, i]
                dbias[i] += dout[b, t, i]
                dweight[i] += norm_bti * dout[b, t, i]
                dval = 0.0
                dval += dnorm_i
                dval -= dnorm_mean
                dval -= norm_bti * dnorm_norm_mean
                dval *= rstd[b, t]
                dinp[b, t, i] += dval
    return dinp, dweight, dbias


class Parameter:
    def __init__(self, data):
        self.data = data
        self.grad = np.zeros_like(data)


class Linear:
    def __init__(self, in_features, out_features, bias=True):
        self.weight = Parameter(np.random.randn(in_features, out_features))
        self.bias = Parameter(np.zeros(out_features)) if bias else None

    def forward(self, x):
        self.input = x
        out = x @ self.weight.data
        if self.bias is not None:
            out = out + self.bias.data
        return out

    def backward(self, grad_output):
        self.weight.grad += self.input.T @ grad_output
        if self.bias is not None:
            self.bias.grad += grad_output.sum(axis=0)
        return grad_output @ self.weight.data.T


class SoftmaxWithLoss:
    def __init__(self):
        self.loss = None
        self.y = None
        self.t = None

    def forward(self, x, t):
        self.t = t
        x = x - np.max(x, axis=-1, keepdims=True)
        self.y = np.exp(x) / np.sum(np.exp(x), axis=-1, keepdims=True)
        batch_size = self.y.shape[0]
        self.loss = -np.sum(np.log(self.y[np.arange(batch_size), t] + 1e-7)) / batch_size
        return self.loss

    def backward(self, dout=1):
        batch_size = self.t.shape[0]
        if self.t.size == self.y.size:
            dx = (self.y - self.t) / batch_size
        else:
            dx = self.y.copy()
            dx[np.arange(batch_size), self.t] -= 1
            dx = dx / batch_size
        return dx


class BatchNormalization:
    def __init__(self, gamma, beta, momentum=0.9, running_mean=None, running_var=None):
        self.gamma = gamma
        self.beta = beta
        self.momentum = momentum
        self.input_shape = None
        self.running_mean = running_mean
        self.running_var = running_var
        self.batch_size = None
        self.xc = None
        self.std = None
        self.dgamma = None
        self.dbeta = None

    def forward(self, x, train_flg=True):
        self.input_shape = x.shape
        if x.ndim != 2:
            N, C, H, W = x.shape
            x = x.reshape(N, -1)
        out = self.__forward(x, train_flg)
        return out.reshape(*self.input_shape)

    def __forward(self, x, train_flg):
        if self.running_mean is None:
            N, D = x.shape
            self.running_mean = np.zeros(D)
            self.running_var = np.zeros(D)
        if train_flg:
            mu = x.mean(axis=0)
            xc = x - mu
            var = np.mean(xc**2, axis=0)
            std = np.sqrt(var + 10e-7)
            xn = xc / std
            self.batch_size = x.shape[0]
            self.xc = xc
            self.xn = xn
            self.std = std
            self.running_mean = self.momentum * self.running_mean + (1 - self.momentum) * mu
            self.running_var = self.momentum * self.running_var + (1 - self.momentum) * var
        else:
            xc = x - self.running_mean
            xn = xc / (np.sqrt(self.running_var + 10e-7))
        out = self.gamma * xn + self.beta
        return out

    def backward(self, dout):
        if dout.ndim != 2:
            N, C, H, W = dout.shape
            dout = dout.reshape(N, -1)
        dx = self.__backward(dout)
        dx = dx.reshape(*self.input_shape)
        return dx

    def __backward(self, dout):
        dbeta = dout.sum(axis=0)
        dgamma = np.sum(self.xn * dout, axis=0)
        dxn = self.gamma * dout
        dxc = dxn / self.std
        dstd = -np.sum((dxn * self.xc) / (self.std * self.std), axis=0)
        dvar = 0.5 * dstd / self.std
        dxc += (2.0 / self.batch_size) * self.xc * dvar
        dmu = np.sum(dxc, axis=0)
        dx = dxc - dmu / self.batch_size
        self.dgamma = dgamma
        self.dbeta = dbeta
        return dx


class Dropout:
    def __init__(self, dropout_ratio=0.5):
        self.dropout_ratio = dropout_ratio
        self.mask = None

    def forward(self, x, train_flg=True):
        if train_flg:
            self.mask = np.random.rand(*x.shape) > self.dropout_ratio
            return x * self.mask
        else:
            return x * (1.0 - self.dropout_ratio)

    def backward(self, dout):
        return dout * self.mask


def conv_forward_naive(x, w, b, conv_param):
    stride, pad = conv_param["stride"], conv_param["pad"]
    N, C, H, W = x.shape
    F, C, HH, WW = w.shape
    H_out = 1 + (H + 2 * pad - HH) // stride
    W_out = 1 + (W + 2 * pad - WW) // stride
    out = np.zeros((N, F, H_out, W_out))
    x_pad = np.pad(x, ((0, 0), (0, 0), (pad, pad), (pad, pad)), "constant")
    for n in range(N):
        for f in range(F):
            for i in range(H_out):
                for j in range(W_out):
                    window = x_pad[n, :, i * stride : i * stride + HH, j * stride : j * stride + WW]
                    out[n, f, i, j] = np.sum(window * w[f]) + b[f]
    return out, (x, w, b, conv_param)


def conv_backward_naive(dout, cache):
    x, w, b, conv_param = cache
    stride, pad = conv_param.get("stride", 1), conv_param.get("pad", 0)
    N, C, H, W = x.shape
    F, _, HH, WW = w.shape
    _, _, H_out, W_out = dout.shape
    x_pad = np.pad(x, ((0,), (0,), (pad,), (pad,)), mode="constant")
    dx_pad = np.zeros_like(x_pad)
    dw = np.zeros_like(w)
    db = np.sum(dout, axis=(0, 2, 3))
    for n in range(N):
        for f in range(F):
            for i in range(H_out):
                for j in range(W_out):
                    dw[f] += dout[n, f, i, j] * x_pad[n, :, i * stride : i * stride + HH, j * stride : j * stride + WW]
                    dx_pad[n, :, i * stride : i * stride + HH, j * stride : j * stride + WW] += dout[n, f, i, j] * w[f]
    dx = dx_pad[:, :, pad : pad + H, pad : pad + W]
    return dx, dw, db


def avgpool(x, size=2):
    N, C, H, W = x.shape
    return x.reshape(N, C, H // size, size, W // size, size).mean(axis=(3, 5)), (x.shape, size)


def avgpool_back(dout, cache):
    (N, C, H, W), size = cache
    return np.repeat(np.repeat(dout, size, axis=2), size, axis=3) / (size * size)


def spatial_batchnorm(x, gamma, beta, eps=1e-5):
    N, C, H, W = x.shape
    flat = x.transpose(0, 2, 3, 1).reshape(-1, C)
    mu, var = flat.mean(axis=0), flat.var(axis=0)
    hat = (flat - mu) / np.sqrt(var + eps)
    out = (gamma * hat + beta).reshape(N, H, W, C).transpose(0, 3, 1, 2)
    return out, (hat, var, gamma, eps)


def spatial_batchnorm_back(dout, cache):
    hat, var, gamma, eps = cache
    N, C, H, W = dout.shape
    d = dout.transpose(0, 2, 3, 1).reshape(-1, C)
    m = d.shape[0]
    dgamma, dbeta = (d * hat).sum(0), d.sum(0)
    dx = gamma / np.sqrt(var + eps) / m * (m * d - dbeta - hat * dgamma)
    return dx.reshape(N, H, W, C).transpose(0, 3, 1, 2), dgamma, dbeta


def multihead(x, Wq, Wk, Wv, Wo, n_heads=2):
    T, D = x.shape
    q, k, v = x @ Wq, x @ Wk, x @ Wv
    qs, ks, vs = (np.split(a, n_heads, axis=-1) for a in (q, k, v))
    outs, probs = [], []
    for qi, ki, vi in zip(qs, ks, vs):
        s = qi @ ki.T / np.sqrt(ki.shape[-1])
        s = s + np.triu(np.full((T, T), -np.inf), k=1)
        p = np.exp(s - s.max(-1, keepdims=True))
        p /= p.sum(-1, keepdims=True)
        probs.append(p)
        outs.append(p @ vi)
    o = np.concatenate(outs, axis=-1)
    return o @ Wo, (x, qs, ks, vs, probs, o, Wq, Wk, Wv, Wo, n_heads)


def multihead_back(dy, cache):
    x, qs, ks, vs, probs, o, Wq, Wk, Wv, Wo, n_heads = cache
    dWo = o.T @ dy
    do = np.split(dy @ Wo.T, n_heads, axis=-1)
    dqs, dks, dvs = [], [], []
    for i in range(n_heads):
        dvs.append(probs[i].T @ do[i])
        dp = do[i] @ vs[i].T
        ds = probs[i] * (dp - np.sum(dp * probs[i], axis=-1, keepdims=True)) / np.sqrt(ks[i].shape[-1])
        dqs.append(ds @ ks[i])
        dks.append(ds.T @ qs[i])
    dq, dk, dv = (np.concatenate(a, axis=-1) for a in (dqs, dks, dvs))
    dx = dq @ Wq.T + dk @ Wk.T + dv @ Wv.T
    return dx, x.T @ dq, x.T @ dk, x.T @ dv, dWo


class Sequential:
    def __init__(self, *layers):
        self.layers = layers


class MLP:
    """A list of layers; parameters found by the layers themselves."""

    def __init__(self, d_in, d_hidden, d_out):
        self.layers = [Linear(d_in, d_hidden), Sigmoid(), Linear(d_hidden, d_out)]

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x

    def backward(self, grad):
        for layer in self.layers[::-1]:
            grad = layer.backward(grad)
        return grad


class Sigmoid:
    def forward(self, x):
        self.out = 1.0 / (1.0 + np.exp(-x))
        return self.out

    def backward(self, dout):
        return dout * (1.0 - self.out) * self.out


def huber(pred, target, delta=1.0):
    r = pred - target
    small = np.abs(r) <= delta
    return np.where(small, 0.5 * r**2, delta * (np.abs(r) - 0.5 * delta)).mean(), (r, small, delta)


def huber_back(dloss, cache):
    r, small, delta = cache
    return dloss * np.where(small, r, delta * np.sign(r)) / r.size


def maxout(x):
    """The maximum of two halves."""
    a, b = np.split(x, 2, axis=1)
    mask = a >= b
    return np.where(mask, a, b), mask


def maxout_back(dout, mask):
    return np.concatenate([dout * mask, dout * ~mask], axis=1)


def weightnorm(x, v, g):
    norm = np.linalg.norm(v, axis=0, keepdims=True)
    w = g * v / norm
    return x @ w, (x, v, g, norm, w)


def weightnorm_back(dout, cache):
    x, v, g, norm, w = cache
    dw = x.T @ dout
    dg = np.sum(dw * v / norm, axis=0)
    dv = g / norm * dw - g * dg / norm**2 * v
    return dout @ w.T, dv, dg


def temporal(x, W, b):
    N, T, D = x.shape
    M = b.shape[0]
    out = x.reshape(N * T, D).dot(W).reshape(N, T, M) + b
    cache = x, W, b, out
    return out, cache


def temporal_back(dout, cache):
    x, W, b, out = cache
    N, T, D = x.shape
    M = b.shape[0]
    dx = dout.reshape(N * T, M).dot(W.T).reshape(N, T, D)
    dW = dout.reshape(N * T, M).T.dot(x.reshape(N * T, D)).T
    db = dout.sum(axis=(0, 1))
    return dx, dW, db


def word_embedding(x, W):
    out = W[x, :]
    return out, (x, W)


def word_embedding_back(dout, cache):
    x, W = cache
    dW = np.zeros(W.shape)
    np.add.at(dW, x, dout)
    return dW


def lstm_step(x, prev_h, prev_c, Wx, Wh, b):
    _, H = prev_h.shape
    a = x.dot(Wx) + prev_h.dot(Wh) + b
    i = sigmoid(a[:, 0:H])
    f = sigmoid(a[:, H : 2 * H])
    o = sigmoid(a[:, 2 * H : 3 * H])
    g = np.tanh(a[:, 3 * H : 4 * H])
    next_c = f * prev_c + i * g
    next_h = o * np.tanh(next_c)
    return next_h, next_c, (i, f, o, g, a, x, Wx, Wh, prev_h, prev_c, next_c)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def lstm_step_back(dnext_h, dnext_c, cache):
    i, f, o, g, a, x, Wx, Wh, prev_h, prev_c, next_c = cache
    do = dnext_h * np.tanh(next_c)
    dc = dnext_c + dnext_h * o * (1 - np.tanh(next_c) ** 2)
    df, di, dg, dprev_c = dc * prev_c, dc * g, dc * i, dc * f
    da = np.hstack([di * i * (1 - i), df * f * (1 - f), do * o * (1 - o), dg * (1 - g**2)])
    return da.dot(Wx.T), da.dot(Wh.T), dprev_c, x.T.dot(da), prev_h.T.dot(da), da.sum(axis=0)
