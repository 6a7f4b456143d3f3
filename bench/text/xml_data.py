"""Data in XML, read as records: the keys of an element are its attributes and the elements in it.
Pages, and other texts with tags among words, are no data."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from xml.etree.ElementTree import Element, ParseError, XMLPullParser

from .decode import SCALARS, NothingParsed
from .keys import words_of_key
from .layout_words import is_layout_word
from .omissions import says_omission
from .outline import Branch, Outline
from .vocabulary import in_vocabulary

_PROLOG = re.compile(
    r"\A<\?xml(?:\s+(?:version|encoding|standalone)=[\"'][\w.-]{1,20}[\"'])+\s*\?>"
)
_ODD_NAMESPACE = re.compile(r"\sxmlns(?::[\w.-]+)?\s*=\s*[\"'][^\"'<>\s]*\s")
_COMMENT = re.compile(r"<!--((?:[^-]|-[^-])*+)-->")
_TAGS = re.compile(r"([^<>]*)(<[A-Za-z_?!].*>)([^>]*)", re.DOTALL)
_PAGE = re.compile(r"</(?:body|div|html|span|svg|td)>")
_MOST_CHARS, _MOST_DEPTH, _FEWEST_VALUES = 200_000, 60, 4


def parse_xml(text: str) -> Any:
    """The value of a text that is XML as a whole. Scalars are texts; what comes again is a list.

    Raises NothingParsed for any other text, for pages and figures, for words beside elements, and
    for fewer than four values.

    >>> parse_xml('<?xml version="1.0"?><doors of="3"><door id="D1"><size unit="mm">9</size></door></doors>')
    {'doors': {'of': '3', 'door': {'id': 'D1', 'size': '9', 'size.unit': 'mm'}}}
    """
    if _PAGE.search(text):
        raise NothingParsed
    root, is_whole = _root_of(text.strip())
    values = sum(len(tag.attrib) + (len(tag) == 0) for tag in root.iter())
    reader = _Reader(root, set(), is_result=True)
    value = reader.value(root)
    if values < _FEWEST_VALUES or reader.notices or not is_whole:
        raise NothingParsed
    return value


def read_tags(text: str, names: Iterable[str]) -> Outline:
    """The value of elements that may follow one another, perhaps truncated, between words. `names`
    are the known keys.

    In the rest are the words before and after the elements, notices and comments among them, and
    names of elements and attributes that the data do not have. Raises NothingParsed for any other
    text.

    >>> read_tags('Open: <pin k="a">1</pin><pin k="b">2</pin><!-- of 9 -->', ["pin", "k"])
    Outline(value={'pin': [{'k': 'a', 'pin': '1'}, {'k': 'b', 'pin': '2'}]}, rest=['Open: ', 'of 9'])
    >>> read_tags("<items><item>1</item></items>", ["items"]).value
    {'items': ['1']}
    >>> read_tags("<p><id>1</id>[2 items left out]<id>4</id><n>2[cut]", ["id", "n"])
    Outline(value=[{'id': ['1', '4']}], rest=['[2 items left out]', '2[cut]'])
    """
    parts = _TAGS.fullmatch(text)
    if parts is None:
        raise NothingParsed
    root, is_whole = _root_of(parts[2])
    if not is_whole and parts[1].strip():
        raise NothingParsed
    keys = {*map(words_of_key, names)}
    words = {word for key in keys for word in key}
    words |= {word.removesuffix("s") for word in words}
    own_names = dict.fromkeys(
        name
        for tag in root.iter()
        for name in (tag.tag, *tag.attrib)
        if not all(len(it) == 1 or is_layout_word(it) or it in words for it in words_of_key(name))
        or (name == tag.tag and len(tag) and words_of_key(name) in keys)
    )
    reader = _Reader(root, keys)
    value = reader.value(root)
    beside = [*own_names, *reader.notices, *xml_comments(parts[2])]
    rest = [*parts[1].split("\n"), *beside, *parts[3].split("\n")]
    return Outline(value, [*filter(str.strip, rest)])


def xml_comments(text: str) -> list[str]:
    """The comments in XML.

    >>> xml_comments("<a><!-- in mm --><b>1</b></a>")
    ['in mm']
    """
    return [words.strip() for words in _COMMENT.findall(text)]


def _root_of(text: str) -> tuple[Element, bool]:
    """An element around those in a text, and True if all are closed; the last one that is not is
    left out if it has only a text. No entity can be declared inside of an element."""
    text = _PROLOG.sub("", text, count=1)
    parser: Any = XMLPullParser(("start", "end"))
    open_tags: list[Element] = []
    if len(text) > _MOST_CHARS or "<?" in text or _ODD_NAMESPACE.search(text):
        raise NothingParsed
    try:
        parser.feed(f"<item>{text}")
        for event, tag in parser.read_events():
            if event == "start":
                open_tags.append(tag)
            else:
                open_tags.pop()
    except (ParseError, ValueError):
        raise NothingParsed from None
    if not open_tags:
        raise NothingParsed
    root, *inner = open_tags
    if inner and not len(inner[-1]):
        open_tags[-2].remove(inner[-1])
    for tag in root.iter():  # without namespaces
        tag.tag = tag.tag.rpartition("}")[2]
        attributes = {key.rpartition("}")[2]: value for key, value in tag.attrib.items()}
        if len(attributes) < len(tag.attrib):
            raise NothingParsed
        tag.attrib = attributes
    return root, not inner


class _Reader:
    """A reader of elements; `keys` are those of the data that a text shows, by their words."""

    def __init__(self, root: Element, keys: set[tuple[str, ...]], is_result: bool = False) -> None:
        counts = (Counter(inner.tag for inner in outer) for outer in root.iter())
        self._lists = {tag for count in counts for tag in count if count[tag] > 1}
        self._keys, self._is_result = keys, is_result
        self.notices: list[str] = []
        """The words between elements that say that something is left out."""

    def value(self, tag: Element, levels: int = _MOST_DEPTH) -> Any:
        """The text of an element, or its attributes and inner elements by name."""
        text = "".join(filter(None, (tag.text, *(inner.tail for inner in tag)))).strip()
        if text and len(tag) and says_omission(text, ""):
            self.notices += text.split("\n")
            text = ""
        if levels == 0 or (text and len(tag)):
            raise NothingParsed
        branch = Branch(0)
        branch.items += ((key, SCALARS.get(item, item)) for key, item in tag.attrib.items())
        for inner in tag:
            branch.items += self._items_of(inner, levels - 1)
        if not branch.items:
            return SCALARS.get(text, text)
        if text:
            branch.items.append((tag.tag, SCALARS.get(text, text)))
        return branch.value()

    def _items_of(self, tag: Element, levels: int) -> Iterator[tuple[str, Any]]:
        """Yield an element with its name. Attributes beside a text are keys such as `size.unit`,
        unless such elements are the records of a list."""
        text = (tag.text or "").strip()
        if text and tag.attrib and not len(tag) and tag.tag not in self._lists:
            yield tag.tag, SCALARS.get(text, text)
            yield from ((f"{tag.tag}.{key}", item) for key, item in tag.attrib.items())
        else:
            yield "-" if self._is_item(tag) else tag.tag, self.value(tag, levels)

    def _is_item(self, tag: Element) -> bool:
        """True for an element of a list, such as `<item>` or `<i>`, unless it is a key of the data."""
        is_unit = len(tag.tag) == 1 or (in_vocabulary(tag.tag.casefold(), "units") and not len(tag))
        return is_unit and not self._is_result and words_of_key(tag.tag) not in self._keys
