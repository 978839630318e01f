/** A column of a table. Where the table is too wide, those with a `shorten` give way, the first of them first. */
export interface Column {
  readonly title: string
  readonly cells: readonly string[]
  /** Makes a text fit. */
  readonly shorten?: (text: string, width: number) => string
  /** Columns before it give way first; 0 is first. */
  readonly order?: number
  readonly least?: number
}

const gap = 2

/** Sets texts in columns, each line at most as wide as there is place. */
export function formatTable(columns: readonly Column[], width: number): string[] {
  const widths = fitWidths(columns, width)
  const rows = [columns.map(({ title }) => title), ...transpose(columns)]
  return rows.map((row) =>
    row
      .map((text, index) => {
        const { shorten } = columns[index]!
        const room = widths[index]!
        return (text.length > room && shorten !== undefined ? shorten(text, room) : text).padEnd(room + gap)
      })
      .join('')
      .trimEnd(),
  )
}

function transpose(columns: readonly Column[]): string[][] {
  const [first] = columns
  return (first?.cells ?? []).map((_, row) => columns.map(({ cells }) => cells[row] ?? ''))
}

function fitWidths(columns: readonly Column[], width: number): number[] {
  const widths = columns.map(({ title, cells }) => Math.max(title.length, ...cells.map(({ length }) => length)))
  let surplus = widths.reduce((sum, one) => sum + one + gap, -gap) - width
  const yielding = columns
    .map(({ shorten, order = 0, least = 8 }, index) => ({ index, order, least, canYield: shorten !== undefined }))
    .filter(({ canYield }) => canYield)
    .toSorted((a, b) => a.order - b.order)
  for (const { index, least } of yielding) {
    const cut = Math.max(0, Math.min(surplus, widths[index]! - least))
    widths[index]! -= cut
    surplus -= cut
  }
  return widths
}

/** Keeps the beginning. */
export function shortenEnd(text: string, width: number): string {
  return `${text.slice(0, width - 1)}…`
}

/** Keeps the end, and of a path whole folders where there is place for one. */
export function shortenPath(text: string, width: number): string {
  const tail = text.slice(text.length - width + 1)
  const slash = tail.indexOf('/')
  return `…${slash === -1 ? tail : tail.slice(slash)}`
}
