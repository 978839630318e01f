import { shortId, toPrintable } from '../../../src/kit/index.ts'
import type { DeployPlan } from '../../../src/project/index.ts'

/** A line of a plan: a change, or something that needs attention. */
export interface PlanLine {
  /** Undefined for something that does not change but needs attention. */
  readonly change?: 'added' | 'changed' | 'removed'
  readonly kind: string
  readonly name: string
  readonly breaking: boolean
  /** Whether it lets callers in without a token, or more people than meant. Such a line is never left out. */
  readonly isPublic?: boolean
  readonly remarks: readonly Remark[]
}

export interface Remark {
  readonly text: string
  readonly breaking: boolean
  /** A command to copy, contained in the text. */
  readonly command?: string
}

export type Change = DeployPlan['changes'][number]

/** The parts of a plan. */
export interface PlanParts {
  readonly changes: DeployPlan['changes']
  readonly accessWarnings?: DeployPlan['accessWarnings']
  readonly unheldScopes?: DeployPlan['unheldScopes']
  readonly missingVariables?: DeployPlan['missingVariables']
  readonly olderServers?: DeployPlan['olderServers']
  readonly pendingMigrations?: DeployPlan['pendingMigrations']
  readonly droppedMigrations?: DeployPlan['droppedMigrations']
  readonly rollbacks?: DeployPlan['rollbacks']
  readonly overwritten?: DeployPlan['overwritten']
  readonly filesChanged?: DeployPlan['filesChanged']
  readonly changedSinceGit?: DeployPlan['changedSinceGit']
  /** The id of the new release. */
  readonly id?: string
  readonly active?: { readonly id: string } | undefined
  /** Whether pending migrations will run. */
  readonly migrates?: boolean
}

/** Returns the lines of a plan in order: changes with their remarks, then everything else. */
export function explainPlan(parts: PlanParts): readonly PlanLine[] {
  const { changes } = parts
  const changed = new Set(changes.map(({ kind, name }) => `${kind} ${name}`))
  const others = listOthers(parts).filter(({ kind, name }) => !changed.has(`${kind} ${name}`))
  return [...changes.map((change) => explainChange(change, parts)), ...others]
}

function explainChange(change: Change, parts: PlanParts): PlanLine {
  const { kind, details, breaking, source, calls } = change
  const own = details.map(({ text, breaking: isBreaking, affects }) => ({
    text: affects === undefined || !isBreaking ? toPrintable(text) : `${toPrintable(text)}, for ${nameSome(affects)}`,
    breaking: isBreaking,
  }))
  // Only new routes show their location.
  const place = change.change === 'added' && source !== undefined ? [plain(toPrintable(source))] : []
  const more = change.change === 'removed' ? remarksOfRemoved(change, parts) : remarksOf(kind, change.name, parts)
  const access = describeAccessWarnings(change, parts)
  return {
    change: change.change,
    kind,
    name: toPrintable(change.name),
    breaking,
    ...((change.public === true || access.length > 0) && { isPublic: true }),
    remarks: join(
      [
        ...access,
        ...own.filter((one) => one.breaking),
        ...describeCalls(calls),
        ...own.filter((one) => !one.breaking),
        ...more,
        ...place,
      ],
      change,
    ),
  }
}

function remarksOfRemoved({ kind, name }: Change, { changes, droppedMigrations }: PlanParts): readonly Remark[] {
  if (kind !== 'migration') return []
  if (droppedMigrations?.includes(name) === true)
    return [plain('missing here, but has already run: restore its file, or the deployment is refused')]
  const [connection] = name.split('/')
  const isUnused = changes.some(
    (one) => one.kind === 'connection' && one.change === 'removed' && one.name === connection,
  )
  return isUnused ? [plain('removed with its connection; its changes to the database remain')] : []
}

function describeAccessWarnings(
  { kind, name }: Pick<Change, 'kind' | 'name'>,
  { accessWarnings = [] }: PlanParts,
): readonly Remark[] {
  const found = accessWarnings.filter((one) => one.kind === kind && one.name === name)
  return found.map(({ text }) => plain(`WARNING ${toPrintable(text)}`))
}

function describeCalls(calls: number | undefined): readonly Remark[] {
  if (calls === undefined) return []
  return [plain(`called ${calls === 1 ? 'once' : `${calls.toLocaleString('en')} times`} in the last 24 h`)]
}

/** Added entries have one line. */
function join(remarks: readonly Remark[], { change }: Change): readonly Remark[] {
  if (change !== 'added' || remarks.length < 2) return remarks
  const command = remarks.find((remark) => remark.command !== undefined)?.command
  const text = remarks.map((remark) => remark.text).join('   ')
  const breaking = remarks.some((remark) => remark.breaking)
  return [{ text, breaking, ...(command === undefined ? {} : { command }) }]
}

function remarksOf(kind: string, name: string, parts: PlanParts): readonly Remark[] {
  const { unheldScopes = [], missingVariables = [], pendingMigrations } = parts
  if (kind === 'scope' && unheldScopes.includes(name)) return [describeUnheldScopes(name)]
  if (kind === 'migration' && pendingMigrations !== undefined)
    return [pendingMigrations.includes(name) ? describePending(parts) : plain('already applied')]
  const missing = kind === 'variable' ? missingVariables.find((variable) => variable.name === name) : undefined
  return missing === undefined ? [] : [describeMissingVariable(missing)]
}

function listOthers(parts: PlanParts): readonly PlanLine[] {
  const {
    unheldScopes = [],
    missingVariables = [],
    olderServers = [],
    accessWarnings = [],
    pendingMigrations = [],
    rollbacks,
    overwritten = [],
    filesChanged = false,
  } = parts
  const line = (kind: string, name: string, remark: Remark): PlanLine => ({
    kind,
    name: toPrintable(name),
    breaking: false,
    remarks: [remark],
  })
  return [
    ...overwritten.map(({ at, file, line: number }) =>
      line(
        'undone',
        at ?? file,
        plain(`changed in the backend: ${toPrintable(file)}${number === undefined ? '' : `:${number}`}`),
      ),
    ),
    ...(filesChanged ? [line('files', 'of the definition', plain(onlyFiles))] : []),
    ...(isPulled(parts) ? [line('files', 'of the definition', plain(onlyPulled))] : []),
    ...accessWarnings.map(({ kind, name, text }) => ({
      ...line(kind, name, plain(`WARNING ${toPrintable(text)}`)),
      isPublic: true,
    })),
    ...olderServers.map(({ name, version }) =>
      line('server', name, plain(`runs waypost ${toPrintable(version)}: refused until it is updated`)),
    ),
    ...unheldScopes.map((name) => line('scope', name, describeUnheldScopes(name))),
    ...missingVariables.map((one) => line('variable', one.name, describeMissingVariable(one))),
    ...pendingMigrations.map((name) => line('migration', name, describePending(parts))),
    ...describeLostRollbacks(rollbacks).map((remark) =>
      line('rollback', nameSome(rollbacks!.lost.map(shortId)), remark),
    ),
  ]
}

function describeLostRollbacks(rollbacks: PlanParts['rollbacks']): readonly Remark[] {
  if (rollbacks === undefined || rollbacks.lost.length === 0) return []
  return [plain(`no longer possible to these releases after ${nameSome(rollbacks.migrations)}`)]
}

/** Whether the release is active, and only its files are now those of the project. */
function isPulled({ changedSinceGit = false, filesChanged = false, overwritten = [], id, active }: PlanParts): boolean {
  return changedSinceGit && !filesChanged && overwritten.length === 0 && id !== undefined && id === active?.id
}

const onlyPulled = 'published in the backend and now in the project: recorded, and servers change nothing'
const onlyFiles = 'only comments or their layout changed: recorded, and servers change nothing'

function describeUnheldScopes(name: string): Remark {
  const command = `waypost user:scopes NAME --add ${toPrintable(name)}`
  return { text: `no user has it yet: ${command}`, breaking: false, command }
}

function describeMissingVariable({ servers }: DeployPlan['missingVariables'][number]): Remark {
  return plain(servers.length === 0 ? 'not set here' : `not set on ${servers.map(toPrintable).join(', ')}`)
}

function describePending({ migrates = false }: PlanParts): Remark {
  return plain(migrates ? 'will run first' : 'must run first: add --migrate')
}

const maxNamed = 3

function nameSome(names: readonly string[]): string {
  const shown = names.slice(0, maxNamed).map(toPrintable).join(', ')
  return names.length > maxNamed ? `${shown} and ${names.length - maxNamed} more` : shown
}

function plain(text: string): Remark {
  return { text, breaking: false }
}
