import { sql, type RawBuilder } from 'kysely'
import { hasEnded, identifyProcess, makeId, type Clock, type ProcessIdentity } from '../../kit/index.ts'
import { nowOnce, type System, type SystemTables } from '../../store/index.ts'
import { shareOf } from './shares.ts'

/** How long a renewal of the lease lasts, and how long before its end a worker stops. */
const leaseMs = 15_000
const reserveMs = 1000
/** How long an observer sees no sign of a worker whose lease is over before it declares the worker dead. */
const unchangedMs = 3000
/** If an observer could not look for so long, other workers may have been stuck for as long, until their leases ended. */
const maxGapMs = 10_000
/** A lease that ends further ahead was written while the database's clock was wrong. */
const maxLeaseAheadMs = 2 * leaseMs
const isolatedMs = 60_000

/** A delivery as a note contains it. */
export type Noted = readonly [id: string, turn: number]

/** A time by both clocks of a process. The wall clock continues while the machine is suspended. */
export interface Moment {
  readonly monotonic: number
  readonly wall: number
}

/** What a member needs to know of the deliveries that its worker has loaded. */
export interface LoadedLanes {
  /** Lanes of which it has a delivery: in memory, under way, or not recorded. */
  usedLanes(): ReadonlySet<number>
  /** Forgets deliveries of the lane that are not under way. */
  forgetQueued(lane: number): void
}

/**
 * The membership of a worker: its row, its lease and its lanes. Only the worker of a lane posts for it, and only while
 * its lease lasts. Each change is one statement on PostgreSQL, so that a frozen process holds no lock.
 */
export class Member {
  readonly #system: System
  readonly #clock: Clock
  readonly #loaded: LoadedLanes
  /** The beats of other workers, and since when they have not changed. */
  readonly #seen = new Map<string, { readonly beat: number; readonly at: number }>()
  #lookedAt = -Infinity // by the monotonic clock
  #lanes: ReadonlySet<number> = new Set()
  #closing: ReadonlySet<number> = new Set()
  /** Undefined before the worker joins, and after its row was missing. */
  #id: string | undefined
  #renewedAt: Moment = { monotonic: -Infinity, wall: 0 }
  #isolatedUntil = -Infinity
  isLeaving = false

  constructor(system: System, clock: Clock, loaded: LoadedLanes) {
    this.#system = system
    this.#clock = clock
    this.#loaded = loaded
  }

  get id(): string | undefined {
    return this.#id
  }

  /** The lanes from which the worker reads. */
  get lanes(): readonly number[] {
    return [...this.#lanes].filter((lane) => !this.#closing.has(lane))
  }

  now(): Moment {
    return { monotonic: this.#clock.monotonic(), wall: this.#clock.now() }
  }

  /** Milliseconds since the last renewal was sent, by the clock that went further. */
  get renewedMs(): number {
    const { monotonic, wall } = this.#renewedAt
    return Math.max(this.#clock.monotonic() - monotonic, this.#clock.now() - wall)
  }

  /** Whether posting may begin, and what is under way may continue. */
  isLive(): boolean {
    return this.#id !== undefined && this.renewedMs < leaseMs - reserveMs
  }

  /** @param sentAt when the statement that renewed the lease was sent */
  renewed(sentAt: Moment): void {
    this.#renewedAt = sentAt
  }

  /** The row is gone: others declared this worker dead. It joins again under another id. */
  lose(): void {
    this.#id = undefined
    this.#lanes = new Set()
    this.#closing = new Set()
  }

  /**
   * Joins if necessary, ends dead workers, and takes or frees lanes, so that each worker has its share.
   * @param isIsolated whether this worker got no HTTP response from any host for a while
   * @returns false if the worker's row is missing
   */
  async rebalance(isIsolated = false): Promise<boolean> {
    if (this.#id === undefined) await this.#join()
    const id = this.#id!
    // The lanes first. A worker that owned a lane then, and has no row later, is gone for good.
    const lanes = await this.#system.db.selectFrom('waypost_lane').selectAll().orderBy('lane').execute()
    const workers = await this.#loadWorkers()
    if (!workers.some((worker) => worker.id === id)) return false
    this.#forgetUnseen(workers)
    const living: WorkerRow[] = []
    for (const worker of workers) if (worker.id === id || !(await this.#endIfDead(worker))) living.push(worker)
    const own = lanes.filter((lane) => lane.worker_id === id).map(({ lane }) => lane)
    this.#adopt(id, own)
    await this.#setLeaving(id, living, isIsolated)
    const staying = living.filter((worker) => worker.leaving === 0 || worker.id === id).map((worker) => worker.id)
    const share = shareOf(id, staying)
    await this.#adjust(id, { share: this.isLeaving || this.#isIsolated() ? 0 : share, lanes, living })
    return true
  }

  /** Deletes the row. Lanes whose worker has none are free. Nothing may be under way. */
  async leave(): Promise<void> {
    const id = this.#id
    if (id === undefined) return
    this.lose()
    ownWorkers.delete(id)
    await this.#system.db.deleteFrom('waypost_worker').where('id', '=', id).execute()
  }

  async #join(): Promise<void> {
    const id = makeId('wrk_', 16)
    const sentAt = this.now()
    ownWorkers.add(id) // first, because others may see the row at once
    try {
      await this.#system.db
        .insertInto('waypost_worker')
        .values({ id, ...identifyProcess(), beat: 0, lease_until: leaseEnd(this.#system), leaving: 0, note: '[]' })
        .execute()
    } catch (error) {
      ownWorkers.delete(id) // if the row exists nevertheless, it is ended at once
      throw error
    }
    this.#id = id
    this.renewed(sentAt)
  }

  async #loadWorkers(): Promise<readonly WorkerRow[]> {
    const now = nowOnce(this.#system)
    const { rows } = await sql<WorkerRow>`select id, place, pid, started, beat, leaving,
      case when lease_until <= ${now} or lease_until > ${now} + ${sql.lit(maxLeaseAheadMs)} then 1 else 0 end as expired
      from waypost_worker order by id`.execute(this.#system.db)
    return rows
  }

  #forgetUnseen(workers: readonly WorkerRow[]): void {
    const now = this.#clock.monotonic()
    if (now - this.#lookedAt >= maxGapMs) this.#seen.clear()
    this.#lookedAt = now
    for (const known of this.#seen.keys()) if (!workers.some((worker) => worker.id === known)) this.#seen.delete(known)
  }

  async #endIfDead(worker: WorkerRow): Promise<boolean> {
    const now = this.#clock.monotonic()
    const seen = this.#seen.get(worker.id)
    if (seen?.beat !== worker.beat) this.#seen.set(worker.id, { beat: worker.beat, at: now })
    const isSilent = seen?.beat === worker.beat && now - seen.at >= unchangedMs
    if (!(worker.expired === 1 && isSilent) && !isGone(worker)) return false
    return endWorker(this.#system, worker)
  }

  /** @param id of this worker, which may have been lost meanwhile */
  #adopt(id: string, own: readonly number[]): void {
    if (id !== this.#id) return
    this.#lanes = new Set(own)
    this.#closing = new Set([...this.#closing].filter((lane) => this.#lanes.has(lane)))
  }

  /** A worker that reaches no host gives way to others for a minute, if there are others. */
  async #setLeaving(id: string, workers: readonly WorkerRow[], isIsolated: boolean): Promise<void> {
    const hasOthers = workers.some((worker) => worker.id !== id && worker.leaving === 0)
    if (!hasOthers) this.#isolatedUntil = -Infinity
    else if (isIsolated && !this.#isIsolated()) this.#isolatedUntil = this.#clock.monotonic() + isolatedMs
    const leaving = this.isLeaving || this.#isIsolated() ? 1 : 0
    if (workers.find((worker) => worker.id === id)?.leaving === leaving) return
    await this.#system.db.updateTable('waypost_worker').set({ leaving }).where('id', '=', id).execute()
  }

  #isIsolated(): boolean {
    return this.#clock.monotonic() < this.#isolatedUntil
  }

  async #adjust(
    id: string,
    { share, lanes, living }: { share: number; lanes: readonly LaneRow[]; living: readonly WorkerRow[] },
  ): Promise<void> {
    const own = [...this.#lanes]
    const used = this.#loaded.usedLanes()
    const rankOf = (lane: number) => (this.#closing.has(lane) ? 0 : used.has(lane) ? 2 : 1)
    const order = own.toSorted((a, b) => rankOf(a) - rankOf(b)) // those that close already, then idle ones
    this.#closing = new Set(order.slice(0, Math.max(0, own.length - share)))
    for (const lane of this.#closing) this.#loaded.forgetQueued(lane)
    const busy = this.#loaded.usedLanes()
    const ended = [...this.#closing].filter((lane) => !busy.has(lane))
    await this.#free(id, ended)
    const ids = living.map((worker) => worker.id)
    const free = lanes.filter(({ worker_id: worker }) => worker === null || !ids.includes(worker))
    const start = Math.floor((free.length * ids.indexOf(id)) / ids.length) // others want theirs at the same time
    await this.#take(id, [...free.slice(start), ...free.slice(0, start)].slice(0, Math.max(0, share - own.length)))
  }

  async #free(id: string, lanes: readonly number[]): Promise<void> {
    if (lanes.length === 0) return
    await sql`update waypost_lane set worker_id = null
      where worker_id = ${id} and lane in (${sql.join(lanes)})`.execute(this.#system.db)
    const kept = [...this.#lanes].filter((lane) => !lanes.includes(lane))
    this.#adopt(id, kept)
  }

  /** Takes free lanes if they still are as they were seen, and if the own row, which this locks, exists. */
  async #take(id: string, free: readonly LaneRow[]): Promise<void> {
    if (free.length === 0) return
    const seen = sql.join(
      free.map(
        ({ lane, worker_id: worker }) => sql`(lane = ${sql.lit(lane)} and worker_id is not distinct from ${worker})`,
      ),
      sql` or `,
    )
    const take = (own: RawBuilder<unknown>, chosen: RawBuilder<unknown>) => sql<{ lane: number }>`
      update waypost_lane set worker_id = ${id} where exists (${own}) and lane in (${chosen}) returning lane`
    const own = sql`select 1 from waypost_worker where id = ${id}`
    const chosen = sql`select lane from waypost_lane where (${seen})`
    const statement =
      this.#system.kind === 'sqlite'
        ? take(own, chosen)
        : sql<{ lane: number }>`with own as materialized (${own} for update),
          chosen as materialized (${chosen} and exists (select 1 from own) order by lane for update skip locked)
          ${take(sql`select 1 from own`, sql`select lane from chosen`)}`
    const { rows } = await statement.execute(this.#system.db)
    this.#adopt(id, [...this.#lanes, ...rows.map(({ lane }) => lane)])
  }
}

type LaneRow = SystemTables['waypost_lane']

interface WorkerRow extends ProcessIdentity {
  readonly id: string
  readonly beat: number
  readonly leaving: number
  readonly expired: number
}

function leaseEnd(system: System): RawBuilder<number> {
  return sql<number>`${nowOnce(system)} + ${sql.lit(leaseMs)}`
}

/**
 * The statement that renews a lease and writes the note, and returns the database's time if the worker still has its row. It locks the
 * row, so that the end of the worker and whatever the same transaction records exclude each other.
 */
export function renewLease(system: System, id: string, note: string): RawBuilder<{ now: number }> {
  return sql`update waypost_worker set lease_until = ${leaseEnd(system)}, beat = beat + 1, note = ${note}
    where id = ${id} returning ${system.now()} as now`
}

/**
 * Deletes the row of a dead worker if it is as it was seen. Pending deliveries that it noted count as lost: their turn
 * ends, so that nothing is recorded for them anymore.
 * @returns false if it was not as it was seen: it lives, or another worker was faster
 */
async function endWorker(system: System, { id, beat }: Pick<WorkerRow, 'id' | 'beat'>): Promise<boolean> {
  const remove = sql<{ note: string }>`delete from waypost_worker where id = ${id} and beat = ${beat} returning note`
  if (system.kind === 'postgresql') {
    const { rows } = await sql`with gone as (${remove}), noted as materialized (
        select entry.value ->> 0 as id, cast(entry.value ->> 1 as int) as turn
        from gone cross join json_array_elements(cast(gone.note as json)) as entry(value)
      ), lost as (
        update waypost_delivery set lost = lost + 1, turn = waypost_delivery.turn + 1 from noted
        where waypost_delivery.id = noted.id and waypost_delivery.turn = noted.turn and status || '' = 'pending'
          and waypost_delivery.id = any(array(select id from noted))
      )
      select 1 from gone`.execute(system.db)
    return rows.length > 0
  }
  return system.transaction(async (trx) => {
    const { rows } = await remove.execute(trx)
    if (rows.length === 0) return false
    await sql`update waypost_delivery set lost = lost + 1, turn = turn + 1 from json_each(${rows[0]!.note}) as entry
      where waypost_delivery.id = entry.value ->> 0 and turn = entry.value ->> 1 and status = 'pending'`.execute(trx)
    return true
  })
}

/** Ends all workers: what they have in memory is not posted. They join again, and read what may be posted then. */
export async function endAllWorkers(system: System): Promise<void> {
  for (;;) {
    const { rows } = await sql<Pick<WorkerRow, 'id' | 'beat'>>`select id, beat from waypost_worker`.execute(system.db)
    const ended = await Promise.all(rows.map((row) => endWorker(system, row)))
    if (ended.every(Boolean)) return // the others renewed their lease meanwhile
  }
}

/** Ids of the workers of this process. */
const ownWorkers = new Set<string>()

/** Whether the worker belonged to a process of this machine that has ended. */
function isGone({ id, place, pid, started }: WorkerRow): boolean {
  const own = identifyProcess()
  if (place === own.place && pid === own.pid && started === own.started) return !ownWorkers.has(id)
  return hasEnded({ place, pid, started })
}

/** Returns the owners of lanes, as far as these live and are not leaving, and their beats. */
export async function loadOwners(
  system: System,
): Promise<ReadonlyMap<number, { readonly id: string; readonly beat: number }>> {
  const { rows } = await sql<{ lane: number; id: string; beat: number }>`
    select lane.lane, worker.id, worker.beat from waypost_lane lane join waypost_worker worker on worker.id = lane.worker_id
    where worker.leaving = 0 and worker.lease_until > ${nowOnce(system)}`.execute(system.db)
  return new Map(rows.map(({ lane, id, beat }) => [lane, { id, beat }]))
}
