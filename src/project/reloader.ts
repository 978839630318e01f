import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Builder } from '../build/index.ts'
import { makeSourceCache, type Definition } from '../definition/index.ts'
import { diagnoseActions, loadReleasePlugins, refreshVariables } from '../host/index.ts'
import { activateJudged, assertAllowed, everything, surveySaved, type ReleaseFacts } from '../operate/index.ts'
import { hasErrors, messageOf, takeBreaks, withDeadline, type Diagnostic } from '../kit/index.ts'
import {
  activateSerialized,
  pruneDevelopmentReleases,
  serializeRelease,
  type BuiltRelease,
  type DefinitionFile,
  type SerializedRelease,
} from '../release/index.ts'
import type { WaypostServer } from '../server/index.ts'
import { makeLock } from '../store/index.ts'
import { collectDefinitionFiles } from './definition-files.ts'
import type { DevConsole } from './dev-console.ts'
import type { Project } from './find-project.ts'
import { loadProject, typesReplaced, writeProjectTypes, type LoadedAhead, type LoadedProject } from './load-project.ts'
import { migrateConnections, type MigrationReport } from './migrate.ts'
import type { SessionMigrations } from './session-migrations.ts'
import { declaresTypes } from './write-tables-of.ts'
import { suggestRequests, type SuggestedRequest } from './suggest-requests.ts'

export interface ReloaderOptions {
  readonly project: Project
  readonly builder: Builder
  readonly server: WaypostServer
  readonly console: Pick<DevConsole, 'warned'>
  /** The migrations that this process ran. */
  readonly migrations: SessionMigrations
  /** Returns the project if it was loaded with exactly these changes before they were written. */
  takeLoaded(changed: ReadonlySet<string>): LoadedAhead | undefined
}

/** The result of a reload. */
export type ReloadResult = ReloadSuccess | ReloadFailure

/** The files have no errors and are served. */
export interface ReloadSuccess {
  /** The files of the definition, relative to the root; also missing ones. */
  readonly files: readonly string[]
  /** Files referenced by the code, including missing files, and files outside of the project that it contains. */
  readonly assets: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
  readonly migration: MigrationReport
  /** All scopes of the project and of the routes of plugins. */
  readonly scopes: readonly string[]
  readonly suggestions: readonly SuggestedRequest[]
  /** Equal texts mean equal states. */
  readonly state: string
}

export interface ReloadFailure {
  /** Empty if they are not known. */
  readonly files: readonly string[]
  readonly assets: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
  readonly failed: true
  readonly error?: unknown
  readonly state: string
}

/** Which files to reload. */
export interface ReloadRequest {
  /** The files, relative to the root, that may have changed since the last reload; undefined if any may. */
  readonly changed?: ReadonlySet<string> | undefined
  /** Whether something other than files changed: a variable. */
  readonly isFullReload?: boolean
  /**
   * Called when requests get the new version. The remaining work does not affect them.
   * @param scopes all scopes of the project and of the routes of plugins
   */
  onServed?(scopes: readonly string[]): Promise<void>
}

/** Loads, builds, migrates, serves and stores the current files. */
export type Reload = (request?: ReloadRequest) => Promise<ReloadResult>

/** Creates a function that loads, builds, migrates, serves and stores the current files if they have no errors. */
export function createReloader(options: ReloaderOptions): Reload {
  const reloader = new Reloader(options)
  return async (request = {}) => {
    try {
      return await reloader.reloadFiles(request)
    } catch (error) {
      const { assets, warnings: diagnostics } = reloader
      return { files: [], assets, diagnostics, failed: true, error, state: messageOf(error) }
    }
  }
}

/** How long a reload waits for databases that check statements. */
const checkMs = 2000

/** The state between reloads. */
class Reloader {
  readonly #options: ReloaderOptions
  #cache = makeSourceCache()
  #loaded: LoadedProject | undefined
  /** Changed files that were not built yet; undefined if any file may have changed. */
  #unbuilt: ReadonlySet<string> | undefined
  /** Changed files that were not loaded yet. */
  #unread: ReadonlySet<string> | undefined
  /** Whether a changed variable is not served yet. */
  #isFullReload = false
  #served: string | undefined
  /** Files that were saved since a release was served. */
  #unserved: ReadonlySet<string> = new Set()
  /** The assets of the last build. */
  assets: ReadonlySet<string> = new Set()
  /** What the last build warned about, which may be why its release does not load. */
  warnings: readonly Diagnostic[] = []
  #migrated: string | undefined
  /** The definition files as last loaded; undefined if they have errors. */
  #files: { readonly of: LoadedProject; readonly files: readonly DefinitionFile[] | undefined } | undefined
  #actionProblems: readonly Diagnostic[] = []
  #hasWrittenTypes = false

  constructor(options: ReloaderOptions) {
    this.#options = options
  }

  async reloadFiles({ changed, isFullReload = false, onServed }: ReloadRequest): Promise<ReloadResult> {
    this.#unbuilt = join(this.#unbuilt, changed)
    this.#unread = join(this.#unread, changed)
    this.#unserved = new Set([...this.#unserved, ...(changed ?? [])])
    this.#isFullReload ||= isFullReload
    await refreshVariables(this.#options.server.host)
    const before = this.#loaded
    let loaded = await this.#load()
    if (loaded.needsMigration) loaded = await this.#migrateFirst(loaded)
    const { definition, plugins } = loaded
    if (definition === undefined) return fail(loaded, { diagnostics: loaded.diagnostics, assets: this.assets })
    const mayBreak = takeBreaks() // `dev` answers requests while it reloads
    const built = await this.#options.builder.build(definition, { changed: this.#unbuilt, plugins })
    this.#unbuilt = new Set()
    const outside = [...built.outside, ...loaded.pluginFiles.filter((file) => file.startsWith('../'))]
    const assets = new Set([...built.assets, ...outside])
    this.assets = assets
    const diagnostics = [...loaded.diagnostics, ...built.diagnostics]
    this.warnings = diagnostics.filter(({ severity }) => severity === 'warning')
    const { release } = built
    if (release === undefined || hasErrors(diagnostics)) {
      await this.#writeTypes(loaded, definition)
      return fail(loaded, { diagnostics, assets })
    }
    await mayBreak()
    const migration = await this.#migrate(release)
    const serialized = serializeRelease(release) // once, because it takes long for a large release
    const { id } = serialized
    const facts = await this.#judge(release, id)
    await this.#serve(release, id)
    const scopes = [...Object.keys(release.manifest.scopes), ...this.#options.server.pluginScopes()]
    await onServed?.(scopes)
    await mayBreak()
    if (loaded !== before || migration.written.length > 0) await this.#writeTypes(loaded, definition)
    await mayBreak()
    await this.#store(serialized, { loaded, facts })
    await mayBreak()
    if (loaded !== before || isFullReload || migration.applied.length > 0)
      this.#actionProblems = await this.#checkActions(definition)
    diagnostics.push(...this.#actionProblems)
    return {
      files: loaded.files,
      assets,
      diagnostics,
      migration,
      scopes,
      get suggestions() {
        return suggestRequests(release.manifest)
      },
      state: `${id} ${JSON.stringify(diagnostics)}`,
    }
  }

  /** Types that exist before the first load may be those of another branch. */
  async #writeTypes(loaded: LoadedProject, definition: Definition): Promise<void> {
    const written = await writeProjectTypes(loaded, definition)
    if (written === 'replaced' && !this.#hasWrittenTypes) this.#options.console.warned(typesReplaced)
    this.#hasWrittenTypes = true
  }

  /** Changed code does not affect the definition. */
  async #load(): Promise<LoadedProject> {
    const changed = this.#unread
    const loaded = this.#loaded
    const isOwnCode = (file: string) => isCode(file) && loaded?.pluginFiles.includes(file) === false
    if (loaded?.definition !== undefined && changed !== undefined && [...changed].every(isOwnCode)) return loaded
    const { project, server, builder } = this.#options
    this.#loaded = undefined
    this.#loaded =
      this.#takeLoaded(changed) ??
      (await loadProject(project, {
        variables: server.host.variables,
        cache: this.#cache,
        changed,
        pluginBuilder: builder.plugins,
      }))
    this.#unread = new Set()
    return this.#loaded
  }

  #takeLoaded(changed: ReadonlySet<string> | undefined): LoadedProject | undefined {
    const ahead = changed === undefined ? undefined : this.#options.takeLoaded(changed)
    if (ahead === undefined || this.#isFullReload) return undefined
    this.#cache = ahead.cache
    return ahead.loaded
  }

  /** Migrates before the actions are described, because they need the tables. */
  async #migrateFirst(stale: LoadedProject): Promise<LoadedProject> {
    const { project, server, builder } = this.#options
    const { definition, plugins } = await loadProject(project, {
      variables: server.host.variables,
      pluginBuilder: builder.plugins,
      describes: false,
    })
    const release = definition && (await builder.build(definition, { plugins })).release
    if (release === undefined) return stale
    this.#migrated = undefined
    await this.#migrate(release)
    return this.#load()
  }

  /** Checks databases only if migrations or connections changed. */
  async #migrate(release: BuiltRelease): Promise<MigrationReport> {
    const { server, project, console, migrations: session } = this.#options
    const { migrations, connections } = release.manifest
    const typed = migrations.filter(({ connection }) => declaresTypes(project.root, connection)).length
    const wanted = JSON.stringify([migrations, connections, typed])
    if (wanted === this.#migrated && !this.#isFullReload) return { applied: [], written: [] }
    const { host } = server
    const plugins = await loadReleasePlugins(host, release)
    const report = await makeLock(host.system.database)('migrate', () =>
      migrateConnections({
        host,
        release,
        plugins,
        folder: project.root,
        dev: { session, warned: (message) => console.warned(message) },
        onDiagnostics: (diagnostics) => diagnostics.forEach(({ message }) => console.warned(message)),
      }),
    )
    this.#migrated = wanted
    return report
  }

  /** Passes the gate before requests get the release. */
  async #judge(release: BuiltRelease, id: string): Promise<ReleaseFacts> {
    const facts = await surveySaved(this.#options.server.host.system, release, id)
    assertAllowed(facts, everything)
    return facts
  }

  /** Requests are served before System stores the release. */
  async #serve(release: BuiltRelease, id: string): Promise<void> {
    const { server } = this.#options
    const isFullReload = this.#isFullReload
    if (id === this.#served && !isFullReload) return
    const { manifest, artifacts } = release
    const stored = { id, manifest, activatedAt: server.host.clock.now(), activatedBy: 'dev' }
    const saved = this.#served === undefined ? undefined : this.#unserved
    await server.serveRelease(stored, { artifacts, isFullReload, saved })
    this.#unserved = new Set()
    this.#served = id
    this.#isFullReload = false
  }

  /** Finds actions that do not fit the connections, for example statements with an unknown column. */
  async #checkActions(definition: Definition): Promise<readonly Diagnostic[]> {
    const { server, project } = this.#options
    const found = await withDeadline(server.checkActions(), checkMs, () => [])
    const textOf = (file: string) => readFile(path.join(project.root, file), 'utf8').catch(() => undefined)
    return diagnoseActions(definition, found, { severity: 'warning', textOf })
  }

  async #store(
    release: SerializedRelease,
    { loaded, facts }: { readonly loaded: LoadedProject; readonly facts: ReleaseFacts },
  ): Promise<void> {
    const { server, project } = this.#options
    const { system } = server.host
    if (this.#files?.of !== loaded) {
      const textOf = (file: string) => this.#cache.sources.get(file)?.text
      const { files, diagnostics } = collectDefinitionFiles(project.root, loaded, textOf)
      await nextTurn()
      // `validate` and `deploy` report the errors.
      this.#files = { of: loaded, files: hasErrors(diagnostics) ? undefined : files }
    }
    const options = { by: 'dev', files: this.#files.files }
    const { recorded } = await activateJudged({ facts, consent: everything }, options, (bound) =>
      activateSerialized(system, release, bound),
    )
    if (recorded) await pruneDevelopmentReleases(system)
  }
}

/** Undefined means all files. */
function join(first: ReadonlySet<string> | undefined, second: ReadonlySet<string> | undefined) {
  return first && second && new Set([...first, ...second])
}

function isCode(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file)
}

function fail(
  { files }: LoadedProject,
  { diagnostics, assets }: Pick<ReloadFailure, 'diagnostics' | 'assets'>,
): ReloadFailure {
  return { files, assets, diagnostics, failed: true, state: JSON.stringify(diagnostics) }
}
