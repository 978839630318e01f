/** A row of the report. */
export interface Figure {
  readonly what: string
  readonly figure: string
  /** The goal; empty for comparison figures. */
  readonly goal: string
  /** The figure relative to the goal or to the peer's figure. */
  readonly ratio: number | undefined
  readonly isMet: boolean | undefined
}

/** A value with its unit. */
export interface Amount {
  readonly value: number
  readonly unit: string
}

export function atMost(what: string, { value, unit }: Amount, limit: number): Figure {
  const ratio = limit === 0 ? undefined : value / limit
  return { what, figure: write({ value, unit }), goal: `≤ ${limit} ${unit}`.trim(), ratio, isMet: value <= limit }
}

export function atLeast(what: string, { value, unit }: Amount, limit: number): Figure {
  const isMet = value >= limit
  return { what, figure: write({ value, unit }), goal: `≥ ${limit} ${unit}`.trim(), ratio: value / limit, isMet }
}

/** @param ratio relative to the compared figure */
export function beside(what: string, figure: Amount | string, ratio?: number): Figure {
  return {
    what,
    figure: typeof figure === 'string' ? figure : write(figure),
    goal: '',
    ratio,
    isMet: undefined,
  }
}

function write({ value, unit }: Amount): string {
  const digits = unit === '' && !Number.isInteger(value) ? 2 : Number.isInteger(value) ? 0 : 1
  return `${value.toFixed(unit === 's' ? 2 : digits)} ${unit}`.trim()
}

/** Returns the report as a table, with headings first. */
export function printTable(figures: readonly Figure[]): string {
  const rows = [
    ['what', 'figure', 'goal', 'ratio', ''],
    ...figures.map(({ what, figure, goal, ratio, isMet }) => [
      what,
      figure,
      goal,
      ratio?.toFixed(2) ?? '',
      isMet === undefined ? '' : isMet ? 'met' : 'NOT MET',
    ]),
  ]
  const widths = rows[0]!.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)))
  return rows
    .map((row) =>
      row
        .map((cell, column) => pad(cell, widths[column]!, column))
        .join('  ')
        .trimEnd(),
    )
    .join('\n')
}

function pad(cell: string, width: number, column: number): string {
  return column === 0 || column === 4 ? cell.padEnd(width) : cell.padStart(width)
}
