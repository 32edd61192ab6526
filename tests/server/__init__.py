"""A server that speaks OpenAI's protocol and answers with the embedded backbone, for tests over real HTTP.

`model_server()` starts it in a process of its own. It reads each prompt back into the task that it was made
from, decodes the pictures, and does the task; it can be told to fail, and counts what it served.
"""

from tests.server.running import Counts, ModelServer, model_server

__all__ = ["Counts", "ModelServer", "model_server"]
