import { Problem } from '../../api/send.ts'
import { config } from '../../config.ts'
import { accessToken } from '../../session/session.ts'
import { portal } from '../config.ts'
import { readOpenApi, type Reference } from './read-openapi.ts'

/** The reference, from the OpenAPI document. */
export const referenceQuery = {
  queryKey: ['reference'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Reference> => {
    const token = portal.docs === 'private' ? await accessToken() : undefined
    let response = await load(token, signal)
    if (response.status === 401 && token !== undefined) response = await load(await accessToken(token), signal)
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok) throw new Problem(response.status, (body ?? {}) as Readonly<Record<string, unknown>>)
    return readOpenApi(body)
  },
}

function load(token: string | undefined, signal: AbortSignal): Promise<Response> {
  return fetch(`${config.base}/openapi.json`, {
    signal,
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
}
