import type { Command } from '@oclif/core/command'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

interface Completed {
  readonly id: string
  readonly description: string
  readonly flags: readonly CompletedFlag[]
}

interface CompletedFlag {
  readonly name: string
  readonly description: string
  readonly takesValue: boolean
  readonly values: readonly string[]
}

/**
 * Returns a script that completes commands, flags and the values of flags. It contains them, so that pressing Tab starts no
 * process.
 */
export function makeCompletion(shell: Shell, commands: readonly Command.Loadable[]): string {
  const shown = commands.filter(({ hidden }) => !hidden).map((command) => describe(command))
  const sorted = shown.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  return { bash: writeBash, zsh: writeZsh, fish: writeFish }[shell](sorted)
}

function describe({ id, summary, description = '', flags }: Command.Loadable): Completed {
  const shown = Object.entries(flags).filter(([, { hidden }]) => hidden !== true)
  return {
    id,
    description: firstLine(summary ?? description),
    flags: shown.map(([name, flag]) => ({
      name: `--${name}`,
      description: firstLine(flag.description ?? ''),
      takesValue: flag.type === 'option',
      values: (flag.type === 'option' && flag.options) || [],
    })),
  }
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0]!.trim()
}

/** Of each flag with fixed values: the pattern for `case`, and the values. */
function listValues(commands: readonly Completed[]): [pattern: string, values: string][] {
  return commands.flatMap(({ id, flags }) =>
    flags.flatMap(({ name, values }): [string, string][] =>
      values.length === 0 ? [] : [[`'${id} ${name}'`, values.join(' ')]],
    ),
  )
}

function writeBash(commands: readonly Completed[]): string {
  const flags = commands.map(({ id, flags: all }) => `    ${id}) found='${all.map(({ name }) => name).join(' ')}' ;;`)
  const values = listValues(commands).map(([pattern, all]) => `    ${pattern}) found='${all}' ;;`)
  // COMP_WORDS is divided at colons, which commands contain.
  return `# Add to ~/.bashrc: source <(waypost completion bash)
_waypost() {
  local found='' words
  read -ra words <<< "\${COMP_LINE:0:COMP_POINT}"
  [[ \${COMP_LINE:0:COMP_POINT} == *[[:space:]] ]] && words+=('')
  local count=\${#words[@]}
  local current="\${words[count-1]}" command="\${words[1]}"
  if ((count == 2)); then
    found='${commands.map(({ id }) => id).join(' ')}'
  else
    case $command in
${flags.join('\n')}
    esac
    case "$command \${words[count-2]}" in
${values.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$found" -- "$current"))
  if [[ $current == *:* && $COMP_WORDBREAKS == *:* ]]; then
    COMPREPLY=("\${COMPREPLY[@]#"\${current%"\${current##*:}"}"}")
  fi
}
complete -o bashdefault -o default -F _waypost waypost
`
}

function writeZsh(commands: readonly Completed[]): string {
  const entry = (name: string, description: string) => quote(`${name.replaceAll(':', '\\:')}:${description}`)
  const flags = commands.map(
    ({ id, flags: all }) => `    ${id}) flags=(${all.map((flag) => entry(flag.name, flag.description)).join(' ')}) ;;`,
  )
  const values = listValues(commands).map(([pattern, all]) => `    ${pattern}) compadd ${all}; return ;;`)
  return `#compdef waypost
# Add to ~/.zshrc, after compinit: source <(waypost completion zsh)
_waypost() {
  local -a commands flags
  if ((CURRENT == 2)); then
    commands=(
${commands.map(({ id, description }) => `      ${entry(id, description)}`).join('\n')}
    )
    _describe command commands
    return
  fi
  case "$words[2] $words[CURRENT-1]" in
${values.join('\n')}
  esac
  case $words[2] in
${flags.join('\n')}
  esac
  if [[ $words[CURRENT] == -* ]]; then _describe flag flags; else _files; fi
}
compdef _waypost waypost
`
}

function writeFish(commands: readonly Completed[]): string {
  const lines = commands.flatMap(({ id, description, flags }) => [
    `complete -c waypost -f -n __fish_use_subcommand -a ${quote(id)} -d ${quote(description)}`,
    ...flags.map(({ name, description: about, takesValue, values }) => {
      const value = values.length > 0 ? ` -x -a ${quote(values.join(' '))}` : takesValue ? ' -r' : ''
      const when = quote(`__fish_seen_subcommand_from ${id}`)
      return `complete -c waypost -n ${when} -l ${name.slice(2)}${value} -d ${quote(about)}`
    }),
  ])
  return `# Add to ~/.config/fish/config.fish: waypost completion fish | source\n${lines.join('\n')}\n`
}

function quote(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
