import { hasColour } from './format.ts'

/** Up one row, to its start, and nothing left in it. */
const rewind = '\u001B[1A\r\u001B[2K'

/** The last line of a terminal, which is replaced when the same thing happens again, so that polling does not flood it. */
export class LiveLine {
  readonly #stream: NodeJS.WriteStream
  readonly #others: NodeJS.WriteStream
  #last: { readonly key: string; readonly times: number; readonly mark: number } | undefined

  /** @param others the stream that may reach the same terminal */
  constructor(stream: NodeJS.WriteStream, others: NodeJS.WriteStream) {
    this.#stream = stream
    this.#others = others
  }

  /**
   * Writes a line, or replaces the last one where that had the same key and nothing was printed since.
   * @param key undefined for what is a line of its own each time
   * @param format given how often it happened
   */
  write(key: string | undefined, format: (times: number) => string): void {
    const isAgain = key !== undefined && this.#last?.key === key && this.#last.mark === this.#position()
    const times = isAgain ? this.#last!.times + 1 : 1
    const text = format(times)
    this.#stream.write(`${isAgain ? rewind : ''}${text}\n`)
    // Only of one row is it known where it begins; without a terminal, or on a plain one, nothing is replaced.
    const canReplace = key !== undefined && !text.includes('\n') && hasColour(this.#stream)
    this.#last = canReplace ? { key, times, mark: this.#position() } : undefined
  }

  /** Code of the project prints to the same terminal, and then the last line is no longer ours. */
  #position(): number {
    return this.#stream.bytesWritten + this.#others.bytesWritten
  }
}
