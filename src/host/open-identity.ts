import { variable } from '../kit/index.ts'
import { loadFacts, replaceFact, storeFact, type Secrets, type SystemFacts } from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import { assertSecret, resolveSecrets } from './resolve-secrets.ts'

/** What a command that signs or decrypts needs in addition to System. */
export interface Identity {
  readonly secrets: Secrets
  readonly issuer: string
  /** Whether `dev` created this System. Callbacks to loopback addresses are then allowed. */
  readonly isDevelopment: boolean
}

/** The issuer of the embedded System if neither the environment nor System has one. */
export const defaultIssuer = 'http://localhost:3000'

/** The issuer that a command chooses for an embedded System without one. It is stored, because tokens or pages with it follow. */
export interface OwnIssuer {
  readonly issuer: string
  /** Called before it is stored. If it rejects, nothing is stored. */
  readonly onStore?: () => Promise<void>
}

/**
 * Loads the secrets and the issuer, checks them against the values that System stores, and stores missing ones.
 * @param own without it, the issuer of an embedded System is left to the first server, which knows its port
 * @throws WP_SERVER_SECRET_MISSING, WP_STORE_SECRET_CHANGED, WP_SERVER_ISSUER_CHANGED, WP_SERVER_BASE_URL_MISSING
 */
export async function openIdentity(host: Host, own?: OwnIssuer): Promise<Identity> {
  const facts = await loadFacts(host.system)
  const identity = await resolveIdentity(host, facts, own?.issuer)
  await storeSecretCheck(host, facts, identity)
  if (variable(host.variables, 'WAYPOST_BASE_URL') !== undefined) await storeIssuer(host, facts, identity)
  else if (own !== undefined && facts.issuer === undefined) {
    await own.onStore?.()
    // Another server may have been first.
    return { ...identity, issuer: await storeFact(host.system, 'issuer', identity.issuer) }
  }
  return identity
}

/** Throws the errors of `openIdentity` without changing System. */
export async function checkIdentity(host: Host): Promise<void> {
  await resolveIdentity(host, await loadFacts(host.system))
}

/** Resolves everything before anything is stored, so that a failed command does not bind the next one. */
async function resolveIdentity(host: Host, facts: SystemFacts, ownIssuer = defaultIssuer): Promise<Identity> {
  const secrets = await resolveSecrets(host, facts)
  return { secrets, issuer: resolveIssuer(host, facts, ownIssuer), isDevelopment: facts.origin === 'development' }
}

function resolveIssuer(host: Host, facts: SystemFacts, ownIssuer: string): string {
  const given = readBaseUrl(variable(host.variables, 'WAYPOST_BASE_URL'))
  const issuer = given ?? facts.issuer ?? (host.isEmbedded ? ownIssuer : undefined)
  if (issuer === undefined) throw errors.WP_SERVER_BASE_URL_MISSING({ target: host.system.target })
  if (facts.issuer !== undefined && facts.origin !== 'development') assertIssuer(host, issuer, facts.issuer)
  return issuer
}

async function storeSecretCheck(host: Host, facts: SystemFacts, { secrets }: Identity): Promise<void> {
  if (facts.secret_check !== undefined) return
  assertSecret(host, secrets, await storeFact(host.system, 'secret_check', secrets.checkValue))
}

async function storeIssuer(host: Host, facts: SystemFacts, { issuer, isDevelopment }: Identity): Promise<void> {
  if (facts.issuer === issuer) return
  if (isDevelopment) return replaceFact(host.system, 'issuer', issuer)
  assertIssuer(host, issuer, await storeFact(host.system, 'issuer', issuer))
}

function assertIssuer({ system }: Host, given: string, stored: string): void {
  if (given !== stored) throw errors.WP_SERVER_ISSUER_CHANGED({ given, stored, target: system.target })
}

/**
 * Normalises a base URL, so that equivalent URLs are the same issuer.
 * @throws WP_SERVER_BASE_URL
 */
export function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  const isPlain = url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}${url.pathname}`
  if (!isPlain) throw errors.WP_SERVER_BASE_URL({ url: text })
  return url.href.replace(/\/+$/, '')
}
