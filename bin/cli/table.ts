/** A column of a table. If the table is too wide, columns with `shorten` are shortened in order. */
export interface Column {
  readonly title: string
  readonly cells: readonly string[]
  /** Shortens a text to a width. */
  readonly shorten?: (text: string, width: number) => string
  /** Columns with a lower order are shortened first; 0 is first. */
  readonly order?: number
  readonly minWidth?: number
}

const gap = 2

/** Formats columns as lines of limited width. */
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
  const shrinking = columns
    .map(({ shorten, order = 0, minWidth = 8 }, index) => ({
      index,
      order,
      minWidth,
      canShrink: shorten !== undefined,
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

/** Keeps the beginning. */
export function shortenEnd(text: string, width: number): string {
  return `${text.slice(0, width - 1)}…`
}

/** Keeps the end, with whole folders of a path if one fits. */
export function shortenPath(text: string, width: number): string {
  const tail = text.slice(text.length - width + 1)
  const slash = tail.indexOf('/')
  return `…${slash === -1 ? tail : tail.slice(slash)}`
}
