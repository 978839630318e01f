import { describeMismatch, parseVariable, variable, type Variables, joinWords, shortId } from '../../kit/index.ts'
import { type StoredRelease } from '../../release/index.ts'
import type { SystemFacts } from '../../store/index.ts'
import { joinServerNames, type LiveServer } from '../../host/index.ts'
import type { Finding } from './finding.ts'

/** Checks which release is active, and which live servers serve it. */
export function checkRelease(
  release: StoredRelease | undefined,
  servers: readonly LiveServer[],
  { origin }: SystemFacts,
): Finding {
  const check = 'release'
  if (release === undefined) {
    const message = 'No release is active: project routes return 404'
    const way = origin === 'development' ? 'waypost dev' : 'waypost deploy'
    return { check, state: 'warn', message, next: 'Create one:', command: way }
  }
  const active = `Release ${shortId(release.id)} is active`
  const behind = servers.filter((server) => server.state === 'failed' || server.release !== release.id)
  const failed = behind.filter((server) => server.error !== null)
  if (failed.length > 0) {
    const reasons = failed.map(({ name, error, release: served }) =>
      served === release.id
        ? `${name} could not apply changed variables: ${error}`
        : `${name} does not serve it: ${error}`,
    )
    const next = 'The server retries automatically once the cause is fixed.'
    return { check, state: 'fail', message: `${active}; ${reasons.join('; ')}`, next }
  }
  if (behind.length > 0) {
    const message = `${active}; ${joinServerNames(behind)} ${behind.length === 1 ? 'is' : 'are'} still switching to it`
    return { check, state: 'warn', message, next: 'Check again in a few seconds.' }
  }
  if (origin === 'development') return { check, state: 'ok', message: `${active}, created by waypost dev` }
  if (servers.length > 0) {
    const serve = servers.length === 1 ? 'serves' : 'serve'
    return { check, state: 'ok', message: `${active}; ${joinServerNames(servers)} ${serve} it` }
  }
  return {
    check,
    state: 'warn',
    message: `${active}, but no server is running`,
    next: 'Start a server:',
    command: 'waypost serve',
  }
}

/** Checks that a server here would have the variables of the active release, with values of the right types. */
export function checkVariables({ manifest }: StoredRelease, variables: Variables): readonly Finding[] {
  const check = 'variables'
  const needed: string[] = []
  const missing: string[] = []
  const wrong: string[] = []
  for (const [name, { optional, declared }] of Object.entries(manifest.variables)) {
    const text = variable(variables, name)
    if (!optional) needed.push(name)
    if (text === undefined && !optional) missing.push(name)
    if (text === undefined || declared === undefined || parseVariable(text, declared.type) !== undefined) continue
    wrong.push(`${name} must be ${describeMismatch(declared, text)}`)
  }
  if (missing.length === 0 && wrong.length === 0) {
    if (needed.length === 0) return []
    return [{ check, state: 'ok', message: `Variables of the release are set: ${needed.join(', ')}` }]
  }
  const unset = `The release requires ${joinWords(missing)}, which ${missing.length === 1 ? 'is' : 'are'} not set here`
  const message = [...(missing.length === 0 ? [] : [unset]), ...wrong].join('; ')
  const next =
    'A server started here cannot serve the release. Set them with waypost env:set, in the environment or in .env.'
  return [{ check, state: 'warn', message, next }]
}
