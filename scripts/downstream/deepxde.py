"""A differential equation that a network solves."""

# requires: tf-keras tensorflow-probability scikit-learn
import os

os.environ["DDE_BACKEND"] = "tensorflow"
import deepxde as dde
import numpy as np

line = dde.geometry.Interval(-1, 1)


def pde(x, y):
    return dde.grad.hessian(y, x) - 2


boundary = dde.icbc.DirichletBC(line, lambda x: (x + 1) ** 2, lambda _, on_boundary: on_boundary)
data = dde.data.PDE(line, pde, boundary, num_domain=16, num_boundary=2, num_test=20)
model = dde.Model(data, dde.nn.FNN([1, 8, 1], "tanh", "Glorot uniform"))
model.compile("adam", lr=0.01)
losses, _ = model.train(iterations=100, verbose=0)
assert np.sum(losses.loss_train[-1]) < np.sum(losses.loss_train[0])
