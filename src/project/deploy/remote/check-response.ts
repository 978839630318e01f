import { sha256, toPrintable } from '../../../kit/index.ts'
import {
  findFilesProblem,
  findPathProblem,
  type FileHashes,
  type LiveServer,
  type ReleaseChange,
} from '../../../release/index.ts'
import type {
  FilesResponse,
  MigrateResponse,
  RollbackSurveyResponse,
  ServersResponse,
  SurveyResponse,
} from '../../../backend/index.ts'
import type { ReleaseFacts } from '../../../operate/index.ts'
import { errors } from './errors.ts'

/**
 * Checks that a response has the form that this version expects.
 * @throws WP_PROJECT_REMOTE_PROTOCOL
 */
export function assertResponse<Body>(
  { server, protocol }: { readonly server: string; readonly protocol: number },
  response: Body,
  fits: (response: never) => boolean,
): Body {
  if (hasExpectedForm(response, fits)) return response
  throw errors.WP_PROJECT_REMOTE_PROTOCOL({ server, own: protocol })
}

function hasExpectedForm(response: unknown, fits: (response: never) => boolean): boolean {
  try {
    return fits(response as never)
  } catch {
    return false // a required value is missing
  }
}

export function isSurvey(response: SurveyResponse): boolean {
  const { active, filesChanged, changedSinceGit, missingArtifacts } = response
  return (
    areFacts(response) &&
    [filesChanged, changedSinceGit].every((flag) => typeof flag === 'boolean') &&
    (active === null || (isTexts([active.activatedBy]) && Number.isFinite(active.activatedAt))) &&
    isTexts(missingArtifacts)
  )
}

export function isRollbackSurvey(response: RollbackSurveyResponse): boolean {
  const { unknownMigrations, unreachable, rollback } = response
  return (
    areFacts(response) &&
    [unknownMigrations, unreachable].every(isTexts) &&
    rollback!.incompatibleMigrations.every(({ name, steps }) => isTexts([name, ...steps]))
  )
}

function areFacts(facts: Omit<ReleaseFacts, 'active'> & { readonly active: { readonly id: string } | null }): boolean {
  const { id, active, changes, breakingChanges, missingVariables, olderServers, failingActions, rollbacks } = facts
  const { pendingMigrations, droppedMigrations, unheldScopes, accessWarnings, built } = facts
  const { reachable, lost, migrations } = rollbacks
  return (
    [id, ...(active === null ? [] : [active.id])].every(isId) &&
    changes.every(isChange) &&
    (breakingChanges === 'warn' || breakingChanges === 'forbid') &&
    missingVariables.every(isMissingVariable) &&
    olderServers.every(({ name, version }) => isTexts([name, version])) &&
    failingActions.every(({ method, path, message }) => isTexts([method, path, message])) &&
    accessWarnings.every(({ code, kind, name, text }) => isTexts([code, kind, name, text])) &&
    [reachable, lost, migrations, pendingMigrations, droppedMigrations, unheldScopes, [built]].every(isTexts)
  )
}

function isChange({ change, kind, name, breaking, details }: ReleaseChange): boolean {
  return isTexts([change, kind, name, ...details.map(({ text }) => text)]) && typeof breaking === 'boolean'
}

function isMissingVariable({
  name,
  servers,
}: {
  readonly name: unknown
  readonly servers: readonly unknown[]
}): boolean {
  return typeof name === 'string' && isTexts(servers)
}

export function isHashes(files: FileHashes): boolean {
  return Object.values(files).every(isId)
}

/** Whether each file has a usable path and its content. A server must not write other files. */
export function isFiles({ active, inGit, contents }: FilesResponse): boolean {
  const areComplete = (files: FileHashes): boolean => {
    const sizes = Object.entries(files).map(([path, hash]) => ({ path, bytes: Buffer.byteLength(contents[hash]!) }))
    return findFilesProblem(sizes) === undefined && sizes.every(({ path }) => findPathProblem(path) === undefined)
  }
  return (
    Object.entries(contents).every(([hash, content]) => sha256(content) === hash) &&
    (active === null || ((active.id === null || isId(active.id)) && areComplete(active.files))) &&
    (inGit === null || ((inGit.commit === null || isTexts([inGit.commit])) && areComplete(inGit.files)))
  )
}

export function isId(id: unknown): boolean {
  return typeof id === 'string' && /^[0-9a-f]{64}$/.test(id)
}

export function isMigrated({ applied }: MigrateResponse): boolean {
  return applied.every(({ connection, name, ms }) => isTexts([connection, name]) && Number.isFinite(ms))
}

export function isServers({ active, servers }: ServersResponse): boolean {
  if (active !== null && !isId(active)) return false
  return servers.every(({ id, name, state }) => [id, name, state].every((text) => typeof text === 'string'))
}

/** Returns a server with printable texts. */
export function printableServer(server: LiveServer): LiveServer {
  const { name, state, error, version } = server
  return {
    ...server,
    name: printable(name, 200),
    state: printable(state, 40),
    version: printable(version, 80),
    error: error === null ? null : printable(error),
  }
}

function isTexts(texts: readonly unknown[]): boolean {
  return texts.every((text) => typeof text === 'string')
}

/** Returns a server's text as one line without control characters, of limited length. */
export function printable(text: unknown, maxLength = 1000): string {
  if (typeof text !== 'string') return ''
  const plain = toPrintable(text).replaceAll(/ +/g, ' ').trim()
  return plain.length > maxLength ? `${plain.slice(0, maxLength - 1)}…` : plain
}
