"""A reason-act loop: choose a tool, read what it found, repeat until there is enough (MedClaw, equation 1)."""


def strategy(ctx, question):
    params = ctx.params

    evidence = []
    for _ in range(params.orchestrator_steps):
        action = ctx.decide(evidence)
        if action["stop"]:
            break
        try:
            found = ctx.call(action["tool"], action["arguments"])
        except HostCallError:
            continue
        evidence.append(found)

    return ctx.answer(evidence)
