"""Names the packages to install; everything else is in pyproject.toml.

The folders `configs`, `strategies` and `tools_generated` lie at the top because people edit them; they are
installed as packages inside `evoharness` (see `package-dir` in pyproject.toml).
"""

from setuptools import find_packages, setup

setup(
    packages=[
        *find_packages(include=["evoharness", "evoharness.*"]),
        "evoharness.configs",
        "evoharness.strategies",
        "evoharness.tools_generated",
    ]
)
