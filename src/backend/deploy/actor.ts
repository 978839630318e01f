import type { FastifyRequest } from 'fastify'
import { findClient } from '../../auth/index.ts'
import type { HttpActor, System } from '../../store/index.ts'

export interface KnownActor extends HttpActor {
  /** For display: the user's name, followed by the client's name. */
  readonly by: string
}

/** Returns the user and client of an authorized request. */
export async function findActor(system: System, { principal }: FastifyRequest): Promise<KnownActor> {
  const { user, client, scopes } = principal!
  const { name } = (await findClient(system, client.id)) ?? { name: client.id }
  return { how: 'http', userId: user.id, name: user.name, clientId: client.id, scopes, by: `${user.name} (${name})` }
}

/** Returns the properties of the actor for the log. */
export function logged({ userId, clientId, by }: KnownActor): Pick<KnownActor, 'userId' | 'clientId' | 'by'> {
  return { userId, clientId, by }
}
