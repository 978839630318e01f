import { readEnvironment, variable } from '../../src/kit/index.ts'
import { plural } from './format.ts'

/** Moves to the start of the row and clears it. */
const clear = '\r\u001B[2K'
/** Clears the rest of the row. Overwriting in place does not flicker. */
const clearRest = '\u001B[K'
const intervalMs = 100
/** Faster work shows no progress. */
const delayMs = 300

/** A progress message in the last row of a terminal, removed at the end. Prints nothing elsewhere. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  readonly #format: () => string
  readonly #timers: NodeJS.Timeout[] = []
  #shown = ''

  /** @param format called at most ten times per second */
  constructor(stream: NodeJS.WriteStream, format: () => string) {
    this.#stream = stream
    this.#format = format
    if (!stream.isTTY || variable(readEnvironment(), 'TERM') === 'dumb') return
    const start = setTimeout(() => {
      this.#paint()
      this.#timers.push(setInterval(() => this.#paint(), intervalMs).unref())
    }, delayMs).unref()
    this.#timers.push(start)
  }

  /** Prints permanent output above the line. */
  above(print: () => void): void {
    this.#clear()
    print()
  }

  end(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    this.#clear()
  }

  #paint(): void {
    // A wrapped row could not be overwritten.
    const text = this.#format().slice(0, Math.max(0, (this.#stream.columns || 80) - 1))
    if (text === this.#shown) return
    this.#stream.write(`\r${text}${clearRest}`)
    this.#shown = text
  }

  #clear(): void {
    if (this.#shown !== '') this.#stream.write(clear)
    this.#shown = ''
  }
}

/** Shows how many tokens a change has revoked so far. */
export async function showRevoked<Value>(
  work: (batches: { onBatch(tokens: number): void }) => Promise<Value>,
): Promise<Value> {
  let tokens = 0
  const line = new ProgressLine(process.stderr, () => `  ${plural(tokens, 'token')} revoked`)
  try {
    return await work({ onBatch: (count) => (tokens = count) })
  } finally {
    line.end()
  }
}
