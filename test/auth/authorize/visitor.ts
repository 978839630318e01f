import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { backendClientId, portalClientId } from '../../../src/auth/index.ts'
import { issuer, type TestAnswer } from '../../support/server.ts'
import { password, type Credentials, type World } from '../world.ts'

export const verifier = 'a-verifier-of-43-characters-or-more-0123456789'
export const challenge = createHash('sha256').update(verifier).digest('base64url')
export const callback = 'https://app.example.com/callback'

/** A browser as far as the pages need one: it keeps cookies, does not follow redirects, and fills in forms. */
export interface Visitor {
  readonly cookies: Map<string, string>
  send(line: string, form?: Readonly<Record<string, string>> | string): Promise<TestAnswer>
  /** Requests a code; undefined parameters are left out. */
  authorize(parameters: Parameters): Promise<TestAnswer>
  /** Submits the form of a page with some fields filled in. */
  submit(page: TestAnswer, action: string, fields?: Readonly<Record<string, string>>): Promise<TestAnswer>
  /** Follows a redirect of the pages. */
  follow(answer: TestAnswer): Promise<TestAnswer>
  /** Logs in on a login page and follows the redirect. */
  logIn(page: TestAnswer, fields?: Readonly<Record<string, string>>): Promise<TestAnswer>
}

export type Parameters = Readonly<Record<string, string | undefined>>

export function makeVisitor(world: Pick<World, 'send'>): Visitor {
  const cookies = new Map<string, string>()
  const visitor: Visitor = {
    cookies,
    async send(line, form) {
      const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
      const headers = cookie === '' ? {} : { cookie }
      const answer = await world.send(line, form === undefined ? { headers } : { headers, form })
      for (const line of answer.headers.getSetCookie()) keepCookie(cookies, line)
      return answer
    },
    authorize: (parameters) => visitor.send(`GET /authorization/authorize?${writeQuery(parameters)}`),
    submit: (page, action, fields = {}) =>
      visitor.send(`POST /authorization/${action}`, { ...readHidden(page, action), ...fields }),
    async logIn(page, fields = {}) {
      return visitor.follow(await visitor.submit(page, 'login', { username: 'ann', password, ...fields }))
    },
    async follow(answer) {
      assert.equal(answer.status, 303, answer.text)
      return visitor.send(`GET ${answer.headers.get('location')}`)
    },
  }
  return visitor
}

function keepCookie(cookies: Map<string, string>, line: string): void {
  const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
  if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name)
  else cookies.set(name, value)
}

export function writeQuery(parameters: Parameters): string {
  const given = Object.entries(parameters).filter((entry): entry is [string, string] => entry[1] !== undefined)
  return new URLSearchParams(given).toString()
}

/** The parameters of a valid request. */
export function requestOf(client: Pick<Credentials, 'id'>, change: Parameters = {}): Parameters {
  return {
    response_type: 'code',
    client_id: client.id,
    redirect_uri: callback,
    scope: 'note todo',
    state: 'x',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...change,
  }
}

const portalRedirectUri = `${issuer}/portal/signed-in`

/** The parameters of a request of the portal's pages. */
export function portalRequestOf(change: Parameters = {}): Parameters {
  return requestOf({ id: portalClientId }, { redirect_uri: portalRedirectUri, scope: undefined, ...change })
}

const backendRedirectUri = `${issuer}/backend/ui/signed-in`

/** The parameters of a request of the backend's pages. */
export function backendRequestOf(change: Parameters = {}): Parameters {
  return requestOf({ id: backendClientId }, { redirect_uri: backendRedirectUri, scope: undefined, ...change })
}

/** Exchanges a code, or that in an answer, for tokens of the backend. */
export async function redeemForBackend(world: Pick<World, 'send'>, answer: TestAnswer | string) {
  const code = typeof answer === 'string' ? answer : readCode(answer)
  const grant = { grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: backendRedirectUri }
  const { body } = await world.send('POST /authorization/token', { form: { client_id: backendClientId, ...grant } })
  return body as { access_token: string; refresh_token: string; expires_in: number; scope: string }
}

/** Exchanges the code in an answer for tokens of the portal. */
export async function redeemForPortal(world: Pick<World, 'send'>, answer: TestAnswer) {
  const code = { code: readCode(answer), code_verifier: verifier, redirect_uri: portalRedirectUri }
  const form = { client_id: portalClientId, grant_type: 'authorization_code', ...code }
  const { body } = await world.send('POST /authorization/token', { form })
  return body as { readonly access_token: string; readonly refresh_token: string; readonly scope: string }
}

/** Signs a user in to the portal. @returns the access token */
export async function signInToPortal(world: Pick<World, 'send'>, username: string): Promise<string> {
  const visitor = makeVisitor(world)
  const answer = await visitor.logIn(await visitor.authorize(portalRequestOf()), { username })
  return (await redeemForPortal(world, answer)).access_token
}

/** The hidden fields of one of a page's forms. */
export function readHidden({ text }: Pick<TestAnswer, 'text'>, action: string): Readonly<Record<string, string>> {
  const form = text
    .split('<form')
    .slice(1)
    .find((one) => one.includes(`/authorization/${action}"`))
  assert.ok(form !== undefined, `no form ${action} in ${text}`)
  const fields = form.split('</form>')[0]!.matchAll(/<input\s+type="hidden"\s+name="(\w+)"\s+value="([^"]*)"/g)
  return Object.fromEntries([...fields].map(([, name = '', value = '']) => [name, unescape(value)]))
}

function unescape(text: string): string {
  return text
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&#96;', '`')
    .replaceAll('&amp;', '&')
}

/** The target and parameters of a redirect. */
export function readAnswer(answer: TestAnswer): { to: string; parameters: Readonly<Record<string, string>> } {
  assert.equal(answer.status, 303, answer.text)
  const location = answer.headers.get('location') ?? ''
  const at = location.indexOf('?')
  const parameters = Object.fromEntries(new URLSearchParams(location.slice(at + 1)))
  assert.equal(parameters['iss'], issuer, location)
  return { to: location.slice(0, at), parameters }
}

/** The code in a redirect. */
export function readCode(answer: TestAnswer): string {
  const { code = '' } = readAnswer(answer).parameters
  assert.match(code, /^[\w-]{43}$/, answer.headers.get('location') ?? '')
  return code
}

/** The text of a page without markup. */
export function readPage({ text }: TestAnswer): string {
  return unescape(text.replace(/<style>[^]*<\/style>/, '').replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ')
}

/** Gets a code as ann, who logs in and allows it. */
export async function obtainCode(world: World, parameters: Parameters): Promise<string> {
  const visitor = makeVisitor(world)
  const answer = await visitor.logIn(await visitor.authorize(parameters))
  return readCode(answer.status === 200 ? await visitor.submit(answer, 'consent', { decision: 'allow' }) : answer)
}
