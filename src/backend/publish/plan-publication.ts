import { kindsOfConnections, type ConnectionKinds } from '../../build/index.ts'
import type { Texts } from '../../definition/index.ts'
import {
  diagnoseActions,
  nameOfMigration,
  variablesOfConnections,
  withSystemVariables,
  type FailingAction,
  type Host,
  type LoadPlugins,
} from '../../host/index.ts'
import { hasErrors, type Diagnostic } from '../../kit/index.ts'
import { surveyRelease, type ReleaseFacts } from '../../operate/index.ts'
import type { PluginSet } from '../../plugin/index.ts'
import { escapeStep } from '../../schema/index.ts'
import {
  assertServable,
  findVariableUses,
  outlineRelease,
  type BuiltRelease,
  type Manifest,
  type MissingVariable,
  type SerializedRelease,
  type StoredRelease,
} from '../../release/index.ts'
import { listStagedVariables, loadStagedVariables } from '../draft/system/staged-variables.ts'
import type { LoadedDraft } from '../draft/system/draft-builder.ts'
import type { SystemDraft } from '../draft/system/system-draft.ts'

export interface PlanSources {
  readonly host: Host
  readonly loadPlugins: LoadPlugins
  readonly draft: Pick<SystemDraft, 'readState' | 'load' | 'link' | 'tables' | 'thread' | 'select' | 'listChanges'>
  /** Loads the active release. @throws WP_RELEASE_CORRUPT */
  loadActive(): Promise<Pick<StoredRelease, 'id' | 'manifest'> | undefined>
}

export interface PlanOptions {
  /** The files to publish. */
  readonly texts: Texts
  /**
   * Whether connections may be opened that the active release does not have: they could lead anywhere, with any of this
   * host's variables in their address.
   */
  readonly mayOpen: boolean
}

/** A migration that the publication runs. */
export interface MigrationToRun {
  /** `Connection/name`. */
  readonly name: string
  /** For the database of its connection; empty for a migration with code. */
  readonly sql: readonly string[]
  readonly breaking: readonly string[]
  readonly losses: readonly string[]
}

/** The release that publishing would activate. */
export interface PublishableRelease extends BuiltRelease {
  readonly serialized: SerializedRelease
  readonly plugins: PluginSet
}

/** What publishing would change. */
export interface PublicationPlan {
  readonly active: Pick<StoredRelease, 'id' | 'manifest'> | undefined
  /** Undefined if the definition has errors. */
  readonly built: PublishableRelease | undefined
  /** What decides whether it may be published; undefined as well then. */
  readonly facts: ReleaseFacts | undefined
  readonly diagnostics: readonly Diagnostic[]
  /** Those about access that the active release does not have: publishing must accept them. */
  readonly accessWarnings: readonly Diagnostic[]
  readonly migrations: readonly MigrationToRun[]
  /** The places that use each missing variable. */
  readonly missingVariables: readonly (MissingVariable & { readonly uses: readonly string[] })[]
  /** Places that use a variable which is set already. */
  readonly newVariableUses: readonly { readonly name: string; readonly uses: readonly string[] }[]
}

/**
 * Compares files with the active release. Changes nothing.
 * @throws WP_RELEASE_NEWER if a newer version built the active release
 */
export async function planPublication(sources: PlanSources, options: PlanOptions): Promise<PublicationPlan> {
  const active = await sources.loadActive()
  if (active !== undefined) assertServable(active.manifest) // this version could drop parts that it does not know
  const loaded = await sources.draft.load(options.texts)
  const plan = { active, diagnostics: loaded.diagnostics, ...nothing }
  if (!loaded.isValid || hasErrors(loaded.diagnostics)) return plan
  const release = await sources.draft.link(loaded)
  const { manifest, artifacts } = release
  const before = active?.manifest
  const host = await openHostFor(sources, before, { manifest, mayOpen: options.mayOpen })
  const plugins = await sources.loadPlugins(release)
  const staged = (await listStagedVariables(sources.host)).map(({ name }) => name)
  // Another release may have been activated meanwhile.
  const compared = loaded.release === active?.id ? release.compared : undefined
  const facts = await surveyRelease({
    host,
    release: outlineRelease(release.id, manifest, before, compared),
    active,
    plugins,
    mayOpen: options.mayOpen,
    staged,
  })
  const { missingVariables: missing, pendingMigrations } = facts
  const isAbout = new Set(facts.accessWarnings.map(({ code, kind, name }) => `${code} ${kind} ${name}`))
  const isUnset = new Set([...missing.map(({ name }) => name), ...staged])
  return {
    ...plan,
    built: { manifest, artifacts, serialized: { id: release.id, manifest: release.text, artifacts }, plugins },
    facts,
    diagnostics: [...loaded.diagnostics, ...(await diagnoseFailing(sources, loaded, facts.failingActions))],
    accessWarnings: [
      ...loaded.diagnostics.filter((one) => isAbout.has(`${one.code} ${one.subject}`)),
      ...(await diagnoseRemovedSteps(sources, loaded, facts.accessWarnings)),
    ],
    migrations: await describeMigrations(sources, loaded, {
      pending: pendingMigrations.map((name) => manifest.migrations.find((one) => nameOfMigration(one) === name)!),
      kinds: { ...kindsOfConnections(manifest, manifest.plugins), System: host.system.kind },
    }),
    missingVariables: missing.map((one) => ({ ...one, uses: findVariableUses(manifest, one.name) })),
    newVariableUses: Object.keys(manifest.variables)
      .filter((name) => !isUnset.has(name))
      .map((name) => ({ name, uses: findNewUses(name, before, manifest) }))
      .filter(({ uses }) => uses.length > 0),
  }
}

/** Steps that no longer run are known only in comparison with the active release. */
async function diagnoseRemovedSteps(
  { draft }: PlanSources,
  { texts }: LoadedDraft,
  warnings: ReleaseFacts['accessWarnings'],
): Promise<readonly Diagnostic[]> {
  const removed = warnings.filter(({ code }) => code === 'WP_DEFINITION_STEP_REMOVED')
  if (removed.length === 0) return []
  const { places } = await draft.thread.ask('locateAll', { texts })
  return removed.map(({ code, kind, name, text }) => {
    const [method = '', path = ''] = name.split(' ')
    const [file = 'waypost.yml', line = '1'] =
      places.get(`/routes/${escapeStep(path)}/methods/${method}`)?.split(/:(?=\d+$)/) ?? []
    const start = { line: Number(line), column: 1 }
    const range = { start, end: { ...start, column: 2 } }
    return { code, severity: 'warning', file, range, message: `${name} ${text}`, subject: `${kind} ${name}` }
  })
}

const nothing = {
  built: undefined,
  facts: undefined,
  accessWarnings: [],
  migrations: [],
  missingVariables: [],
  newVariableUses: [],
} as const

/** Without `mayOpen`, reads only the variables of connections that the active release has too. */
async function openHostFor(
  { host }: PlanSources,
  active: Manifest | undefined,
  { manifest, mayOpen }: Pick<PlanOptions, 'mayOpen'> & { readonly manifest: Manifest },
): Promise<Host> {
  if (!mayOpen) return withSystemVariables(host, active === undefined ? [] : variablesOfConnections(active))
  const opened = await withSystemVariables(host, variablesOfConnections(manifest))
  return { ...opened, variables: { ...opened.variables, ...(await loadStagedVariables(host)) } }
}

/** Returns the problems of actions that would fail, at their places. */
async function diagnoseFailing(
  { draft }: PlanSources,
  { texts, release }: LoadedDraft,
  failing: readonly FailingAction[],
): Promise<readonly Diagnostic[]> {
  if (failing.length === 0) return []
  const methods = failing.map(({ method, path }) => ({ method, path }))
  const places = await draft.thread.ask('actionPlaces', { texts, release, methods })
  const routes = methods.flatMap(({ method, path }, index) => {
    const at = places[index]
    return at === undefined ? [] : [{ path, methods: [{ method, action: { at } }] }]
  })
  return diagnoseActions({ routes }, failing, { severity: 'error', textOf: async (file) => texts.get(file) })
}

async function describeMigrations(
  { draft }: PlanSources,
  { texts, release }: LoadedDraft,
  { pending, kinds }: { readonly pending: Manifest['migrations']; readonly kinds: ConnectionKinds },
): Promise<readonly MigrationToRun[]> {
  if (pending.length === 0) return []
  const wanted = pending.map(({ connection, name }) => ({ connection, name, kind: kinds[connection] }))
  const described = await draft.thread.ask('migrations', { texts, release, wanted })
  return pending.map((one, index) => ({ name: nameOfMigration(one), ...described[index]! }))
}

function findNewUses(name: string, before: Manifest | undefined, after: Manifest): readonly string[] {
  const known = before === undefined ? [] : findVariableUses(before, name)
  return findVariableUses(after, name).filter((use) => !known.includes(use))
}
