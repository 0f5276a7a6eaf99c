"""A spiking network that follows its input."""

# requires: tf-keras
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import nengo
import nengo_dl

with nengo.Network(seed=0) as net:
    source = nengo.Node([0.5])
    ensemble = nengo.Ensemble(20, 1)
    nengo.Connection(source, ensemble)
    probe = nengo.Probe(ensemble, synapse=0.05)
with nengo_dl.Simulator(net, progress_bar=False) as sim:
    sim.run_steps(100)
    assert abs(sim.data[probe][-1] - 0.5).max() < 0.2
