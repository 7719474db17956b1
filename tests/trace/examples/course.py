"""Exercises of courses."""
# ruff: noqa: B006, B905, E501  (written as people write it)
import numpy as np


def max_pool(x, pool_param):
    ph, pw, stride = pool_param["pool_height"], pool_param["pool_width"], pool_param["stride"]
    N, C, H, W = x.shape
    H_out, W_out = 1 + (H - ph) // stride, 1 + (W - pw) // stride
    out = np.zeros((N, C, H_out, W_out))
    for n in range(N):
        for c in range(C):
            for i in range(H_out):
                for j in range(W_out):
                    out[n, c, i, j] = np.max(x[n, c, i * stride : i * stride + ph, j * stride : j * stride + pw])
    return out, (x, pool_param)


def max_pool_back(dout, cache):
    x, pool_param = cache
    ph, pw, stride = pool_param["pool_height"], pool_param["pool_width"], pool_param["stride"]
    N, C, H, W = x.shape
    _, _, H_out, W_out = dout.shape
    dx = np.zeros_like(x)
    for n in range(N):
        for c in range(C):
            for i in range(H_out):
                for j in range(W_out):
                    window = x[n, c, i * stride : i * stride + ph, j * stride : j * stride + pw]
                    mask = window == np.max(window)
                    dx[n, c, i * stride : i * stride + ph, j * stride : j * stride + pw] += mask * dout[n, c, i, j]
    return dx


def svm_loss(x, y):
    N = x.shape[0]
    correct_class_scores = x[np.arange(N), y]
    margins = np.maximum(0, x - correct_class_scores[:, np.newaxis] + 1.0)
    margins[np.arange(N), y] = 0
    loss = np.sum(margins) / N
    num_pos = np.sum(margins > 0, axis=1)
    dx = np.zeros_like(x)
    dx[margins > 0] = 1
    dx[np.arange(N), y] -= num_pos
    dx /= N
    return loss, dx


def softmax_loss_naive(W, X, y, reg):
    """W: (D, C) weights; X: (N, D) data; y: (N,) labels."""
    loss = 0.0
    dW = np.zeros_like(W)
    num_train = X.shape[0]
    num_classes = W.shape[1]
    for i in range(num_train):
        scores = X[i].dot(W)
        scores -= np.max(scores)
        p = np.exp(scores) / np.sum(np.exp(scores))
        loss += -np.log(p[y[i]])
        for j in range(num_classes):
            dW[:, j] += (p[j] - (j == y[i])) * X[i]
    loss /= num_train
    loss += reg * np.sum(W * W)
    dW /= num_train
    dW += 2 * reg * W
    return loss, dW


class TwoLayerNet:
    """Loss and gradients by one method, parameters in a dict."""

    def __init__(self, input_size, hidden_size, output_size, std=1e-4):
        self.params = {}
        self.params["W1"] = std * np.random.randn(input_size, hidden_size)
        self.params["b1"] = np.zeros(hidden_size)
        self.params["W2"] = std * np.random.randn(hidden_size, output_size)
        self.params["b2"] = np.zeros(output_size)

    def forward(self, X):
        W1, b1 = self.params["W1"], self.params["b1"]
        W2, b2 = self.params["W2"], self.params["b2"]
        self.X = X
        self.hidden = np.maximum(0, X.dot(W1) + b1)
        return self.hidden.dot(W2) + b2

    def backward(self, dscores):
        grads = {}
        grads["W2"] = self.hidden.T.dot(dscores)
        grads["b2"] = np.sum(dscores, axis=0)
        dhidden = dscores.dot(self.params["W2"].T)
        dhidden[self.hidden <= 0] = 0
        grads["W1"] = self.X.T.dot(dhidden)
        grads["b1"] = np.sum(dhidden, axis=0)
        return grads


def rnn_step(x, prev_h, Wx, Wh, b):
    next_h = np.tanh(x.dot(Wx) + prev_h.dot(Wh) + b)
    cache = (x, prev_h, Wx, Wh, next_h)
    return next_h, cache


def rnn_step_back(dnext_h, cache):
    x, prev_h, Wx, Wh, next_h = cache
    dz = dnext_h * (1 - next_h**2)
    return dz.dot(Wx.T), dz.dot(Wh.T), x.T.dot(dz), prev_h.T.dot(dz), dz.sum(axis=0)


def rnn_forward(x, h0, Wx, Wh, b):
    N, T, D = x.shape
    H = h0.shape[1]
    h = np.zeros((N, T, H))
    cache = []
    prev_h = h0
    for t in range(T):
        h[:, t, :], step_cache = rnn_step(x[:, t, :], prev_h, Wx, Wh, b)
        prev_h = h[:, t, :]
        cache.append(step_cache)
    return h, cache


def rnn_backward(dh, cache):
    N, T, H = dh.shape
    D = cache[0][0].shape[1]
    dx, dWx, dWh, db = np.zeros((N, T, D)), np.zeros((D, H)), np.zeros((H, H)), np.zeros(H)
    dprev = np.zeros((N, H))
    for t in reversed(range(T)):
        dx_t, dprev, dWx_t, dWh_t, db_t = rnn_step_back(dh[:, t, :] + dprev, cache[t])
        dx[:, t, :] = dx_t
        dWx += dWx_t
        dWh += dWh_t
        db += db_t
    return dx, dprev, dWx, dWh, db


def instance_norm(x, gamma, beta, eps=1e-5):
    mu = x.mean(axis=(2, 3))[:, :, None, None]
    std = np.sqrt(x.var(axis=(2, 3)) + eps)[:, :, None, None]
    hat = (x - mu) / std
    return hat * gamma.reshape(1, -1, 1, 1) + beta.reshape(1, -1, 1, 1), (hat, std, gamma)


def instance_norm_back(dout, cache):
    hat, std, gamma = cache
    N, C, H, W = dout.shape
    g = dout * gamma.reshape(1, -1, 1, 1)
    dx = (g - g.mean((2, 3), keepdims=True) - hat * (g * hat).mean((2, 3), keepdims=True)) / std
    return dx, np.einsum("nchw,nchw->c", dout, hat), dout.sum((0, 2, 3))
