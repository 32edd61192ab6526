"""A harness as files: parameters, skills, strategies, tools; fingerprint, diff, store."""

from evoharness.harness.folder import harness_from_settings, initial_harness, load_harness, save_harness
from evoharness.harness.harness import Harness
from evoharness.harness.parameters import Parameters, ParameterSpec, parameter_specs
from evoharness.harness.route import Route
from evoharness.harness.store import HarnessStore

__all__ = [
    "Harness",
    "HarnessStore",
    "ParameterSpec",
    "Parameters",
    "Route",
    "harness_from_settings",
    "initial_harness",
    "load_harness",
    "parameter_specs",
    "save_harness",
]
