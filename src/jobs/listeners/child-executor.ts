import {
  recordStart,
  type ClaimedRun,
  type ListenerTermsOfRuns,
  type RunEnd,
  type RunExecutor,
} from '../../events/index.ts'
import { RunProcess, type ProcessOptions, type Task } from './run-process.ts'

const restartMs = 1000

export interface ChildOptions extends ProcessOptions {
  /** The number of child processes. */
  readonly count: number
  /** The release whose listeners run. */
  releaseId(): string | undefined
}

/**
 * Runs listeners in child processes, which start with the first run and end when they are idle for a minute. A new release
 * gets new ones; what runs ends in the old ones.
 */
export class ChildExecutor implements RunExecutor {
  readonly #options: ChildOptions
  readonly #shared: (RunProcess | undefined)[]
  /** For runs that must be alone, one after another. */
  #single: RunProcess | undefined
  readonly #alone: Task[] = []
  #isStartingAlone = false
  /** All that have not ended. */
  readonly #living = new Set<RunProcess>()
  #notBefore = -Infinity
  #isClosed = false

  constructor(options: ChildOptions) {
    this.#options = options
    this.#shared = Array.from({ length: options.count })
  }

  execute(run: ClaimedRun, listener: ListenerTermsOfRuns): Promise<RunEnd> {
    return new Promise((resolve) => {
      const task = { run, listener, resolve }
      if (run.lost > 0) {
        this.#alone.push(task)
        void this.#startAlone()
      } else this.#startShared(task)
    })
  }

  #startShared(task: Task): void {
    const places = this.#shared.map((process, place) => ({ place, size: process?.size ?? 0 }))
    const { place } = places.toSorted((a, b) => a.size - b.size || a.place - b.place)[0]!
    const process = this.#open(this.#shared[place])
    this.#shared[place] = process
    if (process === undefined) task.resolve({ kind: 'repeated', delayMs: restartMs })
    else process.start(task)
  }

  /** That it begins is recorded: of those that wait here, only this one can be why their worker ends. */
  async #startAlone(): Promise<void> {
    const next = this.#alone[0]
    if (next === undefined || this.#isStartingAlone || (this.#single?.size ?? 0) > 0) return
    this.#isStartingAlone = true
    const isOwn = await recordStart(this.#options.host.system, next.run).catch(() => false)
    this.#isStartingAlone = false
    if (this.#alone[0] !== next) return this.#startAlone() // it was aborted meanwhile
    this.#alone.shift()
    this.#single = this.#open(this.#single)
    const resolve = (result: RunEnd) => {
      next.resolve(result)
      setImmediate(() => void this.#startAlone())
    }
    if (!isOwn || this.#single === undefined) resolve({ kind: 'repeated', delayMs: restartMs })
    else this.#single.start({ ...next, resolve })
  }

  #isUsable(process: RunProcess): boolean {
    return process.isOpen && process.releaseId === this.#options.releaseId()
  }

  /** Returns the process, or one that replaces it; undefined if none can start now. */
  #open(process: RunProcess | undefined): RunProcess | undefined {
    if (process !== undefined && this.#isUsable(process)) return process
    process?.retire()
    const releaseId = this.#options.releaseId()
    if (this.#isClosed || releaseId === undefined || performance.now() < this.#notBefore) return undefined
    const opened = this.#fork(releaseId)
    if (opened === undefined) return undefined
    this.#living.add(opened)
    void opened.ended.then(() => {
      this.#living.delete(opened)
      if (opened.hasFailed) this.#notBefore = performance.now() + restartMs
    })
    return opened
  }

  /** Some errors of the operating system are thrown. */
  #fork(releaseId: string): RunProcess | undefined {
    try {
      return new RunProcess(this.#options, releaseId)
    } catch (error) {
      this.#options.onError(error)
      this.#notBefore = performance.now() + restartMs
      return undefined
    }
  }

  abort(): void {
    for (const { resolve } of this.#alone.splice(0)) resolve({ kind: 'repeated' })
    for (const process of this.#living) process.kill(() => ({ kind: 'repeated', reason: 'Its worker stopped' }))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.abort()
    await Promise.all([...this.#living].map((process) => process.ended))
  }
}
