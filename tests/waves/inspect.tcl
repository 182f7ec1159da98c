# SPDX-License-Identifier: Apache-2.0
# Run inside GTKWave: writes to $INSPECT_REPORT how many rows are shown, and at each of the times
# $INSPECT_TIMES every row with the value that the user sees; saves a picture, writes the save file
# again, and quits.
set report [open $env(INSPECT_REPORT) w]
set rows [gtkwave::getTotalNumTraces]
puts $report "rows\t$rows"
foreach time $env(INSPECT_TIMES) {
    gtkwave::setMarker $time
    for {set row 0} {$row < $rows} {incr row} {
        puts $report [join [list $time $row [gtkwave::getTraceNameFromIndex $row] \
            [gtkwave::getTraceValueAtMarkerFromIndex $row]] "\t"]
    }
}
close $report
gtkwave::/File/Grab_To_File $env(INSPECT_PICTURE)
gtkwave::/File/Write_Save_File
gtkwave::/File/Quit
