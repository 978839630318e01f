import type { Alias, LineCounter, Node } from 'yaml'
import type { IncludeSite } from '../kit/index.ts'

/** One file of the definition: its text and what the YAML parser made of it. */
export interface Source {
  /** Relative to the project's root, with forward slashes. */
  readonly file: string
  readonly text: string
  readonly lines: LineCounter
  /** Undefined if it could not be parsed; that was reported. */
  readonly content: Node | null | undefined
  /** What each alias stands for; one whose anchor does not come before it is missing. */
  readonly aliases: ReadonlyMap<Alias, Node>
}

/** The file in which something stands, and who included that file. */
export interface Origin {
  readonly source: Source
  readonly includedAt: readonly IncludeSite[]
}

/** A marked text: offsets into the source's text. */
export interface Span {
  readonly origin: Origin
  readonly start: number
  readonly end: number
}
