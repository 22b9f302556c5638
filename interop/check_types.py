"""The rows of every table fixture, through CSV and `import --type`, to a file that C++ reads. See README.md.

The fixtures know all ten types, nulls in every place, empty texts and tags, extremes, and names beyond ASCII; here
they are only lines to start from, so any of them serves.
"""
import json
import pathlib
import tempfile

from judge import FIXTURES, TREE_MODEL, cat, fail, fixtures, read_with_cpp, same, say, tsloom


def cell(value):
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, dict):
        value = value["hex"]
    if isinstance(value, str):
        return '"' + value.replace('"', '""') + '"'
    return repr(value)


def main():
    types, row_count, table_count = set(), 0, 0
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name in fixtures():
            if name in TREE_MODEL:
                continue
            lines = (FIXTURES / (name + ".jsonl")).read_text(encoding="utf-8").split("\n")[:-1]
            schemas = {}
            for line in lines:
                parsed = json.loads(line)
                if "schema" in parsed:
                    schemas[parsed["schema"]["table"]] = (line, parsed["schema"]["columns"], [])
                else:
                    schemas[parsed["table"]][2].append((line, parsed))
            for table, (schema_line, columns, rows) in schemas.items():
                text = ",".join(cell(c["name"]) for c in [{"name": "time"}, *columns]) + "\n"
                for _, row in rows:
                    values = [row["time"], *({**row["tags"], **row["fields"]}[c["name"]] for c in columns)]
                    text += ",".join(map(cell, values)) + "\n"
                source, made = folder / "in.csv", folder / "out.tsfile"
                source.write_text(text, encoding="utf-8", newline="")
                flags = ["--table", table]
                for c in columns:
                    if c["category"] == "TAG":
                        flags += ["--tag", c["name"]]
                    else:
                        flags += ["--type", c["name"] + "=" + c["type"]]
                tsloom("import", source, "--out", made, *flags)
                expected = [schema_line, *(line for line, _ in rows)]
                same("C++ reads " + name, read_with_cpp(made), expected)
                same("cat reads " + name, cat(made), expected)
                types |= {c["type"] for c in columns}
                row_count += len(rows)
                table_count += 1
    if len(types) != 10:
        fail("only the types %s" % sorted(types))
    say("%d tables, %d rows, all ten types" % (table_count, row_count))


if __name__ == "__main__":
    main()
