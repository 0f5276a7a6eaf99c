"""`tf.profiler`. The message of a profile was read with TensorFlow 2.21, which found in it what was put in."""

import glob

import pytest

import tapeflow as tf
from tapeflow.profiler import xplane

profiler = tf.profiler.experimental
PROFILE = bytes.fromhex(
    "0aad01080012092f686f73743a4350551a3c08015001120874687265616420315a08746872656164203118e8072215080110882718d836"
    "220408012003220508022a01612208080210f02e18e8071a2608025002120874687265616420325a08746872656164203218e807220908"
    "0210e0a71218d00f220c08011208080112046d696e65220a08021206080212026f702a100801120c08011208737465705f6e756d2a0c08"
    "021208080212046b696e640a110801120d2f6465766963653a4750553a30220468657265"
)


def test_profiles_as_messages(monkeypatch):
    monkeypatch.setattr(xplane.socket, "gethostname", lambda: "here")
    mine = xplane.Event("mine", 5, 7, {"step_num": 3, "kind": "a"})
    host = {"thread 1": [mine, xplane.Event("op", 6, 1)], "thread 2": [xplane.Event("op", 300, 2)]}
    assert xplane.space({"/host:CPU": host, "/device:GPU:0": {}}, 1000) == PROFILE


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
