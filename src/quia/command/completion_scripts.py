"""Scripts for bash, zsh and fish: all that is completed is written into them, so that no TAB waits for Python."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple


class Value(NamedTuple):
    """What an argument takes: one of the choices, if there are any, or a file, or any text."""

    name: str
    choices: tuple[str, ...]
    is_file: bool


class Option(NamedTuple):
    """An option, what it is for, and its value if it takes one; it may be repeated."""

    flags: tuple[str, ...]
    line: str
    value: Value | None
    repeats: bool


class Command(NamedTuple):
    """A command, its options, and the values that it takes without one."""

    name: str
    line: str
    options: tuple[Option, ...]
    values: tuple[Value, ...]

    @property
    def flags(self) -> list[str]:
        """Every spelling of every option."""
        return [flag for option in self.options for flag in option.flags]


def bash(commands: Sequence[Command], install: str) -> str:
    """The script for bash; where it has no answer, bash completes names of files."""
    cases = []
    for command in commands:
        for option in command.options:
            pattern = "|".join(f"{command.name}:{flag}" for flag in option.flags)
            if option.value is not None:
                cases.append(f"        {pattern}) words='{' '.join(option.value.choices)}' ;;")
    for command in commands:
        taken = " ".join(choice for value in command.values for choice in value.choices)
        cases.append(
            f"        {command.name}:*) words='{taken}'; [[ $cur == -* ]] && words='{' '.join(command.flags)}' ;;"
        )
    names = " ".join([*(command.name for command in commands), "--help", "--version"])
    return "\n".join(
        [
            f"# Completion of quia for bash. Into ~/.bashrc: {install}",
            "_quia() {",
            "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words=",
            "    if [[ $cur == = ]]; then cur=; elif [[ $prev == = ]]; then prev=${COMP_WORDS[COMP_CWORD-2]}; fi",
            "    COMPREPLY=()",
            "    if ((COMP_CWORD == 1)); then",
            f"        COMPREPLY=($(compgen -W '{names}' -- \"$cur\"))",
            "        return",
            "    fi",
            "    case ${COMP_WORDS[1]}:$prev in",
            *cases,
            "    esac",
            '    [[ -n $words ]] && COMPREPLY=($(compgen -W "$words" -- "$cur"))',
            "    return 0",
            "}",
            "complete -o bashdefault -o default -F _quia quia",
        ]
    )


def zsh(commands: Sequence[Command], install: str) -> str:
    """The script for zsh, which also works as a file `_quia` in a folder of $fpath."""
    described = " ".join(_quoted(f"{command.name}:{command.line}") for command in commands)
    cases: list[str] = []
    for command in commands:
        values = [f"{place}:{value.name}:{_action(value)}" for place, value in enumerate(command.values, 1)]
        specs = [*map(_quoted, values), *(spec for option in command.options for spec in _specs(option))]
        cases += [f"        {command.name})", "            _arguments \\"]
        cases += [f"                {spec} \\" for spec in specs[:-1]]
        cases += [f"                {specs[-1]}", "            ;;"]
    return "\n".join(
        [
            "#compdef quia",
            f"# Completion of quia for zsh. Into ~/.zshrc, after compinit: {install}",
            "_quia() {",
            f"    local -a commands=({described})",
            "    if ((CURRENT == 2)); then",
            "        _describe -t commands command commands",
            "        return",
            "    fi",
            "    shift words",
            "    ((CURRENT--))",
            "    case $words[1] in",
            *cases,
            "    esac",
            "}",
            'if [[ $zsh_eval_context[-1] == loadautofunc ]]; then _quia "$@"; else compdef _quia quia; fi',
        ]
    )


def _specs(option: Option) -> list[str]:
    """What `_arguments` is told of an option, for each of its spellings."""
    line = option.line
    for sign in "\\[]:":
        line = line.replace(sign, f"\\{sign}")
    value = "" if option.value is None else f":{option.value.name.replace(':', ' ')}:{_action(option.value)}"
    return [_quoted(f"{'*' if option.repeats else ''}{flag}[{line}]{value}") for flag in option.flags]


def _action(value: Value) -> str:
    if value.choices:
        return f"({' '.join(value.choices)})"
    return "_files" if value.is_file else " "


def fish(commands: Sequence[Command], install: str) -> str:
    """The script for fish."""
    lines = [
        f"# Completion of quia for fish: {install}",
        "complete -c quia -f",
        "complete -c quia -n __fish_use_subcommand -l help -d 'show all commands'",
        "complete -c quia -n __fish_use_subcommand -l version -d 'show the version'",
    ]
    lines += [
        f"complete -c quia -n __fish_use_subcommand -a {command.name} -d {_quoted(command.line)}"
        for command in commands
    ]
    for command in commands:
        start = f"complete -c quia -n '__fish_seen_subcommand_from {command.name}'"
        lines += [f"{start} {_taken(value)}" for value in command.values]
        for option in command.options:
            flags = " ".join(f"-l {flag[2:]}" if flag.startswith("--") else f"-s {flag[1:]}" for flag in option.flags)
            value = "" if option.value is None else f" -r {_taken(option.value)}"
            lines.append(f"{start} {flags} -d {_quoted(option.line)}{value}")
    return "\n".join(lines)


def _taken(value: Value) -> str:
    if value.choices:
        return f"-f -a {_quoted(' '.join(value.choices))}"
    return "-F" if value.is_file else "-f"


def _quoted(text: str) -> str:
    """A text between single quotes, as shells read it."""
    return "'" + text.replace("'", "'\\''") + "'"


SCRIPTS: dict[str, Callable[[Sequence[Command], str], str]] = {"bash": bash, "zsh": zsh, "fish": fish}
