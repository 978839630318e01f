/** A table that another program made, as it makes it. */
export interface ForeignTable {
  readonly name: string
  readonly schema: readonly string[]
  /** What is posted; what it does not name gets its default. */
  readonly post: Readonly<Record<string, unknown>>
  /** The form that is chosen for new times of each column of which rows disagree. */
  readonly written?: Readonly<Record<string, 'milliseconds' | 'YYYY-MM-DD HH:MM:SS'>>
}

export type Engine = 'sqlite' | 'postgresql'

/** The tables of one program. Rows have equal values, neighbours of the smallest step, and nulls. */
export type ForeignProgram = Readonly<Record<Engine, readonly [ForeignTable, ...ForeignTable[]]>>

/** A time that is posted. */
export const at = '2026-03-01T10:00:00.250Z'
