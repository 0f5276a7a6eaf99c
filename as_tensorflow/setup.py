"""Puts the `.pth` file beside the modules, at the top of the wheel, which pyproject.toml has no way to say."""

import os

from setuptools import setup
from setuptools.command.build_py import build_py


class BuildWithPth(build_py):
    """Builds the modules, and the file that Python runs when it starts."""

    pth = "tapeflow_as_tensorflow.pth"

    def run(self):
        super().run()
        self.copy_file(os.path.join("src", self.pth), os.path.join(self.build_lib, self.pth))

    def get_outputs(self, include_bytecode=1):
        return [*super().get_outputs(include_bytecode), os.path.join(self.build_lib, self.pth)]


setup(cmdclass={"build_py": BuildWithPth})
