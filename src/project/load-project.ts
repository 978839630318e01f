import { existsSync } from 'node:fs'
import path from 'node:path'
import {
  checkSources,
  loadDescribed,
  makeTypes,
  openMigrationFiles,
  openPluginBuilder,
  writeEditorSchemas,
  writeTypes,
  type Builder,
  type BuiltPlugin,
  type PluginBuilder,
  type WrittenTypes,
} from '../build/index.ts'
import type { TablesSnapshot } from '../contract/index.ts'
import type { Definition, LoadedDefinition, LoadOptions, SourceCache } from '../definition/index.ts'
import { hasErrors, type Diagnostic } from '../kit/index.ts'
import { joinPlugins, loadBuiltInPlugins } from '../plugin/index.ts'
import type { BuiltRelease, ManifestPlugin } from '../release/index.ts'
import { errors } from './errors.ts'
import type { Project } from './find-project.ts'

export interface LoadedProject {
  readonly project: Project
  /** Undefined if a diagnostic is an error. */
  readonly definition?: Definition
  /** The definition despite errors, as far as possible. Must not be served. */
  readonly partial?: Definition
  readonly diagnostics: readonly Diagnostic[]
  /** The size of the definition, also if it has errors. */
  readonly counts: LoadedDefinition['counts']
  /** Files of the definition and of plugins, including missing ones, relative to the root. */
  readonly files: readonly string[]
  /** The listed plugins that could be built. */
  readonly plugins: readonly BuiltPlugin[]
  /** The files that plugins are made of, relative to the root. */
  readonly pluginFiles: readonly string[]
  /** Whether actions use a `tables.json` that is invalid or older than the migrations, which \`migrate\` fixes. */
  readonly needsMigration: boolean
}

/** A project that was loaded before changes of its files were written, and what was parsed for it. */
export interface LoadedAhead {
  readonly loaded: LoadedProject
  readonly cache: SourceCache
}

export interface LoadProjectOptions extends Omit<LoadOptions, 'classes' | 'describe'> {
  /** Passed to load a project several times. */
  readonly pluginBuilder?: PluginBuilder
  /**
   * Whether action classes describe their methods; true by default. `migrate` does without, because descriptions may
   * need tables that only exist after it.
   */
  readonly describes?: boolean
  /** The tables of connections, in place of those that the migrations of the folder create. */
  readonly tables?: Readonly<Record<string, TablesSnapshot>> | undefined
}

/**
 * Reads and checks what the YAML of a project says; with variables, also that those it names are set. Builds the plugins
 * that it lists, and runs them in a child process to learn what they provide.
 */
export async function loadProject(project: Project, options: LoadProjectOptions = {}): Promise<LoadedProject> {
  const { pluginBuilder, describes = true, ...rest } = options
  const { root } = project
  const builder = pluginBuilder ?? openPluginBuilder(root)
  try {
    const builtIn = joinPlugins(await loadBuiltInPlugins())
    const migrations = () => openMigrationFiles(root)
    const load = (plugins: readonly BuiltPlugin[]) =>
      loadDescribed(root, { ...rest, describes, builtIn, plugins, builder, migrations })
    const first = await load([])
    if (first.plugins.length === 0) return { project, ...first, plugins: [], pluginFiles: [] }
    const { plugins, diagnostics, files } = await builder.build(first.plugins)
    const { plugins: _, ...loaded } = await load(plugins)
    const isBroken = hasErrors(diagnostics)
    const { definition, partial = definition, ...found } = loaded
    return {
      project,
      ...found,
      ...(isBroken || definition === undefined ? partial && { partial } : { definition }),
      diagnostics: [...diagnostics, ...withoutFollowing(loaded.diagnostics, isBroken)],
      files: [...loaded.files, ...files.filter(isOwnFile)],
      plugins,
      pluginFiles: files,
    }
  } finally {
    if (pluginBuilder === undefined) builder.close()
  }
}

/** Loads a project as if the files of actions that are missing existed, since the caller does not need their code. */
export async function loadDespiteMissing(project: Project, options: LoadProjectOptions = {}): Promise<LoadedProject> {
  const loaded = await loadProject(project, options)
  const isMissing = (file: string) => /\.[tj]s$/.test(file) && !existsSync(path.join(project.root, file))
  const missing = loaded.definition === undefined ? loaded.files.filter(isMissing) : []
  if (missing.length === 0) return loaded
  return loadProject(project, { ...options, texts: new Map(missing.map((file) => [file, ''])) })
}

/** A class may be unknown because its plugin is broken. */
function withoutFollowing(diagnostics: readonly Diagnostic[], isBroken: boolean): readonly Diagnostic[] {
  return isBroken ? diagnostics.filter(({ code }) => code !== 'WP_DEFINITION_CLASS_UNKNOWN') : diagnostics
}

function isOwnFile(file: string): boolean {
  return !file.startsWith('../') && !file.includes('node_modules/')
}

/**
 * Returns the definition of a project without errors.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export function assertDefinition(
  { definition, diagnostics }: LoadedProject,
  report: (diagnostics: readonly Diagnostic[]) => void,
): Definition {
  if (definition !== undefined) return definition
  report(diagnostics)
  throw errors.WP_PROJECT_BROKEN({ count: countErrors(diagnostics) })
}

export function countErrors(diagnostics: readonly Diagnostic[]): string {
  const { length } = diagnostics.filter((one) => one.severity === 'error')
  return length === 1 ? '1 error' : `${length} errors`
}

export interface BuiltProject extends LoadedProject {
  /** Undefined if a diagnostic is an error. */
  readonly release?: BuiltRelease | undefined
  /** What happened to `.waypost/types.d.ts`; undefined if there is nothing to write. */
  readonly types?: WrittenTypes
}

/**
 * Loads a project, writes its types and builds its release. Returns all problems as diagnostics. If the definition has
 * errors, nothing is written or built, but the sources are still checked.
 */
export async function buildProject(
  project: Project,
  builder: Builder,
  options: Pick<LoadProjectOptions, 'variables' | 'describes'> = {},
): Promise<BuiltProject> {
  const loaded = await loadProject(project, { pluginBuilder: builder.plugins, ...options })
  if (loaded.definition === undefined) {
    const found = loaded.partial === undefined ? [] : await checkSources(project.root, loaded.partial)
    return { ...loaded, diagnostics: [...loaded.diagnostics, ...found] }
  }
  const types = options.describes === false ? undefined : await writeProjectTypes(loaded, loaded.definition)
  const { release, diagnostics } = await builder.build(loaded.definition, { plugins: loaded.plugins })
  return {
    ...loaded,
    ...(types && { types }),
    diagnostics: [...loaded.diagnostics, ...diagnostics],
    ...(release === undefined ? {} : { release }),
  }
}

/** What a developer should know after `replaced`: editors and compilers that read the types before are wrong. */
export const typesReplaced =
  'The generated types were out of date and have been replaced; repeat any type check that ran before'

/**
 * Writes the types of a project if they changed and the folder can be written, and the schemas for editors that know the
 * classes of its plugins.
 */
export async function writeProjectTypes(
  { project, plugins }: LoadedProject,
  definition: Definition,
): Promise<WrittenTypes> {
  const names = ['System', ...Object.keys(definition.connections)]
  const tables = names.map((name) => [name, existsSync(path.join(project.root, 'migrations', name, 'tables.ts'))])
  const builtIn = joinPlugins(await loadBuiltInPlugins())
  const typeOf = (name: string) =>
    builtIn.connections.get(name)?.class.clientType ??
    plugins.flatMap(({ manifest }) => manifest.catalog.connections[name]?.clientType ?? [])[0]
  const clientTypes = Object.entries(definition.connections).map(([name, use]) => [
    name,
    typeOf(use.class) ?? 'unknown',
  ])
  const text = makeTypes(definition, {
    tables: Object.fromEntries(tables),
    clientTypes: Object.fromEntries(clientTypes),
    stateTypes: Object.assign({}, ...plugins.map(({ manifest }) => stateTypesOf(manifest.catalog))),
  })
  const written = await writeTypes(project.root, text)
  const manifests = plugins.map(({ manifest }) => manifest)
  if (written !== 'unwritable') await writeEditorSchemas(project.root, manifests)
  return written
}

function stateTypesOf({ steps = {} }: ManifestPlugin['catalog']): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(steps).flatMap(([name, { stateType }]) => (stateType === undefined ? [] : [[name, stateType]])),
  )
}

/**
 * Returns the release of a project without errors.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export function assertBuilt(
  built: Pick<BuiltProject, 'diagnostics' | 'release'>,
  report: (diagnostics: readonly Diagnostic[]) => void,
): BuiltRelease {
  if (built.diagnostics.length > 0) report(built.diagnostics)
  if (built.release !== undefined && !hasErrors(built.diagnostics)) return built.release
  throw errors.WP_PROJECT_BROKEN({ count: countErrors(built.diagnostics) })
}
