import { realpath } from 'node:fs/promises'
import type { DeclaredMigration, Definition } from '../definition/index.ts'
import { hasErrors, sha256, type Diagnostic } from '../kit/index.ts'
import type { Artifact, BuiltRelease } from '../release/index.ts'
import { checkAssets, noAssets, pickAssets } from './collect-assets.ts'
import { collectStatic, type StaticCache, type StaticFiles } from './collect-static.ts'
import { checkBundle } from './check-bundle.ts'
import { checkErrors, checkTsconfig, checkWarnings } from './check-messages.ts'
import { compareText } from './compare-text.ts'
import { compileMigrations, type CompiledMigrations } from './compile-migrations.ts'
import { errors } from './errors.ts'
import { areStillValid, filesToBundle, findEntries, type Entries } from './find-entries.ts'
import type { OwnPathCache } from './find-own-paths.ts'
import type { MigrationSource } from './load-migrations.ts'
import { makeArtifacts, type OutputCache } from './make-artifacts.ts'
import { sortDiagnostics } from './make-diagnostic.ts'
import { loadTsconfig, type Tsconfig } from './load-tsconfig.ts'
import { makeManifest } from './make-manifest.ts'
import { nameEntries, openBundler, type Bundle, type Bundler } from './open-bundler.ts'
import { fileOfInput, openPartialBundler } from './open-partial-bundler.ts'
import { isPackagePath } from './project-path.ts'
import { openPluginBuilder, type BuiltPlugin, type PluginBuilder } from './plugins/build-plugins.ts'

export interface BuilderOptions {
  /** The project's folder. */
  readonly root: string
  /** The version of Waypost. */
  readonly version: string
  /**
   * For repeated builds in one process: packages become separate artifacts, and a build with known changes only
   * rebuilds those. The artifacts behave like those of a deployment but have other hashes.
   */
  readonly isDevelopment?: boolean
}

export interface BuildResult {
  /** Missing if a diagnostic is an error. */
  readonly release?: BuiltRelease
  /** Files referenced by the code, relative to the root, including missing files. */
  readonly assets: ReadonlySet<string>
  /** Files outside of the project, relative to the root, on which its code depends: of linked packages and tsconfig.json. */
  readonly outside: readonly string[]
  readonly diagnostics: readonly Diagnostic[]
}

/** Builds the releases of one project repeatedly. */
export interface Builder {
  /**
   * Builds the current files. Concurrent calls run one after another.
   */
  build(definition: Definition, options?: BuildOptions): Promise<BuildResult>
  /** Builds the project's plugins, which complete the definition. */
  readonly plugins: PluginBuilder
  close(): Promise<void>
}

export interface BuildOptions {
  /** The built plugins of the definition. */
  readonly plugins?: readonly BuiltPlugin[]
  /**
   * In development, the files, relative to the root, that may have changed since the last call; undefined if any may.
   */
  readonly changed?: ReadonlySet<string> | undefined
}

/** Opens a builder that keeps parsed files while the set of action and migration files stays the same. */
export function openBuilder(options: BuilderOptions): Builder {
  const session = new BuildSession(options)
  const plugins = openPluginBuilder(options.root)
  let last: Promise<unknown> = Promise.resolve()
  let isClosed = false

  const inTurn = <Value>(work: () => Promise<Value>): Promise<Value> => {
    const turn = last.then(work)
    last = turn.catch(() => undefined)
    return turn
  }
  return {
    plugins,
    build: async (definition, how = {}) => {
      if (isClosed) throw errors.WP_BUILD_CLOSED()
      return inTurn(() => session.build(definition, how))
    },
    close: () => {
      isClosed = true
      plugins.close()
      return inTurn(() => session.close())
    },
  }
}

/** The state between builds. */
class BuildSession {
  readonly #options: BuilderOptions
  readonly #written: OutputCache = new Map()
  readonly #ownPaths: OwnPathCache = new Map()
  readonly #staticFiles: StaticCache = new Map()
  #entries: { readonly of: Definition; readonly found: Entries } | undefined
  #compiled: CompiledMigrations | undefined
  #outside: readonly string[] = []
  #bundler: { readonly files: string; readonly opened: Bundler } | undefined

  constructor(options: BuilderOptions) {
    this.#options = options
  }

  async build(definition: Definition, { changed, plugins = [] }: BuildOptions): Promise<BuildResult> {
    const root = await realpath(this.#options.root)
    const entries = await this.#findEntries(root, definition, { changed, plugins })
    const files = filesToBundle(entries)
    const tsconfig = loadTsconfig(root)
    const diagnostics = [...entries.diagnostics, ...checkTsconfig(tsconfig)]
    let bundle: Bundle | undefined
    let assets = noAssets
    if (files.length === 0) await this.close()
    else {
      const result = await (await this.#bundlerFor(root, files, tsconfig)).bundle(changed)
      ;({ bundle, assets } = result)
      diagnostics.push(...(await checkErrors(root, result.errors, tsconfig)), ...checkWarnings(root, result.warnings))
      if (bundle !== undefined) diagnostics.push(...(await checkBundle(root, bundle, entries, this.#ownPaths)))
    }
    const statics = collectStatic(root, definition, this.#staticFiles)
    diagnostics.push(...statics.diagnostics)
    const assetArtifacts = [...(bundle === undefined ? [] : pickAssets(bundle.metafile, assets)), ...statics.artifacts]
    diagnostics.push(...checkAssets(assetArtifacts))
    if (bundle !== undefined) this.#outside = findOutside(bundle, tsconfig)
    const names = new Set([...assets.names, ...statics.folders])
    const found = { assets: names, outside: this.#outside, diagnostics: sortDiagnostics(diagnostics) }
    if (hasErrors(diagnostics)) return found
    const artifacts = bundle === undefined ? new Map<string, Artifact>() : makeArtifacts(root, bundle, this.#written)
    const migrations = await this.#compile(root, entries.migrations, changed)
    return {
      release: makeRelease(this.#options, definition, {
        entries: { ...entries, migrations },
        bundle,
        artifacts,
        assetArtifacts,
        staticFiles: statics.files,
        plugins,
      }),
      ...found,
    }
  }

  async #compile(
    root: string,
    migrations: readonly MigrationSource[],
    changed: ReadonlySet<string> | undefined,
  ): Promise<readonly MigrationSource[]> {
    const known = this.#compiled
    const isKnown =
      known !== undefined &&
      changed !== undefined &&
      ![...changed].some((file) => known.inputs.has(file)) &&
      migrations.every(({ file, declared }) => declared !== undefined || known.codes.has(file))
    const compiled = isKnown ? known : await compileMigrations(root, migrations)
    this.#compiled = compiled
    return migrations.map((one) => ({ ...one, code: compiled.codes.get(one.file) }))
  }

  async close(): Promise<void> {
    await this.#bundler?.opened.close()
    this.#bundler = undefined
  }

  async #findEntries(root: string, definition: Definition, { changed, plugins }: BuildOptions): Promise<Entries> {
    const retained = this.#entries
    const isSame =
      changed !== undefined &&
      retained?.of === definition &&
      ![...changed].some((file) => file.startsWith('migrations/')) &&
      (await areStillValid(retained.found, root, changed))
    if (isSame) return retained.found
    const unchanged =
      changed === undefined ? [] : (retained?.found.actions ?? []).filter(({ file }) => !changed.has(file))
    const known = new Set(unchanged.map(({ file }) => file))
    const found = await findEntries(root, definition, { known, plugins })
    this.#entries = found.diagnostics.length === 0 ? { of: definition, found } : undefined
    return found
  }

  async #bundlerFor(root: string, files: readonly string[], { build }: Tsconfig): Promise<Bundler> {
    const key = JSON.stringify([root, files, build])
    if (this.#bundler?.files === key) return this.#bundler.opened
    await this.close()
    const open = this.#options.isDevelopment === true ? openPartialBundler : openBundler
    this.#bundler = { files: key, opened: await open(root, nameEntries(files)) }
    return this.#bundler.opened
  }
}

/** Files that are installed change with `node_modules` only. */
function findOutside({ metafile }: Bundle, { files }: Tsconfig): readonly string[] {
  const inputs = Object.keys(metafile.inputs).map(fileOfInput)
  const isOutside = (file: string) => file.startsWith('../') && !isPackagePath(file)
  return [...new Set([...inputs, ...files].filter(isOutside))].sort(compareText)
}

interface BuiltOutput {
  readonly entries: Entries
  readonly bundle: Bundle | undefined
  /** By output name. */
  readonly artifacts: ReadonlyMap<string, Artifact>
  /** The referenced files, and those of static folders. */
  readonly assetArtifacts: readonly Artifact[]
  readonly staticFiles: StaticFiles
  readonly plugins: readonly BuiltPlugin[]
}

function makeRelease(options: BuilderOptions, definition: Definition, built: BuiltOutput): BuiltRelease {
  const { entries, bundle, plugins } = built
  const ofPlugins = plugins.flatMap((plugin) => plugin.artifacts)
  const declared = new Map(
    entries.migrations.flatMap((one) =>
      one.declared === undefined ? [] : [[one.file, makeMigrationArtifact(one.declared)]],
    ),
  )
  const byHash = new Map(
    [...built.artifacts.values(), ...declared.values(), ...built.assetArtifacts, ...ofPlugins].map((artifact) => [
      artifact.hash,
      artifact,
    ]),
  )
  const artifacts = [...byHash.values()].sort((a, b) => compareText(a.hash, b.hash))
  const manifest = makeManifest(definition, {
    version: options.version,
    migrations: entries.migrations,
    artifacts,
    plugins: plugins.map((plugin) => plugin.manifest),
    staticFiles: built.staticFiles,
    hashOf: (file) => declared.get(file)?.hash ?? built.artifacts.get(`${bundle?.entries.get(file)}.js`)!.hash,
  })
  return { manifest, artifacts }
}

/** The steps of a declared migration need no bundler. `makeDeclaredMigration` runs them. */
export function makeMigrationArtifact({ steps }: DeclaredMigration): Artifact {
  const content = `export default ${JSON.stringify({ steps })}\n`
  return { hash: sha256(content), content }
}
