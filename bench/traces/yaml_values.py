"""YAML without anchors, objects or several documents, as recorders of HTTP write it."""

from __future__ import annotations

import base64
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import yaml

_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?")
_WORDS = {"": None, "null": None, "~": None, "true": True, "false": False}
_DEEPEST, _MOST_DIGITS = 100, 300


class YamlError(ValueError):
    """A text that cannot be read as such YAML: the number of its line, and the reason."""

    def __init__(self, mark: Any, reason: str) -> None:
        super().__init__(reason)
        self.line: int = 1 if mark is None else mark.line + 1


def yaml_value(text: str) -> Any:
    """The value of a YAML text; of a key that stands twice in a mapping, the last one counts.

    Aliases, tags but `!!binary`, several documents and more than 100 levels raise YamlError.

    >>> yaml_value("calls:\\n- body: 'it''s\\n    folded'\\n  code: 200\\n- null\\nkey: |\\n  a\\n  b\\n")
    {'calls': [{'body': "it's folded", 'code': 200}, None], 'key': 'a\\nb\\n'}
    """
    import yaml  # slow, and few recordings are YAML

    documents: list[Any] = []
    open_: list[list[Any]] = [documents]  # the members of each collection that is not closed yet
    try:
        for event in yaml.parse(text, Loader=yaml.CSafeLoader):
            if len(open_) > _DEEPEST:
                raise YamlError(event.start_mark, "is nested too deeply")
            if isinstance(event, yaml.AliasEvent):
                raise YamlError(event.start_mark, "an alias, which no recorder of HTTP writes")
            if isinstance(event, yaml.ScalarEvent):
                open_[-1].append(_scalar(event))
            elif isinstance(event, yaml.CollectionStartEvent):
                open_.append([])
            elif isinstance(event, yaml.MappingEndEvent):
                members = open_.pop()
                open_[-1].append({str(key): value for key, value in zip(members[::2], members[1::2], strict=True)})
            elif isinstance(event, yaml.CollectionEndEvent):
                members = open_.pop()
                open_[-1].append(members)
            if len(documents) > 1:
                raise YamlError(event.start_mark, "a second document")
    except yaml.MarkedYAMLError as error:
        raise YamlError(error.problem_mark, str(error.problem)) from None
    except yaml.YAMLError as error:
        raise YamlError(None, str(error)) from None
    return documents[0] if documents else None


def _scalar(event: yaml.ScalarEvent) -> Any:
    text: str = event.value
    if event.tag in ("tag:yaml.org,2002:binary", "!binary"):  # the second is Ruby's
        try:
            return base64.b64decode(re.sub(r"\s", "", text), validate=True)
        except ValueError as error:
            raise YamlError(event.start_mark, f"is no base64 ({error})") from None
    if event.tag is not None:
        raise YamlError(event.start_mark, f"the tag {event.tag[:60]!r}, which this reader does not know")
    if not event.implicit[0]:
        return text
    if _NUMBER.fullmatch(text) and len(text) < _MOST_DIGITS:
        return float(text) if set(text) & set(".eE") else int(text)
    return _WORDS.get(text, text)
