import type { DraftChange, DraftFiles, DraftThread } from '../../backend/index.ts'
import type { Texts } from '../../definition/index.ts'
import type { Clock } from '../../kit/index.ts'

const maxChanges = 20

interface SeenChange extends Omit<DraftChange, 'entries'> {
  readonly before: Texts
  readonly after: Texts
  /** Found when the changes are listed. */
  entries?: Promise<readonly string[]>
}

/** The last changes of a folder's definition files: who made them, when, and what changed. */
export class ChangeHistory {
  readonly #clock: Clock
  readonly #thread: Pick<DraftThread, 'ask'>
  #seen: DraftFiles | undefined
  #changes: readonly SeenChange[] = []

  constructor(clock: Clock, thread: Pick<DraftThread, 'ask'>) {
    this.#clock = clock
    this.#thread = thread
  }

  /** The newest first. */
  async list(): Promise<readonly DraftChange[]> {
    for (const one of this.#changes) one.entries ??= this.#findEntries(one)
    return Promise.all(
      this.#changes.map(async ({ by, at, files, entries }) => ({ by, at, files, entries: await entries! })),
    )
  }

  /** None if they are not known: the change is named by its files. */
  async #findEntries({ before, after }: SeenChange): Promise<readonly string[]> {
    try {
      return await this.#thread.ask('changedEntries', { before, texts: after })
    } catch {
      return []
    }
  }

  /** Compares the files with those of the last call. @param by who changed them; undefined for another program */
  record(files: DraftFiles, by?: string): void {
    const before = this.#seen
    if (before?.revision === files.revision) return
    this.#seen = files
    if (before === undefined) return
    const change: SeenChange = {
      by,
      at: this.#clock.now(),
      files: listChanged(before.texts, files.texts),
      before: before.texts,
      after: files.texts,
    }
    this.#changes = [change, ...this.#changes].slice(0, maxChanges)
  }
}

function listChanged(before: Texts, after: Texts): readonly string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names].filter((name) => before.get(name) !== after.get(name))
}
