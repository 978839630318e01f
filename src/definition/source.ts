import type { Alias, LineCounter, Node } from 'yaml'
import type { IncludeSite } from '../kit/index.ts'

/** A file of the definition: its text and the parser's result. */
export interface Source {
  /** Relative to the project's root, with forward slashes. */
  readonly file: string
  readonly text: string
  readonly lines: LineCounter
  /** Undefined if parsing failed, which was reported. */
  readonly content: Node | null | undefined
  /** The target of each alias. Aliases without a preceding anchor are missing. */
  readonly aliases: ReadonlyMap<Alias, Node>
}

/** A file and the sites that included it. */
export interface Origin {
  readonly source: Source
  readonly includedAt: readonly IncludeSite[]
}

/** A range of text: offsets into the source. */
export interface Span {
  readonly origin: Origin
  readonly start: number
  readonly end: number
}
