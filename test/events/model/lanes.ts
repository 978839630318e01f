// A model of several workers, their machines, clocks and database, in simulated time. The workers are the real code.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { executeEvents, makeDispatcher, replayDelivery } from '../../../src/events/index.ts'
import { defaultSettings, isWaypostError, makeUuid } from '../../../src/kit/index.ts'
import type { Outbound, Post as SentPost, PostResult } from '../../../src/outbound/index.ts'
import { cancelDeliveries, makeSecrets, type System } from '../../../src/store/index.ts'
import { copySystem } from '../../support/migrated.ts'
import type { Database } from './database.ts'
import { Rules, type Worker } from './rules.ts'
import { Process, simulate, Simulation, type Random } from './simulation.ts'

const chaosMs = 45_000
/** After everything is healed: correcting times takes a minute, the lease of a killed worker and its end 20 s. */
const healedMs = 120_000
const settings = {
  ...defaultSettings,
  delivery_delays: [300, 1000, 3000],
  delivery_timeout: 30_000,
  delivery_concurrency: 8,
  delivery_concurrency_per_endpoint: 3,
}
const catalog = { note: {} }
const secrets = makeSecrets('a secret that is long enough for a test')

const faults = [
  'stop',
  'suspend',
  'kill',
  'leave',
  'one-shot',
  'database-forward',
  'database-backward',
  'wall-forward',
  'wall-backward',
  'outage',
  'loss',
  'slow',
  'cancel',
  'replay',
] as const
export type Fault = (typeof faults)[number]

export interface Result {
  readonly seed: number
  readonly posts: number
  readonly faults: readonly Fault[]
  /** What is wrong; empty if nothing is. */
  readonly problems: readonly string[]
  /** What happened, oldest first. */
  readonly trace: readonly string[]
}

export interface RunOptions {
  readonly isTraced?: boolean
  /** What happens; by default some of all faults, depending on the seed. */
  readonly faults?: readonly Fault[] | undefined
}

export async function runModel(seed: number, options: RunOptions = {}): Promise<Result> {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-model-'))
  try {
    const file = path.join(folder, 'system.db')
    await copySystem(`sqlite:${file}`, '')
    const simulation = new Simulation(seed)
    const end = simulate(simulation.random)
    const model = new Model(file, simulation, options)
    try {
      await model.run()
    } finally {
      model.database.close()
      end()
    }
    const { posts, problems, trace } = model.rules
    return { seed, posts: posts.length, faults: [...model.chosen], problems, trace }
  } finally {
    await rm(folder, { recursive: true })
  }
}

class Model {
  readonly simulation: Simulation
  readonly database: Database
  readonly rules: Rules
  readonly random: Random
  /** Of this run. */
  readonly chosen: ReadonlySet<Fault>
  readonly #operator: Process
  readonly #system: System
  readonly #subscriptions: { readonly id: string; readonly lane: number }[] = []
  #isCalm = false
  /** A breaker stays open longer by as much as the database's clock is set back. */
  #healedMs = healedMs
  /** One after the other, because the order counts. */
  #dispatched: Promise<void> = Promise.resolve()
  /** Operations of the operator. */
  #underway = 0

  constructor(file: string, simulation: Simulation, { isTraced = false, faults: given }: RunOptions) {
    this.simulation = simulation
    this.random = simulation.random
    this.rules = new Rules(file, simulation, isTraced)
    this.database = this.rules.database
    this.#operator = new Process(simulation, 'operator')
    this.#system = this.database.systemOf(this.#operator)
    const chosen = new Set<Fault>(given ?? faults.filter(() => this.random.chance(0.35)))
    // A suspension is noticed by the wall clock, so it may not go back at the same time.
    if (chosen.has('suspend')) chosen.delete('wall-backward')
    this.chosen = chosen
    this.database.lossRate = chosen.has('loss') ? 0.03 : 0
    this.database.slowRate = chosen.has('slow') ? 0.1 : 0.01
  }

  async run(): Promise<void> {
    this.#prepare()
    const { random, simulation } = this
    for (let count = random.between(1, 4); count > 0; count--)
      simulation.after(random.between(0, 3000), () => this.#join())
    const actions: readonly (() => void)[] = [
      () => this.#join(),
      () => this.#join(),
      () => this.#dispatch(),
      () => this.#dispatch(),
      () => this.#dispatch(),
      ...[...this.chosen].flatMap((fault) => this.#actionsOf(fault)),
    ]
    for (let count = random.between(15, 40); count > 0; count--) {
      simulation.after(random.between(0, chaosMs), random.pick(actions))
    }
    this.#dispatch()
    simulation.after(chaosMs, () => this.#heal())
    await this.#runUntil('the faults end', chaosMs, () => this.#isCalm)
    await this.#runUntil('everything is posted', this.#healedMs, () => this.#isIdle())
    for (let rounds = 0; rounds < 5 && this.#listFinished().length > 0; rounds++) {
      for (const id of this.#listFinished())
        this.#operate('replay', () => replayDelivery(this.#system, { delivery: id }))
      await this.#runUntil('everything is replayed', this.#healedMs, () => this.#isIdle())
    }
    if (this.rules.problems.length > 0) return
    const left = this.database.select("select id, status from waypost_delivery where status <> 'delivered'")
    if (left.length > 0) this.rules.fail(`not delivered at the end: ${JSON.stringify(left)}`)
    for (const worker of this.rules.workers) worker.abort.abort()
    const living = this.rules.workers.filter((worker) => worker.process.state !== 'killed')
    await this.#runUntil('all workers leave', this.#healedMs, () => living.every((worker) => worker.hasEnded))
    if (this.rules.problems.length > 0) return
    this.rules.checkLeft(living, !this.chosen.has('loss') && !this.chosen.has('outage'))
  }

  #prepare(): void {
    const { database, random } = this
    const user = makeUuid()
    database.select("insert into waypost_user (id, name, status, created_at) values (?, 'a', 'active', 0)", user)
    database.select("insert into waypost_user_scope (user_id, scope) values (?, 'consumer')", user)
    const lanes = Array.from({ length: random.between(2, 6) }, () => random.between(0, 63))
    for (let number = random.between(3, 10); number > 0; number--) {
      const id = `sub_${String(number).padStart(4, '0')}`
      const lane = random.pick(lanes)
      const secret = secrets.seal('whsec_c2VjcmV0', { table: 'waypost_subscription', row: id, column: 'secret' })
      database.select(
        `insert into waypost_subscription (id, user_id, event, endpoint, secret, status, revision, created_at, lane, ordered)
          values (?, ?, 'note', ?, ?, 'active', 1, 0, ?, ?)`,
        id,
        user,
        `https://h${random.between(1, 3)}.example/${random.between(1, 3)}`,
        secret,
        lane,
        random.chance(0.3) ? 1 : 0,
      )
      this.#subscriptions.push({ id, lane })
    }
  }

  /** @param limitMs how long that may take */
  async #runUntil(what: string, limitMs: number, isDone: () => boolean): Promise<void> {
    const end = this.simulation.now + limitMs
    for (let steps = 0; this.rules.problems.length === 0; steps++) {
      const isOver = !(await this.simulation.step()) || this.simulation.now > end
      this.rules.checkLeases()
      if ((steps % 20 === 0 || isOver) && isDone()) return
      if (isOver) this.rules.fail(`in ${limitMs / 1000} s not reached that ${what}: ${this.#describe()}`)
    }
  }

  #describe(): string {
    return JSON.stringify(
      this.database.select(`
      select id, status, due_at - (select ms from model_clock) as due, lane, turn, failures, lost
      from waypost_delivery where status = 'pending' limit 3`),
    )
  }

  #isIdle(): boolean {
    const [row] = this.database.select<{ waiting: number }>(`select (
      select count(*) from waypost_delivery where status = 'pending') + (
      select count(*) from waypost_message where fanned_out_at is null) as waiting`)
    return row!.waiting === 0 && this.#underway === 0
  }

  #listFinished(): readonly string[] {
    const rows = this.database.select<{ id: string }>(
      "select id from waypost_delivery where status in ('dead', 'cancelled') order by id",
    )
    return rows.map((row) => row.id)
  }

  // What happens

  #actionsOf(fault: Fault): readonly (() => void)[] {
    const { random, simulation, database } = this
    const freeze = (how: 'stopped' | 'suspended') => () =>
      this.#withWorker(({ process }) => {
        const ms = random.pick([1000, 10_000, 30_000, 40_000]) * random.next()
        this.rules.note(`${process.name} is ${how} for ${ms}`)
        process.freeze(how)
        simulation.after(ms, () => process.thaw())
      })
    const turnDatabase = (sign: 1 | -1) => () => {
      const ms = sign * random.pick([700, 5000, 20_000, 60_000])
      this.rules.note(`the database's clock is set by ${ms}`)
      database.ahead += ms
      if (sign < 0) this.#healedMs -= ms
      this.rules.clockChangedAt = simulation.now
    }
    const turnWall = (sign: 1 | -1) => () =>
      this.#withWorker(({ process }) => {
        process.wallAhead += sign * random.pick([700, 5000, 20_000, 60_000])
        this.rules.note(`the clock of ${process.name} is ${process.wallAhead} ahead`)
      })
    const actions: Record<Fault, (() => void) | undefined> = {
      stop: freeze('stopped'),
      suspend: freeze('suspended'),
      kill: () => this.#withWorker((worker) => this.#kill(worker)),
      leave: () =>
        this.#withWorker((worker) => {
          this.rules.note(`${worker.process.name} is asked to leave`)
          worker.process.run(() => worker.abort.abort())
        }),
      'one-shot': () => this.#join(true),
      'database-forward': turnDatabase(1),
      'database-backward': turnDatabase(-1),
      'wall-forward': turnWall(1),
      'wall-backward': turnWall(-1),
      outage: () => {
        if (database.isAway) return
        const how = random.pick(['refuses', 'hangs'] as const)
        const ms = random.pick([500, 5000, 30_000, 40_000]) * random.next()
        this.rules.note(`the database ${how} for ${ms}`)
        database.leave(how)
        simulation.after(ms, () => database.return())
      },
      loss: undefined,
      slow: undefined,
      cancel: () => {
        const subscription = random.pick(this.#subscriptions)
        this.rules.note(`cancels of ${subscription.id}`)
        this.#operate('cancel', () =>
          cancelDeliveries(this.#system, this.#system.db, {
            subscriptions: [subscription],
            limit: random.between(1, 5),
          }),
        )
      },
      replay: () => {
        for (const id of this.#listFinished().slice(0, 3)) {
          this.rules.note(`replays ${id}`)
          this.#operate('replay', () => replayDelivery(this.#system, { delivery: id }))
        }
      },
    }
    const action = actions[fault]
    return action === undefined ? [] : [action, action]
  }

  #withWorker(work: (worker: Worker) => void): void {
    const running = this.rules.workers.filter((worker) => worker.process.isRunning && !worker.hasEnded)
    if (running.length > 0) work(this.random.pick(running))
  }

  #dispatch(): void {
    const count = this.random.between(1, 6)
    this.rules.note(`dispatches ${count}`)
    this.#operate(
      'dispatch',
      () =>
        (this.#dispatched = this.#dispatched
          .catch(() => undefined)
          .then(() => {
            const dispatcher = makeDispatcher(this.#system, catalog)
            return dispatcher.store(
              Array.from({ length: count }, (_, data) => dispatcher.prepare({ event: 'note', data })),
            )
          })),
    )
  }

  /** What an operator or an action does. It may fail, for example because the database is away. */
  #operate(what: string, work: () => Promise<unknown>): void {
    this.#underway++
    this.#operator
      .run(work)
      .catch((error: unknown) => {
        if (!isWaypostError(error)) this.rules.fail(`${what}: ${String((error as Error).stack)}`)
      })
      .finally(() => this.#underway--)
  }

  #join(isOneShot = false, most = 4): void {
    const staying = this.rules.workers.filter(({ process, abort, hasEnded }) => {
      return process.state !== 'killed' && !hasEnded && !abort.signal.aborted
    })
    if (staying.length >= most) return
    const process = new Process(this.simulation, `W${this.rules.workers.length + 1}`)
    const abort = new AbortController()
    const worker: Worker = { process, abort, ids: [], isOneShot, hasEnded: false }
    this.rules.workers.push(worker)
    this.rules.note(`${process.name} starts${isOneShot ? ' once' : ''}`)
    const options = {
      system: this.database.systemOf(process),
      clock: process.clock,
      secrets,
      outbound: this.#outboundOf(worker),
      userAgent: 'model',
      catalog: () => catalog,
      settings: () => settings,
      signal: abort.signal,
      watch: !isOneShot,
      onError: (error: unknown) => this.rules.checkError(worker, error),
    }
    process
      .run(() => executeEvents(options))
      .catch((error: unknown) => this.rules.checkError(worker, error))
      .finally(() => {
        worker.hasEnded = true
        this.rules.note(`${process.name} has ended`)
      })
  }

  #kill(worker: Worker): void {
    this.rules.note(`${worker.process.name} is killed`)
    worker.process.freeze('killed')
    for (const post of this.rules.posts) if (post.of === worker) post.isOpen = false
    if (this.random.chance(0.5)) return
    // All processes of the model are one. For this row, it is another one on the same machine, which has ended.
    for (const id of worker.ids)
      this.database.select("update waypost_worker set pid = 4194999, started = 'x' where id = ?", id)
  }

  #heal(): void {
    this.rules.note('everything is healed')
    this.#isCalm = true
    this.database.return()
    this.database.lossRate = 0
    this.database.slowRate = 0
    for (const { process } of this.rules.workers) process.thaw()
    for (let count = 0; count < 2; count++) this.#join(false, Infinity)
    this.database.addLate()
  }

  #outboundOf(worker: Worker): Outbound {
    return {
      post: (sent) => this.#post(worker, sent),
      checkUrl: async () => undefined,
      fetch: async () => await Promise.reject(new Error('workers only post')),
      close: async () => undefined,
    }
  }

  #post(of: Worker, { headers, signal, timeoutMs }: SentPost): Promise<PostResult> {
    const { random, simulation } = this
    const post = this.rules.begin(of, headers['webhook-id']!)
    const ms =
      this.#isCalm || random.chance(0.8) ? random.between(1, 60) : random.pick([1000, 8000, 40_000]) * random.next()
    const text = `post-${post.number}`
    const status = this.#isCalm || random.chance(0.85) ? 204 : 500
    const isLate = ms > timeoutMs
    const latencyMs = Math.round(Math.min(ms, timeoutMs))
    return new Promise((resolve) => {
      let isOver = false
      const end = (result: PostResult) => {
        isOver = true
        resolve(result)
      }
      simulation.after(latencyMs, () => {
        post.isOpen = false
        const result = isLate ? { failure: text, latencyMs } : { status, answer: text, latencyMs }
        simulation.after(random.between(0, 2), () => end(result), of.process)
      })
      signal?.addEventListener('abort', () => {
        if (isOver) return
        this.rules.note(`${of.process.name} aborts ${text}`)
        post.isOpen = false
        post.wasAborted = true
        end({ failure: 'aborted', latencyMs: 0 })
      })
    })
  }
}
