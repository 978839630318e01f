import { sql, type RawBuilder } from 'kysely'
import { jsonRows, nowOnce, type System } from '../../store/index.ts'

/** Counts the runs of some listeners that are due and have not begun. */
export async function countDueRuns(system: System, listeners: readonly string[]): Promise<number> {
  if (listeners.length === 0) return 0
  const due = (key: RawBuilder<unknown>) => sql`(select count(*) from waypost_run
    where status = 'pending' and exclusive_key ${key} and listener = known.name and due_at <= ${nowOnce(system)})`
  const names = jsonRows(
    system,
    listeners.map((name) => [name]),
  )
  const { rows } = await sql<{ count: number }>`
    select cast(coalesce(sum(${due(sql`is null`)} + ${due(sql`is not null`)}), 0) as bigint) as count
    from (select value ->> 0 as name from ${names}) as known`.execute(system.db)
  return rows[0]!.count
}

/** Counts the pending runs of each listener: name → number. */
export async function countPendingRuns({ db }: System): Promise<Readonly<Record<string, number>>> {
  const { rows } = await sql<{ listener: string; count: number }>`
    select listener, cast(sum(count) as bigint) as count from (
      select listener, count(*) as count from waypost_run
        where status = 'pending' and exclusive_key is null group by listener
      union all
      select listener, count(*) from waypost_run where status = 'pending' and exclusive_key is not null group by listener
    ) as parts group by listener`.execute(db)
  return Object.fromEntries(rows.map(({ listener, count }) => [listener, count]))
}
