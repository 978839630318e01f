import { existsSync } from 'node:fs'
import path from 'node:path'
import { systemClock, variable, type Clock, type Variables } from '../kit/index.ts'
import {
  assertSystemMigrated,
  loadFacts,
  openSystem,
  replaceFact,
  storeFact,
  type Secrets,
  type SystemFacts,
} from '../store/index.ts'
import { errors } from './errors.ts'
import type { Host } from './host.ts'
import { resolveSecrets } from './resolve-secrets.ts'

export interface OpenHostOptions {
  readonly folder: string
  readonly variables: Variables
  readonly clock?: Clock
  /** Make the embedded System where there is none: only `dev` and `migrate` do. */
  readonly create?: boolean
  /** Leave out the check that Waypost's own tables are the ones that this version knows. */
  readonly unmigrated?: boolean
  /** Give up durability for speed, in a test. */
  readonly disposable?: boolean
}

const embeddedFile = path.join('.waypost', 'system.db')

/**
 * Opens the System that the environment names, `.waypost/system.db` in the folder by default.
 * @throws WP_SERVER_NO_SYSTEM, WP_STORE_UNREACHABLE, WP_STORE_NOT_MIGRATED, WP_STORE_NEWER, WP_STORE_URL
 */
export async function openHost(options: OpenHostOptions): Promise<Host> {
  const { folder, variables } = options
  const named = variable(variables, 'WAYPOST_SYSTEM_URL')
  const url = systemUrl(folder, named)
  if (named === undefined && !options.create && !existsSync(url.slice('sqlite:'.length))) {
    throw errors.WP_SERVER_NO_SYSTEM({ file: embeddedFile })
  }
  const system = await openSystem({
    url,
    create: options.create ?? false,
    disposable: options.disposable ?? false,
    ...(options.clock === undefined ? {} : { clock: options.clock }),
  })
  try {
    if (!options.unmigrated) await assertSystemMigrated(system)
  } catch (error) {
    await system.close()
    throw error
  }
  return {
    folder,
    variables,
    system,
    clock: options.clock ?? systemClock,
    isEmbedded: named === undefined,
    close: () => system.close(),
  }
}

/** A relative SQLite file is meant from the folder. */
function systemUrl(folder: string, named: string | undefined): string {
  if (named === undefined) return `sqlite:${path.join(folder, embeddedFile)}`
  if (!named.startsWith('sqlite:')) return named
  return `sqlite:${path.resolve(folder, named.slice('sqlite:'.length))}`
}

/** What a command that signs or decrypts needs beside System. */
export interface Identity {
  readonly secrets: Secrets
  readonly issuer: string
  /** `dev` made this System: callbacks to loopback are allowed. */
  readonly isDevelopment: boolean
}

/**
 * The secrets and the issuer of a System, checked against what it knows of them.
 * @param defaultIssuer stands in where neither the environment nor System names one: only on the embedded System
 * @throws WP_SERVER_SECRET_MISSING, WP_STORE_SECRET_CHANGED, WP_SERVER_ISSUER_CHANGED, WP_SERVER_BASE_URL_MISSING
 */
export async function openIdentity(host: Host, defaultIssuer = 'http://localhost:3000'): Promise<Identity> {
  const facts = await loadFacts(host.system)
  const secrets = await resolveSecrets(host, facts)
  const issuer = await resolveIssuer(host, facts, defaultIssuer)
  return { secrets, issuer, isDevelopment: facts.origin === 'development' }
}

async function resolveIssuer(host: Host, facts: SystemFacts, defaultIssuer: string): Promise<string> {
  const given = readBaseUrl(variable(host.variables, 'WAYPOST_BASE_URL'))
  const isDevelopment = facts.origin === 'development'
  if (isDevelopment && given !== undefined && given !== facts.issuer) {
    await replaceFact(host.system, 'issuer', given)
    return given
  }
  const proposed = facts.issuer ?? given ?? (host.isEmbedded ? defaultIssuer : undefined)
  if (proposed === undefined) throw errors.WP_SERVER_BASE_URL_MISSING({ target: host.system.target })
  const stored = facts.issuer ?? (await storeFact(host.system, 'issuer', proposed))
  if (given !== undefined && given !== stored) {
    throw errors.WP_SERVER_ISSUER_CHANGED({ given, stored, target: host.system.target })
  }
  return stored
}

/** @throws WP_SERVER_BASE_URL */
export function readBaseUrl(text: string | undefined): string | undefined {
  if (text === undefined) return undefined
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '' || url.username !== '') {
    throw errors.WP_SERVER_BASE_URL({ url: text })
  }
  return text.replace(/\/+$/, '')
}
