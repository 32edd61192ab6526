"""The one way to import litellm."""

import logging
import os
import warnings
from functools import cache
from typing import Any


@cache
def litellm_module() -> Any:
    """The `litellm` package, imported on the first call, which takes seconds.

    Its table of prices is the one in the package: without this variable it is fetched from the network.
    """
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    # Else it reads a file `.env` above its package: keys come from the environment and nowhere else.
    os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
    # It describes every call to loggers that nobody has registered: a third of what a call costs here.
    os.environ.setdefault("LOGGING_EXECUTOR_MAX_PENDING_TASKS", "0")
    # About its types, which are no business of whoever runs a command; it imports more at its first call.
    warnings.filterwarnings("ignore", r".*using the `ReadOnly` qualifier", UserWarning)
    warnings.filterwarnings("ignore", r"Pydantic serializer warnings", UserWarning)
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
