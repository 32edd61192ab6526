"""Short videos: one overview of the whole video, then one answer (appendix A.5)."""


def strategy(ctx, question):
    params = ctx.params
    prompt = question["text"] + "\n" + "\n".join(question["options"])

    overview = ctx.look(
        spans=[],
        fps=params.overview_fps,
        max_frames=params.frame_cap,
        detail=params.overview_detail,
        prompt=prompt,
    )
    return ctx.answer(overview["observations"])
