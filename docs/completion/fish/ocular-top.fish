# SPDX-License-Identifier: MIT
# Completes ocular-top(1) in fish.

# Prints the Python processes that this user may watch, with their commands.
function __ocular_top_pids
    for path in (find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname '*python*' 2>/dev/null)
        set -l folder (dirname $path)
        set -l text (cat $folder/cmdline 2>/dev/null | tr '\0\n\t' '   ')
        printf '%s\t%s\n' (basename $folder) "$text"
    end
end

complete -c ocular-top -f
complete -c ocular-top -k -x -a '(__fish_complete_suffix .ocular)' -d 'A run that is over'
complete -c ocular-top -s p -l pid -x -a '(__ocular_top_pids)' -d 'The process'
complete -c ocular-top -l attach -d 'Have it serve until the viewer leaves'
complete -c ocular-top -l attach-only -d 'Have it serve, and leave'
complete -c ocular-top -l detach -d 'End what --attach-only began'
complete -c ocular-top -l alone -d 'Without the workers of this process'
complete -c ocular-top -l list -d 'Print which processes serve'
complete -c ocular-top -l package -x -a '(__fish_complete_directories)' -d 'Where an Ocular for it is'
complete -c ocular-top -s d -l delay -x -d 'Seconds between snapshots'
complete -c ocular-top -s s -l sort -x -a 'share trend run% total% c% wait% gil% calls/s calls avg min p50 p99 self total waited state sites spec raised worker in_flight oldest wall_p50 wall_p99 wall_max cpu await slow_worker function file' -d 'Sort by this column'
complete -c ocular-top -s F -l filter -x -d 'Only functions that have this text'
complete -c ocular-top -l own -d 'Only the program’s own code'
complete -c ocular-top -s n -l count -x -d 'Leave after so many snapshots'
complete -c ocular-top -l batch -d 'Print frames as text'
complete -c ocular-top -l once -d 'Print one frame'
complete -c ocular-top -l timeout -x -d 'Give up where no snapshot comes for so long'
complete -c ocular-top -l json -d 'Print snapshots as JSON'
complete -c ocular-top -l keys -x -d 'Press these keys first'
complete -c ocular-top -l size -x -d 'The size of what is printed, as 150x40'
complete -c ocular-top -l record -r -F -d 'Store what the process sends'
complete -c ocular-top -l diff -d 'Print how two recordings differ'
complete -c ocular-top -l fail-above -x -d 'Fail if a function is slower by more'
complete -c ocular-top -l replay -r -F -d 'Show what was recorded'
complete -c ocular-top -s C -l no-color -d 'No colours'
complete -c ocular-top -s U -l ascii -d 'ASCII only'
complete -c ocular-top -s M -l no-mouse -d 'Leave the mouse to the terminal'
complete -c ocular-top -s V -l version -d 'Print the version'
complete -c ocular-top -s h -l help -d 'Print all options'
