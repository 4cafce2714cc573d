# bash completion for podstead: the program itself knows what may come next.
_podstead() {
    local line=${COMP_LINE:0:COMP_POINT} words=() word= quote= char any= i answer shown
    # Words as the program gets them: bash parts them at = and : too.
    for ((i = 0; i < ${#line}; i++)); do
        char=${line:i:1}
        if [[ $quote ]]; then
            if [[ $char == "$quote" ]]; then quote=; else word+=$char; fi
        elif [[ $char == [\"\'] ]]; then
            quote=$char any=1
        elif [[ $char == \\ ]]; then
            ((i++)); word+=${line:i:1}; any=1
        elif [[ $char == [[:space:]] ]]; then
            [[ $word || $any ]] && words+=("$word")
            word= any=
        else
            word+=$char any=1
        fi
    done
    local cut=
    case $word in
    *[=:]*)
        # What is before the last of them stays, as far as bash parts words there.
        shown=${word##*[$COMP_WORDBREAKS]}
        [[ ${word:$((${#word} - ${#shown} - 1)):1} == [=:] ]] && cut=${word%"$shown"}
        ;;
    esac
    COMPREPLY=()
    while IFS= read -r answer; do
        if [[ $answer == :files* ]]; then
            compopt -o filenames 2>/dev/null
            while IFS= read -r answer; do COMPREPLY+=("$answer"); done < <(compgen -f -- "${word##*=}")
            continue
        fi
        answer=${answer%%$'\t'*}
        COMPREPLY+=("${answer#"$cut"}")
        case $answer in *[=:/]) compopt -o nospace 2>/dev/null ;; esac
    done < <("${words[0]}" __complete -- "${words[@]:1}" "$word" 2>/dev/null)
}
complete -F _podstead podstead
