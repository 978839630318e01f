import { hasColour } from './format.ts'

/** Moves to the start of the previous row and clears it. */
const rewind = '\u001B[1A\r\u001B[2K'

/**
 * The last line of a terminal, which is replaced if the same event repeats, so that polling does not flood the output.
 */
export class LiveLine {
  readonly #stream: NodeJS.WriteStream
  readonly #others: NodeJS.WriteStream
  #last: { readonly key: string; readonly times: number; readonly mark: number } | undefined

  /** @param others the stream that may write to the same terminal */
  constructor(stream: NodeJS.WriteStream, others: NodeJS.WriteStream) {
    this.#stream = stream
    this.#others = others
  }

  /**
   * Writes a line, or replaces the last one if it had the same key and nothing was printed since.
   * @param key undefined for a line that is never replaced
   * @param format receives the number of repetitions
   */
  write(key: string | undefined, format: (times: number) => string): void {
    const isAgain = key !== undefined && this.#last?.key === key && this.#last.mark === this.#position()
    const times = isAgain ? this.#last!.times + 1 : 1
    const text = format(times)
    this.#stream.write(`${isAgain ? rewind : ''}${text}\n`)
    // Only single rows on terminals with colours are replaced, since the start of longer ones is unknown.
    const canReplace = key !== undefined && !text.includes('\n') && hasColour(this.#stream)
    this.#last = canReplace ? { key, times, mark: this.#position() } : undefined
  }

  /** Project code may print to the same terminal. */
  #position(): number {
    return this.#stream.bytesWritten + this.#others.bytesWritten
  }
}
