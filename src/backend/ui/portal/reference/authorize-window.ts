// Gets a token for the client of the API reference: authorization code with PKCE, in a window, so that what was typed into
// the page stays.
import { config, issuer, redirectUri } from '../../config.ts'
import { makePkce, makeRandom } from '../../session/session.ts'
import { giveToken } from './given-token.ts'
import { problemTexts } from '../../components/problem-texts.ts'
import { tokenTexts as texts } from './token-texts.ts'

/** Why signing in is not possible here; undefined if it is. */
export function whyNoWindow(): string | undefined {
  const { origin } = new URL(issuer)
  if (location.origin !== origin) return texts.elsewhere(`${issuer}/docs`)
  return isSecureContext ? undefined : texts.insecure // without https, browsers have no SHA-256 for PKCE
}

const pollMs = 100

/**
 * Opens the window and uses the token. Must be called by a click, or browsers block the window.
 * If the user closes it, there is none.
 * @throws Error with the reason to show, or Problem
 */
export async function authorizeInWindow(): Promise<void> {
  const opened = window.open('', '_blank', 'popup,width=480,height=720')
  if (opened === null) throw new Error(texts.blocked)
  const state = makeRandom()
  const { verifier, challenge } = await makePkce()
  const shared = { client_id: config.clientId, redirect_uri: redirectUri }
  const pkce = { code_challenge: challenge, code_challenge_method: 'S256' }
  const query = new URLSearchParams({ response_type: 'code', ...shared, ...pkce, state })
  opened.location.replace(`${issuer}/authorization/authorize?${query.toString()}`)
  const returned = await waitFor(opened)
  if (returned === undefined) return
  if (returned.get('state') !== state) throw new Error(texts.mixed)
  if (returned.has('error')) throw new Error(returned.get('error_description') ?? texts.denied)
  const form = {
    grant_type: 'authorization_code',
    ...shared,
    code: returned.get('code') ?? '',
    code_verifier: verifier,
  }
  const response = await fetch(`${issuer}/authorization/token`, { method: 'POST', body: new URLSearchParams(form) })
  const body = (await response.json().catch(() => ({ error_description: problemTexts.proxy(response.status) }))) as {
    readonly access_token?: string
    readonly error_description?: string
  }
  if (body.access_token === undefined) throw new Error(body.error_description ?? texts.denied)
  await giveToken(body.access_token)
}

/** Waits for the response in the address of the window; undefined if the user closes it before. */
async function waitFor(opened: Window): Promise<URLSearchParams | undefined> {
  while (!opened.closed) {
    const href = addressOf(opened)
    if (href?.startsWith(`${redirectUri}?`) === true) {
      opened.close()
      return new URL(href).searchParams
    }
    await new Promise((resolve) => {
      setTimeout(resolve, pollMs)
    })
  }
  return undefined
}

/** Returns the address of a window; undefined while it shows a page of another origin. */
function addressOf(opened: Window): string | undefined {
  try {
    return opened.location.href
  } catch {
    return undefined
  }
}
