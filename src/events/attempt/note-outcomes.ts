import { sql, type Transaction } from 'kysely'
import type { Settings } from '../../kit/index.ts'
import type { System, SystemTables } from '../../store/index.ts'
import { failuresToOpen, openMs } from '../queue/breaker.ts'
import type { Completion } from './completion.ts'
import { texts } from '../expressions.ts'

/** What attempts say of the subscription that they were for. */
interface Note {
  readonly id: string
  readonly revision: number
  /** Since the last success, if there was one. */
  failures: number
  succeeded: boolean
  /** Whether it was half open: one delivery went alone. */
  readonly alone: boolean
}

interface Change {
  readonly id: string
  readonly failures: number
  /** For how long nothing is posted; 0 closes the breaker. */
  readonly openMs: number
}

/**
 * Counts failures in a row, for the breaker: a success closes it, and whoever failed alone opens it for longer. It is a
 * hint and no ledger: what a crash leaves out the next failure counts. It costs nothing where all is well.
 */
export async function noteOutcomes(
  system: System,
  { completions, settings }: { completions: readonly Completion[]; settings: Settings },
): Promise<void> {
  const notes = [...gather(completions).values()].filter(({ failures, succeeded }) => failures > 0 || succeeded)
  if (notes.length === 0) return
  await system.transaction(async (trx) => {
    const known = await lockRows(system, trx, notes)
    const changes = notes.flatMap((note) => {
      const row = known.get(note.id)
      return row === undefined || row.revision !== note.revision ? [] : changeOf(row.failures, note, settings)
    })
    if (changes.length > 0) await write(system, trx, changes)
  })
}

function gather(completions: readonly Completion[]): ReadonlyMap<string, Note> {
  const notes = new Map<string, Note>()
  for (const { delivery, verdict } of completions) {
    const { subscriptionId: id, revision, subscriptionFailures } = delivery
    const note = notes.get(id) ?? {
      id,
      revision,
      failures: 0,
      succeeded: false,
      alone: subscriptionFailures >= failuresToOpen,
    }
    notes.set(id, note)
    if (verdict.outcome !== 'delivered') note.failures += 1
    else if (subscriptionFailures > 0 || note.failures > 0) Object.assign(note, { failures: 0, succeeded: true })
  }
  return notes
}

interface Row {
  readonly id: string
  readonly failures: number
  readonly revision: number
}

/** Everybody locks them in the same order. */
async function lockRows(
  system: System,
  trx: Transaction<SystemTables>,
  notes: readonly Note[],
): Promise<ReadonlyMap<string, Row>> {
  const ids = texts(system, JSON.stringify(notes.map((note) => note.id)))
  const lock = system.kind === 'postgresql' ? sql`for update` : sql``
  const { rows } = await sql<Row>`
    select id, failures, revision from waypost_subscription where id in ${ids} order by id ${lock}`.execute(trx)
  return new Map(rows.map((row) => [row.id, row]))
}

function changeOf(before: number, note: Note, settings: Settings): Change[] {
  const { id, failures, succeeded, alone } = note
  const jitter = 0.8 + 0.4 * Math.random()
  const openFor = (doublings: number) => Math.max(1, Math.ceil(openMs(settings, doublings) * jitter))
  if (succeeded || before < failuresToOpen) {
    const count = Math.min((succeeded ? 0 : before) + failures, failuresToOpen)
    return [{ id, failures: count, openMs: count < failuresToOpen ? 0 : openFor(0) }]
  }
  // What was posted before it opened says nothing new.
  return alone ? [{ id, failures: before + 1, openMs: openFor(before + 1 - failuresToOpen) }] : []
}

async function write(system: System, trx: Transaction<SystemTables>, changes: readonly Change[]): Promise<void> {
  const json = JSON.stringify(changes)
  const rows =
    system.kind === 'postgresql'
      ? sql`json_to_recordset(cast(${json} as json)) as change (id text, failures int, "openMs" bigint)`
      : sql`(select value ->> 'id' as id, value ->> 'failures' as failures, value ->> 'openMs' as "openMs"
          from json_each(${json})) as change`
  await sql`
    update waypost_subscription set failures = change.failures,
      open_until = case when change."openMs" = 0 then null else ${system.now()} + change."openMs" end,
      failing_since = case when change."openMs" = 0 then null else coalesce(failing_since, ${system.now()}) end
    from ${rows} where waypost_subscription.id = change.id`.execute(trx)
}
