import { closeSync, openSync, readSync, renameSync, rmSync, statSync } from 'node:fs'

/** `same`; `replaced` if another file is at the path; `changed` if a program other than SQLite may have written to the file. */
export type FileState = 'same' | 'changed' | 'replaced'

interface Known {
  readonly device: bigint
  readonly inode: bigint
  readonly modified: bigint
  readonly size: bigint
  readonly log: LogState | undefined
  readonly logInode: bigint | undefined
}

interface LogState extends LogProgress {
  /** How often the log has started again, as its header says; undefined while it is empty. */
  readonly starts: string | undefined
}

export interface LogProgress {
  /** How many pages the write-ahead log has. */
  readonly pages: number
  /** How many of them have been copied to the file. */
  readonly copied: number
  /** What `pragma data_version` says, which each commit of another handle changes. */
  readonly version: unknown
}

/** @returns undefined if the file has no log or this is unknown */
export type ReadProgress = () => LogProgress | undefined

/**
 * Whether the file at a path is still the one that this process has open, with the content that SQLite gave it.
 *
 * SQLite does not notice a restored file: changes of the write-ahead log, which belong to the former content, are mixed with
 * those of the new one (https://www.sqlite.org/howtocorrupt.html, 1.4 and 2.4). While a file is open, SQLite only changes it
 * by copying pages from the log, which the log records. The file itself must not be read: closing it would free SQLite's
 * locks. A process that ended while it copied, and a program that only sets the time of the file, look like one that wrote to
 * it, so a changed file can be accepted after a check.
 */
export class FileIdentity {
  readonly #file: string
  #known: Known | undefined
  #isReplaced = false
  #changedSince: number | undefined
  #suspect: Pick<Known, 'modified' | 'size'> | undefined

  constructor(file: string) {
    this.#file = file
  }

  get isReplaced(): boolean {
    return this.#isReplaced
  }

  /** How long the content has differed from what SQLite wrote, in milliseconds. Another process may still be copying pages. */
  get changedMs(): number {
    return this.#changedSince === undefined ? 0 : performance.now() - this.#changedSince
  }

  /** Compares the file with what it was. The first call notes it. Takes 4 µs if nothing has changed. */
  compare(readProgress: ReadProgress): FileState {
    if (this.#isReplaced) return 'replaced'
    const progress = readProgress() // before the time: the log records what was copied after it was written to the file
    const found = statSync(this.#file, { bigint: true, throwIfNoEntry: false })
    if (found === undefined) return 'replaced' // it may come back
    const known = this.#known
    if (known !== undefined && (found.ino !== known.inode || found.dev !== known.device)) {
      this.#isReplaced = true
      setAside(this.#file, known.logInode)
      return 'replaced'
    }
    const isUnchanged = found.mtimeNs === known?.modified
    const log = readLog(this.#file, progress, isUnchanged ? known?.log : undefined)
    if (known !== undefined && !isUnchanged && isSameLog(known.log, log)) {
      this.#changedSince ??= performance.now()
      this.#suspect = { modified: found.mtimeNs, size: found.size }
      return 'changed'
    }
    this.#changedSince = undefined
    const logInode = isUnchanged ? known.logInode : inodeOf(logOf(this.#file))
    const { dev: device, ino: inode, mtimeNs: modified, size } = found
    this.#known = { device, inode, modified, size, log, logInode }
    return 'same'
  }

  /** The time of the changed file; undefined if it cannot be accepted, because SQLite does not shorten a file without a log. */
  get acceptable(): bigint | undefined {
    const [known, suspect] = [this.#known, this.#suspect]
    return known === undefined || suspect === undefined || suspect.size < known.size ? undefined : suspect.modified
  }

  /** Takes the changed file of this time for the one that is open, after it was checked. */
  accept(modified: bigint): void {
    if (this.#known !== undefined) this.#known = { ...this.#known, modified, log: undefined }
  }
}

/** Whether nothing was copied from the log in between. An empty log does not tell: a commit may have been copied and removed. */
function isSameLog(before: LogState | undefined, now: LogState | undefined): boolean {
  if (before === undefined || now === undefined) return false
  if (now.starts === undefined && before.version !== now.version) return false
  return before.copied === now.copied && before.pages <= now.pages && before.starts === now.starts
}

/** @param known the state of the same log, if it cannot have started again */
function readLog(file: string, progress: LogProgress | undefined, known: LogState | undefined): LogState | undefined {
  if (progress === undefined) return undefined
  if (progress.pages === 0) return { ...progress, starts: undefined }
  return { ...progress, starts: known?.starts ?? readStarts(file) }
}

function logOf(file: string): string {
  return `${file}-wal`
}

function inodeOf(file: string): bigint | undefined {
  return statSync(file, { bigint: true, throwIfNoEntry: false })?.ino
}

/** The log of the former file would be taken for that of the new one by the next process that opens it. */
function setAside(file: string, logInode: bigint | undefined): void {
  if (logInode === undefined || logInode !== inodeOf(logOf(file))) return
  try {
    renameSync(logOf(file), `${logOf(file)}.replaced`)
    rmSync(`${file}-shm`, { force: true })
  } catch {
    // another process has done this, or the folder cannot be written
  }
}

/** Where the number is in the header: https://www.sqlite.org/fileformat.html#walformat */
const startsAt = 12

/** Reading the log frees no lock. */
function readStarts(file: string): string | undefined {
  const starts = Buffer.alloc(4)
  try {
    const descriptor = openSync(logOf(file), 'r')
    try {
      readSync(descriptor, starts, 0, starts.length, startsAt)
    } finally {
      closeSync(descriptor)
    }
    return starts.toString('hex')
  } catch {
    return undefined
  }
}
