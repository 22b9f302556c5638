"""The wire form of a tablet, written value by value from a description as in fixtures/tablet. No line of tsloom's is in here.

What a tablet's content leaves open is as tsloom writes it: bits of a bitmap behind the rows are 0; slots of null rows are 0, false,
the day 10000101 and missing cells.
"""
import struct

WIDTHS = {"BOOLEAN": 1, "INT32": 4, "DATE": 4, "FLOAT": 4, "INT64": 8, "TIMESTAMP": 8, "DOUBLE": 8}
NAN_FLOAT, NAN_DOUBLE = "7fc00000", "7ff8000000000000"
FIRST_DAY = 10000101


def i32(number):
    return struct.pack(">i", number)


def text(value):
    if value is None:
        return i32(-1)
    value = value.encode("utf-8")
    return i32(len(value)) + value


def canonical(kind, slot):
    """A slot as it stands on the wire: one NaN, and a day for a date that is not there."""
    if kind == "FLOAT" and struct.unpack(">f", bytes.fromhex(slot))[0] != struct.unpack(">f", bytes.fromhex(slot))[0]:
        return NAN_FLOAT
    if kind == "DOUBLE" and struct.unpack(">d", bytes.fromhex(slot))[0] != struct.unpack(">d", bytes.fromhex(slot))[0]:
        return NAN_DOUBLE
    if kind == "DATE" and slot is None:
        return FIRST_DAY
    return slot


def slot_bytes(kind, slot):
    slot = canonical(kind, slot)
    if kind == "BOOLEAN":
        return bytes([slot])
    if kind in ("INT32", "DATE"):
        return i32(slot)
    if kind in ("INT64", "TIMESTAMP"):
        return struct.pack(">q", slot)
    if kind in ("FLOAT", "DOUBLE"):
        return bytes.fromhex(slot)
    if slot is None:
        return b"\0"
    cell = bytes.fromhex(slot)
    return b"\1" + i32(len(cell)) + cell


def null_slot(kind):
    if kind == "DATE":
        return i32(FIRST_DAY)
    return bytes(WIDTHS.get(kind, 1))


def wire(tablet):
    rows, columns = tablet["rows"], tablet["columns"]
    out = [text(tablet["target"]), i32(rows), b"\1", i32(len(columns))]
    for column in columns:
        out += [b"\1", text(column["name"]), bytes([column["type_id"], column["encoding_id"], column["compressor_id"]])]
        props = column["props"] or []
        out += [i32(len(props)), *(text(word) for pair in props for word in pair), bytes([column["category_id"]])]
    out += [b"\1", *(struct.pack(">q", time) for time in tablet["times"]), bytes([tablet["bitmaps_present"]])]
    for column in columns if tablet["bitmaps_present"] else []:
        out.append(bytes([bool(column["nulls"])]))
        if column["nulls"]:
            bits = bytearray(rows // 8 + 1)
            for row in column["nulls"]:
                bits[row // 8] |= 1 << row % 8
            out += [i32(rows), i32(len(bits)), bytes(bits)]
    out.append(b"\1")
    for column in columns:
        out.append(bytes([column["slots"] is not None]))
        nulls = set(column["nulls"])
        for row, slot in enumerate(column["slots"] or []):
            out.append(null_slot(column["type"]) if row in nulls else slot_bytes(column["type"], slot))
    return b"".join(out)
