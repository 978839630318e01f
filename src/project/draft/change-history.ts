import type { DraftChange, DraftFiles } from '../../backend/index.ts'
import { EditRefused, findValue, type Editing, type Texts } from '../../definition/index.ts'
import type { Clock } from '../../kit/index.ts'
import { escapeStep } from '../../schema/index.ts'

const maxChanges = 20
/** More than a person changes at once. Larger changes are named by their files alone. */
const maxEntries = 100

interface Seen extends Pick<DraftFiles, 'texts' | 'revision'> {
  /** The entries as JSON, by pointer; undefined if the files cannot be parsed. */
  readonly entries: ReadonlyMap<string, string> | undefined
}

/** The last changes of a folder's definition files: who made them, when, and what changed. */
export class ChangeHistory {
  readonly #clock: Clock
  #seen: Seen | undefined
  #changes: readonly DraftChange[] = []

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** The newest first. */
  list(): readonly DraftChange[] {
    return this.#changes
  }

  /** Compares the files with those of the last call. @param by who changed them; undefined for another program */
  record({ texts, revision, editing }: DraftFiles, by?: string): void {
    const before = this.#seen
    if (before?.revision === revision) return
    const entries = listEntries(editing)
    this.#seen = { texts, revision, entries }
    if (before === undefined) return
    const files = listChanged(before.texts, texts)
    const changed = before.entries && entries ? listChanged(before.entries, entries) : []
    const change = { by, at: this.#clock.now(), files, entries: changed.length > maxEntries ? [] : changed }
    this.#changes = [change, ...this.#changes].slice(0, maxChanges)
  }
}

function listEntries(editing: Editing): Seen['entries'] {
  try {
    const whole = findValue(editing, [])
    const sections = isMap(whole) ? Object.entries(whole) : []
    return new Map(
      sections.flatMap(([section, value]) =>
        isMap(value)
          ? Object.entries(value).map(
              ([name, one]) => [`/${section}/${escapeStep(name)}`, JSON.stringify(one)] as const,
            )
          : [[`/${section}`, JSON.stringify(value)] as const],
      ),
    )
  } catch (error) {
    if (error instanceof EditRefused) return undefined
    throw error
  }
}

function isMap(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function listChanged(before: ReadonlyMap<string, string> | Texts, after: ReadonlyMap<string, string> | Texts) {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name))
}
