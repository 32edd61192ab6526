"""Medium videos: coarse chunks, a closer look at candidate intervals, one answer (appendix A.5)."""


def strategy(ctx, question):
    params = ctx.params
    duration = ctx.video.duration
    prompt = question["text"] + "\n" + "\n".join(question["options"])

    observations = []
    candidates = []
    start = 0.0
    while start < duration:
        end = min(start + params.chunk_s, duration)
        chunk = ctx.look(
            spans=[[start, end]],
            fps=params.overview_fps,
            max_frames=params.frame_cap,
            detail=params.overview_detail,
            prompt=prompt,
        )
        observations += chunk["observations"]
        candidates += ranked(chunk["candidates"])
        start = end

    intervals = merged(candidates, params.detail_padding_s, params.detail_merge_gap_s, duration)
    intervals.sort(key=lambda interval: interval["rank"])
    spans = [capped(interval, params.detail_interval_s) for interval in intervals[: params.detail_intervals]]
    if spans:
        closer = ctx.look(
            spans=sorted(spans),
            fps=params.detail_fps,
            max_frames=params.frame_cap * len(spans),
            detail=params.detail_detail,
            prompt=prompt,
        )
        observations += closer["observations"]

    return ctx.answer(observations)


def ranked(candidates):
    """The candidates of one chunk, the most promising with rank 0."""
    return [
        {"start": candidate["start"], "end": candidate["end"], "rank": rank}
        for rank, candidate in enumerate(candidates)
    ]


def merged(candidates, padding, gap, duration):
    """Candidates with context on each side, joined where they overlap or lie close together."""
    intervals = []
    for candidate in sorted(candidates, key=lambda candidate: candidate["start"]):
        start = max(0.0, candidate["start"] - padding)
        end = min(duration, candidate["end"] + padding)
        rank = candidate["rank"]
        if intervals and start - intervals[-1]["end"] <= gap:
            last = intervals[-1]
            last["end"] = max(last["end"], end)
            last["rank"] = min(last["rank"], rank)
        else:
            intervals.append({"start": start, "end": end, "rank": rank})
    return intervals


def capped(interval, seconds):
    """The middle `seconds` of an interval, or all of a shorter one."""
    middle = (interval["start"] + interval["end"]) / 2
    start = max(interval["start"], middle - seconds / 2)
    end = min(interval["end"], middle + seconds / 2)
    return [start, end]
