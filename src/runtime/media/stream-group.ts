/** The open streams of one method of a generation. */
export class StreamGroup {
  readonly #cuts = new Set<() => void>()
  #hasEnded = false

  /**
   * Adds a stream.
   * @param cut called when other code replaces the method
   * @returns a function that removes it
   */
  add(cut: () => void): () => void {
    this.#cuts.add(cut)
    if (this.#hasEnded) setImmediate(cut) // its request was accepted before
    return () => void this.#cuts.delete(cut)
  }

  /** Cuts all streams, so that their clients connect again and reach the new code. */
  end(): void {
    this.#hasEnded = true
    for (const cut of this.#cuts) cut()
  }
}
