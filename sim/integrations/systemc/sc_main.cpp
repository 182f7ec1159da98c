// SPDX-License-Identifier: Apache-2.0
// SystemC's library asks for it; a program with a main() of its own never calls it.
#include <systemc>

int sc_main(int /*argc*/, char** /*argv*/) { return 0; }
