"""The baseline: frames of the whole video and the question, in one call."""


def strategy(ctx, question):
    params = ctx.params
    duration = ctx.video.duration

    wanted = round(duration * params.overview_fps)
    count = max(1, min(wanted, params.frame_cap))
    step = duration / count
    times = [step * number for number in range(count)]
    return ctx.answer([], frames=times)
