def strategy(ctx, question):
    seen = ctx.look([], ctx.params.overview_fps, ctx.params.frame_cap, ctx.params.overview_detail, question["text"])
    return ctx.answer(seen["observations"])
