import {
  makeSourceCache,
  type Definition,
  type LoadedDefinition,
  type PluginUse,
  type SourceCache,
  type Texts,
} from '../definition/index.ts'
import { hasErrors, version, type Diagnostic } from '../kit/index.ts'
import { isBuiltInPlugin, joinPlugins, loadBuiltInPlugins } from '../plugin/index.ts'
import { listActions, type Artifact, type BuiltRelease, type Manifest, type ManifestPlugin } from '../release/index.ts'
import type { TablesSnapshot } from '../contract/index.ts'
import { compareText } from './compare-text.ts'
import { checkMigrations, normalizeFile } from './find-entries.ts'
import { artifactScheme, readAlias } from './link-artifacts.ts'
import { loadDescribed } from './load-described.ts'
import { makeMigrationFiles, type MigrationCache, type MigrationFiles } from './load-migrations.ts'
import { makeDiagnostic, makePlace, sortDiagnostics } from './make-diagnostic.ts'
import { makeManifest } from './make-manifest.ts'
import { makeMigrationArtifact } from './open-builder.ts'
import type { BuiltPlugin } from './plugins/build-plugins.ts'
import { openPluginProcess, type PluginProcess } from './plugins/plugin-process.ts'

/** The release whose code a definition uses. */
export interface Base {
  readonly manifest: Manifest
  /** Called when code is needed. */
  loadArtifacts(): Promise<readonly Artifact[]>
}

/** A definition loaded from texts. */
export interface LoadedTexts extends Omit<LoadedDefinition, 'plugins' | 'definition'> {
  /** Set if no diagnostic is an error. */
  readonly definition?: LoadedDefinition['definition']
  readonly plugins: readonly ManifestPlugin[]
  readonly migrations: MigrationFiles
}

/**
 * Loads definitions from texts and makes releases of them without compiling anything. Their code is that of another
 * release: actions may name its files, and `plugins:` may configure its plugins.
 */
export interface BaseBuilder {
  /** @param options `tables` replace those that the migrations create, by connection */
  load(
    texts: Texts,
    options?: { readonly tables?: Readonly<Record<string, TablesSnapshot>> | undefined },
  ): Promise<LoadedTexts>
  /** Makes the release that a deployment of the same files would build. The definition has no errors. */
  link(loaded: LoadedTexts): Promise<BuiltRelease>
  close(): void
}

export interface BaseBuilderOptions {
  /** Undefined before the first deployment. */
  readonly base: Base | undefined
  /** Contains the installed plugins. */
  readonly folder: string
  /** Parsed files; not of a builder for another base. */
  readonly cache?: SourceCache
  /** Runs the plugins; closed with the builder. */
  readonly process?: PluginProcess
}

export function openBaseBuilder({
  base,
  folder,
  cache = makeSourceCache(),
  process = openPluginProcess(),
}: BaseBuilderOptions): BaseBuilder {
  const code = listCode(base?.manifest)
  const actionFiles = new Set(listCoded(base?.manifest).map(({ file }) => normalizeFile(file)))
  const known: MigrationCache = { parsed: new Map() }
  let artifacts: Promise<readonly Artifact[]> | undefined
  let listed: readonly PluginUse[] = []

  const loadArtifacts = () =>
    (artifacts ??= (base?.loadArtifacts() ?? Promise.resolve([])).catch((error: unknown) => {
      artifacts = undefined // the next call may succeed
      throw error
    }))

  async function findPlugins(uses: readonly PluginUse[]) {
    const plugins: BuiltPlugin[] = []
    const diagnostics: Diagnostic[] = []
    for (const use of uses) {
      if (isBuiltInPlugin(use.name)) continue
      const found = base?.manifest.plugins.find((one) => one.from === use.name && 'host' in one === (use.host === true))
      if (found === undefined) {
        const place = makePlace(use.at.file, use.at.line, { column: use.at.column })
        diagnostics.push(makeDiagnostic('WP_BUILD_PLUGIN_BASE', place, { parameters: { name: use.name } }))
      } else plugins.push(await makePlugin(found, use))
    }
    return { plugins, diagnostics }
  }

  async function makePlugin(found: ManifestPlugin, { name, config }: PluginUse): Promise<BuiltPlugin> {
    const manifest = { ...found, config }
    if ('host' in found) {
      const source = { key: `${name}@${found.version}`, source: name, folder, version: found.version }
      return { manifest, artifacts: [], source }
    }
    const own = await loadArtifacts()
    return { manifest, artifacts: own, source: { key: found.artifact, source: name, artifacts: own } }
  }

  return {
    async load(texts, { tables } = {}) {
      const builtIn = joinPlugins(await loadBuiltInPlugins())
      const files = makeMigrationFiles(texts, base?.manifest.migrations ?? [], known)
      const load = async () =>
        loadDescribed(undefined, {
          texts,
          code: actionFiles,
          cache,
          builtIn,
          plugins: (await findPlugins(listed)).plugins,
          builder: process,
          describes: true,
          migrations: async () => files,
          tables,
        })
      let loaded = await load()
      const isSame = namesOf(loaded.plugins) === namesOf(listed)
      listed = loaded.plugins
      if (!isSame) loaded = await load() // the classes of other plugins apply
      const found = await findPlugins(listed)
      const { definition, partial = definition, plugins: _, needsMigration: __, ...rest } = loaded
      const ofMigrations = partial === undefined ? [] : checkMigrations(files, partial, found.plugins).diagnostics
      const ofStatic = partial === undefined ? [] : checkStatic(partial, base?.manifest)
      const diagnostics = [...found.diagnostics, ...loaded.diagnostics, ...ofStatic, ...sortDiagnostics(ofMigrations)]
      return {
        ...rest,
        ...(hasErrors(diagnostics) ? partial && { partial } : definition && { definition }),
        diagnostics,
        plugins: found.plugins.map(({ manifest }) => manifest),
        migrations: files,
      }
    },
    link: (loaded) => linkTexts(loaded, { code, loadArtifacts, staticOf: base?.manifest.static }),
    close: () => process.close(),
  }
}

/** The code of the base. */
interface BaseCode {
  readonly code: ReadonlyMap<string, string>
  loadArtifacts(): Promise<readonly Artifact[]>
  readonly staticOf: Manifest['static']
}

async function linkTexts(
  { definition, plugins, migrations: { migrations } }: LoadedTexts,
  { code, loadArtifacts, staticOf = {} }: BaseCode,
): Promise<BuiltRelease> {
  if (definition === undefined) throw new TypeError('The definition has errors')
  const declared = new Map(
    migrations.flatMap((one) => (one.declared === undefined ? [] : [[one.file, makeMigrationArtifact(one.declared)]])),
  )
  const hashOf = (file: string) => declared.get(file)?.hash ?? code.get(file)!
  const byFolder = new Map(Object.values(staticOf).map(({ folder, files }) => [folder, files]))
  const staticFiles = Object.fromEntries(
    Object.entries(definition.static ?? {}).map(([at, { folder }]) => [at, byFolder.get(folder) ?? {}]),
  )
  const parts = { version, migrations, plugins, staticFiles, hashOf }
  const { routes, listeners = {}, cronjobs, migrations: linked } = makeManifest(definition, { ...parts, artifacts: [] })
  const actions = listActions({ routes, listeners, cronjobs })
  const needed = [...actions, ...linked, ...plugins].flatMap((one) => ('artifact' in one ? [one.artifact] : []))
  needed.push(...Object.values(staticFiles).flatMap((files) => Object.values(files)))
  const own = [...declared.values()]
  const isCoded = needed.some((hash) => own.every((one) => one.hash !== hash))
  const known = new Map([...(isCoded ? await loadArtifacts() : []), ...own].map((one) => [one.hash, one]))
  const artifacts = listReached(needed, known).sort((a, b) => compareText(a.hash, b.hash))
  return { manifest: makeManifest(definition, { ...parts, artifacts }), artifacts }
}

/** A folder that is not part of the base has no files here. */
function checkStatic({ static: folders = {} }: Definition, base: Manifest | undefined): readonly Diagnostic[] {
  const known = new Set(Object.values(base?.static ?? {}).map(({ folder }) => folder))
  return Object.values(folders).flatMap(({ folder: name, at }) => {
    if (known.has(name)) return []
    const place = makePlace(at.file, at.line, { column: at.column })
    return [
      makeDiagnostic('WP_BUILD_STATIC_BASE', place, { parameters: { name, known: [...known].join(', ') || 'none' } }),
    ]
  })
}

function namesOf(plugins: readonly PluginUse[]): string {
  return JSON.stringify(plugins.map(({ name, host }) => [name, host]))
}

/** Returns the artifacts of the code of a release: actions and migrations. */
function listCode(manifest: Manifest | undefined): ReadonlyMap<string, string> {
  if (manifest === undefined) return new Map()
  const migrations = manifest.migrations.filter(({ declared }) => declared === undefined)
  return new Map([
    ...listCoded(manifest).map(({ file, artifact }) => [normalizeFile(file), artifact] as const),
    ...migrations.map(({ connection, name, artifact }) => [`migrations/${connection}/${name}.ts`, artifact] as const),
  ])
}

/** Returns the actions and steps with code of a release. */
function listCoded({ routes = [], listeners = {}, cronjobs = {} }: Partial<Manifest> = {}) {
  return listActions({ routes, listeners, cronjobs }).filter((action) => 'artifact' in action)
}

/** Returns artifacts and the ones that they import by hash or by alias. */
function listReached(from: readonly string[], known: ReadonlyMap<string, Artifact>): Artifact[] {
  const aliases = new Map(
    [...known.values()].flatMap(({ hash, content }) => {
      const alias = readAlias(content)
      return alias === undefined ? [] : [[alias, hash] as const]
    }),
  )
  const reached = new Set(from)
  for (const hash of reached)
    for (const [, name = ''] of known.get(hash)?.content.matchAll(importPattern) ?? [])
      reached.add(aliases.get(name) ?? name)
  return [...reached].flatMap((hash) => known.get(hash) ?? [])
}

const importPattern = new RegExp(`${artifactScheme}([0-9a-f]{64})`, 'g')
