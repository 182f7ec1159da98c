// SPDX-License-Identifier: Apache-2.0
#include "sim/integrations/systemc/elf.hpp"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>

#include "host/util/error.hpp"

namespace gemm64 {
namespace {

constexpr std::uint64_t kMaxSegment = std::uint64_t{64} << 20;

class Reader {
 public:
  explicit Reader(const std::string& file) : file_(file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) fail("cannot be read");
    bytes_.assign(std::istreambuf_iterator<char>(stream), {});
  }

  [[noreturn]] void fail(const std::string& what) const {
    throw UsageError(fmt::format("{}: {}", file_, what));
  }

  const std::uint8_t* at(std::uint64_t offset, std::uint64_t bytes) const {
    if (offset > bytes_.size() || bytes > bytes_.size() - offset) fail("the ELF file is cut short");
    return bytes_.data() + offset;
  }

  template <class T>
  T read(std::uint64_t offset) const {
    T value;
    std::memcpy(&value, at(offset, sizeof value), sizeof value);
    return value;
  }

 private:
  const std::string file_;
  std::vector<std::uint8_t> bytes_;
};

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_X86_64:
      return "x86-64";
    case EM_AARCH64:
      return "AArch64";
    case EM_ARM:
      return "Arm";
    default:
      return fmt::format("machine {}", machine);
  }
}

void check(const Reader& reader) {
  if (std::memcmp(reader.at(0, SELFMAG), ELFMAG, SELFMAG) != 0) reader.fail("is no ELF file");
  const std::uint8_t* const ident = reader.at(0, EI_NIDENT);
  const auto header = reader.read<Elf64_Ehdr>(0);
  if (header.e_machine != EM_RISCV) {
    reader.fail(fmt::format("is for {}; firmware must be for 64-bit RISC-V (rv64imac)",
                            machine_name(header.e_machine)));
  }
  if (ident[EI_CLASS] != ELFCLASS64 || ident[EI_DATA] != ELFDATA2LSB) {
    reader.fail("is for RISC-V of 32 bits or big endian; firmware must be for rv64imac");
  }
  if (header.e_type != ET_EXEC) reader.fail("is no executable; link it at fixed addresses");
  if (header.e_phentsize != sizeof(Elf64_Phdr)) reader.fail("the ELF file is damaged");
}

std::vector<Elf::Function> functions(const Reader& reader, const Elf64_Ehdr& header) {
  std::vector<Elf::Function> functions;
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return functions;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    const auto table = reader.read<Elf64_Shdr>(header.e_shoff + i * sizeof(Elf64_Shdr));
    if (table.sh_type != SHT_SYMTAB || table.sh_entsize != sizeof(Elf64_Sym)) continue;
    const auto names = reader.read<Elf64_Shdr>(header.e_shoff + table.sh_link * sizeof(Elf64_Shdr));
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= table.sh_size; at += sizeof(Elf64_Sym)) {
      const auto symbol = reader.read<Elf64_Sym>(table.sh_offset + at);
      if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC) continue;
      std::string name;
      for (std::uint64_t c = names.sh_offset + symbol.st_name; *reader.at(c, 1) != 0; ++c) {
        name += static_cast<char>(*reader.at(c, 1));
      }
      functions.push_back({symbol.st_value, name});
    }
  }
  std::sort(functions.begin(), functions.end(),
            [](const auto& a, const auto& b) { return a.address < b.address; });
  return functions;
}

}  // namespace

const std::string& Elf::function(std::uint64_t address) const {
  static const std::string unknown = "?";
  const auto after =
      std::upper_bound(functions.begin(), functions.end(), address,
                       [](std::uint64_t a, const Function& f) { return a < f.address; });
  return after == functions.begin() ? unknown : std::prev(after)->name;
}

Elf load_elf(const std::string& file) {
  const Reader reader(file);
  check(reader);
  const auto header = reader.read<Elf64_Ehdr>(0);
  Elf elf;
  elf.file = file;
  elf.entry = header.e_entry;
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    const auto segment = reader.read<Elf64_Phdr>(header.e_phoff + i * sizeof(Elf64_Phdr));
    if (segment.p_type != PT_LOAD || segment.p_memsz == 0) continue;
    if (segment.p_memsz > kMaxSegment || segment.p_filesz > segment.p_memsz) {
      reader.fail("the ELF file is damaged");
    }
    const std::uint8_t* const bytes = reader.at(segment.p_offset, segment.p_filesz);
    elf.segments.push_back({segment.p_paddr, {bytes, bytes + segment.p_filesz}});
    elf.segments.back().bytes.resize(segment.p_memsz);
  }
  if (elf.segments.empty()) reader.fail("the ELF file has nothing to load");
  elf.functions = functions(reader, header);
  return elf;
}

}  // namespace gemm64
