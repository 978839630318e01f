import type { Texts } from '../../definition/index.ts'
import {
  checkReleaseActions,
  migrateRelease,
  nameOfMigration,
  withSystemVariables,
  type Host,
} from '../../host/index.ts'
import { hasErrors, isWaypostError, shortId, type Diagnostic } from '../../kit/index.ts'
import {
  activateJudged,
  changeHostUserScopes,
  judgeRelease,
  storeHostVariable,
  type Consent,
  type ReleaseFacts,
} from '../../operate/index.ts'
import {
  activateSerialized,
  assertActive,
  listLiveServers,
  loadActiveId,
  loadDraftRows,
  loadManifest,
  neededScopes,
  releaseErrors,
  stateOfServer,
  storeDraft,
  type DefinitionFile,
  type Manifest,
  type StoredRelease,
} from '../../release/index.ts'
import type { Logger } from '../../runtime/index.ts'
import { inOneTransaction, type System } from '../../store/index.ts'
import { logged } from '../deploy/actor.ts'
import { errors, ProblemWith } from '../errors.ts'
import type { DraftState } from '../draft/system/draft-versions.ts'
import type { SystemDraft } from '../draft/system/system-draft.ts'
import { planPublication, type PublishableRelease, type PlanSources, type PublicationPlan } from './plan-publication.ts'
import {
  beginPublication,
  describeError,
  findPublication,
  keepAlive,
  updatePublication,
  type PublicationError,
} from './publications.ts'
import { loadStagedVariables } from '../draft/system/staged-variables.ts'
import type { Publisher, PublishRequest, Publishing } from './publisher.ts'

export interface PublisherSources extends Omit<PlanSources, 'loadActive'> {
  readonly draft: SystemDraft
  readonly logger: Logger
}

/** A publication that was checked. */
interface Prepared {
  readonly id: string
  readonly state: DraftState
  /** The files to publish. */
  readonly texts: Texts
  readonly built: PublishableRelease
  readonly facts: ReleaseFacts
  readonly needsMigration: boolean
  readonly request: PublishRequest
  readonly by: Publishing
}

export function openPublisher(sources: PublisherSources): Publisher {
  const { host, draft } = sources
  const { system } = host
  const running = new Set<Promise<void>>()
  let lastActive: Pick<StoredRelease, 'id' | 'manifest'> | undefined
  /** Parses the manifest of a release once. */
  const loadActive = async () => {
    const id = await loadActiveId(system)
    if (id === undefined) return undefined
    if (lastActive?.id !== id) lastActive = { id, manifest: await loadManifest(system, id) }
    return lastActive
  }
  const planning = { ...sources, loadActive }
  return {
    draft,
    async plan(changes) {
      const state = await draft.readState()
      const texts = await choose(sources, state, changes)
      return { ...(await planPublication(planning, { texts, mayOpen: false })), texts }
    },
    async start(request, by) {
      const state = await draft.readState()
      const active = await loadActiveId(system)
      assertActive(active === undefined ? undefined : { id: active }, request.against ?? 'none')
      assertNoConflicts(state)
      const texts = await choose(sources, state, request.changes)
      if ((request.changes ?? state.changes).length === 0) throw errors.WP_BACKEND_PUBLISH_NOTHING()
      const plan = await planPublication(planning, { texts, mayOpen: true })
      if (request.release !== undefined && request.release !== plan.built?.serialized.id)
        throw errors.WP_BACKEND_PUBLISH_OTHER()
      const built = assertPublishable(plan, request)
      assertMayGrant(request, by, built.manifest)
      const facts = plan.facts!
      const needsMigration = facts.pendingMigrations.length > 0
      const begun = await beginPublication(system, {
        after: state.base.number,
        state: needsMigration ? 'migrating' : 'activating',
        release: built.serialized.id,
        message: request.message,
        by: { id: by.actor.userId, name: by.actor.by },
      })
      if ('running' in begun) {
        const problem = errors.WP_BACKEND_PUBLISH_RUNNING({ by: begun.running.by })
        throw new ProblemWith(problem, { publish: begun.running.id })
      }
      const work = run(sources, { id: begun.begun, state, texts, built, facts, needsMigration, request, by })
      running.add(work)
      void work.finally(() => running.delete(work))
      return begun.begun
    },
    async find(id) {
      const publication = await findPublication(system, id)
      const isActive = publication.release === (await loadActiveId(system))
      const servers = isActive ? await listLiveServers(system) : []
      return {
        ...publication,
        servers: servers
          .filter(({ state }) => state !== 'stopping')
          .map((server) => {
            const outcome = stateOfServer(server, publication.release)
            const state = outcome === 'late' ? 'waiting' : outcome
            return { name: server.name, state, error: server.error ?? undefined }
          }),
      }
    },
    async close() {
      await Promise.all(running)
    },
  }
}

/**
 * Returns the files with the named changes. Migrations that ran belong to every publication: their tables exist.
 * @throws WP_BACKEND_PUBLISH_CHANGE
 */
async function choose(
  { draft }: Pick<PublisherSources, 'draft'>,
  state: DraftState,
  names: readonly string[] | undefined,
): Promise<Texts> {
  const { base, texts, changes } = state
  if (names === undefined || names.length === 0) return names === undefined ? texts : base.texts
  const unknown = names.find((name) => changes.every((change) => change.name !== name))
  if (unknown !== undefined) throw errors.WP_BACKEND_PUBLISH_CHANGE({ name: unknown })
  const chosen = new Set(names)
  for (const { name, file, at } of changes) {
    const isFile = at === undefined && !chosen.has(name)
    if (isFile && (await draft.tables.isFrozen({ file, before: texts.get(file), text: base.texts.get(file) })))
      chosen.add(name)
  }
  return draft.select(state, [...chosen])
}

function assertNoConflicts({ conflicts }: DraftState): void {
  const { length } = conflicts
  if (length === 0) return
  const problem = errors.WP_BACKEND_PUBLISH_CONFLICTS({ count: length === 1 ? '1 place' : `${length} places` })
  throw new ProblemWith(problem, { conflicts: conflicts.map(({ name }) => name) })
}

/** @throws the first reason why the plan cannot be carried out as requested */
function assertPublishable(plan: PublicationPlan, consent: Consent): PublishableRelease {
  const { built, facts, diagnostics, accessWarnings: warnings } = plan
  if (built === undefined || facts === undefined) throw makeBrokenProblem(diagnostics)
  const { objections } = judgeRelease(facts, consent)
  const first = objections.find(({ verdict }) => verdict === 'refused') ?? objections[0]
  if (first?.rule === 'failingActions' || (first === undefined && hasErrors(diagnostics)))
    throw makeBrokenProblem(diagnostics)
  if (first?.rule === 'missingVariables')
    throw new ProblemWith(first.problem, { variables: facts.missingVariables.map(({ name }) => name) })
  if (first?.rule === 'accessWarnings') throw new ProblemWith(first.problem, { diagnostics: placesOf(warnings) })
  if (first !== undefined) throw first.problem
  return built
}

function makeBrokenProblem(diagnostics: readonly Diagnostic[]): ProblemWith {
  const found = diagnostics.filter(({ severity }) => severity === 'error')
  return new ProblemWith(errors.WP_BACKEND_PUBLISH_BROKEN(), { diagnostics: placesOf(found) })
}

function placesOf(found: readonly Diagnostic[]) {
  return found.map(({ file, range, message, hint = null }) => ({ file, line: range.start.line, message, hint }))
}

/** @throws WP_BACKEND_PUBLISH_GRANT, WP_BACKEND_PUBLISH_SCOPE */
function assertMayGrant({ grant = [] }: PublishRequest, { actor }: Publishing, manifest: Manifest): void {
  if (grant.length === 0) return
  if (!actor.scopes.includes('backend.admin')) throw errors.WP_BACKEND_PUBLISH_GRANT()
  const unknown = grant.find((scope) => !neededScopes(manifest).includes(scope))
  if (unknown !== undefined) throw errors.WP_BACKEND_PUBLISH_SCOPE({ scope: unknown })
}

const aliveMs = 5000

/** Migrates and activates. Never throws: the publication records the result. */
async function run(sources: PublisherSources, prepared: Prepared): Promise<void> {
  const { logger, host } = sources
  const { system } = host
  const { id, by, built } = prepared
  const alive = setInterval(() => void keepAlive(system, id).catch(() => undefined), aliveMs)
  alive.unref()
  const migrated: string[] = []
  try {
    if (prepared.needsMigration) await migrate(sources, prepared, migrated)
    await activate(sources, { ...prepared, migrated })
    logger.info(
      { audit: { ...logged(by.actor), release: shortId(built.serialized.id), migrations: migrated } },
      'draft published',
    )
    await by.host.applyChanges?.()
  } catch (error) {
    logger.warn(
      { err: error, release: shortId(built.serialized.id), migrations: migrated },
      'publishing the draft failed',
    )
    const failed = { state: 'failed', migrated, error: describeFailure(error) } as const
    await updatePublication(system, id, failed).catch((cause: unknown) => {
      logger.warn({ err: cause }, 'the failed publication could not be recorded')
    })
  } finally {
    clearInterval(alive)
  }
}

function describeFailure(error: unknown): PublicationError {
  if (error instanceof ProblemWith) return describeError(error.problem)
  return describeError(isWaypostError(error) && error.kind !== 'bug' ? error : errors.WP_BACKEND_PUBLISH_FAILED())
}

/** Runs the pending migrations, and checks what could not be checked before. */
async function migrate(sources: PublisherSources, { id, built }: Prepared, migrated: string[]): Promise<void> {
  const host = await withStagedVariables(sources)
  const { plugins } = built
  let progress = Promise.resolve()
  await migrateRelease({
    host,
    release: built,
    plugins,
    again: 'publish again',
    onApplied(one) {
      migrated.push(nameOfMigration(one))
      const soFar = { state: 'migrating', migrated: [...migrated] } as const
      progress = progress.then(() => updatePublication(host.system, id, soFar)).catch(() => undefined)
    },
  })
  await progress
  await updatePublication(host.system, id, { state: 'activating', migrated })
  const [failing] = await checkReleaseActions({ host, release: built, plugins, unready: new Set() })
  if (failing === undefined) return
  const { method, path, message } = failing
  throw releaseErrors.WP_RELEASE_ACTION({ method, path, problem: message, more: '' })
}

async function withStagedVariables({ host }: PublisherSources): Promise<Host> {
  const opened = await withSystemVariables(host)
  return { ...opened, variables: { ...opened.variables, ...(await loadStagedVariables(host)) } }
}

/** The draft was edited while it was published. */
class DraftChanged extends Error {}

const maxAttempts = 20

/**
 * Activates the release, makes the rest of the draft based on it, and sets what belongs to it, in one transaction.
 * @throws WP_RELEASE_ACTIVATED_SINCE, WP_BACKEND_PUBLISH_STOPPED
 */
async function activate(
  { host, draft }: PublisherSources,
  prepared: Prepared & { readonly migrated: readonly string[] },
): Promise<void> {
  const { system } = host
  const { built, facts, texts, request, by, id, migrated } = prepared
  const files = toFiles(texts)
  const { by: name, ...actor } = by.actor
  const { applyChanges: _, ...caller } = by.host // changes are applied after the transaction
  let { state } = prepared
  for (let attempt = 1; ; attempt++) {
    const rest = texts === state.texts ? [] : await draft.listChanges(texts, state.texts)
    try {
      await inOneTransaction(system, async (joined) => {
        const acting = { ...caller, system: joined }
        const after = prepared.state.rows.active?.number ?? 0
        const options = { kind: 'backend', after, by: name, actor, message: request.message, files } as const
        await activateJudged({ facts: { ...facts, pendingMigrations: [] }, consent: request }, options, (bound) =>
          activateSerialized(joined, built.serialized, bound),
        )
        await settleDraft(joined, { state, rest: rest.map((one) => one.name) })
        for (const [variable, value] of Object.entries(await loadStagedVariables(acting))) {
          if (!Object.hasOwn(built.manifest.variables, variable)) continue
          await storeHostVariable(acting, { name: variable, value })
          await joined.db.deleteFrom('waypost_draft_variable').where('id', '=', variable).execute()
        }
        const { grant = [] } = request
        if (grant.length > 0) await changeHostUserScopes(acting, { name: actor.userId, add: grant, remove: [] })
        await updatePublication(joined, id, { state: 'activated', migrated })
      })
      return
    } catch (error) {
      if (!(error instanceof DraftChanged) || attempt === maxAttempts) throw error
      state = await draft.readState()
    }
  }
}

interface Settling {
  /** The draft that was read. */
  readonly state: DraftState
  /** The names of the changes that are not published. */
  readonly rest: readonly string[]
}

/** Makes the rest of the draft changes of the new activation. @throws DraftChanged */
async function settleDraft(joined: System, { state, rest }: Settling): Promise<void> {
  await joined.transaction(async (trx) => {
    const { active, draft } = await loadDraftRows(trx)
    const known = state.rows.draft
    if (draft?.files !== known?.files || draft?.base !== known?.base) throw new DraftChanged()
    const files = rest.length === 0 ? undefined : toFiles(state.texts)
    await storeDraft(joined, trx, { base: active!, files, names: rest, made: [] })
  })
}

function toFiles(texts: Texts): readonly DefinitionFile[] {
  return [...texts].map(([path, content]) => ({ path, content }))
}
