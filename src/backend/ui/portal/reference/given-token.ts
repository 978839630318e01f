// A token that the reader of the API reference enters or gets by signing in, besides the session of the portal. It is kept
// in memory only: pages of user routes on the same origin can read everything that a browser stores.
import { Problem } from '../../api/send.ts'
import { issuer } from '../../config.ts'
import { sessionStore } from '../../session/session.ts'
import { makeStore, useStore } from '../../session/store.ts'
import type { TokenSource } from '../../try/call.ts'

export interface GivenToken {
  readonly text: string
  readonly user: string
  /** Undefined if the client has no name. */
  readonly client: string | undefined
  readonly scopes: readonly string[]
  readonly expires: string
}

export const givenToken = makeStore<GivenToken | undefined>(undefined)

/** The token as the source of the tokens of calls. */
export const givenTokens: TokenSource = {
  load: async () => givenToken.get()!.text,
  isKept: () => false, // the page has only the entered token
  forget: () => undefined, // the reader decides what to do about a token that was refused
}

/** Uses a token, after the server has said whose it is. @throws Problem */
export async function giveToken(text: string): Promise<void> {
  const response = await fetch(`${issuer}/authorization/whoami`, {
    headers: { authorization: `Bearer ${text.trim().replace(/^Bearer\s+/i, '')}` },
  })
  const body = (await response.json().catch(() => ({}))) as Readonly<Record<string, unknown>>
  if (!response.ok) throw new Problem(response.status, body)
  const { user, client, scope, expires_at: expires } = body as unknown as WhoAmI
  const scopes = scope.split(' ').filter(Boolean)
  givenToken.set({
    text: text.trim().replace(/^Bearer\s+/i, ''),
    user: user.name,
    client: client.name,
    scopes,
    expires,
  })
}

interface WhoAmI {
  readonly user: { readonly name: string }
  readonly client: { readonly name?: string }
  readonly scope: string
  readonly expires_at: string
}

/** Whose scopes decide what the reader may call: those of the token, or of the session; undefined if there is neither. */
export function useReader(): { readonly scopes: readonly string[]; readonly hasToken: boolean } | undefined {
  const session = useStore(sessionStore)
  const given = useStore(givenToken)
  const scopes = (given ?? session)?.scopes
  return scopes && { scopes, hasToken: given !== undefined }
}
