import type { Texts } from '../../../definition/index.ts'

/** A version of the definition files, as the difference to one that was sent before. */
export interface SentVersion {
  readonly id: number
  /** Undefined: no files. */
  readonly from: number | undefined
  readonly set: readonly (readonly [file: string, text: string])[]
  readonly removed: readonly string[]
}

/** The input of a task, without its versions. */
export interface SentInput {
  readonly input: object
  /** The versions of the input, by its keys. */
  readonly uses: Readonly<Record<string, number>>
  readonly versions: readonly SentVersion[]
  /** Those that no later task needs. */
  readonly forgotten: readonly number[]
}

const keptVersions = 8

/** Sends versions to a thread. A text that it has is not sent again. */
export class VersionSender {
  readonly #ids = new WeakMap<Texts, number>()
  /** Those that the thread has, the last used ones last. */
  readonly #sent = new Map<number, Texts>()
  #last = 0

  send(input: object): SentInput {
    const versions: SentVersion[] = []
    const uses: Record<string, number> = {}
    const rest: Record<string, unknown> = {}
    for (const [key, value] of Object.entries(input) as [string, unknown][]) {
      if (!(value instanceof Map)) {
        rest[key] = value
        continue
      }
      const texts = value as Texts
      const id = this.#ids.get(texts) ?? (this.#last += 1)
      this.#ids.set(texts, id)
      if (!this.#sent.has(id)) versions.push(this.#describe(id, texts))
      this.#sent.delete(id)
      this.#sent.set(id, texts)
      uses[key] = id
    }
    const forgotten = [...this.#sent.keys()].slice(0, Math.max(0, this.#sent.size - keptVersions))
    for (const id of forgotten) this.#sent.delete(id)
    return { input: rest, uses, versions, forgotten }
  }

  #describe(id: number, texts: Texts): SentVersion {
    const [from, known = new Map<string, string>()] = [...this.#sent].at(-1) ?? []
    const set = [...texts].filter(([file, text]) => known.get(file) !== text)
    return { id, from, set, removed: [...known.keys()].filter((file) => !texts.has(file)) }
  }
}

/** The versions that a thread has. */
export class VersionReceiver {
  readonly #versions = new Map<number, Texts>()

  /** Returns the input with its versions. */
  receive({ input, uses, versions, forgotten }: SentInput): object {
    for (const { id, from, set, removed } of versions) {
      const texts = new Map(from === undefined ? [] : this.#versions.get(from))
      for (const file of removed) texts.delete(file)
      for (const [file, text] of set) texts.set(file, text)
      this.#versions.set(id, texts)
    }
    const used = Object.entries(uses).map(([key, id]) => [key, this.#versions.get(id)] as const)
    for (const id of forgotten) this.#versions.delete(id)
    return { ...input, ...Object.fromEntries(used) }
  }
}
