import { sql, type Kysely, type RawBuilder } from 'kysely'
import { isOneOf, jsonRows, nowOnce, type System, type SystemTables } from '../../store/index.ts'

/** The runs that a worker wants to start. */
export interface WantedRuns {
  readonly listener: string
  /** The most that it can start now. */
  readonly room: number
  readonly isExclusive: boolean
  /** When they were due at the earliest; 0 by default. */
  readonly from?: number
  /** How many may start in a window, of all workers together. */
  readonly starts?: { readonly limit: number; readonly windowMs: number } | undefined
}

/** A run that a worker has started. */
export interface ClaimedRun {
  readonly id: string
  readonly listener: string
  readonly message: string
  /** Null if the message does not exist. */
  readonly event: string | null
  readonly data: string | null
  /** When the message was stored, in milliseconds since 1970. */
  readonly dispatchedAt: number
  /** When it was due. */
  readonly dueAt: number
  readonly turn: number
  readonly failures: number
  readonly postponed: number
  readonly lost: number
}

/**
 * Starts runs that are due: they belong to the worker until their outcome is recorded. Claims nothing if the worker has no
 * row anymore.
 */
export async function claimRuns(
  system: System,
  worker: string,
  wanted: readonly WantedRuns[],
): Promise<readonly ClaimedRun[]> {
  const [limited, others] = [wanted.filter((one) => one.starts), wanted.filter((one) => !one.starts)]
  const claimed: ClaimedRun[] = []
  const plain = others.filter((one) => !one.isExclusive)
  if (plain.length > 0) claimed.push(...(await claim(system, system.db, { worker, chosen: duePlain(system, plain) })))
  for (const one of others.filter(({ isExclusive }) => isExclusive))
    claimed.push(...(await claimExclusive(system, system.db, { worker, one })))
  for (const one of limited) claimed.push(...(await claimLimited(system, worker, one)))
  return claimed
}

interface Claim {
  readonly worker: string
  /** A query that returns ids. */
  readonly chosen: RawBuilder<unknown>
}

async function claim(
  system: System,
  db: Kysely<SystemTables>,
  { worker, chosen }: Claim,
): Promise<readonly ClaimedRun[]> {
  const now = nowOnce(system)
  const isChosen = system.kind === 'sqlite' ? sql`id in (${chosen})` : sql`id = any(array(${chosen}))`
  const message = (column: string) =>
    sql`(select ${sql.ref(column)} from waypost_message m where m.id = waypost_run.message_id)`
  const { rows } = await sql<ClaimedRun>`
    update waypost_run set status = 'running', worker_id = ${worker}, turn = turn + 1,
      started_at = case when lost = 0 then ${now} end, progress = null, progress_text = null, log = null
    where ${isChosen} and status = 'pending' and exists (select 1 from waypost_worker where id = ${worker})
      and ${isNotHeld}
    returning id, listener, message_id as message, ${message('event')} as event, ${message('data')} as data,
      created_at as "dispatchedAt", due_at as "dueAt", turn, failures, postponed, lost`.execute(db)
  return rows.toSorted((a, b) => (a.id < b.id ? -1 : 1))
}

/** A copy of a System runs nothing until an administrator says so. */
const isNotHeld = sql`not exists (select 1 from waypost_system fact where fact.name = 'deliveries_held')`

/** Those that are due longest, of each listener. */
function duePlain(system: System, wanted: readonly WantedRuns[]): RawBuilder<unknown> {
  const due = (listener: RawBuilder<unknown>, room: RawBuilder<unknown>, from: RawBuilder<unknown>) => sql`
    select id from waypost_run where status = 'pending' and exclusive_key is null and listener = ${listener}
      and due_at >= ${from} and due_at <= ${nowOnce(system)} order by due_at, id limit ${room}`
  if (system.kind === 'sqlite') {
    const parts = wanted.map(({ listener, room, from = 0 }) => {
      return sql`select id from (${due(sql`${listener}`, sql.lit(room), sql.lit(from))})`
    })
    return sql.join(parts, sql` union all `)
  }
  const rows = wanted.map(({ listener, room, from = 0 }) => [listener, room, from])
  return sql`select one.id from (
      select value ->> 0 as listener, cast(value ->> 1 as int) as room, cast(value ->> 2 as bigint) as start
      from ${jsonRows(system, rows)}
    ) as wanted cross join lateral (
      ${due(sql`wanted.listener`, sql`wanted.room`, sql`wanted.start`)} for update skip locked
    ) as one`
}

/** More keys than this are looked at in a later claim. */
const minKeys = 64

/**
 * Of each key that has no running one, the run that is due longest. Begins at a random key, so that a few keys with many runs
 * do not keep out the others. If another worker claims a run with the same key at the same time, its index refuses one.
 */
async function claimExclusive(
  system: System,
  db: Kysely<SystemTables>,
  { worker, one }: { readonly worker: string; readonly one: WantedRuns },
): Promise<readonly ClaimedRun[]> {
  const { listener, room } = one
  const from = Math.random().toString(16).slice(2, 10)
  const next = (after: RawBuilder<unknown>) => sql`(select exclusive_key from waypost_run
    where status = 'pending' and exclusive_key is not null and listener = ${listener} and exclusive_key > ${after}
    order by exclusive_key limit 1)`
  const keys = (start: string, most: number) => sql`
    with recursive waiting(key, place) as (
      select ${next(sql`cast(${start} as text)`)}, 1
      union all select ${next(sql`waiting.key`)}, waiting.place + 1 from waiting
      where waiting.key is not null and waiting.place < ${sql.lit(minKeys + most)}
    )
    select run.id from (
      select (select id from waypost_run r where r.status = 'pending' and r.exclusive_key is not null
        and r.listener = ${listener} and r.exclusive_key = waiting.key and r.due_at <= ${nowOnce(system)}
        order by r.due_at, r.id limit 1) as id
      from waiting where waiting.key is not null and not exists (
        select 1 from waypost_run o where o.status = 'running' and o.exclusive_key is not null
          and o.listener = ${listener} and o.exclusive_key = waiting.key)
    ) as run where run.id is not null limit ${sql.lit(most)}`
  const claimFrom = async (start: string, most: number) => {
    try {
      return await claim(system, db, { worker, chosen: sql`select id from (${keys(start, most)}) as found` })
    } catch (error) {
      if (isConflict(error)) return []
      throw error
    }
  }
  const first = await claimFrom(from, room)
  return first.length < room ? [...first, ...(await claimFrom('', room - first.length))] : first
}

/** Whether an index refused a value, because another process was faster. */
function isConflict(error: unknown): boolean {
  const { code, message } = error as { readonly code?: unknown; readonly message?: unknown }
  return code === '23505' || /unique/i.test(String(message))
}

/** Counts starts in windows, in the row that also locks out other workers. */
async function claimLimited(system: System, worker: string, one: WantedRuns): Promise<readonly ClaimedRun[]> {
  const { limit, windowMs } = one.starts!
  const now = nowOnce(system)
  const bucket = JSON.stringify(['starts', one.listener])
  const hasDue = sql<{ due: number }>`select 1 as due from waypost_run
    where status = 'pending' and (exclusive_key is null or exclusive_key is not null) and listener = ${one.listener}
      and due_at <= ${now} limit 1`
  if ((await hasDue.execute(system.db)).rows.length === 0) return [] // writes nothing in the usual case
  return system.transaction(async (trx) => {
    const isOver = sql`waypost_throttle.expires_at <= ${now} or waypost_throttle.expires_at > ${now} + ${sql.lit(2 * windowMs)}`
    const { rows } = await sql<{ count: number }>`
      insert into waypost_throttle (bucket, count, expires_at) values (${bucket}, 0, ${now} + ${sql.lit(windowMs)})
      on conflict (bucket) do update set
        count = case when ${isOver} then 0 else waypost_throttle.count end,
        expires_at = case when ${isOver} then ${now} + ${sql.lit(windowMs)} else waypost_throttle.expires_at end
      returning count`.execute(trx)
    const room = Math.min(one.room, limit - rows[0]!.count)
    if (room <= 0) return []
    const claimed = one.isExclusive
      ? await claimExclusive(system, trx, { worker, one: { ...one, room } })
      : await claim(system, trx, { worker, chosen: duePlain(system, [{ ...one, room }]) })
    await sql`update waypost_throttle set count = count + ${sql.lit(claimed.length)} where bucket = ${bucket}`.execute(
      trx,
    )
    return claimed
  })
}

/** Returns the listeners that have a run that is due. */
export async function findDueListeners(system: System, listeners: readonly string[]): Promise<ReadonlySet<string>> {
  if (listeners.length === 0) return new Set()
  const isDue = (key: RawBuilder<unknown>) => sql`exists (select 1 from waypost_run
    where status = 'pending' and exclusive_key ${key} and listener = known.name and due_at <= ${nowOnce(system)})`
  const { rows } = await sql<{ name: string }>`
    select known.name from (
      select value ->> 0 as name from ${jsonRows(
        system,
        listeners.map((name) => [name]),
      )}
    ) as known where (${isDue(sql`is null`)} or ${isDue(sql`is not null`)}) and ${isNotHeld}`.execute(system.db)
  return new Set(rows.map(({ name }) => name))
}

/** A worker, and which of its runs it has under way. */
interface OwnRuns {
  readonly worker: string
  isKnown(id: string): boolean
}

/**
 * Repeats the runs of workers that have no row anymore. Skips locked ones, whose process may be frozen. Repeats also those of
 * the own worker that it does not know: the answer to its claim was lost, or a later statement of the claim failed.
 */
export async function giveBackLostRuns(system: System, own?: OwnRuns): Promise<void> {
  const lock = system.kind === 'postgresql' ? sql`for update skip locked` : sql``
  const isOwn = own === undefined ? sql`false` : sql`worker_id = ${own.worker}`
  const { rows } = await sql<{ id: string; turn: number; worker: string }>`select id, turn, worker_id as worker
    from waypost_run where status = 'running' and (${isOwn} or worker_id not in (select id from waypost_worker))`.execute(
    system.db,
  )
  // One that ended since then has another turn.
  const unknown = rows.filter(({ id, worker }) => worker === own?.worker && !own.isKnown(id))
  if (unknown.length > 0) {
    const turns = unknown.map(({ id, turn }) => [id, turn])
    await sql`update waypost_run set status = 'pending', worker_id = null, turn = waypost_run.turn + 1
      from (select value ->> 0 as id, cast(value ->> 1 as int) as turn from ${jsonRows(system, turns)}) as entry
      where waypost_run.id = entry.id and waypost_run.turn = entry.turn and status = 'running'`.execute(system.db)
  }
  const lost = rows.filter(({ worker }) => worker !== own?.worker)
  if (lost.length === 0) return // locks and writes nothing in the usual case
  const isLost = isOneOf(
    system,
    sql`id`,
    lost.map(({ id }) => id),
  )
  // Those that were lost before wait for each other: only one of them may be why its worker ended.
  await sql`update waypost_run set status = 'pending', worker_id = null, turn = turn + 1,
      lost = lost + case when lost = 0 or started_at is not null then 1 else 0 end
    where id in (
      select id from waypost_run where ${isLost} and status = 'running'
        and worker_id not in (select id from waypost_worker) ${lock})`.execute(system.db)
}
