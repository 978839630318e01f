import { countDead, replayDead, type Replayed } from '../../events/index.ts'
import type { Since } from '../../kit/index.ts'
import type { Host } from '../../host/index.ts'
import { resolveSince } from './resolve-since.ts'

export interface ReplayRequest {
  /** Only what died since then. */
  readonly since: Since
  readonly event?: string | undefined
  /** Id of a subscription. */
  readonly subscription?: string | undefined
  /** How many at most. */
  readonly limit: number
  /** Asked with how many there are, if there are any. */
  confirm(count: number): Promise<boolean>
}

/** Has dead deliveries sent anew once somebody has seen how many they are. @returns undefined when nobody wanted it */
export async function replayHostDead({ system }: Host, request: ReplayRequest): Promise<Replayed | undefined> {
  const { confirm, limit, since, ...filter } = request
  const dead = { ...filter, since: await resolveSince(system, since) }
  const count = await countDead(system, dead)
  if (count === 0) return { replayed: 0, more: false }
  if (!(await confirm(count))) return undefined
  return replayDead(system, { ...dead, limit })
}
