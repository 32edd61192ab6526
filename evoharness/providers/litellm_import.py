"""The one way to import litellm."""

import logging
import os
import warnings
from typing import Any


def litellm_module() -> Any:
    """The `litellm` package, imported on the first call, which takes seconds.

    Its table of prices is the one in the package: without this variable it is fetched from the network.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # About its types, which are no business of whoever runs a command; it imports more at its first call.
    warnings.filterwarnings("ignore", r".*using the `ReadOnly` qualifier", UserWarning)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import litellm

    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.DEFAULT_MAX_RETRIES = (
        0  # calls are repeated here, and counted; it takes `max_retries=0` for none given
    )
    logging.getLogger("LiteLLM").setLevel(logging.ERROR)
    return litellm
