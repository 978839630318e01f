// Rewrites what the client generator prints, which has the layout of TypeScript's own printer, in the style of the code
// that Waypost writes: as Prettier formats it with single quotes, without semicolons, in lines of at most 120 characters.

const maxWidth = 120

/** Formats a generated client. */
export function formatClient(source: string): string {
  const commas = joinShortObjects(mergeResponses(source)).replaceAll(/(?<=[^;,{(\n])\n( *\}(?:[;)]|$))/gm, ',\n$1')
  const shortened = commas.replaceAll(/^\/\*\*\n \* (.{1,110})\n \*\/$/gm, '/** $1 */')
  const unquoted = shortened.replaceAll(/^( *)"(?!__proto__")([A-Za-z_$][\w$]*)"(\??:)/gm, '$1$2$3')
  const lines = restyle(unquoted)
    .split('\n')
    .map((line) => wrapParameters(line.replace(/^(?: {4})+/, (indent) => ' '.repeat(indent.length / 2))))
  return separate(lines).join('\n')
}

/** Writes each response in a line, and statuses with the same body together. */
function mergeResponses(source: string): string {
  return source.replaceAll(/<\{\n( {8}status: [^]*?)\n {4}\}>\(/g, (_, members: string) => {
    const statuses = new Map<string, string[]>()
    for (const member of members.split('\n    } | {\n')) {
      const [, status, data] = /^ {8}status: (\d+);(?:\n {8}data: ([^]*);)?$/.exec(member) ?? [undefined, member, '']
      statuses.set(data ?? '', [...(statuses.get(data ?? '') ?? []), status])
    }
    const written = [...statuses].map(([data, all]) => writeResponse(data, all))
    const [first] = written
    if (written.length === 1 && !first!.includes('\n')) return `<${first}>(`
    return `<\n${written.map((one) => `        | ${one}`).join('\n')}\n    >(`
  })
}

function writeResponse(data: string, statuses: readonly string[]): string {
  const line = `{ status: ${statuses.join(' | ')}${data === '' ? '' : `; data: ${data}`} }`
  if (!data.includes('\n') && line.length < maxWidth - 10) return line
  const body = data.replaceAll('\n', '\n        ')
  return `{\n                status: ${statuses.join(' | ')};\n                data: ${body};\n            }`
}

/** Arguments such as `{ ...opts, method: 'POST' }` fit in a line. */
function joinShortObjects(source: string): string {
  return source.replaceAll(/(?<=\(|, )\{\n([^{};]*?)\n *\}/g, (whole, inner: string) => {
    const line = `{ ${inner.trim().replaceAll(/\n */g, ' ')} }`
    return line.length < maxWidth / 2 ? line : whole
  })
}

const tokens = /\/\*[^]*?\*\/|\/\/.*|`(?:\\.|[^`\\])*`|"(?:\\.|[^"\\])*"/g

/** Changes quotes and removes semicolons at the end of lines; comments and templates stay. */
function restyle(source: string): string {
  let text = ''
  let end = 0
  const withoutSemicolons = (code: string) => code.replaceAll(/;$/gm, '')
  for (const { 0: token, index } of source.matchAll(tokens)) {
    const isQuoted = token.startsWith('"') && !/['\\]/.test(token)
    text += withoutSemicolons(source.slice(end, index)) + (isQuoted ? `'${token.slice(1, -1)}'` : token)
    end = index + token.length
  }
  return text + withoutSemicolons(source.slice(end))
}

function wrapParameters(line: string): string {
  const [, head, parameters] = /^(export function \w+\()([^{}]*)\) \{$/.exec(line) ?? []
  if (line.length <= maxWidth || parameters === undefined) return line
  const wrapped = parameters.split(/, (?=\w+\??:)/).map((one) => `  ${one},\n`)
  return `${head}\n${wrapped.join('')}) {`
}

/** Puts an empty line before each declaration with its comment. */
function separate(lines: readonly string[]): readonly string[] {
  return lines.flatMap((line, index) => {
    const before = lines[index - 1] ?? ''
    const isStart = /^(?:export|const|\/\*\*)(?:\b|$| )/.test(line)
    const isTogether = before === '' || before.endsWith('*/') || before.startsWith('//')
    return isStart && !isTogether ? ['', line] : [line]
  })
}
