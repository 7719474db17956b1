"""JAX in place of NumPy."""
# ruff: noqa: E501  (written as people write it)
import jax
import jax.numpy as jnp


@jax.custom_vjp
def rmsnorm(x, w):
    return x * w / jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6)


def rmsnorm_fwd(x, w):
    r = jnp.sqrt(jnp.mean(x**2, axis=-1, keepdims=True) + 1e-6)
    return x * w / r, (x, w, r)


def rmsnorm_bwd(res, g):
    x, w, r = res
    gw = g * w
    dx = gw / r - x * jnp.mean(gw * x, axis=-1, keepdims=True) / r**3
    return dx, jnp.sum(g * x / r, axis=0)


rmsnorm.defvjp(rmsnorm_fwd, rmsnorm_bwd)


@jax.jit
def dense(x, w):
    return jnp.maximum(x @ w, 0)


@jax.jit
def dense_bwd(g, x, w):
    m = (x @ w > 0).astype(g.dtype)
    return (g * m) @ w.T, x.T @ (g * m)
