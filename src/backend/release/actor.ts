import type { FastifyRequest } from 'fastify'
import { findClient } from '../../auth/index.ts'
import type { Actor } from '../../release/index.ts'
import type { System } from '../../store/index.ts'

export interface KnownActor extends Actor {
  /** For display: the user's name, followed by the client's name. */
  readonly by: string
}

/** Returns the user and client of an authorized request. */
export async function findActor(system: System, { principal }: FastifyRequest): Promise<KnownActor> {
  const { user, client } = principal!
  const { name } = (await findClient(system, client.id)) ?? { name: client.id }
  return { userId: user.id, clientId: client.id, by: `${user.name} (${name})` }
}
