import { allAttempts } from '../../events/index.ts'
import type { System } from '../../store/index.ts'

export interface ListedAttempt {
  readonly startedAt: number
  readonly latencyMs: number
  /** HTTP status; undefined without a response. */
  readonly status: number | undefined
  /** `delivered`, or the reason for the failure. */
  readonly outcome: string
}

/** Keeps below the maximum number of parameters of a statement. */
export const idsPerStatement = 1000

/** Loads attempts by delivery, oldest first. */
export async function loadAttempts(
  { db }: System,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ListedAttempt[]>> {
  const attempts = new Map<string, ListedAttempt[]>(ids.map((id) => [id, []]))
  for (let start = 0; start < ids.length; start += idsPerStatement) {
    const rows = await db
      .selectFrom(allAttempts.as('attempt'))
      .select(['delivery_id as delivery', 'started_at as startedAt', 'latency_ms as latencyMs', 'status', 'outcome'])
      .where('delivery_id', 'in', ids.slice(start, start + idsPerStatement))
      .orderBy('started_at')
      .orderBy('id')
      .execute()
    for (const { delivery, status, ...attempt } of rows) {
      attempts.get(delivery)?.push({ ...attempt, status: status ?? undefined })
    }
  }
  return attempts
}

/** An attempt with its response. */
export interface AttemptWithAnswer extends ListedAttempt {
  /** The first 4 KB of the response; undefined without one. */
  readonly answer: string | undefined
  /** Names and values of the first headers of the response; null instead of a value that may be secret. */
  readonly headers: readonly (readonly [name: string, value: string | null])[]
}

const maxAnswers = 100

/** Loads the newest attempts of one delivery, oldest first. */
export async function loadAnswers({ db }: System, delivery: string): Promise<readonly AttemptWithAnswer[]> {
  const rows = await db
    .selectFrom(allAttempts.as('attempt'))
    .select(['started_at as startedAt', 'latency_ms as latencyMs', 'status', 'outcome', 'answer', 'headers'])
    .where('delivery_id', '=', delivery)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(maxAnswers)
    .execute()
  return rows
    .map(({ status, answer, headers, ...attempt }) => ({
      ...attempt,
      status: status ?? undefined,
      answer: answer ?? undefined,
      headers: JSON.parse(headers ?? '[]') as AttemptWithAnswer['headers'],
    }))
    .toReversed()
}
