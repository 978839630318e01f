import { variable } from '../../kit/index.ts'
import type { SystemFacts } from '../../store/index.ts'
import { errors } from '../errors.ts'
import type { Host } from '../host.ts'
import { readBaseUrl } from '../open-identity.ts'
import type { Finding } from './finding.ts'

/** Whether the base URL is the issuer of the tokens that System has given out; every server compares it when it starts. */
export function checkBaseUrl({ variables, system, isEmbedded }: Host, facts: SystemFacts, servers: number): Finding {
  const given = readBaseUrl(variable(variables, 'WAYPOST_BASE_URL'))
  const { issuer: stored, origin } = facts
  const ok = (message: string): Finding => ({ check: 'base-url', state: 'ok', message })
  if (origin === 'development') return ok(`Issuer ${given ?? stored ?? 'http://localhost:3000'}, which dev keeps`)
  if (given !== undefined && stored !== undefined && given !== stored) {
    throw errors.WP_SERVER_ISSUER_CHANGED({ given, stored, target: system.target })
  }
  const same =
    servers === 0 ? 'as System remembers it' : `the same on ${servers === 1 ? '1 server' : `${servers} servers`}`
  if (given !== undefined) return ok(`WAYPOST_BASE_URL ${given}, ${stored === undefined ? 'new to System' : same}`)
  if (stored !== undefined) return ok(`WAYPOST_BASE_URL is not set; System remembers ${stored}`)
  if (isEmbedded) return ok('WAYPOST_BASE_URL is not set; http://localhost:3000 stands in')
  throw errors.WP_SERVER_BASE_URL_MISSING({ target: system.target })
}
