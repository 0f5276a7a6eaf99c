"""`tf.profiler`. The message of a profile was read with TensorFlow 2.21, which found in it what was put in."""

import glob
import pathlib
import subprocess
import sys

import pytest

import tapeflow as tf
from tapeflow.core.protos import XSpace
from tapeflow.profiler import xplane

profiler = tf.profiler.experimental
PROFILE = bytes.fromhex(
    "0aa701080012092f686f73743a4350551a3908015001120874687265616420315a0874687265616420312215080110882718d83622040801"
    "2003220508022a01612208080210f02e18e8071a2308025002120874687265616420325a0874687265616420322209080210e0a71218d00f"
    "220c08011208080112046d696e65220a08021206080212026f702a100801120c08011208737465705f6e756d2a0c08021208080212046b69"
    "6e640a110801120d2f6465766963653a4750553a300a59080212105461736b20456e7669726f6e6d656e742a1a080112160801121270726f"
    "66696c655f73746172745f74696d652a19080212150802121170726f66696c655f73746f705f74696d653205080118e8073205080218d00f"
    "220468657265"
)


def test_profiles_as_messages(monkeypatch):
    monkeypatch.setattr(xplane.socket, "gethostname", lambda: "here")
    mine = xplane.Event("mine", 5, 7, {"step_num": 3, "kind": "a"})
    host = {"thread 1": [mine, xplane.Event("op", 6, 1)], "thread 2": [xplane.Event("op", 300, 2)]}
    profile = xplane.space({"/host:CPU": host, "/device:GPU:0": {}}, 1000, 2000)
    assert XSpace.FromString(profile) == XSpace.FromString(PROFILE)


def written(folder):
    found = glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    return [open(path, "rb").read() for path in found]


def test_a_profile_has_kernels_and_what_a_program_marks(tmp_path):
    with profiler.Profile(str(tmp_path)), profiler.Trace("the step", step_num=3) as step:
        step.set_metadata(note="a note")
        tf.matmul(tf.ones([3, 3]), tf.ones([3, 3]))
    (profile,) = written(tmp_path)
    for text in (b"/host:CPU", b"the step", b"step_num", b"a note", b"aten::mm"):
        assert text in profile


def test_there_is_one_profile_at_a_time(tmp_path):
    with pytest.raises(tf.errors.UnavailableError, match="No profiler is running"):
        profiler.stop()
    profiler.start(str(tmp_path))
    with pytest.raises(tf.errors.AlreadyExistsError, match="Another profiler is running"):
        profiler.start(str(tmp_path))
    profiler.stop(save=False)
    assert not written(tmp_path)
    with profiler.Trace("not seen", step_num=1):
        pass
    with profiler.Profile(str(tmp_path), profiler.ProfilerOptions(host_tracer_level=0)):
        tf.ones([2])
    assert b"aten" not in written(tmp_path)[0]


def test_a_profile_prints_nothing(tmp_path):
    source = f"""
import tapeflow as tf
with tf.profiler.experimental.Profile({str(tmp_path)!r}):
    with tf.profiler.experimental.Trace("step", step_num=1):
        tf.ones([2]) + 1.0
tf.profiler.experimental.start({str(tmp_path)!r})
tf.profiler.experimental.stop()
"""
    environment = {"PYTHONPATH": str(pathlib.Path(tf.__file__).parents[1]), "PATH": ""}
    done = subprocess.run([sys.executable, "-c", source], env=environment, capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("", "")
