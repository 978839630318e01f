import { isAddressRange, variable, type Variables } from '../kit/index.ts'
import { errors } from './errors.ts'

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
