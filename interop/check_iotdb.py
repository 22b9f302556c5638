"""The Python client of Apache IoTDB judges the buffers of insert-tablet requests. See README.md."""
import json
import os
import pathlib
import struct
import sys
import tempfile
from datetime import date

from iotdb.utils.IoTDBConstants import TSDataType
from iotdb.utils.Tablet import ColumnType, Tablet

from judge import ROOT, fail, run, say, seeded, tsloom
from tablet_wire import wire

TABLETS = 60
PLAIN, UNCOMPRESSED = 0, 0
EXAMPLE = os.environ["INSERT_BUFFERS"]
TYPES = ["BOOLEAN", "INT32", "INT64", "FLOAT", "DOUBLE", "TEXT", "TIMESTAMP", "DATE", "BLOB", "STRING"]


def value(kind, rng):
    """A cell as the client takes it, and as a description has it."""
    if kind == "BOOLEAN":
        cell = rng.random() < 0.5
        return cell, cell
    if kind in ("INT32", "INT64", "TIMESTAMP"):
        bits = 32 if kind == "INT32" else 64
        cell = rng.choice([0, -1, 2 ** (bits - 1) - 1, -(2 ** (bits - 1)), rng.getrandbits(bits - 1)])
        return cell, cell
    if kind == "FLOAT":
        bits = rng.choice([struct.pack(">f", number) for number in (0.0, -0.0, 1e-45, 3.4028235e38, rng.uniform(-1e6, 1e6))])
        return struct.unpack(">f", bits)[0], bits.hex()
    if kind == "DOUBLE":
        cell = rng.choice([0.0, -0.0, 5e-324, float("inf"), float("-inf"), rng.uniform(-1e300, 1e300)])
        return cell, struct.pack(">d", cell).hex()
    if kind == "DATE":
        cell = date(rng.randrange(1000, 10000), rng.randrange(1, 13), rng.randrange(1, 29))
        return cell, cell.year * 10000 + cell.month * 100 + cell.day
    if kind == "BLOB":
        cell = rng.randbytes(rng.choice([0, 1, 7, 40]))
        return cell, cell.hex()
    cell = "".join(rng.choice("abcä表") for _ in range(rng.choice([0, 1, 7, 40])))
    return cell, cell.encode("utf-8").hex()


def build(rng):
    """A random tablet: its description, and the two buffers of the client."""
    rows, share = rng.choice([0, 1, 7, 8, 9, 63, 64, 65, 200]), rng.choice([0.0, 0.0, 0.1, 0.5, 1.0])
    kinds = [rng.choice(TYPES) for _ in range(rng.randrange(0, 14))]
    cells = [[(None, None) if rng.random() < share else value(kind, rng) for kind in kinds] for _ in range(rows)]
    times = sorted(rng.getrandbits(63) - 2**62 for _ in range(rows))
    names = ["c%d" % index for index in range(len(kinds))]
    types = [TSDataType[kind] for kind in kinds]
    client = Tablet("root.d", names, types, [[cell for cell, _ in row] for row in cells], times, [ColumnType.FIELD] * len(names))
    columns = [
        {"name": name, "type": kind, "type_id": int(code), "encoding_id": PLAIN, "compressor_id": UNCOMPRESSED, "category_id": 1,
         "props": None, "nulls": [row for row in range(rows) if cells[row][index][0] is None],
         "slots": [cells[row][index][1] for row in range(rows)]}
        for index, (name, kind, code) in enumerate(zip(names, kinds, types))
    ]
    described = {"target": "root.d", "rows": rows, "times": times, "bitmaps_present": True, "columns": columns}
    return described, client.get_binary_timestamps(), client.get_binary_values()


def content(tablet):
    """What two descriptions must agree on: times, and the cells that are not null."""
    cells = []
    for column in tablet["columns"]:
        nulls = set(column["nulls"])
        slots = column["slots"] or [None] * tablet["rows"]
        cells.append([None if row in nulls else slot for row, slot in enumerate(slots)])
    return tablet["rows"], tablet["times"], cells


def main():
    run([sys.executable, ROOT / "fixtures" / "iotdb" / "make.py", "--check"])
    rng = seeded()
    sizes = [0, 0]
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        tablet, times, values, back = (folder / name for name in ("tablet.bin", "times.bin", "values.bin", "back.bin"))
        for number in range(TABLETS):
            described, client_times, client_values = build(rng)
            tablet.write_bytes(wire(described))
            run([EXAMPLE, "emit", tablet, times, values])
            for path, expected in ((times, client_times), (values, client_values)):
                if path.read_bytes() != expected:
                    fail("tablet %d: our %s is not the client's" % (number, path.stem))
            times.write_bytes(client_times)
            values.write_bytes(client_values)
            run([EXAMPLE, "accept", tablet, times, values, back])
            if content(json.loads(tsloom("tablet", "dump", back, "--json"))) != content(described):
                fail("tablet %d: the client's buffers were read to something else" % number)
            sizes = [sizes[0] + described["rows"], sizes[1] + len(client_values)]
    say("the fixtures are what the client gives; %d random tablets, %d rows, %d bytes of values: emitted as the client does, and "
        "the client's accepted to the same cells" % (TABLETS, *sizes))


if __name__ == "__main__":
    main()
