/** A column of a table. If the table is too wide, columns with `narrow` become narrower in order. */
export interface Column {
  readonly title: string
  readonly cells: readonly string[]
  /** `wrap` continues a text that people need whole, such as a path, on the next line. `cut` keeps its beginning. */
  readonly narrow?: 'wrap' | 'cut'
  /** Columns with a lower order become narrower first; 0 is first. */
  readonly order?: number
  readonly minWidth?: number
}

const gap = 2

/** Formats columns as lines of limited width. */
export function formatTable(columns: readonly Column[], width: number): string[] {
  const widths = fitWidths(columns, width)
  const rows = [columns.map(({ title }) => title), ...transpose(columns)]
  return rows.flatMap((row) => {
    const cells = row.map((text, index) => fitCell(text, widths[index]!, columns[index]!.narrow))
    const height = Math.max(...cells.map(({ length }) => length))
    return Array.from({ length: height }, (_, line) =>
      cells
        .map((lines, index) => (lines[line] ?? '').padEnd(widths[index]! + gap))
        .join('')
        .trimEnd(),
    )
  })
}

function fitCell(text: string, width: number, narrow: Column['narrow']): readonly string[] {
  if (text.length <= width || narrow === undefined) return [text]
  return narrow === 'cut' ? [`${text.slice(0, width - 1)}…`] : wrapText(text, width)
}

/** Where a line may end, preferred first. */
const breaks = [/^.*[\s/](?=\S)/, /^.*[^\w$](?=\S)/]

/** Breaks lines after punctuation, or anywhere in a longer word. */
function wrapText(text: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = text
  while (rest.length > width) {
    const line = rest.slice(0, width + 1)
    const ends = breaks.map((one) => one.exec(line)?.[0].length ?? 0)
    // A break near the beginning would waste the line.
    const length = ends.find((end) => end > width / 3 && end <= width) ?? width
    lines.push(rest.slice(0, length).trimEnd())
    rest = rest.slice(length).trimStart()
  }
  return [...lines, rest]
}

function transpose(columns: readonly Column[]): string[][] {
  const [first] = columns
  return (first?.cells ?? []).map((_, row) => columns.map(({ cells }) => cells[row] ?? ''))
}

function fitWidths(columns: readonly Column[], width: number): number[] {
  const widths = columns.map(({ title, cells }) => Math.max(title.length, ...cells.map(({ length }) => length)))
  let surplus = widths.reduce((sum, one) => sum + one + gap, -gap) - width
  const shrinking = columns
    .map(({ narrow, order = 0, minWidth = 8 }, index) => ({
      index,
      order,
      minWidth,
      canShrink: narrow !== undefined,
    }))
    .filter(({ canShrink }) => canShrink)
    .toSorted((a, b) => a.order - b.order)
  for (const { index, minWidth } of shrinking) {
    const cut = Math.max(0, Math.min(surplus, widths[index]! - minWidth))
    widths[index]! -= cut
    surplus -= cut
  }
  return widths
}
