import type { System } from '../../store/index.ts'

export interface ListedAttempt {
  readonly startedAt: number
  readonly latencyMs: number
  /** HTTP status; undefined when there was no answer. */
  readonly status: number | undefined
  /** `delivered`, or why it was not. */
  readonly outcome: string
}

/** A statement takes a limited number of parameters. */
const idsAtOnce = 1000

/** Attempts by delivery, the oldest first. */
export async function loadAttempts(
  { db }: System,
  ids: readonly string[],
): Promise<ReadonlyMap<string, readonly ListedAttempt[]>> {
  const attempts = new Map<string, ListedAttempt[]>(ids.map((id) => [id, []]))
  for (let start = 0; start < ids.length; start += idsAtOnce) {
    const rows = await db
      .selectFrom('waypost_attempt')
      .select(['delivery_id as delivery', 'started_at as startedAt', 'latency_ms as latencyMs', 'status', 'outcome'])
      .where('delivery_id', 'in', ids.slice(start, start + idsAtOnce))
      .orderBy('started_at')
      .orderBy('id')
      .execute()
    for (const { delivery, status, ...attempt } of rows) {
      attempts.get(delivery)?.push({ ...attempt, status: status ?? undefined })
    }
  }
  return attempts
}

/** An attempt with what was answered. */
export interface AnsweredAttempt extends ListedAttempt {
  /** The first 4 KB; undefined when there was no answer. */
  readonly answer: string | undefined
}

const mostAnswers = 100

/** The newest attempts of one delivery, the oldest first. */
export async function loadAnswers({ db }: System, delivery: string): Promise<readonly AnsweredAttempt[]> {
  const rows = await db
    .selectFrom('waypost_attempt')
    .select(['started_at as startedAt', 'latency_ms as latencyMs', 'status', 'outcome', 'answer'])
    .where('delivery_id', '=', delivery)
    .orderBy('started_at', 'desc')
    .orderBy('id', 'desc')
    .limit(mostAnswers)
    .execute()
  return rows
    .map(({ status, answer, ...attempt }) => ({ ...attempt, status: status ?? undefined, answer: answer ?? undefined }))
    .toReversed()
}
