import {
  isAddressRange,
  variable,
  type Variables,
  describeMismatch,
  parseVariable,
  type VariableValue,
  shortId,
} from '../kit/index.ts'
import { errors } from './errors.ts'
import type { EnvValues } from '../contract/index.ts'
import { findVariableUses, type Manifest, type StoredRelease } from '../release/index.ts'
import type { Host } from './host.ts'

/**
 * Returns the port to listen on: the given one, the variable's, or 3000.
 * @throws WP_SERVER_NUMBER
 */
export function readPort(variables: Variables, given: number | undefined, name = 'PORT'): number {
  if (given !== undefined) return given
  const text = variable(variables, name)
  if (text === undefined) return 3000
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw errors.WP_SERVER_NUMBER({ name, value: text })
  return port
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/**
 * Reads the level of the structured log from `LOG_LEVEL`.
 * @throws WP_SERVER_LOG_LEVEL
 */
export function readLogLevel(variables: Variables, otherwise: 'info' | 'warn'): string {
  const level = variable(variables, 'LOG_LEVEL') ?? otherwise
  if (!levels.includes(level)) throw errors.WP_SERVER_LOG_LEVEL({ value: level, levels: levels.join(', ') })
  return level
}

/** Names of address ranges that Fastify accepts. */
const proxyNames = new Set(['loopback', 'linklocal', 'uniquelocal'])

/**
 * Reads the proxies whose `X-Forwarded-For` header is trusted from `WAYPOST_TRUSTED_PROXIES`: addresses and ranges, by
 * default none.
 * @throws WP_SERVER_TRUSTED_PROXIES
 */
export function readTrustedProxies(variables: Variables): readonly string[] {
  const text = variable(variables, 'WAYPOST_TRUSTED_PROXIES') ?? ''
  const proxies = text.split(/[, ]+/).filter((one) => one !== '')
  const wrong = proxies.find((one) => !proxyNames.has(one) && !isProxyRange(one))
  if (wrong !== undefined) throw errors.WP_SERVER_TRUSTED_PROXIES({ value: wrong })
  return proxies
}

/** Rejects ranges of all addresses: trusting every address means believing every caller. */
function isProxyRange(text: string): boolean {
  return isAddressRange(text) && !/\/0+$/.test(text)
}

/** Names the plugins that use a variable, because the project does not show it. */
function describeMissing(manifest: Manifest, name: string): string {
  const plugins = findVariableUses(manifest, name).filter((use) => use.startsWith('plugin '))
  return plugins.length === 0 ? name : `${name} (${plugins.join(', ')})`
}

/**
 * Reads the variables that a release declares for its actions, and checks that every other variable it requires is set.
 * Secret values are redacted in the host's log from then on.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_VARIABLE_TYPE
 */
export function resolveEnv(
  { variables, logSecrets }: Pick<Host, 'variables' | 'logSecrets'>,
  { id, manifest }: Pick<StoredRelease, 'id' | 'manifest'>,
): EnvValues {
  const used = Object.entries(manifest.variables)
  const missing = used.filter(([name, { optional }]) => !optional && variable(variables, name) === undefined)
  if (missing.length > 0) {
    const names = missing.map(([name]) => describeMissing(manifest, name)).join(', ')
    throw errors.WP_SERVER_VARIABLE({ variables: names, release: shortId(id) })
  }
  const env: [string, VariableValue][] = []
  for (const [name, { declared }] of used) {
    if (declared === undefined) continue
    const text = variable(variables, name)
    const value = text === undefined ? declared.default! : parseVariable(text, declared.type)
    if (value === undefined) {
      const parameters = { name, mismatch: describeMismatch(declared, text!), release: shortId(id) }
      throw errors.WP_SERVER_VARIABLE_TYPE(parameters)
    }
    if (declared.secret) logSecrets.add(String(value))
    env.push([name, value])
  }
  return Object.freeze(Object.fromEntries(env)) as EnvValues
}
