"""The rows of a CSV as JSON lines, by Python's own means: what a file made from it must hold.

Types, null and duplicates follow the rules that `tsloom import --help` states; none of its code is used.
"""
import csv
import json
import re

INTEGER = re.compile(r"-?(0|[1-9][0-9]*)\Z")
DECIMAL = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?\Z")


def column_type(cells):
    cells = [c for c in cells if c != ""]
    if not cells:
        return "STRING"
    if all(c in ("true", "false") for c in cells):
        return "BOOLEAN"
    if all(INTEGER.match(c) and -(2**63) <= int(c) < 2**63 for c in cells):
        return "INT64"
    if all(DECIMAL.match(c) for c in cells):
        return "DOUBLE"
    return "STRING"


PARSE = {"BOOLEAN": lambda c: c == "true", "INT64": int, "DOUBLE": float, "STRING": str}


class Table:
    """A CSV whose first column is the time in milliseconds and whose columns `tags` are TAGs."""

    def __init__(self, path, tags):
        self.name = path.stem.lower()
        with open(path, newline="", encoding="utf-8") as f:
            header, *self.cells = csv.reader(f)
        self.columns = header[1:]
        self.tags = tags
        self.types = [
            "STRING" if name in tags else column_type([row[i] for row in self.cells])
            for i, name in enumerate(self.columns, 1)
        ]
        parse = [PARSE[t] for t in self.types]
        self.rows = [
            (int(row[0]), [None if c == "" else p(c) for c, p in zip(row[1:], parse)]) for row in self.cells
        ]

    def schema_line(self):
        columns = [
            {"name": n, "type": t, "category": "TAG" if n in self.tags else "FIELD"}
            for n, t in zip(self.columns, self.types)
        ]
        return json.dumps({"schema": {"table": self.name, "columns": columns}}, ensure_ascii=False)

    def distinct_counts(self):
        """How many (device, time) pairs the first 0, 1, 2, ... rows of the CSV have."""
        tags = [i for i, n in enumerate(self.columns) if n in self.tags]
        seen, counts = set(), [0]
        for time, values in self.rows:
            seen.add((time, *(values[i] for i in tags)))
            counts.append(len(seen))
        return counts

    def row_lines(self, count=None):
        """The first `count` rows of the CSV: per device, time and column the latest value that is not null."""
        is_tag = [n in self.tags for n in self.columns]
        merged = {}
        for time, values in self.rows[:count]:
            key = (tuple((v is not None, v or "") for v, g in zip(values, is_tag) if g), time)
            before = merged.get(key)
            merged[key] = values if before is None else [b if v is None else v for v, b in zip(values, before)]
        lines = []
        for key in sorted(merged):
            values = list(zip(self.columns, merged[key], is_tag))
            row = {
                "table": self.name,
                "time": key[1],
                "tags": {n: v for n, v, g in values if g},
                "fields": {n: v for n, v, g in values if not g},
            }
            lines.append(json.dumps(row, ensure_ascii=False))
        return lines

    def lines(self):
        return [self.schema_line(), *self.row_lines()]
