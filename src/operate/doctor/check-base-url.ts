import { variable } from '../../kit/index.ts'
import { isOnDevice } from '../../auth/index.ts'
import type { SystemFacts } from '../../store/index.ts'
import { hostErrors, type Host, readBaseUrl, joinServerNames, type LiveServer } from '../../host/index.ts'
import type { Finding } from './finding.ts'

/**
 * Checks that the base URL equals the issuer of the tokens in System, which every server compares when it starts, and
 * that it is https.
 */
export function checkBaseUrl(host: Host, facts: SystemFacts, servers: readonly LiveServer[]): Finding {
  const finding = checkIssuer(host, facts, servers)
  const url = URL.parse(readBaseUrl(variable(host.variables, 'WAYPOST_BASE_URL')) ?? facts.issuer ?? '')
  if (finding.state !== 'ok' || url?.protocol !== 'http:' || isOnDevice(url.hostname)) return finding
  const message = `${finding.message}; it is not https, so passwords and tokens are sent unencrypted`
  const next = 'Put a TLS proxy in front of Waypost, then change the base URL:'
  const command = `waypost issuer:change https://${url.host}${url.pathname.replace(/\/$/, '')}`
  return { check: 'base-url', state: 'warn', message, next, command }
}

function checkIssuer(
  { variables, system, isEmbedded }: Host,
  facts: SystemFacts,
  servers: readonly LiveServer[],
): Finding {
  const given = readBaseUrl(variable(variables, 'WAYPOST_BASE_URL'))
  const { issuer: stored, origin } = facts
  const ok = (message: string): Finding => ({ check: 'base-url', state: 'ok', message })
  if (origin === 'development') return ok(`Issuer ${given ?? stored ?? 'http://localhost:3000'}, set by dev`)
  if (given !== undefined && stored !== undefined && given !== stored) {
    throw hostErrors.WP_SERVER_ISSUER_CHANGED({ given, stored, target: system.target })
  }
  const outdated = servers.filter(({ issuer }) => issuer !== null && stored !== undefined && issuer !== stored)
  if (outdated.length > 0) return warnOutdated(outdated, stored)
  if (given !== undefined)
    return ok(
      `WAYPOST_BASE_URL ${given}, ${stored === undefined ? 'not stored in System yet' : describeServers(servers)}`,
    )
  if (stored !== undefined) return ok(`WAYPOST_BASE_URL is not set; System uses ${stored}`)
  if (isEmbedded) return ok('WAYPOST_BASE_URL is not set; the first server will use http://localhost with its port')
  throw hostErrors.WP_SERVER_BASE_URL_MISSING({ target: system.target })
}

/** Servers that have been running since before `issuer:change` sign and accept tokens that the others reject. */
function warnOutdated(outdated: readonly LiveServer[], stored: string | undefined): Finding {
  const message = `WAYPOST_BASE_URL ${stored}, but ${joinServerNames(outdated)} still ${outdated.length === 1 ? 'uses' : 'use'} ${outdated[0]?.issuer}`
  const next = "They reject each other's tokens. Restart these servers with the new WAYPOST_BASE_URL."
  return { check: 'base-url', state: 'warn', message, next }
}

function describeServers({ length }: readonly LiveServer[]): string {
  if (length === 0) return 'as stored in System'
  return length === 1 ? 'the same on 1 server' : `the same on ${length} servers`
}
