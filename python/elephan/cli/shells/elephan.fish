# Completion of elephan @version@ in fish, by `elephan completion fish`; make it anew after an update.
function __elephan
    set -l words (commandline -opc) (commandline -ct | string unescape)
    printf %s @table@ | @python@ -I -S @completer@ fish $words[2..-1] 2>/dev/null
end
complete -c elephan -f -a '(__elephan)'
