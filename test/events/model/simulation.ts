// Processes in simulated time. Nothing happens by itself: a scheduler runs one event after the other, and what is random
// comes from a seed, so that a run can be repeated.
import { AsyncLocalStorage } from 'node:async_hooks'
import crypto from 'node:crypto'
import { syncBuiltinESMExports } from 'node:module'
import timers from 'node:timers/promises'
import { makeId, type Clock } from '../../../src/kit/index.ts'

/** Numbers that depend on a seed only. */
export class Random {
  #state: number

  constructor(seed: number) {
    this.#state = seed
  }

  /** From 0 to 1. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) | 0
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }

  chance(probability: number): boolean {
    return this.next() < probability
  }

  /** An integer, both limits included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1))
  }

  pick<Value>(values: readonly Value[]): Value {
    return values[this.between(0, values.length - 1)]!
  }
}

interface Event {
  at: number
  /** Decides between events of the same time. */
  readonly order: number
  readonly process: Process | undefined
  readonly isTimer: boolean
  readonly run: () => void
}

/** A point in simulated time, in milliseconds, and what is to happen. */
export class Simulation {
  readonly random: Random
  /** The time of day at which it begins. Later than that of smaller seeds, because ids are made in order in a process. */
  readonly epoch: number
  now = 0
  readonly #events = new Set<Event>()

  constructor(seed: number) {
    this.random = new Random(seed)
    this.epoch = 1_800_000_000_000 + (seed % 100_000) * 86_400_000
  }

  /**
   * Lets something happen later.
   * @param process does it: while it is frozen, it waits
   */
  after(ms: number, run: () => void, process?: Process): void {
    this.add({ at: this.now + ms, order: this.random.next(), process, isTimer: false, run })
  }

  add(event: Event): void {
    this.#events.add(event)
  }

  cancel(event: Event): void {
    this.#events.delete(event)
  }

  /** Timers of a suspended machine stand still. */
  delayTimers(process: Process, ms: number): void {
    for (const event of this.#events) if (event.process === process && event.isTimer) event.at += ms
  }

  /**
   * Runs the next event and everything that follows from it without waiting.
   * @returns false if there is none
   */
  async step(): Promise<boolean> {
    let next: Event | undefined
    for (const event of this.#events) {
      if (next === undefined || event.at < next.at || (event.at === next.at && event.order < next.order)) next = event
    }
    if (next === undefined) return false
    this.#events.delete(next)
    this.now = Math.max(this.now, next.at)
    const { process, run } = next
    if (process === undefined) run()
    else if (process.isRunning) inside.run(process, run)
    else process.hold(next)
    await drain()
    return true
  }
}

/** The process in which the current code runs. */
const inside = new AsyncLocalStorage<Process>()

/** Something with its own clocks and timers, which can be stopped, suspended with its machine, or killed. */
export class Process {
  readonly clock: Clock
  readonly simulation: Simulation
  readonly name: string
  state: 'running' | 'stopped' | 'suspended' | 'killed' = 'running'
  /** How far the wall clock is ahead. */
  wallAhead = 0
  /** Since when it runs without a pause. */
  runsSince: number
  #suspendedMs = 0
  #frozenAt = 0
  readonly #held: Event[] = []

  constructor(simulation: Simulation, name: string) {
    this.simulation = simulation
    this.name = name
    this.runsSince = simulation.now
    const start = simulation.random.between(0, 1_000_000)
    this.clock = {
      now: () => simulation.epoch + simulation.now + this.wallAhead,
      monotonic: () => start + simulation.now - this.#suspendedMs,
    }
  }

  get isRunning(): boolean {
    return this.state === 'running'
  }

  /** Runs code in this process. */
  run<Value>(code: () => Value): Value {
    return inside.run(this, code)
  }

  freeze(how: 'stopped' | 'suspended' | 'killed'): void {
    this.state = how
    this.#frozenAt = this.simulation.now
  }

  /** What should have happened meanwhile happens now, in any order. */
  thaw(): void {
    if (this.state === 'running' || this.state === 'killed') return
    const { simulation } = this
    const frozenMs = simulation.now - this.#frozenAt
    const isSuspended = this.state === 'suspended'
    this.state = 'running'
    this.runsSince = simulation.now
    if (isSuspended) {
      this.#suspendedMs += frozenMs
      simulation.delayTimers(this, frozenMs)
    }
    for (const event of this.#held.splice(0)) {
      event.at = event.isTimer && isSuspended ? event.at + frozenMs : simulation.now + simulation.random.between(0, 3)
      simulation.add(event)
    }
  }

  hold(event: Event): void {
    this.#held.push(event)
  }

  /** A held event was cancelled. */
  release(event: Event): void {
    const place = this.#held.indexOf(event)
    if (place >= 0) this.#held.splice(place, 1)
  }

  startTimer(ms: number, run: () => void, isRepeated: boolean): Timer {
    return new Timer(this, { ms, run, isRepeated })
  }
}

class Timer {
  readonly #process: Process
  #event: Event | undefined

  constructor(process: Process, { ms, run, isRepeated }: { ms: number; run: () => void; isRepeated: boolean }) {
    this.#process = process
    const { simulation } = process
    const start = () => {
      const at = simulation.now + Math.max(1, ms) + simulation.random.between(0, 2)
      this.#event = { at, order: simulation.random.next(), process, isTimer: true, run: fire }
      simulation.add(this.#event)
    }
    const fire = () => {
      this.#event = undefined
      if (isRepeated) start()
      run()
    }
    start()
  }

  cancel(): void {
    if (this.#event === undefined) return
    this.#process.simulation.cancel(this.#event)
    this.#process.release(this.#event)
    this.#event = undefined
  }
}

const real = {
  setTimeout: globalThis.setTimeout,
  setInterval: globalThis.setInterval,
  setImmediate: globalThis.setImmediate,
  clearTimeout: globalThis.clearTimeout,
  clearInterval: globalThis.clearInterval,
  random: Math.random,
  now: Date.now,
  randomBytes: crypto.randomBytes,
  sleep: timers.setTimeout,
  yield: timers.setImmediate,
}

function drain(): Promise<void> {
  return new Promise((resolve) => real.setImmediate(resolve))
}

type Callback = (...values: unknown[]) => void

/**
 * Replaces timers, times and random numbers of the code that runs in a `Process`.
 * @returns ends that
 */
export function simulate(random: Random): () => void {
  const start =
    (isRepeated: boolean) =>
    (callback: Callback, ms?: number, ...values: unknown[]) => {
      const process = inside.getStore()
      if (process === undefined) return (isRepeated ? real.setInterval : real.setTimeout)(callback, ms, ...values)
      return process.startTimer(ms ?? 0, () => callback(...values), isRepeated)
    }
  const clear = (timer: unknown) => {
    if (timer instanceof Timer) timer.cancel()
    else real.clearTimeout(timer as NodeJS.Timeout)
  }
  const sleep = (ms: number) => new Promise<void>((resolve) => inside.getStore()!.startTimer(ms, resolve, false))
  const drawn = { bytes: 0 }
  Object.assign(globalThis, {
    setTimeout: start(false),
    setInterval: start(true),
    clearTimeout: clear,
    clearInterval: clear,
  })
  Object.assign(timers, {
    setTimeout: (ms: number, value: unknown) => (inside.getStore() === undefined ? real.sleep(ms, value) : sleep(ms)),
    setImmediate: (value: unknown) => (inside.getStore() === undefined ? real.yield(value) : sleep(0)),
  })
  Math.random = () => (inside.getStore() === undefined ? real.random() : random.next())
  Date.now = () => inside.getStore()?.clock.now() ?? real.now()
  Object.assign(crypto, {
    randomBytes(size: number) {
      drawn.bytes += size
      return Buffer.from(Array.from({ length: size }, () => random.between(0, 255)))
    },
  })
  syncBuiltinESMExports()
  while (drawn.bytes === 0) makeId('', 1) // uses up what another run has left
  return () => {
    const { random, now, randomBytes, sleep, yield: yieldToEventLoop, ...globals } = real
    Object.assign(globalThis, globals)
    Object.assign(timers, { setTimeout: sleep, setImmediate: yieldToEventLoop })
    Object.assign(crypto, { randomBytes })
    Math.random = random
    Date.now = now
    syncBuiltinESMExports()
  }
}
