import { sql, type Insertable } from 'kysely'
import { latencyBoundsMs } from '../kit/index.ts'
import type { RouteCount } from '../runtime/index.ts'
import { loadDatabaseTime, type System, type SystemTables } from '../store/index.ts'

/** The periods that are counted, in milliseconds. */
export const statisticSpans = { minute: 60_000, hour: 3_600_000 } as const
export type StatisticSpan = keyof typeof statisticSpans

const bucketNames = ([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12] as const).map((index) => `bucket_${index}` as const)
const statusNames = ['success', 'redirect', 'client_error', 'server_error'] as const
const countedNames = [...statusNames, 'sum_ms', ...bucketNames] as const
type Row = Insertable<SystemTables['waypost_statistic']>

/** Rows per statement: SQLite accepts up to 32,766 parameters. */
const rowsPerStatement = 500

/**
 * Adds the responses that a server has counted to the minute and the hour.
 * @param at milliseconds since 1970
 */
export async function recordStatistics(system: System, counts: readonly RouteCount[], at: number): Promise<void> {
  const rows = Object.values(statisticSpans).flatMap((span) => counts.map((count) => makeRow(count, span, at)))
  if (rows.length === 0) return
  await system.transaction(async (trx) => {
    for (let start = 0; start < rows.length; start += rowsPerStatement) {
      await trx
        .insertInto('waypost_statistic')
        .values(rows.slice(start, start + rowsPerStatement))
        .onConflict((on) =>
          on
            .columns(['span', 'at', 'route'])
            .doUpdateSet(
              Object.fromEntries(
                countedNames.map((name) => [
                  name,
                  sql<number>`${sql.ref(`waypost_statistic.${name}`)} + ${sql.ref(`excluded.${name}`)}`,
                ]),
              ),
            ),
        )
        .execute()
    }
  })
}

function makeRow({ route, statuses, sumMs, buckets }: RouteCount, span: number, at: number): Row {
  const counts = [...statuses, sumMs, ...buckets]
  const counted = Object.fromEntries(countedNames.map((name, index) => [name, counts[index]!]))
  return { span, at: at - (at % span), route, ...(counted as Pick<Row, (typeof countedNames)[number]>) }
}

/** What was answered in a period. */
export interface Traffic {
  readonly requests: number
  /** Responses with 4xx. */
  readonly clientErrors: number
  /** Responses with 5xx. */
  readonly serverErrors: number
  /** The average latency in milliseconds; undefined without requests. */
  readonly meanMs: number | undefined
  /** Latencies in milliseconds, interpolated within their bucket. */
  readonly p50Ms: number | undefined
  readonly p95Ms: number | undefined
}

export interface StatisticQuery {
  readonly span: StatisticSpan
  /** Milliseconds since 1970, inclusive. */
  readonly from: number
  /** Milliseconds since 1970, exclusive. */
  readonly to: number
  /** Only this method: `GET /todo`. */
  readonly route?: string | undefined
}

/** Loads the traffic of each period in which there were requests, oldest first, and of all of them together. */
export async function listTraffic(
  system: Pick<System, 'db'>,
  query: StatisticQuery,
): Promise<{ readonly periods: readonly (Traffic & { readonly at: number })[]; readonly total: Traffic }> {
  const rows = await selectSums(system, 'at', [query])
  const sum = (name: (typeof countedNames)[number]) => rows.reduce((total, row) => total + row[name], 0)
  const sums = Object.fromEntries(countedNames.map((name) => [name, sum(name)])) as Counted
  return { periods: rows.map((row) => ({ at: Number(row.group), ...toTraffic(row) })), total: toTraffic(sums) }
}

/** Loads the traffic of each method that was called, by its name. */
export async function listRouteTraffic(
  system: Pick<System, 'db'>,
  query: StatisticQuery,
): Promise<readonly (Traffic & { readonly route: string })[]> {
  const rows = await selectSums(system, 'route', [query])
  return rows.map((row) => ({ route: String(row.group), ...toTraffic(row) }))
}

const dayMs = 86_400_000

/** Loads the traffic of the last 24 hours of each method that was called, by its name. */
export async function loadDayTraffic(system: System): Promise<ReadonlyMap<string, Traffic>> {
  const to = await loadDatabaseTime(system)
  const from = to - dayMs
  const firstHour = Math.ceil(from / statisticSpans.hour) * statisticSpans.hour
  // Whole hours, and the minutes before the first of them: far fewer rows than all minutes.
  const rows = await selectSums(system, 'route', [
    { span: 'minute', from, to: firstHour },
    { span: 'hour', from: firstHour, to: to + statisticSpans.hour },
  ])
  return new Map(rows.map((row) => [String(row.group), toTraffic(row)]))
}

/** Counts the calls of each method in the last 24 hours: `GET /todo` → number. */
export async function countDayCalls(system: System): Promise<Readonly<Record<string, number>>> {
  const traffic = await loadDayTraffic(system)
  return Object.fromEntries([...traffic].map(([route, { requests }]) => [route, requests]))
}

type Counted = Readonly<Record<(typeof countedNames)[number], number>>
type Sums = Counted & { readonly group: string | number }

async function selectSums({ db }: Pick<System, 'db'>, group: 'at' | 'route', queries: readonly StatisticQuery[]) {
  const conditions = queries.map(
    ({ span, from, to, route }) => sql`(span = ${statisticSpans[span]} and at >= ${from} and at < ${to}
      and ${route === undefined ? sql`true` : sql`route = ${route}`})`,
  )
  const { rows } = await sql<Sums>`select ${sql.ref(group)} as "group", ${sql.join(
    countedNames.map((name) => sql`cast(sum(${sql.ref(name)}) as double precision) as ${sql.ref(name)}`),
  )} from waypost_statistic
    where ${sql.join(conditions, sql` or `)}
    group by ${sql.ref(group)} order by ${sql.ref(group)}`.execute(db)
  return rows
}

function toTraffic(row: Counted): Traffic {
  const requests = statusNames.reduce((sum, name) => sum + row[name], 0)
  const buckets = bucketNames.map((name) => row[name])
  return {
    requests,
    clientErrors: row.client_error,
    serverErrors: row.server_error,
    meanMs: requests === 0 ? undefined : row.sum_ms / requests,
    p50Ms: findQuantile(buckets, 0.5),
    p95Ms: findQuantile(buckets, 0.95),
  }
}

/** Interpolates within the bucket. The last bucket has no upper bound, so its lower bound is returned. */
export function findQuantile(buckets: readonly number[], share: number): number | undefined {
  const total = buckets.reduce((sum, count) => sum + count, 0)
  if (total === 0) return undefined
  const wanted = total * share
  let below = 0
  for (const [index, count] of buckets.entries()) {
    if (below + count >= wanted && count > 0) {
      const lower = latencyBoundsMs[index - 1] ?? 0
      const upper = latencyBoundsMs[index] ?? lower
      return lower + ((wanted - below) / count) * (upper - lower)
    }
    below += count
  }
  return latencyBoundsMs.at(-1)
}
