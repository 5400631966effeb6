# SPDX-License-Identifier: MIT
# Completes ocular(1) in fish.

# Returns true before the program's name. The words after the name are the program's own
# arguments. For some options, the next word is the option's value.
function __ocular_before_program
    set -l words (commandline -opc)
    set -e words[1]
    while set -q words[1]
        switch $words[1]
            case '-m*' '-c*'
                return 1
            case --mode --threshold --budget --stall-ms --events --exclude --include-only --output --timeline-limit --timeline-spill --output-seconds
                set -q words[2]; and set -e words[1]
            case '-?*'
            case '*'
                return 1
        end
        set -e words[1]
    end
end

# Prints the Python processes that this user may watch, with their commands.
function __ocular_pids
    for path in (find /proc -maxdepth 2 -path '/proc/[0-9]*/exe' -lname '*python*' 2>/dev/null)
        set -l folder (dirname $path)
        set -l text (cat $folder/cmdline 2>/dev/null | tr '\0\n\t' '   ')
        printf '%s\t%s\n' (basename $folder) "$text"
    end
end

complete -c ocular -n __ocular_before_program -s h -l help -d 'Print all options'
complete -c ocular -n __ocular_before_program -l version -d 'Print the version'
complete -c ocular -n __ocular_before_program -s m -x -d 'Run a library module'
complete -c ocular -n __ocular_before_program -s c -x -d 'Run code'
complete -c ocular -n __ocular_before_program -l serve -d 'Answer ocular-top'
complete -c ocular -n __ocular_before_program -l idle -d 'Trace only while ocular-top looks'
complete -c ocular -n __ocular_before_program -l mode -x -a 'adaptive precise' -d 'What is hooked'
complete -c ocular -n __ocular_before_program -l threshold -x -d 'Hits after which a hook is taken out'
complete -c ocular -n __ocular_before_program -l budget -x -d 'Share of CPU time that tracing may cost'
complete -c ocular -n __ocular_before_program -l stall-ms -x -d 'Milliseconds of a step that is a stall'
complete -c ocular -n __ocular_before_program -l events -x -a 'call c_call exception line branch opcode reference adaptive precise' -d 'Events that are hooked'
complete -c ocular -n __ocular_before_program -l native -d 'Sample C functions below Python functions'
complete -c ocular -n __ocular_before_program -l exclude -x -d 'Leave out code that has this text'
complete -c ocular -n __ocular_before_program -l include-only -x -d 'Trace only code that has this text'
complete -c ocular -n __ocular_before_program -l output -r -F -d 'Where the timeline goes'
complete -c ocular -n __ocular_before_program -l no-perfetto -d 'Keep no timeline'
complete -c ocular -n __ocular_before_program -l timeline-limit -x -d 'Bytes of the recording'
complete -c ocular -n __ocular_before_program -l timeline-instructions -d 'The timeline has each instruction'
complete -c ocular -n __ocular_before_program -l timeline-spill -x -a '(__fish_complete_directories)' -d 'Where a recording may grow beyond the limit'
complete -c ocular -n __ocular_before_program -l output-seconds -x -d 'How long writing may take at exit'
complete -c ocular -n __ocular_before_program -l quiet -d 'No report and no progress on stderr'
complete -c ocular -n __ocular_before_program -l report -d 'With --serve: the whole report'
complete -c ocular -n __ocular_before_program -l children -d 'Children write timelines of their own'
complete -c ocular -n __ocular_before_program -l follow -d 'Trace the Python programs that it starts as well'
complete -c ocular -n __ocular_before_program -l install-follow -d 'Write what --follow needs'
complete -c ocular -n __ocular_before_program -l remove-follow -d 'Remove what --follow needs'

# The commands and their arguments.
complete -c ocular -n __fish_is_first_arg -a attach -d 'Have a program serve that runs'
complete -c ocular -n __fish_is_first_arg -a detach -d 'End that'
complete -c ocular -n __fish_is_first_arg -a enable -d 'Have all programs of this environment serve'
complete -c ocular -n __fish_is_first_arg -a disable -d 'End that'
complete -c ocular -n __fish_is_first_arg -a status -d 'Print which processes serve'
complete -c ocular -n __fish_is_first_arg -a agent -d 'Hand the numbers of all programs over to other tools'
complete -c ocular -n __fish_is_first_arg -a doctor -d 'Print what works here, and why the rest does not'
complete -c ocular -n __fish_is_first_arg -a merge -d 'Put several timelines into one'
complete -c ocular -n __fish_is_first_arg -a convert -d 'Make a file of a recording or of stacks'
complete -c ocular -n __fish_is_first_arg -a diff -d 'Compare two recordings'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l listen -x -d 'Where to answer'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l watch -x -d 'Functions with series of their latency'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l label -x -d 'A label for all numbers'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l interval -x -d 'Seconds between two snapshots of a program'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l push -x -d 'Send profiles to this Pyroscope'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l otlp -x -d 'Send metrics to this receiver of OpenTelemetry'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l otlp-profiles -d 'Send it profiles, too'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l objects -d 'Send births of objects, too'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l token-file -r -F -d 'A bearer token for receivers'
complete -c ocular -n '__fish_seen_subcommand_from agent' -l ca-file -r -F -d 'Certificates that sign those of receivers'
complete -c ocular -n '__fish_seen_subcommand_from diff doctor' -l json -d 'Print it as JSON'
complete -c ocular -n '__fish_seen_subcommand_from diff' -l fail-above -x -d 'Fail if a function is slower by more'
complete -c ocular -n '__fish_seen_subcommand_from attach detach; and test (count (commandline -opc)) = 2' -x -a '(__ocular_pids)'
complete -c ocular -n '__fish_seen_subcommand_from agent attach detach enable disable status doctor' -f
complete -c ocular -n '__fish_seen_subcommand_from convert' -s o -l output -r -F -d 'Where the file goes'
complete -c ocular -n '__fish_seen_subcommand_from convert' -l unit -x -a 'samples us' -d 'What the numbers are'
complete -c ocular -n '__fish_seen_subcommand_from merge' -s o -l output -r -F -d 'Where the timeline goes'
