"""Long videos: search the memory, read on with its tools, replay what matched, one answer (appendix A.5)."""


def strategy(ctx, question):
    params = ctx.params
    prompt = question["text"] + "\n" + "\n".join(question["options"])

    segments = ctx.search(question["text"], params.search_results, "segment")
    nodes = ctx.search(question["text"], params.search_results, "node")
    parents = merged_parents(segments, nodes)
    evidence = initial_text(ctx, parents[: params.retained_segments], params.memory_text_chars)

    for _ in range(params.memory_rounds):
        action = ctx.decide(evidence, ["memory"])
        if action["stop"]:
            break
        try:
            found = ctx.call(action["tool"], action["arguments"])
        except HostCallError:
            continue
        evidence.append(found)
        if action["tool"] == "search":
            nodes += found

    matches = nodes or segments
    windows = replay_windows(matches, params.replay_padding_s, params.replay_window_s, ctx.video.duration)
    windows = windows[: params.replay_intervals]
    if windows:
        replay = ctx.look(
            spans=windows,
            fps=params.replay_fps,
            max_frames=params.replay_frame_cap,
            detail=params.replay_detail,
            prompt=prompt,
        )
        evidence.append(replay["observations"])

    return ctx.answer(evidence)


def merged_parents(segments, nodes):
    """Ids of the segments found, directly or through a node, best first, each once."""
    ranked = []
    for rank, hit in enumerate(segments):
        ranked.append((rank, hit["segment"]))
    for rank, hit in enumerate(nodes):
        ranked.append((rank, hit["segment"]))
    ranked.sort(key=lambda pair: pair[0])

    parents = []
    for _, segment in ranked:
        if segment not in parents:
            parents.append(segment)
    return parents


def initial_text(ctx, parents, budget):
    """What is recorded about the segments, as far as the budget of characters reaches."""
    evidence = []
    for segment in parents:
        record = ctx.records(segment)
        for entry in [record] + record["events"] + record["texts"] + record["entities"]:
            budget -= len(entry["text"])
            if budget < 0:
                return evidence
            evidence.append({"start": entry["start"], "end": entry["end"], "text": entry["text"]})
    return evidence


def replay_windows(matches, padding, longest, duration):
    """Windows around what matched, best first, without those that lie inside an earlier one."""
    windows = []
    for match in matches:
        middle = (match["start"] + match["end"]) / 2
        reach = min((match["end"] - match["start"]) / 2 + padding, longest / 2)
        start = max(0.0, middle - reach)
        end = min(duration, middle + reach)
        seen = [window for window in windows if window[0] <= match["start"] and match["end"] <= window[1]]
        if not seen:
            windows.append([start, end])
    return windows
