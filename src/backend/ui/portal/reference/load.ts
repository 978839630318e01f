import { Problem } from '../../api/send.ts'
import { config } from '../../config.ts'
import { accessToken } from '../../session/session.ts'
import { portal } from '../config.ts'
import { givenToken, givenTokens } from './given-token.ts'
import { isAlone } from './places.ts'
import { readOpenApi, type Reference } from './read-openapi.ts'

/** The reference, from the OpenAPI document. */
export const referenceQuery = {
  queryKey: ['reference'],
  queryFn: async ({ signal }: { readonly signal: AbortSignal }): Promise<Reference> => {
    const response = await loadDocument(signal)
    const body: unknown = await response.json().catch(() => undefined)
    if (!response.ok) throw new Problem(response.status, (body ?? {}) as Readonly<Record<string, unknown>>)
    return readOpenApi(body)
  },
}

/** Loads the document, with a token if it is private. */
export async function loadDocument(signal?: AbortSignal): Promise<Response> {
  const token = portal.docs === 'private' ? await (isAlone ? givenTokens.load() : accessToken()) : undefined
  const response = await load(token, signal)
  if (response.status !== 401 || token === undefined) return response
  if (!isAlone) return load(await accessToken(token), signal)
  givenToken.set(undefined) // the page asks for another one
  return response
}

/** The address of the document. */
export const documentUrl = `${config.base}/openapi.json`

function load(token: string | undefined, signal: AbortSignal | undefined): Promise<Response> {
  return fetch(documentUrl, {
    ...(signal === undefined ? {} : { signal }),
    ...(token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } }),
  })
}
