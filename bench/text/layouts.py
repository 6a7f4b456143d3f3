"""The forms that a structured value may have in a layout: its scalars by name."""

from __future__ import annotations

from .exit_codes import exit_codes
from .field_list import is_prose
from .value_tree import Node, Words, nodes_of
from .written_values import forms_of

_PROSE_CHARS, _BEGUN_CHARS = 24, 8


class Layouts:
    """The scalars of a structured value by name, prepared once for all texts that may write it;
    its headings may have some other words.
    """

    def __init__(self, value: object, of_headings: frozenset[str] = frozenset()) -> None:
        self.root = Node(value)
        self.nodes = list(nodes_of(self.root))
        self.by_name: dict[Words, list[Node]] = {}
        for node in self.root.leaves():
            for name in {node.name, _singular(node.name)}:
                self.by_name.setdefault(name, []).append(node)
        self.prose = [
            (node, tuple(form[:_BEGUN_CHARS] for form in forms_of(node.value)))
            for node in self.root.leaves()
            if _is_prose(node.value)
        ]
        """The long texts, each with the ways in which it may begin."""

        self.exit_codes = [node for node in self.root.leaves() if _is_exit_code(node)]
        self.of_headings = of_headings
        self.names = {str(node.label) for node in self.nodes if node.label}
        """The keys, as they are."""

        self.keys = of_headings.union(word for node in self.nodes for word in node.key)


def _singular(name: Words) -> Words:
    """The singular of a list's name, as XML and classes use it."""
    return (*name[:-1], name[-1].removesuffix("s")) if name else name


def _is_prose(value: object) -> bool:
    """True for a text with several lines, or a long one, which is recognised without its key."""
    return isinstance(value, str) and len(value) >= _PROSE_CHARS and is_prose(value)


def _is_exit_code(node: Node) -> bool:
    """True for a number under a key for exit codes."""
    is_number = isinstance(node.value, int) and not isinstance(node.value, bool)
    return is_number and exit_codes(f"{'_'.join(node.key)}: {node.value}") == (node.value,)
