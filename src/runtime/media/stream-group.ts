/** A stream whose connection can be cut. */
interface Cuttable {
  cut(why: 'code replaced'): void
}

/** The open streams of one method of a generation. */
export class StreamGroup {
  readonly #open = new Set<Cuttable>()
  #hasEnded = false

  add(stream: Cuttable): void {
    this.#open.add(stream)
    if (this.#hasEnded) setImmediate(() => stream.cut('code replaced')) // its request was accepted before
  }

  remove(stream: Cuttable): void {
    this.#open.delete(stream)
  }

  /** Cuts all streams, so that their clients connect again and reach the new code. */
  end(): void {
    this.#hasEnded = true
    for (const stream of this.#open) stream.cut('code replaced')
  }
}
