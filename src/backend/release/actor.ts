import type { FastifyRequest } from 'fastify'
import { findClient } from '../../auth/index.ts'
import type { Actor } from '../../release/index.ts'
import type { System } from '../../store/index.ts'

export interface KnownActor extends Actor {
  /** For people: the user's name and, behind it, his client's. */
  readonly by: string
}

/** Who sent a request that the guard has let in. */
export async function findActor(system: System, { principal }: FastifyRequest): Promise<KnownActor> {
  const { user, client } = principal!
  const { name } = (await findClient(system, client.id)) ?? { name: client.id }
  return { userId: user.id, clientId: client.id, by: `${user.name} (${name})` }
}
