"""A memory as a graph, and as a tree of text."""

from typing import TYPE_CHECKING

from evoharness.memory.nodes import node_of, records_of
from evoharness.records.json_values import printable
from evoharness.records.memory import RelationKind, Segment, VideoMemory

if TYPE_CHECKING:
    import networkx

ROOT = "root"


def memory_graph(memory: VideoMemory) -> "networkx.MultiDiGraph[str]":
    """Nodes by id, each with `kind`, `text` and (except the root) `start` and `end` in seconds.

    Edges carry `kind` and `description`: the recorded relations, and `part_of` from each record to its
    segment, from each segment to its super event and from each super event to the root. What points to
    something that is not there is left out.
    """
    import networkx

    graph: networkx.MultiDiGraph[str] = networkx.MultiDiGraph()
    part_of = {"kind": RelationKind.PART_OF.value, "description": ""}
    graph.add_node(ROOT, kind="root", text=memory.root)
    for segment in memory.segments:
        span = segment.interval
        graph.add_node(segment.id, kind="segment", text=segment.summary, start=span.start, end=span.end)
        for record in records_of(segment):
            node = node_of(record, segment)
            times = {"start": node.interval.start, "end": node.interval.end}
            graph.add_node(node.id, kind=node.kind, text=node.text, **times)
            graph.add_edge(node.id, segment.id, **part_of)
    for group in memory.super_events:
        span = group.interval
        graph.add_node(group.id, kind="super_event", text=group.label, start=span.start, end=span.end)
        graph.add_edge(group.id, ROOT, **part_of)
        for segment_id in group.segment_ids:
            if segment_id in graph:
                graph.add_edge(segment_id, group.id, **part_of)
    for segment in memory.segments:
        for edge in segment.relations:
            if edge.source in graph and edge.target in graph:
                graph.add_edge(edge.source, edge.target, kind=edge.kind.value, description=edge.description)
    return graph


def render_tree(memory: VideoMemory) -> str:
    """The memory as an indented text: root, super events, segments, records, each with its time."""
    lines = [memory.root]
    segments = {segment.id: segment for segment in memory.segments}
    grouped = set()
    for group in memory.super_events:
        lines.append(f"{span_text(group.interval.start, group.interval.end)}  {group.label}")
        for segment_id in group.segment_ids:
            if segment_id in segments:
                grouped.add(segment_id)
                lines += _segment_lines(segments[segment_id])
    for segment in memory.segments:
        if segment.id not in grouped:
            lines += _segment_lines(segment)
    if memory.report.losses:
        told = ", ".join(f"{kind} {count}" for kind, count in memory.report.losses.items())
        lines.append(f"repaired or lost: {told}")
    lines += memory.report.notes
    return printable("\n".join(lines))


def _segment_lines(segment: Segment) -> list[str]:
    when = span_text(segment.interval.start, segment.interval.end)
    lines = [f"  {segment.id} {when}  {segment.summary}"]
    for record in records_of(segment):
        node = node_of(record, segment)
        when = span_text(node.interval.start, node.interval.end)
        lines.append(f"    {node.kind:<6} {when}  {node.text}")
    return lines


def span_text(start: float, end: float) -> str:
    """`01:02.5–01:08.0`; with hours where there are any; one time where both are the same."""
    if end <= start:
        return _clock(start)
    return f"{_clock(start)}–{_clock(end)}"


def _clock(seconds: float) -> str:
    minutes, rest = divmod(round(seconds * 10), 600)
    hours, minutes = divmod(minutes, 60)
    clock = f"{minutes:02d}:{rest / 10:04.1f}"
    return f"{hours}:{clock}" if hours else clock
