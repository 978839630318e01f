// Signs in and keeps the tokens, in memory only: pages of user routes on the same origin can read everything that a
// browser stores.
import { config, issuer, redirectUri, uiPath } from '../config.ts'
import { makeStore } from './store.ts'
import { problemTexts } from '../components/problem-texts.ts'
import { signInTexts, startTexts } from './sign-in-texts.ts'

export interface Session {
  readonly user: { readonly id: string; readonly name: string }
  readonly scopes: readonly string[]
}

interface Tokens {
  readonly access: string
  readonly refresh: string | undefined
  /** Milliseconds since 1970. */
  readonly expiresAt: number
}

/** Why the user must sign in again. */
export type SignInReason = 'expired' | 'ended' | 'password'

/** The result of starting: signed in, or what the page shows instead of the app. */
export type Started =
  | { readonly state: 'signed-in' | 'leaving' | 'window' }
  | {
      readonly state: 'failed'
      /** The code of an error of OAuth2. */
      readonly error?: string
      readonly message: string
      readonly hint?: string
    }

export const sessionStore = makeStore<Session | undefined>(undefined)
/** Set while a dialog asks the user to sign in again. */
export const signInRequest = makeStore<SignInReason | undefined>(undefined)

let tokens: Tokens | undefined
const storageKey = `waypost-sign-in ${config.clientId}`
const channelName = storageKey
const windowState = 'window.'

/** Whether the browser comes back from the authorization endpoint. */
export function isReturning(): boolean {
  return location.pathname === config.base + config.redirectPath
}

/**
 * Signs in silently: the browser visits the authorization endpoint and comes back with a code. Without a session there,
 * it shows the login page.
 */
export async function startSession(): Promise<Started> {
  if (!isReturning()) return leave('')
  const response = new URLSearchParams(location.search)
  const state = response.get('state') ?? ''
  // Pages of user routes in this tab must not find the code in its history.
  history.replaceState(undefined, '', config.base + config.redirectPath)
  if (state.startsWith(windowState)) return handOver(response)
  const pending = readPending(state)
  sessionStorage.removeItem(storageKey)
  if (pending === undefined) return leave(`${uiPath}/`)
  const code = response.get('code')
  // The problem is shown at the address where signing in began.
  if (code === null) history.replaceState(undefined, '', pending.path)
  if (code === null) return { state: 'failed', ...describeError(response) }
  try {
    await redeem(code, pending.verifier)
  } catch (error) {
    return { state: 'failed', message: startTexts.failed, hint: (error as Error).message }
  }
  history.replaceState(undefined, '', pending.path)
  return { state: 'signed-in' }
}

export interface LeaveOptions {
  /** Without it, a user who is signed in at the authorization endpoint comes back at once. */
  readonly prompt?: 'none' | 'login' | 'select_account'
  /** Whether to create an account. */
  readonly isNew?: boolean
}

/** Leaves for the login page. @param path where to come back to; by default, this page */
export async function leave(path: string, { prompt, isNew = false }: LeaveOptions = {}): Promise<Started> {
  const { verifier, challenge } = await makePkce()
  const state = makeRandom()
  const here = location.pathname + location.search + location.hash
  sessionStorage.setItem(storageKey, JSON.stringify({ state, verifier, path: path === '' ? here : path }))
  location.replace(authorizeUrl({ state, challenge, prompt, isNew }))
  return { state: 'leaving' }
}

interface Pending {
  readonly state: string
  readonly verifier: string
  readonly path: string
}

function readPending(state: string): Pending | undefined {
  const pending = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null') as Pending | null
  const isOurs = pending !== null && pending.state === state && pending.path.startsWith(uiPath)
  return isOurs ? pending : undefined
}

function describeError(response: URLSearchParams): { error: string; message: string; hint: string } {
  const error = response.get('error') ?? ''
  return { error, message: startTexts.failed, hint: response.get('error_description') ?? error }
}

/**
 * Whether user routes have the same origin as these pages. Their scripts can listen to a channel, but they never share
 * windows with these pages, which have policies that no user route can set. On a host of its own, windows of the
 * authorization endpoint are of another origin and cannot be shared.
 */
const isShared = new URL(issuer).origin === location.origin

/** In a window that was opened to sign in again: gives the code to the page that opened it. */
async function handOver(response: URLSearchParams): Promise<Started> {
  if (isShared) {
    const opener = window.opener as Window | null
    opener?.postMessage(Object.fromEntries(response), location.origin) // it closes this window
    return { state: 'window' }
  }
  const channel = new BroadcastChannel(channelName)
  const taken = new Promise<void>((resolve) => {
    channel.addEventListener('message', ({ data }) => {
      if (data === `taken ${response.get('state')}`) resolve()
    })
  })
  channel.postMessage(Object.fromEntries(response))
  void taken.then(() => window.close())
  return { state: 'window' }
}

let signingIn: Promise<void> | undefined
let cancelSignIn: (() => void) | undefined

/**
 * Asks the user to sign in again. The page stays as it is, so that no edit is lost.
 * @throws SignInCancelled
 */
export function askToSignIn(reason: SignInReason): Promise<void> {
  if (signingIn !== undefined && reason === 'ended') signInRequest.set(reason)
  signingIn ??= new Promise<void>((resolve, reject) => {
    cancelSignIn = () => reject(new SignInCancelled())
    const stop = sessionStore.listen(() => resolve())
    signInRequest.set(reason)
    signingIn?.finally(stop).catch(() => undefined)
  }).finally(() => {
    signInRequest.set(undefined)
    signingIn = undefined
  })
  return signingIn
}

export class SignInCancelled extends Error {
  override readonly name = 'SignInCancelled'
  constructor() {
    super(signInTexts.cancelled)
  }
}

export function cancelAsking(): void {
  cancelSignIn?.()
}

/**
 * Opens a window to sign in. Must be called by a click, or browsers block the window.
 * @returns a function that stops waiting for it
 */
export function openSignIn(reason: SignInReason, onProblem: (message: string) => void): () => void {
  const state = windowState + makeRandom()
  const channel = new BroadcastChannel(channelName)
  const stopping = new AbortController()
  const stop = () => {
    stopping.abort()
    channel.close()
  }
  const opened = window.open('', '_blank', 'popup,width=480,height=640')
  void makePkce().then(({ verifier, challenge }) => {
    const take = (data: AuthorizationResponse): void => {
      if (typeof data === 'string' || data['state'] !== state) return
      if (isShared) opened?.close()
      else channel.postMessage(`taken ${state}`)
      const { code, error_description: problem = startTexts.failed } = data
      if (code === undefined) return onProblem(problem)
      redeem(code, verifier).then(stop, (error: Error) => onProblem(error.message))
    }
    if (isShared) {
      const onMessage = ({ source, origin, data }: MessageEvent<AuthorizationResponse>) => {
        if (source === opened && origin === location.origin) take(data)
      }
      window.addEventListener('message', onMessage, { signal: stopping.signal })
    } else channel.addEventListener('message', ({ data }: MessageEvent<AuthorizationResponse>) => take(data))
    const url = authorizeUrl({ state, challenge, prompt: reason === 'password' ? 'login' : undefined })
    if (opened === null) onProblem(signInTexts.blocked)
    else opened.location.replace(url)
  })
  return stop
}

/** The response of the authorization endpoint, or what windows say to each other. */
type AuthorizationResponse = Readonly<Record<string, string>> | string

interface AuthorizeOptions {
  readonly state: string
  readonly challenge: string
  readonly prompt: string | undefined
  readonly isNew?: boolean
}

function authorizeUrl({ state, challenge, prompt, isNew = false }: AuthorizeOptions): string {
  const query = new URLSearchParams({
    response_type: 'code',
    client_id: config.clientId,
    redirect_uri: redirectUri,
    state,
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...(prompt === undefined ? {} : { prompt }),
  })
  return `${issuer}/authorization/${isNew ? 'register' : 'authorize'}?${query.toString()}`
}

async function redeem(code: string, verifier: string): Promise<void> {
  await requestTokens({ grant_type: 'authorization_code', code, code_verifier: verifier, redirect_uri: redirectUri })
  const response = await fetch(`${issuer}/authorization/whoami`, {
    headers: { authorization: `Bearer ${tokens!.access}` },
  })
  if (!response.ok) throw new Error(startTexts.failed)
  const { user, scope } = (await response.json()) as { user: Session['user']; scope: string }
  const before = sessionStore.get()
  // What is on the page belongs to the other user.
  if (before !== undefined && before.user.id !== user.id) return location.replace(`${uiPath}/`)
  endings ??= followEndings()
  return sessionStore.set({ user, scopes: scope.split(' ') })
}

/** Connects the windows of the backend and of the portal in this browser, if they have one origin. */
let endings: BroadcastChannel | undefined

/**
 * Checks this window's access when another one may have ended it. Scripts of user routes can send this message too, but
 * nothing follows from it unless the server rejects the tokens.
 */
function followEndings(): BroadcastChannel {
  const channel = new BroadcastChannel('waypost-endings')
  channel.addEventListener('message', () => void checkAccess())
  return channel
}

/** Makes the other windows check whether they still have access. */
export function tellWindows(): void {
  endings?.postMessage('')
}

async function checkAccess(): Promise<void> {
  if (tokens === undefined) return
  const authorization = `Bearer ${tokens.access}`
  const response = await fetch(`${issuer}/authorization/whoami`, { headers: { authorization } }).catch(() => undefined)
  if (response?.status !== 401 || (await refresh().catch(() => true))) return
  await askToSignIn('ended').catch(() => undefined)
}

interface TokenResponse {
  readonly access_token: string
  readonly refresh_token?: string
  readonly expires_in: number
  readonly error?: string
  readonly error_description?: string
}

async function requestTokens(form: Record<string, string>): Promise<void> {
  const body = new URLSearchParams({ ...form, client_id: config.clientId })
  const response = await fetch(`${issuer}/authorization/token`, { method: 'POST', body })
  // A proxy may respond instead of Waypost.
  const issued = (await response.json().catch(() => undefined)) as TokenResponse | undefined
  if (issued === undefined) throw new Error(problemTexts.proxy(response.status))
  if (!response.ok) throw new TokenError(issued.error ?? '', issued.error_description ?? startTexts.failed)
  const expiresAt = Date.now() + issued.expires_in * 1000
  tokens = { access: issued.access_token, refresh: issued.refresh_token, expiresAt }
}

class TokenError extends Error {
  readonly error: string
  constructor(error: string, message: string) {
    super(message)
    this.error = error
  }
}

/** How long before its end an access token is replaced. */
const renewalMs = 30_000
let renewing: Promise<void> | undefined

/**
 * Returns an access token that is valid for a while, and renews it if necessary.
 * @param rejected a token that the server has rejected
 * @throws SignInCancelled, or an error of the network
 */
export async function accessToken(rejected?: string): Promise<string> {
  const isUsable = tokens !== undefined && tokens.access !== rejected && tokens.expiresAt - renewalMs > Date.now()
  if (isUsable) return tokens!.access
  renewing ??= renew().finally(() => (renewing = undefined))
  await renewing
  return tokens!.access
}

async function renew(): Promise<void> {
  if (!(await refresh())) await askToSignIn('expired')
}

/** @returns whether there are new tokens @throws an error of the network */
async function refresh(): Promise<boolean> {
  const token = tokens?.refresh
  if (token === undefined) return false
  try {
    await requestTokens({ grant_type: 'refresh_token', refresh_token: token })
    return true
  } catch (error) {
    if (!(error instanceof TokenError)) throw error // the server cannot be reached
    tokens = undefined
    return false
  }
}

/** Signs out at the authorization endpoint, here, and in the other windows of this browser. */
export async function signOut(): Promise<void> {
  const token = tokens?.refresh ?? tokens?.access
  tokens = undefined
  if (token !== undefined) {
    const body = new URLSearchParams({ token, client_id: config.clientId })
    await fetch(`${issuer}/authorization/revoke`, { method: 'POST', body }).catch(() => undefined)
    tellWindows()
  }
  await leave(`${uiPath}/`, { prompt: 'select_account' })
}

export async function makePkce(): Promise<{ verifier: string; challenge: string }> {
  const verifier = makeRandom()
  const hash = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier))
  return { verifier, challenge: encode(new Uint8Array(hash)) }
}

export function makeRandom(): string {
  return encode(crypto.getRandomValues(new Uint8Array(32)))
}

function encode(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '')
}
