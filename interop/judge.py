"""What the checks share: where things are, how the command and the C++ library are run, how lines are compared."""
import os
import pathlib
import random
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent
DATA = ROOT / "examples" / "data"
FIXTURES = ROOT / "fixtures" / "cpp"
TSLOOM = os.environ["TSLOOM"]

# The CSVs of examples/data and their TAG columns.
CSVS = {
    "wind_farm_10min": ["turbine"],
    "nyc_weather_hourly": ["airport"],
    "imu_watch_50hz": ["subject", "exercise", "side"],
    "sea_temperature_30min": ["station"],
}

# Its bytes lost values when they were written; the library itself reads it back wrong (fixtures/cpp/README.md).
SUSPECT = {"enc_sprintz_double_suspect"}
TREE_MODEL = {"tree_aligned", "tree_not_aligned"}


def fail(text):
    print("FAILED: " + text, flush=True)
    sys.exit(1)


def say(text):
    print("   " + text, flush=True)


def seeded():
    seed = int(os.environ.get("SEED") or random.SystemRandom().randrange(10**9))
    say("SEED=%d" % seed)
    return random.Random(seed)


def fixtures():
    names = sorted(p.stem for p in FIXTURES.glob("*.tsfile"))
    if len(names) < 30:
        fail("only %d fixtures in %s" % (len(names), FIXTURES))
    return names


def run(args, **more):
    """Runs a program to its end; a status other than 0 fails the check. Gives its standard output as bytes."""
    done = subprocess.run([str(a) for a in args], capture_output=True, **more)
    if done.returncode != 0:
        fail("status %d of %s\n%s" % (done.returncode, " ".join(map(str, args)), done.stderr.decode(errors="replace")))
    return done.stdout


def tsloom(*args, **more):
    return run([TSLOOM, *args], **more)


def read_with_cpp(path):
    return run([sys.executable, HERE / "read_with_cpp.py", path]).decode("utf-8").splitlines()


def write_with_cpp(path, lines, *options):
    text = "".join(line + "\n" for line in lines).encode("utf-8")
    run([sys.executable, HERE / "write_with_cpp.py", path, *options], input=text)


def cat(*args):
    """The lines that `tsloom cat` prints, schema lines first."""
    return tsloom("cat", *args, "-f", "ndjson", "--schema").decode("utf-8").split("\n")[:-1]


def same(what, got, expected):
    """Both are lists of lines; the first that differs is shown."""
    for number, (g, e) in enumerate(zip(got, expected), 1):
        if g != e:
            fail("%s: line %d differs\n     got %s\nexpected %s" % (what, number, g[:2000], e[:2000]))
    if len(got) != len(expected):
        fail("%s: %d lines, expected %d" % (what, len(got), len(expected)))
