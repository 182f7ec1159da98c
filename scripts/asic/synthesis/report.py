# SPDX-License-Identifier: Apache-2.0
"""What synthesis found, as tables, as data, and against the goal."""

from . import treemap

GOAL_N = 64      # the chip that the goal is of
GOAL_NS = 5.8
MAC = "gemm64_stage"


def table(header, rows):
    """Columns as wide as they must be: the first to the left, figures to the right."""
    cells = [header] + [[str(cell) for cell in row] for row in rows]
    widths = [max(len(row[i]) for row in cells) for i in range(len(header))]
    for row in cells:
        print("  ".join([row[0].ljust(widths[0])] +
                        [cell.rjust(width) for cell, width in zip(row[1:], widths[1:])]).rstrip())


def by_area(chip):
    """(module, cells, square micrometres), the largest first."""
    return sorted(((module, cells, square) for module, (cells, square) in chip.cells.items()), key=lambda row: -row[2])


def worst(chip):
    """The longest path of a chip and the module in which it ends."""
    return max(((paths[0], module) for module, paths in chip.paths.items()), key=lambda pair: pair[0].ns)


def memories(chip):
    """Equal memories of a chip: (name, how many, memory)."""
    found = {}
    for times, memory in chip.memories:
        name = "accumulator banks" if times > 1 else memory.where
        before = found.get((name, memory.kind), (0, memory))
        found[name, memory.kind] = (before[0] + times, memory)
    return [(name, times, memory) for (name, _), (times, memory) in found.items()]


def facts(chip):
    """A chip as JSON has it."""
    path, module = worst(chip)
    return {
        "top": chip.top, "parameters": chip.parameters,
        "cells": sum(cells for cells, _ in chip.cells.values()),
        "area_um2": round(sum(square for _, square in chip.cells.values())),
        "memory_bits": sum(times * memory.words * memory.width for times, memory in chip.memories),
        "critical_path_ns": path.ns, "critical_module": module, "fmax_mhz": round(1000 / path.ns, 1),
        "mac_path_ns": chip.paths[MAC][0].ns if MAC in chip.paths else None,
        "blocks": dict(chip.blocks),
        "modules": [{"module": name, "cells": cells, "area_um2": round(square)} for name, cells, square in by_area(chip)],
        "paths": {name: [vars(entry) for entry in paths] for name, paths in chip.paths.items()},
        "memories": [{"memory": name, "macros": times, "words": memory.words, "width": memory.width,
                      "bits": times * memory.words * memory.width, "ports": memory.ports}
                     for name, times, memory in memories(chip)],
    }


def one(chip):
    """Prints the cells, the memories and the paths of a chip."""
    total = sum(square for _, square in chip.cells.values())
    print("\n" + ", ".join([chip.top] + [f"{key}={value}" for key, value in chip.parameters.items()]) + "\n")
    rows = [[name, chip.blocks.get(name, ""), f"{cells:,}", f"{square / 1e6:.3f}", f"{100 * square / total:.1f}"]
            for name, cells, square in by_area(chip)]
    rows.append(["in all", "", f"{sum(cells for cells, _ in chip.cells.values()):,}", f"{total / 1e6:.3f}", "100.0"])
    table(["module", "macros", "cells", "area mm2", "%"], rows)
    if chip.memories:
        print("\nMemories, as macros\n")
        table(["memory", "macros", "words", "bits a word", "KiB", "ports (bits)"],
              [[name, times, f"{memory.words:,}", f"{memory.width:,}",
                f"{times * memory.words * memory.width / 8192:,.1f}",
                " ".join(f"{port}({bits})" for port, bits in sorted(memory.ports.items()))]
               for name, times, memory in memories(chip)])
    print("\nLongest paths by the module in which they end, ns\n")
    for name, paths in sorted(chip.paths.items(), key=lambda item: -item[1][0].ns):
        print(name)
        for path in paths:
            print(f"  {path.ns:6.3f}  {path.start} -> {path.end}")


def together(chips):
    """Prints one table of all sizes."""
    rows = []
    for every in map(facts, chips):
        rows.append([f"N={every['parameters'].get('N', '')}", f"{every['cells']:,}", f"{every['area_um2'] / 1e6:.2f}",
                     f"{every['memory_bits'] / 8192:,.0f}", f"{every['mac_path_ns']:.2f}",
                     f"{every['critical_path_ns']:.2f}", every["critical_module"], f"{every['fmax_mhz']:.0f}"])
    print()
    table(["", "cells", "area mm2", "SRAM KiB", "MAC path ns", "longest path ns", "in", "MHz"], rows)


def summary(chips):
    """Rows of the sign-off's table: the goal is of N=64, and without it nothing is judged."""
    rows = []
    for chip in chips:
        path, module = worst(chip)
        n = chip.parameters["N"]
        judged = n == GOAL_N
        longest = f"{module}: {path.start} -> {path.end}"
        rows.append({"what": f"longest path of the chip, N={n}", "figure": f"{path.ns:.2f} ns",
                     "goal": f"{GOAL_NS} ns" if judged else "", "met": path.ns <= GOAL_NS if judged else None,
                     "cause": longest if judged and path.ns > GOAL_NS else ""})
        if judged:
            mac = chip.paths[MAC][0].ns
            rows.append({"what": f"path of the MAC, N={n}", "figure": f"{mac:.2f} ns", "goal": "the chip's longest",
                         "met": module == MAC, "cause": "" if module == MAC else longest})
    return rows


def picture(chip):
    """A treemap of a chip's area as SVG."""
    rows = by_area(chip)
    total = sum(square for _, _, square in rows)
    return treemap.svg(f"{chip.top}, N={chip.parameters.get('N', '')}: {total / 1e6:.2f} mm² of standard cells, without memories",
                       [(name.replace("gemm64_", ""), f"{square / 1e6:.3f} mm²", square) for name, _, square in rows])
