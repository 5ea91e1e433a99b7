# Completion of elephan @version@ in bash, by `elephan completion bash`; make it anew after an update.
_elephan() {
    local line
    COMPREPLY=()
    while IFS= read -r line; do COMPREPLY+=("$line"); done < <(
        @python@ -I -S @completer@ bash "$COMP_POINT" "$COMP_LINE" 2>/dev/null <<<@table@
    )
    if [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *[=/.,] ]]; then compopt -o nospace; fi
}
complete -F _elephan elephan
