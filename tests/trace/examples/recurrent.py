"""Recurrences: no closed form for all sizes, traced at concrete ones."""
# ruff: noqa: B006, B905, UP031, E501  (written as people write it)
import numpy as np


def rnn(x, h0, wx, wh):
    T = x.shape[0]
    h = h0
    hs = {-1: h0}
    for t in range(T):
        h = np.tanh(x[t] @ wx + h @ wh)
        hs[t] = h
    return h, (x, hs, wx, wh)


def rnn_back(dh, cache):
    x, hs, wx, wh = cache
    dwx, dwh, dx = np.zeros_like(wx), np.zeros_like(wh), np.zeros_like(x)
    for t in reversed(range(x.shape[0])):
        da = dh * (1 - hs[t] ** 2)
        dwx += x[t].T @ da
        dwh += hs[t - 1].T @ da
        dx[t] = da @ wx.T
        dh = da @ wh.T
    return dx, dh, dwx, dwh


def pool(x):
    """Maximum over windows of two."""
    N, W = x.shape
    out = np.zeros((N, W // 2))
    for i in range(W // 2):
        out[:, i] = np.mean(x[:, 2 * i:2 * i + 2], axis=1)
    return out


def pool_back(dout, x):
    dx = np.zeros_like(x)
    for i in range(dout.shape[1]):
        dx[:, 2 * i:2 * i + 2] += dout[:, i][:, None] / 2
    return dx
