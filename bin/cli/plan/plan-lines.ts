import { paint } from '../format.ts'
import { widthOf, wrap } from '../print-diagnostics.ts'
import { explainPlan, type PlanLine, type PlanParts, type Remark } from './explain-plan.ts'

const symbols = { added: ['+', 'green'], changed: ['~', 'yellow'], removed: ['-', 'red'] } as const
const kindWidth = 11
const nameAt = 4 + kindWidth
/** The maximum share of the width for names. Longer ones push their remark to the right. */
const nameShare = 0.3
/** Narrower remarks go below their name. */
const minRemarkWidth = 32
/** How many harmless changes of a kind are shown. */
const maxOfSort = 15
const maxRemarks = 8

/** Formats the changes for people: a line for each, in the width of the terminal. */
export function formatPlan(parts: PlanParts, stream: NodeJS.WriteStream = process.stdout): readonly string[] {
  const lines = shorten(explainPlan(parts)).map(alignRoute)
  const maxNameWidth = Math.floor(widthOf(stream) * nameShare)
  const nameWidth = Math.max(0, ...lines.map(({ name }) => name.length).filter((length) => length <= maxNameWidth))
  return lines.flatMap((line) => formatLine(line, { nameWidth, stream }))
}

interface Layout {
  readonly nameWidth: number
  readonly stream: NodeJS.WriteStream
}

function formatLine(
  { change, kind, name, breaking, remarks }: PlanLine,
  { nameWidth, stream }: Layout,
): readonly string[] {
  const symbol = change === undefined ? ' ' : paint(symbols[change][1], symbols[change][0], stream)
  const head = `  ${symbol} ${kind.padEnd(kindWidth)}${name}`
  if (remarks.length === 0) return [head]
  const column = nameAt + nameWidth + 3
  const isShort =
    remarks.length === 1 && nameAt + name.length + 3 + remarks[0]!.text.length + (breaking ? 11 : 0) <= widthOf(stream)
  if (name.length > nameWidth && isShort) return [`${head}   ${formatRemark(remarks[0]!, 0, stream)}`]
  const isBeside = name.length <= nameWidth && column + minRemarkWidth <= widthOf(stream)
  const indent = isBeside ? column : nameAt + 2
  const texts = remarks.map((remark) => formatRemark(remark, indent, stream))
  if (!isBeside) return [head, ...texts.map((text) => `${' '.repeat(indent)}${text}`)]
  const [first, ...rest] = texts
  return [
    `${head.padEnd(head.length + nameWidth - name.length)}   ${first}`,
    ...rest.map((text) => ' '.repeat(indent) + text),
  ]
}

const hardBlank = '\u00A0'

function formatRemark({ text, breaking, command }: Remark, indent: number, stream: NodeJS.WriteStream): string {
  // A command to copy stays on one line, and so does the name of a route.
  const routes = text.replaceAll(/\b([A-Z]{3,6}) (?=\/)/g, `$1${hardBlank}`)
  const kept = command === undefined ? routes : routes.replace(command, command.replaceAll(' ', hardBlank))
  const lines = wrap(breaking ? `${kept}${hardBlank.repeat(3)}BREAKING` : kept, indent, stream).split('\n')
  const wrapped = lines.map((line) => line.trimEnd().replaceAll(hardBlank, ' ')).join('\n')
  if (breaking) return wrapped.replace(/BREAKING$/, paint('red', 'BREAKING', stream))
  return command === undefined ? wrapped : wrapped.replace(command, paint('cyan', command, stream))
}

/** Aligns paths. */
function alignRoute(line: PlanLine): PlanLine {
  const [, method, rest] = /^([A-Z]+) (.*)$/.exec(line.name) ?? []
  return line.kind === 'route' && method !== undefined ? { ...line, name: `${method.padEnd(4)} ${rest}` } : line
}

/** Always shows changes that break callers or let everybody in; others up to a limit. */
function shorten(lines: readonly PlanLine[]): readonly PlanLine[] {
  const counts = new Map<string, number>()
  const shown: PlanLine[] = []
  const sortOf = ({ change, kind }: PlanLine) => `${change} ${kind}`
  const totals = Map.groupBy(lines, (line) => (isKept(line) ? '' : sortOf(line)))
  for (const line of lines) {
    const sort = sortOf(line)
    const before = counts.get(sort) ?? 0
    if (!isKept(line)) counts.set(sort, before + 1)
    const total = totals.get(sort)?.length ?? 0
    if (isKept(line) || before < maxOfSort || total === maxOfSort + 1) shown.push(shortenRemarks(line))
    else if (before === maxOfSort) shown.push({ ...line, name: `and ${total - maxOfSort} more`, remarks: [] })
  }
  return shown
}

function isKept({ breaking, isPublic }: PlanLine): boolean {
  return breaking || isPublic === true
}

function shortenRemarks(line: PlanLine): PlanLine {
  const { remarks } = line
  const breaking = remarks.filter((remark) => remark.breaking).length
  const maxShown = Math.max(breaking, maxRemarks)
  if (remarks.length <= maxShown + 1) return line
  const rest = { text: `and ${remarks.length - maxShown} more`, breaking: false }
  return { ...line, remarks: [...remarks.slice(0, maxShown), rest] }
}
