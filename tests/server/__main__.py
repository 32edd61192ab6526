"""`python -m tests.server`: serve until the standard input ends."""

import argparse
import asyncio
import sys

from tests.server.serving import Server, Settings


async def main(settings: Settings, port: int) -> None:
    """Print the address, and serve."""
    server = Server(settings)
    listening = await asyncio.start_server(server.connected, "127.0.0.1", port, backlog=512, limit=1 << 20)
    print(f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}/v1", flush=True)
    try:
        # Whoever started it holds the other end; when that process ends, however it ends, so does this one.
        await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
    finally:
        server.close()
        listening.close()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", type=int, default=0)
    parser.add_argument("--model", action="append", default=[])
    parser.add_argument("--key")
    parser.add_argument("--latency", type=float)
    parser.add_argument("--workers", type=int, default=2)
    given = parser.parse_args()
    models = tuple(given.model) or Settings.models
    asyncio.run(main(Settings(models, given.key, given.latency, given.workers), given.port))
