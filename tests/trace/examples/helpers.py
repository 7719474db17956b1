"""Imported by another example."""
import numpy


def softmax(z, axis=-1):
    z = z - numpy.amax(z, axis=axis, keepdims=True)
    e = numpy.exp(z)
    return e / numpy.sum(e, axis=axis, keepdims=True)


class Layer:
    scale = 2.0

    def __init__(self, name="layer"):
        self.name = name
        self.cache = {}

    def __call__(self, *args, **kwargs):
        return self.forward(*args, **kwargs)
