import { readEnvironment, variable } from '../../src/kit/index.ts'

/** To the start of the row, and nothing left in it. */
const clear = '\r\u001B[2K'
/** Nothing left behind the text: what is overwritten in place does not flicker. */
const clearRest = '\u001B[K'
const everyMs = 100
/** Work that is over sooner shows none. */
const firstMs = 300

/** The last row of a terminal, which says how far the work is, and is gone at its end. Elsewhere it does nothing. */
export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  readonly #format: () => string
  readonly #timers: NodeJS.Timeout[] = []
  #shown = ''

  /** @param format called ten times a second at most */
  constructor(stream: NodeJS.WriteStream, format: () => string) {
    this.#stream = stream
    this.#format = format
    if (!stream.isTTY || variable(readEnvironment(), 'TERM') === 'dumb') return
    const start = setTimeout(() => {
      this.#paint()
      this.#timers.push(setInterval(() => this.#paint(), everyMs).unref())
    }, firstMs).unref()
    this.#timers.push(start)
  }

  /** Prints something that stays, above the line. */
  above(print: () => void): void {
    this.#clear()
    print()
  }

  end(): void {
    for (const timer of this.#timers.splice(0)) clearTimeout(timer)
    this.#clear()
  }

  #paint(): void {
    // A row that wraps could not be overwritten.
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
