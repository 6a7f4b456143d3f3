"""The source tree that the terminal session investigates: standard-library modules, defects planted in them, and failing tests.

Everything is written below one folder, from the interpreter that records, so that anyone with the same Python gets the same tree.
"""

from __future__ import annotations

import shutil
import sysconfig
from dataclasses import dataclass, field
from pathlib import Path

PACKAGES = ("html", "http", "json", "urllib")
MODULES = ("calendar.py", "configparser.py", "csv.py", "ipaddress.py", "quopri.py", "shlex.py", "statistics.py")


@dataclass(frozen=True)
class Defect:
    """One planted defect and what the scripted agent brings to it: where it looks and how it would repair the line it finds.

    Line numbers, the test's name and the error are not here: the agent reads them from the output of its commands.
    """

    ticket: str
    report: str
    path: str
    good: str
    bad: str
    test: str
    body: str
    symbol: str
    suspect: str
    repair: tuple[str, str]
    probe: str
    related: str
    why: str
    first_try: tuple[str, str] | None = None
    imports: str = ""
    extra: tuple[str, ...] = field(default=())


DEFECTS = (
    Defect(
        ticket="AUD-4127",
        report="column numbers in JSON error messages are one too small",
        path="json/decoder.py",
        good="colno = pos - doc.rfind('\\n', 0, pos)",
        bad="colno = pos - doc.rfind('\\n', 0, pos) - 1",
        test="test_json_columns",
        imports="import json",
        body="""
    def test_column_of_a_bad_value(self):
        with self.assertRaises(json.JSONDecodeError) as caught:
            json.loads('{"level": 3,\\n "height": ?}')
        self.assertEqual((caught.exception.lineno, caught.exception.colno), (2, 12))

    def test_column_of_trailing_data(self):
        with self.assertRaises(json.JSONDecodeError) as caught:
            json.loads('[1] 2')
        self.assertEqual(caught.exception.colno, 5)
""",
        symbol="class JSONDecodeError",
        suspect="colno = ",
        repair=(" - 1$", ""),
        probe="import json\ntry: json.loads('?')\nexcept ValueError as e: print(e, e.pos, e.colno)",
        related="JSONDecodeError",
        why="columns count from 1, so the distance to the last line break is already the column",
    ),
    Defect(
        ticket="AUD-4131",
        report="a query string with exactly the permitted number of fields is refused",
        path="urllib/parse.py",
        good="if max_num_fields < num_fields:",
        bad="if max_num_fields <= num_fields:",
        test="test_query_fields",
        imports="from urllib.parse import parse_qs, parse_qsl",
        body="""
    def test_exactly_the_limit(self):
        self.assertEqual(parse_qsl('door=D1&wall=W7', max_num_fields=2), [('door', 'D1'), ('wall', 'W7')])

    def test_above_the_limit(self):
        with self.assertRaises(ValueError):
            parse_qs('a=1&b=2&c=3', max_num_fields=2)
""",
        symbol="def parse_qsl",
        suspect="max_num_fields <",
        repair=("max_num_fields <= num_fields", "max_num_fields < num_fields"),
        probe="from urllib.parse import parse_qsl\nfor n in (3, 2): print(n, parse_qsl('a=1&b=2', max_num_fields=n))",
        related="max_num_fields",
        why="the limit is inclusive by its own docstring, the comparison must be strict",
        extra=("parse_qsl",),
    ),
    Defect(
        ticket="AUD-4138",
        report="cookie values that hold a colon come out quoted",
        path="http/cookies.py",
        good="""_LegalChars = string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~:\"""",
        bad="""_LegalChars = string.ascii_letters + string.digits + "!#$%&'*+-.^_`|~\"""",
        test="test_cookie_colon",
        imports="from http.cookies import SimpleCookie",
        body="""
    def test_colon_is_legal(self):
        jar = SimpleCookie()
        jar['slot'] = '14:30'
        self.assertEqual(jar.output(), 'Set-Cookie: slot=14:30')

    def test_space_is_quoted(self):
        jar = SimpleCookie()
        jar['room'] = 'Meeting 2'
        self.assertEqual(jar.output(), 'Set-Cookie: room="Meeting 2"')
""",
        symbol="def _quote",
        suspect="_LegalChars = ",
        repair=('|~"', '|~:"'),
        probe="from http import cookies\nprint(':' in cookies._LegalChars, len(cookies._LegalChars), len(cookies._UnescapedChars))",
        related="_LegalChars",
        why="the colon belongs to the legal characters, and every other table is derived from that one",
        extra=("_UnescapedChars",),
    ),
    Defect(
        ticket="AUD-4140",
        report="shell quoting lets an exclamation mark through bare",
        path="shlex.py",
        good=r"_find_unsafe = re.compile(r'[^\w@%+=:,./-]', re.ASCII).search",
        bad=r"_find_unsafe = re.compile(r'[^\w@%+=:,./!-]', re.ASCII).search",
        test="test_shell_quote",
        imports="import shlex",
        body="""
    def test_history_expansion_is_quoted(self):
        self.assertEqual(shlex.quote('wall!7'), "'wall!7'")

    def test_plain_path_is_bare(self):
        self.assertEqual(shlex.quote('/srv/model-7.ifc'), '/srv/model-7.ifc')

    def test_round_trip(self):
        self.assertEqual(shlex.split(shlex.join(['a b', "c'd"])), ['a b', "c'd"])
""",
        symbol="def quote",
        suspect="_find_unsafe = ",
        repair=("/!-]", "/-]"),
        first_try=("/!-]", "/-"),
        probe="import shlex\nprint([c for c in '!#$&*;<>?~ @%+=:,./-' if shlex.quote(c) == c])",
        related="_find_unsafe",
        why="only characters with no meaning to the shell may stand bare, and ! starts a history expansion",
    ),
    Defect(
        ticket="AUD-4152",
        report="nested interpolation stops too early with InterpolationDepthError",
        path="configparser.py",
        good="MAX_INTERPOLATION_DEPTH = 10",
        bad="MAX_INTERPOLATION_DEPTH = 4",
        test="test_config_depth",
        imports="import configparser",
        body="""
    def test_eight_levels(self):
        parser = configparser.ConfigParser()
        parser.read_dict({'paths': {'p0': '/srv', **{f'p{i}': f'%(p{i - 1})s/{i}' for i in range(1, 8)}}})
        self.assertEqual(parser['paths']['p7'], '/srv/1/2/3/4/5/6/7')

    def test_endless_reference(self):
        parser = configparser.ConfigParser()
        parser.read_dict({'loop': {'a': '%(a)s'}})
        with self.assertRaises(configparser.InterpolationDepthError):
            parser['loop']['a']
""",
        symbol="def _interpolate_some",
        suspect="MAX_INTERPOLATION_DEPTH = ",
        repair=("= 4$", "= 10"),
        probe="import configparser\nprint(configparser.MAX_INTERPOLATION_DEPTH)",
        related="MAX_INTERPOLATION_DEPTH",
        why="ten levels are what the test tree and the documentation rely on, and the check itself is sound",
        extra=("InterpolationDepthError",),
    ),
    Defect(
        ticket="AUD-4160",
        report="exclusive quantiles are shifted towards the small values",
        path="statistics.py",
        good="        m = ld + 1\n",
        bad="        m = ld\n",
        test="test_quantiles",
        imports="from statistics import median, quantiles",
        body="""
    def test_quartiles_of_wall_areas(self):
        self.assertEqual(quantiles([12.5, 18.0, 22.5, 31.5, 36.0, 40.5, 54.0], n=4), [18.0, 31.5, 40.5])

    def test_inclusive_is_untouched(self):
        self.assertEqual(quantiles([1, 2, 3, 4, 5], n=4, method='inclusive'), [2.0, 3.0, 4.0])

    def test_median(self):
        self.assertEqual(median([3, 1, 2]), 2)
""",
        symbol="def quantiles",
        suspect="m = ld$",
        repair=("m = ld$", "m = ld + 1"),
        first_try=("m = ld$", "m = ld - 1"),
        probe="from statistics import quantiles\nprint(quantiles([12.5, 18.0, 22.5, 31.5, 36.0, 40.5, 54.0], n=4))",
        related="quantiles",
        why="the exclusive method places the i-th of n points at i/(n + 1), so the divisor grows by one",
    ),
    Defect(
        ticket="AUD-4163",
        report="years such as 2200 are taken for leap years",
        path="calendar.py",
        good="year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)",
        bad="year % 4 == 0 and (year % 100 != 0 or year % 200 == 0)",
        test="test_leap_years",
        imports="import calendar",
        body="""
    def test_2200_is_common(self):
        self.assertFalse(calendar.isleap(2200))

    def test_2000_is_leap(self):
        self.assertTrue(calendar.isleap(2000))

    def test_leap_days_of_two_centuries(self):
        self.assertEqual(calendar.leapdays(2001, 2201), 48)
""",
        symbol="def isleap",
        suspect="return year % 4",
        repair=("year % 200 ==", "year % 400 =="),
        first_try=("year % 200 == 0)", "year % 400 == 0"),
        probe="import calendar\nprint([y for y in range(1600, 2801, 100) if calendar.isleap(y)])",
        related="isleap",
        why="only centuries divisible by 400 are leap years in the Gregorian calendar",
    ),
    Defect(
        ticket="AUD-4171",
        report="networks report one address too few",
        path="ipaddress.py",
        good="return int(self.broadcast_address) - int(self.network_address) + 1",
        bad="return int(self.broadcast_address) - int(self.network_address)",
        test="test_network_sizes",
        imports="import ipaddress",
        body="""
    def test_size_of_a_slash_26(self):
        self.assertEqual(ipaddress.ip_network('10.20.30.64/26').num_addresses, 64)

    def test_hosts_of_a_slash_29(self):
        self.assertEqual(len(list(ipaddress.ip_network('10.20.30.8/29').hosts())), 6)

    def test_collapse(self):
        halves = [ipaddress.ip_network('10.0.0.0/25'), ipaddress.ip_network('10.0.0.128/25')]
        self.assertEqual([str(n) for n in ipaddress.collapse_addresses(halves)], ['10.0.0.0/24'])
""",
        symbol="def num_addresses",
        suspect="return int(self.broadcast_address)",
        repair=("int(self.network_address)$", "int(self.network_address) + 1"),
        probe="import ipaddress\nn = ipaddress.ip_network('10.20.30.64/26')\nprint(n.num_addresses, n.network_address, n.broadcast_address)",
        related="num_addresses",
        why="both ends of the range belong to the network",
    ),
)

NOTES = """# Audit of src/

Reports from users, one ticket each. Repair the cause, not the symptom, and change as few lines as possible.

{reports}

Limits that must be quoted in the final report, with the file and line where each is set:
the longest header line and the largest number of headers the HTTP client accepts, the quoted-printable line length,
and the epoch year of the cookie jar.

Release tag: src-audit-2031. Reviewer: r.okafor@audit.example. Deadline build: 58142.
"""

TEST = """import unittest

{imports}


class {name}(unittest.TestCase):
{body}

if __name__ == '__main__':
    unittest.main()
"""


def build(root: Path) -> None:
    """Write src/ (with the defects), tests/ and NOTES.md below `root`, which must not exist.

    Raises ValueError where this interpreter's library does not hold a line that a defect replaces.
    """
    library = Path(sysconfig.get_paths()["stdlib"])
    source, tests = root / "src", root / "tests"
    source.mkdir(parents=True)
    tests.mkdir()
    for package in PACKAGES:
        shutil.copytree(library / package, source / package, ignore=shutil.ignore_patterns("__pycache__"))
    for module in MODULES:
        shutil.copy(library / module, source / module)
    for defect in DEFECTS:
        path = source / defect.path
        text = path.read_text(encoding="utf-8")
        if text.count(defect.good) != 1:
            raise ValueError(
                f"{defect.path}: this Python's library lacks the line {defect.good!r} — record with CPython 3.11"
            )
        path.write_text(text.replace(defect.good, defect.bad), encoding="utf-8")
        name = "".join(word.title() for word in defect.test.split("_")[1:])
        written = TEST.format(imports=defect.imports, name=name, body=defect.body.strip("\n") + "\n")
        (tests / f"{defect.test}.py").write_text(written, encoding="utf-8")
    (tests / "__init__.py").write_text("", encoding="utf-8")
    reports = "\n".join(f"- {d.ticket}: {d.report} (src/{d.path.split('/')[0]})" for d in DEFECTS)
    (root / "NOTES.md").write_text(NOTES.format(reports=reports), encoding="utf-8")
