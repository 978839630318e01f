// What must hold of workers whenever one posts or writes, whatever happens in the model.
import { isWaypostError } from '../../../src/kit/index.ts'
import { Database, type WorkerRow } from './database.ts'
import type { Process, Simulation } from './simulation.ts'

/** How long a renewed lease lasts, as docs/decisions/0025-deliveries-in-lanes.md promises. */
const leaseMs = 15_000
/** A process that was frozen needs a moment to notice that its lease is over. */
const noticeMs = 300

interface Post {
  readonly number: number
  readonly delivery: string
  readonly turn: number
  readonly lane: number
  readonly subscription: string
  readonly of: Worker
  /** Id of the worker's row. */
  readonly worker: string
  isOpen: boolean
  wasAborted: boolean
  isRecorded: boolean
}

export interface Worker {
  readonly process: Process
  readonly abort: AbortController
  /** Ids of its rows, the current one last. */
  readonly ids: string[]
  readonly isOneShot: boolean
  hasEnded: boolean
}

/** Watches the workers of one run. */
export class Rules {
  readonly database: Database
  readonly simulation: Simulation
  /** All that began, oldest first. */
  readonly posts: Post[] = []
  /** All that started, oldest first. */
  readonly workers: Worker[] = []
  readonly problems: string[] = []
  readonly trace: string[] = []
  /** When the database's clock was set. */
  clockChangedAt = -Infinity
  readonly #isTraced: boolean
  #rows: ReadonlyMap<string, WorkerRow> = new Map()
  /** When the lease of each row was renewed. */
  readonly #renewedAt = new Map<string, number>()
  readonly #recordedTurns = new Set<string>()

  /** @param file of the database */
  constructor(file: string, simulation: Simulation, isTraced: boolean) {
    this.simulation = simulation
    this.#isTraced = isTraced
    this.database = new Database(file, simulation, (process, text) => this.#checkWrite(process, text))
  }

  note(text: string): void {
    if (this.#isTraced) this.trace.push(`${(this.simulation.now / 1000).toFixed(3)} ${text}`)
  }

  fail(problem: string): void {
    this.problems.push(`${(this.simulation.now / 1000).toFixed(3)} s: ${problem}`)
    this.note(`PROBLEM ${problem}`)
  }

  checkError({ process }: Worker, error: unknown): void {
    this.note(`${process.name}: ${String(error)}`)
    if (!isWaypostError(error) || error.kind !== 'external')
      this.fail(`${process.name}: ${String((error as Error).stack)}`)
  }

  #readRows(): readonly WorkerRow[] {
    return this.database.select<WorkerRow>('select id, beat, lease_until, note from waypost_worker')
  }

  /** A POST begins under a live lease, of a delivery that a committed note contains, in an own lane. */
  begin(of: Worker, delivery: string): Post {
    const { database, simulation } = this
    const [row] = database.select<{
      lane: number
      owner: string | null
      subscription: string
      ordered: number
      earlier: string | null
    }>(
      `select d.lane, d.subscription_id as subscription, l.worker_id as owner, s.ordered, (
          select min(b.id) from waypost_delivery b where b.status = 'pending' and b.due_at = 0 and d.due_at = 0
            and b.subscription_id = d.subscription_id and b.message_id < d.message_id) as earlier
        from waypost_delivery d join waypost_lane l on l.lane = d.lane join waypost_subscription s on s.id = d.subscription_id
        where d.id = ?`,
      delivery,
    )
    const worker = of.ids.find((id) => id === row!.owner) ?? of.ids.at(-1)!
    const found = this.#readRows().find(({ id }) => id === worker)
    const turn = turnIn(found, delivery)
    const number = this.posts.length + 1
    const what = `${of.process.name} begins post-${number} of ${delivery} turn ${turn} (${worker})`
    this.note(what)
    const post = {
      number,
      delivery,
      turn: turn ?? -1,
      lane: row!.lane,
      subscription: row!.subscription,
      of,
      worker,
      isOpen: true,
      wasAborted: false,
      isRecorded: false,
    }
    const isExcused = this.#isExcused(worker)
    if (simulation.now - (this.#renewedAt.get(worker) ?? -Infinity) >= leaseMs) this.fail(`${what}: without a lease`)
    else if (!isExcused) {
      if (found === undefined) this.fail(`${what}: without a row`)
      else if (found.lease_until <= database.now) this.fail(`${what}: its lease is over in the database`)
      else if (turn === undefined) this.fail(`${what}: not in the note`)
      else if (row!.owner !== worker) this.fail(`${what}: in a lane of ${row!.owner}`)
    }
    if (row!.ordered === 1) {
      const other = this.posts.find(
        (one) => one.isOpen && one.subscription === row!.subscription && isAlert(one, simulation.now),
      )
      const isSure = other !== undefined && !isExcused && !this.#isExcused(other.worker)
      if (isSure) this.fail(`${what}: beside post-${other.number}`)
      if (row!.earlier !== null) this.fail(`${what}: before ${row!.earlier}`)
    }
    const before = this.posts.find((one) => one.delivery === delivery && one.turn === turn && !one.wasAborted)
    if (before !== undefined) this.fail(`${what}: post-${before.number} of ${before.of.process.name} was the same`)
    this.posts.push(post)
    return post
  }

  /** After the database's clock was set, a lease does not count until it is renewed. */
  #isExcused(worker: string): boolean {
    return this.clockChangedAt >= (this.#renewedAt.get(worker) ?? 0)
  }

  /** Leases end by themselves. */
  checkLeases(): void {
    const { now } = this.simulation
    for (const post of this.posts) {
      if (!post.isOpen || !isAlert(post, now)) continue
      if (now - this.#renewedAt.get(post.worker)! > leaseMs) {
        this.fail(`post-${post.number} of ${post.of.process.name} is open without a lease`)
      }
    }
  }

  /** @param isSure whether each statement was answered */
  checkLeft(workers: readonly Worker[], isSure: boolean): void {
    // A statement whose answer was lost may have left a row, which others end. A worker that knows its row renews it.
    const ids = new Set(workers.flatMap((worker) => (isSure ? worker.ids : worker.ids.slice(-1))))
    if (this.#readRows().some((row) => ids.has(row.id) && (isSure || row.beat > 0)))
      this.fail('a worker that left has a row')
  }

  #checkWrite(process: Process, text: string): void {
    const { now } = this.simulation
    const worker = this.workers.find((one) => one.process === process)
    const joined = text.startsWith('insert into "waypost_worker"') ? /wrk_\w+/.exec(text) : null
    if (joined !== null) worker!.ids.push(joined[0])
    const before = this.#rows
    this.#rows = new Map(this.#readRows().map((row) => [row.id, row]))
    for (const row of this.#rows.values()) {
      if (before.get(row.id)?.beat !== row.beat) this.#renewedAt.set(row.id, now)
    }
    this.note(`${process.name}: ${text.replaceAll(/\s+/g, ' ').slice(0, 100)}`)
    for (const one of this.database.takeRecorded()) {
      const post = this.posts.find(({ number }) => one.text === `post-${number}`)
      if (post === undefined) continue // lost: it ended without a POST
      const what = `${process.name} records ${one.text} of ${post.of.process.name} as turn ${one.turn} of ${one.delivery}`
      this.note(what)
      const turn = `${one.delivery} ${one.turn}`
      if (post.of.process !== process) this.fail(`${what}: not its own`)
      if (post.isRecorded) this.fail(`${what}: again`)
      if (post.turn !== one.turn || post.delivery !== one.delivery) this.fail(`${what}: it was turn ${post.turn}`)
      if (this.#recordedTurns.has(turn)) this.fail(`${what}: the turn has an outcome`)
      if (!before.has(post.worker)) this.fail(`${what}: without a row`)
      post.isRecorded = true
      this.#recordedTurns.add(turn)
    }
    this.#checkOpenPosts()
  }

  #checkOpenPosts(): void {
    const { now } = this.simulation
    const open = this.posts.filter((post) => post.isOpen)
    if (open.length === 0) return
    const owners = this.database.select<{ worker_id: string | null }>(
      'select worker_id from waypost_lane order by lane',
    )
    for (const post of open) {
      const row = this.#rows.get(post.worker)
      const what = `post-${post.number} of ${post.of.process.name} is open`
      const isExcused = this.#isExcused(post.worker)
      if (row !== undefined) {
        if (turnIn(row, post.delivery) !== post.turn) this.fail(`${what} and not in the note`)
        if (owners[post.lane]!.worker_id !== post.worker)
          this.fail(`${what} and its lane belongs to ${owners[post.lane]!.worker_id}`)
      }
      if (isExcused || !isAlert(post, now)) continue
      if (row === undefined) this.fail(`${what} and its worker has no row`)
      else if (row.lease_until <= this.database.now) this.fail(`${what} and the lease is over in the database`)
    }
  }
}

/** Whether the process of a POST runs and had time to notice what happened while it was frozen. */
function isAlert({ of }: Post, now: number): boolean {
  return of.process.isRunning && now - of.process.runsSince > noticeMs
}

function turnIn(row: WorkerRow | undefined, delivery: string): number | undefined {
  const note = JSON.parse(row?.note ?? '[]') as readonly (readonly [string, number])[]
  return note.find(([id]) => id === delivery)?.[1]
}
