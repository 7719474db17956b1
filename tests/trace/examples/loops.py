"""Loops over symbolic sizes, as people write them."""
# ruff: noqa: B006, B905, UP031, E501  (written as people write it)
import numpy as np


def affine(x, w, b):
    out = np.zeros((x.shape[0], w.shape[1]))
    for n in range(x.shape[0]):
        for m in range(w.shape[1]):
            out[n, m] = np.sum(x[n] * w[:, m]) + b[m]
    return out, (x, w)


def affine_back(dout, cache):
    x, w = cache
    N, D = x.shape
    M = w.shape[1]
    dx, dw, db = np.zeros((N, D)), np.zeros((D, M)), np.zeros(M)
    for n in range(N):
        for m in range(M):
            db[m] += dout[n, m]
            for d in range(D):
                dx[n, d] += dout[n, m] * w[d, m]
                dw[d, m] += dout[n, m] * x[n, d]
    return dx, dw, db


def softmax_rows(x):
    out = np.empty_like(x)
    for i, row in enumerate(x):
        e = np.exp(row - row.max())
        out[i] = e / e.sum()
    return out


def softmax_rows_back(dout, x):
    p = softmax_rows(x)
    dx = np.zeros_like(x)
    for i, (si, gi) in enumerate(zip(p, dout)):
        si = si.reshape(-1, 1)
        jac = np.diagflat(si) - np.dot(si, si.T)
        dx[i] = np.dot(jac, gi)
    return dx


def comprehension(x, w):
    return np.stack([np.tanh(row @ w) for row in x]), (x, w)


def comprehension_back(dout, cache):
    x, w = cache
    local = [dout[i] * (1 - np.tanh(x[i] @ w) ** 2) for i in range(len(x))]
    dx = np.array([g @ w.T for g in local])
    dw = sum(np.outer(x[i], local[i]) for i in range(len(x)))
    return dx, dw


def over_time(x, w):
    """x: T, N, D"""
    steps = []
    for t in range(x.shape[0]):
        steps.append(x[t] @ w)
    return np.stack(steps, axis=1), (x, w)


def over_time_back(dout, cache):
    x, w = cache
    T = x.shape[0]
    dw = 0
    dx = np.zeros_like(x)
    for t in reversed(range(T)):
        g = dout[:, t, :]
        dw = dw + x[t].T @ g
        dx[t] = g @ w.T
    return dx, dw


def prefix(x):
    """Cumulative sums by a running total."""
    out = np.zeros_like(x)
    run = np.zeros(x.shape[1])
    for t in range(x.shape[0]):
        run = run + x[t]
        out[t] = run
    return out


def prefix_back(dout, x):
    dx = np.zeros_like(x)
    acc = np.zeros(x.shape[1])
    for t in reversed(range(x.shape[0])):
        acc += dout[t]
        dx[t] = acc
    return dx


def shifted(x):
    """Differences of neighbours."""
    T = x.shape[0]
    out = np.zeros_like(x)
    for t in range(1, T):
        out[t] = x[t] - x[t - 1]
    return out


def shifted_back(dout, x):
    T = x.shape[0]
    dx = np.zeros_like(x)
    for t in range(1, T):
        dx[t] += dout[t]
        dx[t - 1] -= dout[t]
    return dx


def conv1d(x, w, b):
    N, C, W = x.shape
    F, _, K = w.shape
    out = np.zeros((N, F, W - K + 1))
    for n in range(N):
        for f in range(F):
            for i in range(W - K + 1):
                out[n, f, i] = np.sum(x[n, :, i:i + K] * w[f]) + b[f]
    return out, (x, w)


def conv1d_back(dout, cache):
    x, w = cache
    N, C, W = x.shape
    F, _, K = w.shape
    dx, dw, db = np.zeros_like(x), np.zeros_like(w), np.zeros(F)
    for n in range(N):
        for f in range(F):
            db[f] += dout[n, f].sum()
            for i in range(W - K + 1):
                dw[f] += dout[n, f, i] * x[n, :, i:i + K]
                dx[n, :, i:i + K] += dout[n, f, i] * w[f]
    return dx, dw, db


def embedding(ids, W):
    out = np.zeros((ids.shape[0], W.shape[1]))
    for n in range(ids.shape[0]):
        out[n] = W[ids[n]]
    return out, (ids, W.shape)


def embedding_back(dout, cache):
    ids, shape = cache
    dW = np.zeros(shape)
    for n, word in enumerate(ids):
        dW[word] += dout[n]
    return dW


def loss(x, t):
    total = 0.0
    for n in range(x.shape[0]):
        total += 0.5 * np.sum((x[n] - t[n]) ** 2)
    return total / len(x)


def loss_back(x, t):
    return (x - t) / x.shape[0]


def layers(x, w1, w2):
    caches = []
    h = x
    for w in [w1, w2]:
        z = h @ w
        caches.append((h, w, z))
        h = np.maximum(z, 0)
    return h, caches


def layers_back(dout, caches):
    grads = []
    for h, w, z in reversed(caches):
        dz = dout * (z > 0)
        grads.insert(0, h.T @ dz)
        dout = dz @ w.T
    return dout, grads[0], grads[1]


def inplace_rows(x, s):
    y = x.copy()
    for i in range(y.shape[0]):
        y[i] *= s[i]
        y[i] += y[i].mean()
    return y, s


def inplace_rows_back(dy, s):
    dx = np.empty_like(dy)
    for i in range(dy.shape[0]):
        dx[i] = (dy[i] + dy[i].mean()) * s[i]
    return dx


def counted(x):
    rows = []
    k = 0
    while k < 3:
        rows.append(x[:, k] * (k + 1))
        k += 1
    return np.concatenate(rows), x


def counted_back(dout, x):
    N = x.shape[0]
    dx = np.zeros_like(x)
    for k in range(3):
        dx[:, k] = dout[k * N:(k + 1) * N] * (k + 1)
    return dx


def group_loop(x, G):
    N, C = x.shape
    K = C // G
    out = np.zeros_like(x)
    for g in range(G):
        part = x[:, g * K:(g + 1) * K]
        out[:, g * K:(g + 1) * K] = part - part.mean(axis=1, keepdims=True)
    return out


def group_loop_back(dout, x, G):
    K = x.shape[1] // G
    parts = []
    for g in range(G):
        d = dout[:, g * K:(g + 1) * K]
        parts.append(d - d.mean(axis=1, keepdims=True))
    return np.concatenate(parts, axis=1)
