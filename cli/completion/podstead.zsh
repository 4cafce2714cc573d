#compdef podstead
# zsh completion for podstead: the program itself knows what may come next.
_podstead() {
    local answer word about
    local -a found shown open openshown
    while IFS= read -r answer; do
        if [[ $answer == :files* ]]; then
            compset -P '*='
            _files
            continue
        fi
        word=${answer%%$'\t'*} about=
        [[ $answer == *$'\t'* ]] && about=${answer#*$'\t'}
        if [[ $word == *[=:/] ]]; then
            open+=("$word") openshown+=("$word${about:+  -- $about}")
        else
            found+=("$word") shown+=("$word${about:+  -- $about}")
        fi
    done < <("${(Q)words[1]}" __complete -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)
    (( $#found )) && compadd -l -d shown -- "${found[@]}"
    (( $#open )) && compadd -l -S '' -d openshown -- "${open[@]}"
    return 0
}
if [[ $zsh_eval_context[-1] == loadautofunc ]]; then
    _podstead "$@"
else
    (( $+functions[compdef] )) || { autoload -Uz compinit && compinit -i; }
    compdef _podstead podstead
fi
