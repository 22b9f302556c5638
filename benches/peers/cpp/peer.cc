// The C++ peer of `cargo xtask bench`: the TsFile library from the PyPI wheel "tsfile", doing the work of one scenario.
//
//   cpp-peer CASE DATA_FOLDER      CASE: w1 | s1 | s2 | r1 | r2
//
// It speaks the protocol of bench-worker: a line "round" on standard input is answered by one line of JSON about one
// batch of operations. Input follows the data rules of benches/src/data.rs; the read cases open the files that our
// side has written into DATA_FOLDER, so both sides read the same bytes.
//
// The checksum is the wrapping 64-bit sum of the bit patterns of time and all numeric cells plus the byte lengths of
// tag cells; for w1 it is the number of rows written.
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "common/global.h"
#include "common/schema.h"
#include "common/tablet.h"
#include "common/tsblock/tsblock.h"
#include "file/write_file.h"
#include "reader/result_set.h"
#include "reader/tsfile_reader.h"
#include "writer/tsfile_table_writer.h"

namespace {

void must(int code, const char* what) {
    if (code != 0) {
        std::fprintf(stderr, "cpp-peer: %s: code %d\n", what, code);
        std::exit(3);
    }
}

uint64_t nanoseconds(clockid_t clock) {
    timespec now;
    clock_gettime(clock, &now);
    return uint64_t(now.tv_sec) * 1000000000u + uint64_t(now.tv_nsec);
}

// ---- data rules

constexpr int64_t kFirstTime = 1700000000000, kTimeStep = 1000;
constexpr int kDevices = 10, kRows = 100000, kTabletRows = 1024;

uint64_t key(uint64_t device, uint64_t column, uint64_t row) {
    uint64_t x = (device << 48 | column << 40 | row) + 0x9E3779B97F4A7C15u;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

int64_t w1_int(uint64_t device, int column, uint64_t row) {
    switch (column) {
        case 0: return int64_t(row);
        case 1: return int64_t(10 * row + key(device, 1, row) % 10);
        case 2: return int64_t(key(device, 2, row) % 1000);
        case 3: return int64_t(row / 100 + device);
        default: return int64_t(key(device, 4, row));
    }
}

double w1_double(uint64_t device, int column, uint64_t row) {
    switch (column) {
        case 0: return 0.25 * double(row % 2000 < 1000 ? row % 2000 : 2000 - row % 2000);
        case 1: return 20.0 + double(key(device, 6, row) % 1001) / 100.0;
        case 2: return double(row / 100) * 0.1;
        case 3: return double(key(device, 8, row) >> 11) * (1.0 / 9007199254740992.0);
        default: return double(device) + 0.5 * double(row);
    }
}

std::string device_name(int device) {
    char name[16];
    std::snprintf(name, sizeof name, "d%04d", device);
    return name;
}

using common::ColumnCategory;
using common::TSDataType;

// Names, types and categories of a table in the three lists that the library wants.
struct Columns {
    std::vector<std::string> names{"dev"};
    std::vector<TSDataType> types{common::STRING};
    std::vector<ColumnCategory> categories{ColumnCategory::TAG};

    void field(const std::string& name, TSDataType type) {
        names.push_back(name);
        types.push_back(type);
        categories.push_back(ColumnCategory::FIELD);
    }
};

Columns w1_columns() {
    Columns columns;
    for (int c = 0; c < 5; c++) columns.field("i" + std::to_string(c), common::INT64);
    for (int c = 0; c < 5; c++) columns.field("f" + std::to_string(c), common::DOUBLE);
    return columns;
}

Columns s_columns(int count) {
    Columns columns;
    for (int c = 0; c < count; c++) {
        char name[16];
        std::snprintf(name, sizeof name, "s%03d", c);
        columns.field(name, common::INT64);
    }
    return columns;
}

// ---- operations

using Operation = std::function<uint64_t()>;

// Bytes of the file that the case writes or reads.
uint64_t file_bytes = 0;

void note_file(const std::string& path) {
    struct stat about;
    must(stat(path.c_str(), &about), "stat");
    file_bytes = uint64_t(about.st_size);
}

// W1 through one reused tablet, column by column, to the fsync at close.
Operation write_w1(const std::string& path) {
    struct Device {
        std::vector<int64_t> times, ints[5];
        std::vector<double> doubles[5];
    };
    auto devices = std::make_shared<std::vector<Device>>(kDevices);
    for (int d = 0; d < kDevices; d++) {
        Device& device = (*devices)[d];
        for (int row = 0; row < kRows; row++) {
            device.times.push_back(kFirstTime + kTimeStep * row);
            for (int c = 0; c < 5; c++) device.ints[c].push_back(w1_int(d, c, row));
            for (int c = 0; c < 5; c++) device.doubles[c].push_back(w1_double(d, c, row));
        }
    }
    return [devices, path]() -> uint64_t {
        Columns columns = w1_columns();
        std::vector<common::ColumnSchema> schemas;
        for (size_t c = 0; c < columns.names.size(); c++) {
            auto encoding = c == 0 ? common::PLAIN : common::get_value_encoder(columns.types[c]);
            schemas.emplace_back(columns.names[c], columns.types[c], common::get_default_compressor(), encoding,
                                 columns.categories[c]);
        }
        storage::WriteFile file;
        must(file.create(path, O_WRONLY | O_CREAT | O_TRUNC, 0644), "create");
        storage::TableSchema schema("w1", schemas);
        storage::TsFileTableWriter writer(&file, &schema);
        must(writer.get_error(), "writer");
        storage::Tablet tablet("w1", columns.names, columns.types, columns.categories, kTabletRows);
        must(tablet.err_code_, "tablet");
        uint64_t written = 0;
        for (int d = 0; d < kDevices; d++) {
            const Device& device = (*devices)[d];
            std::string name = device_name(d);
            for (int row = 0; row < kRows; row += kTabletRows) {
                int count = std::min(kTabletRows, kRows - row);
                tablet.reset(0);
                must(tablet.set_timestamps(&device.times[row], count), "times");
                must(tablet.set_column_string_repeated(0, name.data(), name.size(), count), "tag");
                for (int c = 0; c < 5; c++) must(tablet.set_column_values(1 + c, &device.ints[c][row], nullptr, count), "int");
                for (int c = 0; c < 5; c++) must(tablet.set_column_values(6 + c, &device.doubles[c][row], nullptr, count), "double");
                tablet.set_single_device(true);
                must(writer.write_table(tablet), "write");
                written += count;
            }
        }
        must(writer.close(), "close");
        file.close();
        note_file(path);
        unlink(path.c_str());
        return written;
    };
}

uint64_t block_checksum(common::TsBlock* block, const std::vector<TSDataType>& types) {
    uint64_t sum = 0;
    uint32_t rows = block->get_row_count();
    for (uint32_t c = 0; c < block->get_column_count(); c++) {
        common::Vector* vector = block->get_vector(c);
        vector->reset_offset();
        bool is_text = c > 0 && types[c - 1] == common::STRING, has_null = vector->has_null();
        for (uint32_t row = 0; row < rows; row++) {
            if (has_null && vector->is_null(row)) continue;
            uint32_t size = 0;
            bool is_null = false;
            char* cell = vector->read(&size, &is_null, row);
            uint64_t bits = size;
            if (!is_text) std::memcpy(&bits, cell, 8);
            sum += bits;
            vector->update_offset();
        }
    }
    return sum;
}

struct Query {
    std::string path, table;
    Columns columns;
    int64_t from = INT64_MIN, to = INT64_MAX;
};

uint64_t run_query(storage::TsFileReader& reader, const Query& query) {
    storage::ResultSet* result = nullptr;
    std::vector<std::string> names = query.columns.names;
    must(reader.query(query.table, names, query.from, query.to, result, 1024), "query");
    uint64_t sum = 0;
    for (;;) {
        common::TsBlock* block = nullptr;
        int code = result->get_next_tsblock(block);
        if (code == common::E_NO_MORE_DATA || block == nullptr) break;
        must(code, "next block");
        sum += block_checksum(block, query.columns.types);
    }
    result->close();
    reader.destroy_query_data_set(result);
    return sum;
}

// The reader stays open from query to query.
Operation kept_open(Query query) {
    note_file(query.path);
    auto reader = std::make_shared<storage::TsFileReader>();
    must(reader->open(query.path), "open");
    return [reader, query] { return run_query(*reader, query); };
}

// The file is opened for each query.
Operation opened_anew(Query query) {
    note_file(query.path);
    return [query] {
        storage::TsFileReader reader;
        must(reader.open(query.path), "open");
        uint64_t sum = run_query(reader, query);
        must(reader.close(), "close");
        return sum;
    };
}

Operation operation(const std::string& name, const std::string& folder) {
    const std::string w1 = folder + "/w1-100000.tsfile";
    if (name == "w1") return write_w1(folder + "/cpp-written-" + std::to_string(getpid()) + ".tsfile");
    if (name == "s1") return kept_open({folder + "/s-30x20x200.tsfile", "s", s_columns(200)});
    if (name == "s2") return kept_open({folder + "/s-3000x20x10.tsfile", "s", s_columns(10)});
    if (name == "r1") return opened_anew({w1, "w1", w1_columns()});
    if (name == "r2") {
        Query query{w1, "w1", {}, kFirstTime + 50000 * kTimeStep, kFirstTime + 50999 * kTimeStep};
        query.columns.names = {"i2", "f1"};
        query.columns.types = {common::INT64, common::DOUBLE};
        return opened_anew(query);
    }
    std::fprintf(stderr, "cpp-peer: no case %s\n", name.c_str());
    std::exit(2);
}

struct Batch {
    uint64_t op_count, ns, cpu_ns, checksum;
};

Batch run(const Operation& operation, uint64_t op_count) {
    uint64_t cpu = nanoseconds(CLOCK_PROCESS_CPUTIME_ID), wall = nanoseconds(CLOCK_MONOTONIC), checksum = 0;
    for (uint64_t done = 0; done < op_count; done++) checksum = operation();
    return {op_count, nanoseconds(CLOCK_MONOTONIC) - wall, nanoseconds(CLOCK_PROCESS_CPUTIME_ID) - cpu, checksum};
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 3) {
        std::fprintf(stderr, "usage: cpp-peer CASE DATA_FOLDER\n");
        return 2;
    }
    must(storage::libtsfile_init(), "init");
    // One thread on each side.
    common::g_config_value_.parallel_write_enabled_ = false;
    common::g_config_value_.parallel_read_enabled_ = false;
    Operation work = operation(argv[1], argv[2]);

    // As many operations as take about 20 ms, at least one; the first one warms up.
    uint64_t first_ns = run(work, 1).ns + 1, op_count = std::max<uint64_t>(1, 20000000u / first_ns);
    for (std::string line; std::getline(std::cin, line);) {
        if (line != "round") {
            std::fprintf(stderr, "cpp-peer: expected round, got \"%s\"\n", line.c_str());
            return 2;
        }
        Batch batch = run(work, op_count);
        std::printf("{\"op_count\":%llu,\"ns\":%llu,\"cpu_ns\":%llu,\"checksum\":%llu,\"file_bytes\":%llu}\n",
                    (unsigned long long)batch.op_count, (unsigned long long)batch.ns, (unsigned long long)batch.cpu_ns,
                    (unsigned long long)batch.checksum, (unsigned long long)file_bytes);
        std::fflush(stdout);
    }
    std::fflush(stdout);
    _exit(0);  // the library's own threads and statics need no orderly end
}
