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
import type { StoredRelease } from '../release/index.ts'
import type { Host } from './host.ts'

/** The port to listen on: the given one, else what the variable says, else 3000. @throws WP_SERVER_NUMBER */
export function readPort(variables: Variables, given: number | undefined, name = 'PORT'): number {
  if (given !== undefined) return given
  const text = variable(variables, name)
  if (text === undefined) return 3000
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw errors.WP_SERVER_NUMBER({ name, value: text })
  return port
}

const levels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']

/** How much of the structured log is written: `LOG_LEVEL`. @throws WP_SERVER_LOG_LEVEL */
export function readLogLevel(variables: Variables, otherwise: 'info' | 'warn'): string {
  const level = variable(variables, 'LOG_LEVEL') ?? otherwise
  if (!levels.includes(level)) throw errors.WP_SERVER_LOG_LEVEL({ value: level, levels: levels.join(', ') })
  return level
}

/** Names that Fastify knows for ranges. */
const proxyNames = new Set(['loopback', 'linklocal', 'uniquelocal'])

/**
 * The proxies whose word on where a request comes from counts (`X-Forwarded-For`): addresses and ranges of
 * `WAYPOST_TRUSTED_PROXIES`; none by default. @throws WP_SERVER_TRUSTED_PROXIES
 */
export function readTrustedProxies(variables: Variables): readonly string[] {
  const text = variable(variables, 'WAYPOST_TRUSTED_PROXIES') ?? ''
  const proxies = text.split(/[, ]+/).filter((one) => one !== '')
  const wrong = proxies.find((one) => !proxyNames.has(one) && !isProxies(one))
  if (wrong !== undefined) throw errors.WP_SERVER_TRUSTED_PROXIES({ value: wrong })
  return proxies
}

/** Not every address: whoever trusts all believes every caller. */
function isProxies(text: string): boolean {
  return isAddressRange(text) && !/\/0+$/.test(text)
}

/**
 * Reads the variables that a release declares for its actions, and checks that every other variable it needs is set.
 * Secret values are left out of the host's log from then on.
 * @throws WP_SERVER_VARIABLE, WP_SERVER_VARIABLE_TYPE
 */
export function resolveEnv(
  { variables, logSecrets }: Pick<Host, 'variables' | 'logSecrets'>,
  { id, manifest }: Pick<StoredRelease, 'id' | 'manifest'>,
): EnvValues {
  const used = Object.entries(manifest.variables)
  const missing = used.filter(([name, { optional }]) => !optional && variable(variables, name) === undefined)
  if (missing.length > 0) {
    const names = missing.map(([name]) => name).join(', ')
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
