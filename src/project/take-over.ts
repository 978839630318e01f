import type { Builder } from '../build/index.ts'
import { makeSourceCache } from '../definition/index.ts'
import { hasErrors, messageOf, type Diagnostic, type Variables } from '../kit/index.ts'
import type { PluginSet } from '../plugin/index.ts'
import { activateRelease, releaseId, pruneDevelopmentReleases, type BuiltRelease } from '../release/index.ts'
import type { WaypostServer } from '../server/index.ts'
import { makeLock } from '../store/index.ts'
import type { DevConsole } from './dev-console.ts'
import type { Project } from './find-project.ts'
import { loadProject, writeProjectTypes, type LoadedProject } from './load-project.ts'
import { migrateConnections, type MigrationReport } from './migrate.ts'
import { suggestRequests, type SuggestedRequest } from './suggest-requests.ts'

export interface TakeOverOptions {
  readonly project: Project
  readonly variables: Variables
  readonly builder: Builder
  readonly server: WaypostServer
  readonly console: Pick<DevConsole, 'warned'>
}

/** What came of one look at the files. */
export type TakenOver = Served | Refused

/** The files have no error, and what they say is served. */
export interface Served {
  /** Files beside the code that the release carries, also those that are missing. */
  readonly assets: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
  readonly migration: MigrationReport
  /** Every scope that the project names. */
  readonly scopes: readonly string[]
  readonly suggestions: readonly SuggestedRequest[]
  /** The same state gives the same text. */
  readonly state: string
}

export interface Refused {
  readonly assets: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
  readonly refused: true
  readonly error?: unknown
  readonly state: string
}

/** One look at the files. */
export interface Look {
  /** The files, relative to the root, that may differ from the look before; undefined if any may. */
  readonly changed?: ReadonlySet<string> | undefined
  /** Something beside the files is new: a variable. */
  readonly isAllNew?: boolean
  /** Called when requests get what the files say: what is left to do is nothing that they would see. */
  onServed?(): void
}

/** Makes the way to take over what the files hold now: built, migrated, served and stored, unless it has an error. */
export function makeTakeOver(options: TakeOverOptions): (look?: Look) => Promise<TakenOver> {
  const taking = new Taking(options)
  return async (look = {}) => {
    try {
      return await taking.takeOver(look)
    } catch (error) {
      return { assets: taking.assets, diagnostics: [], refused: true, error, state: messageOf(error) }
    }
  }
}

/** What is kept from one look at the files to the next. */
class Taking {
  readonly #options: TakeOverOptions
  readonly #cache = makeSourceCache()
  #loaded: LoadedProject | undefined
  /** Changed files that the builder has not been told of; undefined if any file may have changed. */
  #unbuilt: ReadonlySet<string> | undefined
  /** Changed files that no load has looked at. */
  #unread: ReadonlySet<string> | undefined
  /** Something beside the files is new, and not served yet. */
  #isAllNew = false
  #served: string | undefined
  /** Of the last build. */
  assets: ReadonlySet<string> = new Set()
  #migrated: string | undefined

  constructor(options: TakeOverOptions) {
    this.#options = options
  }

  async takeOver({ changed, isAllNew = false, onServed }: Look): Promise<TakenOver> {
    this.#unbuilt = join(this.#unbuilt, changed)
    this.#unread = join(this.#unread, changed)
    this.#isAllNew ||= isAllNew
    const before = this.#loaded
    const loaded = await this.#load()
    const { definition, plugins } = loaded
    if (definition === undefined) return refuse(loaded.diagnostics, this.assets)
    const built = await this.#options.builder.build(definition, this.#unbuilt)
    this.#unbuilt = new Set()
    const { assets } = built
    this.assets = assets
    const diagnostics = [...loaded.diagnostics, ...built.diagnostics]
    const { release } = built
    if (release === undefined || hasErrors(diagnostics)) {
      await writeProjectTypes(loaded, definition)
      return refuse(diagnostics, assets)
    }
    const migration = await this.#migrate(release, plugins)
    const id = await this.#serve(release)
    onServed?.()
    if (loaded !== before || migration.written.length > 0) await writeProjectTypes(loaded, definition)
    await this.#store(release)
    return {
      assets,
      diagnostics,
      migration,
      scopes: Object.keys(release.manifest.scopes),
      get suggestions() {
        return suggestRequests(release.manifest)
      },
      state: `${id} ${JSON.stringify(diagnostics)}`,
    }
  }

  /** Code alone says nothing of the definition. */
  async #load(): Promise<LoadedProject> {
    const changed = this.#unread
    const loaded = this.#loaded
    if (loaded?.definition !== undefined && changed !== undefined && [...changed].every(isCode)) return loaded
    const { project, variables } = this.#options
    this.#loaded = undefined
    this.#loaded = await loadProject(project, { variables, cache: this.#cache, changed })
    this.#unread = new Set()
    return this.#loaded
  }

  /** Looks at the databases only when a migration came, went or was edited, or a database may be another one. */
  async #migrate(release: BuiltRelease, plugins: PluginSet): Promise<MigrationReport> {
    const wanted = JSON.stringify([release.manifest.migrations, release.manifest.connections])
    if (wanted === this.#migrated && !this.#isAllNew) return { applied: [], written: [] }
    const { server, project, console } = this.#options
    const { host } = server
    const report = await makeLock(host.system.database)('migrate', () =>
      migrateConnections({ host, release, plugins, folder: project.root, dev: console }),
    )
    this.#migrated = wanted
    return report
  }

  /** The next request sees a save before the database does. */
  async #serve(release: BuiltRelease): Promise<string> {
    const { server } = this.#options
    const id = releaseId(release.manifest)
    const isAllNew = this.#isAllNew
    if (id === this.#served && !isAllNew) return id
    const { manifest, artifacts } = release
    const stored = { id, manifest, activatedAt: server.host.clock.now(), activatedBy: 'dev' }
    await server.serveRelease(stored, { artifacts, isAllNew })
    this.#served = id
    this.#isAllNew = false
    return id
  }

  async #store(release: BuiltRelease): Promise<void> {
    const { system } = this.#options.server.host
    const { activated } = await activateRelease(system, release, { by: 'dev' })
    if (activated) await pruneDevelopmentReleases(system)
  }
}

/** Undefined stands for every file. */
function join(some: ReadonlySet<string> | undefined, more: ReadonlySet<string> | undefined) {
  return some && more && new Set([...some, ...more])
}

function isCode(file: string): boolean {
  return /\.[cm]?[jt]sx?$/.test(file)
}

function refuse(diagnostics: readonly Diagnostic[], assets: ReadonlySet<string>): Refused {
  return { assets, diagnostics, refused: true, state: JSON.stringify(diagnostics) }
}
