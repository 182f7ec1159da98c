# SPDX-License-Identifier: Apache-2.0
"""No layer of host/ calls what only a layer above it has.

Arguments: nm, then the layers' libraries from the lowest on."""
import collections
import re
import subprocess
import sys

nm, libraries = sys.argv[1], sys.argv[2:]
SYMBOL = re.compile(r"^(?:[0-9a-f]+)? +([A-Za-z]) (\S+)$", re.MULTILINE)
defined, wanted = collections.defaultdict(set), []
for place, library in enumerate(libraries):
    listed = subprocess.run([nm, "-g", library], stdout=subprocess.PIPE, text=True, check=True).stdout
    wanted.append(set())
    for kind, symbol in SYMBOL.findall(listed):
        if kind == "U":
            wanted[place].add(symbol)
        else:
            defined[symbol].add(place)
bad = [(library, symbol, libraries[min(defined[symbol])])
       for place, library in enumerate(libraries) for symbol in sorted(wanted[place])
       if symbol in defined and min(defined[symbol]) > place]
for library, symbol, other in bad:
    print(f"{library} calls {symbol}, which {other} has")
# A list that holds nothing would prove nothing.
sys.exit(1 if bad or not all(wanted) else 0)
