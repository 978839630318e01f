import { writeSync } from 'node:fs'
import { hostname } from 'node:os'

/** Enough for a reader that pauses; a line is at most a few KB. */
const maxWaitingBytes = 1024 * 1024
const retryMs = 50
const newline = 10

/** How many lines all logs of this process dropped. */
let dropped = 0

const outputs = new Map<string, LogOutput>()

/** Returns the log on stdout or stderr. */
export function openLogOutput(file: 'stdout' | 'stderr'): LogOutput {
  const output = outputs.get(file) ?? new LogOutput(file)
  outputs.set(file, output)
  return output
}

/** Returns how many log lines this process could not write. */
export function droppedLogLines(): number {
  return dropped
}

/**
 * Writes log lines to stdout or stderr and never waits. Lines for a reader that has stopped are kept up to 1 MB. Lines
 * that cannot be written, for example because the disk is full, are dropped and counted; the next line that can be
 * written says how many.
 */
class LogOutput {
  readonly #fd: number
  #waiting: Buffer[] = []
  #waitingBytes = 0
  #droppedSince = 0
  /** Whether the last line was cut off. */
  #isTorn = false
  #retry: NodeJS.Timeout | undefined

  constructor(file: 'stdout' | 'stderr') {
    // Opening the stream makes a pipe non-blocking, for `writeSync` too.
    void process[file]
    this.#fd = file === 'stdout' ? 1 : 2
    process.once('exit', () => this.flush())
  }

  write(line: string): void {
    if (this.#waiting.length > 0) this.#keep(Buffer.from(line))
    else if (this.#droppedSince > 0 || this.#isTorn) this.#writeAfterDrop(line)
    else this.#send(Buffer.from(line))
  }

  /** Writes what waits for the reader, as far as it takes it. */
  flush(): void {
    const waiting = this.#waiting
    this.#waiting = []
    this.#waitingBytes = 0
    for (const bytes of waiting) {
      if (this.#waiting.length > 0) this.#keep(bytes)
      else this.#send(bytes)
    }
  }

  #writeAfterDrop(line: string): void {
    const count = this.#droppedSince
    const about = {
      level: 40,
      time: Date.now(),
      pid: process.pid,
      hostname: hostname(),
      dropped: count,
      msg: 'log lines could not be written',
    }
    const report = count === 0 ? '' : `${JSON.stringify(about)}\n`
    this.#droppedSince = 0
    const wasTorn = this.#isTorn
    this.#isTorn = false
    if (this.#send(Buffer.from((wasTorn ? '\n' : '') + report + line))) return
    this.#droppedSince += count
    this.#isTorn ||= wasTorn
  }

  /** @returns false if the bytes were dropped */
  #send(bytes: Buffer): boolean {
    let sent = 0
    try {
      while (sent < bytes.length) sent += writeSync(this.#fd, bytes, sent)
      return true
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'EAGAIN') {
        this.#keep(bytes.subarray(sent))
        return true
      }
      this.#isTorn = sent > 0 && bytes[sent - 1] !== newline
      this.#drop()
      return false
    }
  }

  #keep(bytes: Buffer): void {
    if (this.#waiting.length > 0 && this.#waitingBytes + bytes.length > maxWaitingBytes) return this.#drop()
    this.#waiting.push(bytes)
    this.#waitingBytes += bytes.length
    if (this.#retry !== undefined) return
    this.#retry = setTimeout(() => {
      this.#retry = undefined
      this.flush()
    }, retryMs).unref()
  }

  #drop(): void {
    this.#droppedSince += 1
    dropped += 1
  }
}
