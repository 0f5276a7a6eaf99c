"""A DQN agent that learns from a random environment."""

# requires: tf-keras
# tests: tf_agents/specs/array_spec_test.py tf_agents/trajectories/policy_step_test.py
# tests: tf_agents/trajectories/time_step_test.py tf_agents/trajectories/trajectory_test.py
# tests: tf_agents/utils/nest_utils_test.py
# environment: TF_USE_LEGACY_KERAS=1
import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"
import tensorflow as tf
from tf_agents.agents.dqn import dqn_agent
from tf_agents.environments import random_py_environment, tf_py_environment
from tf_agents.networks import q_network
from tf_agents.replay_buffers import tf_uniform_replay_buffer
from tf_agents.specs import array_spec
from tf_agents.trajectories import trajectory

environment = tf_py_environment.TFPyEnvironment(
    random_py_environment.RandomPyEnvironment(
        array_spec.BoundedArraySpec((4,), "float32", 0, 1), array_spec.BoundedArraySpec((), "int32", 0, 1)
    )
)
network = q_network.QNetwork(environment.observation_spec(), environment.action_spec(), fc_layer_params=(8,))
agent = dqn_agent.DqnAgent(
    environment.time_step_spec(), environment.action_spec(), network, tf.keras.optimizers.Adam(1e-3)
)
agent.initialize()
buffer = tf_uniform_replay_buffer.TFUniformReplayBuffer(agent.collect_data_spec, batch_size=1, max_length=50)
step = environment.reset()
for _ in range(20):
    action = agent.collect_policy.action(step)
    following = environment.step(action.action)
    buffer.add_batch(trajectory.from_transition(step, action, following))
    step = following
experience, _ = next(iter(buffer.as_dataset(sample_batch_size=4, num_steps=2)))
assert agent.train(experience).loss.numpy() >= 0
