#compdef elephan
# Completion of elephan @version@ in zsh, by `elephan completion zsh`; make it anew after an update.
_elephan() {
    local line
    local -a open said_open closed said_closed
    while IFS= read -r line; do
        if [[ ${line%%$'\t'*} == *[=/.,] ]]; then
            open+=("${line%%$'\t'*}") said_open+=("${line/$'\t'/  -- }")
        else
            closed+=("${line%%$'\t'*}") said_closed+=("${line/$'\t'/  -- }")
        fi
    done < <(@python@ -I -S @completer@ zsh "${(@Q)words[2,CURRENT]}" 2>/dev/null <<<@table@)
    compadd -l -S '' -d said_open -a open
    compadd -l -d said_closed -a closed
}
if [[ $funcstack[1] == _elephan ]]; then _elephan "$@"; else compdef _elephan elephan; fi
