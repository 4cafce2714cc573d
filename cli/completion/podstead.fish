# fish completion for podstead: the program itself knows what may come next.
function __podstead_complete
    set -l words (commandline -opc)
    set -l last (commandline -ct)
    for answer in ($words[1] __complete -- $words[2..-1] "$last" 2>/dev/null)
        if string match -q ':files*' -- $answer
            set -l prefix (string match -r '^.*=' -- "$last")
            __fish_complete_path (string replace -r '^.*=' '' -- "$last") | string replace -r '^' "$prefix"
        else
            echo $answer
        end
    end
end
complete -c podstead -f -a '(__podstead_complete)'
