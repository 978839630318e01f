import { existsSync } from 'node:fs'
import path from 'node:path'
import { checkSources, makeTypes, writeTypes, type Builder } from '../build/index.ts'
import type { JsonSchema } from '../contract/index.ts'
import {
  loadDefinition,
  type ClassCatalog,
  type Definition,
  type LoadedDefinition,
  type LoadOptions,
} from '../definition/index.ts'
import { hasErrors, type Diagnostic, type Variables } from '../kit/index.ts'
import { loadPlugins, type PluginSet } from '../plugin/index.ts'
import type { BuiltRelease } from '../release/index.ts'
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
  /** Files of the definition, including missing ones, relative to the root. */
  readonly files: readonly string[]
  readonly plugins: PluginSet
}

/** Loads and checks the YAML of a project. With variables, also checks that those it uses are set. */
export async function loadProject(
  project: Project,
  options: Omit<LoadOptions, 'classes'> = {},
): Promise<LoadedProject> {
  const load = (plugins: PluginSet) =>
    loadDefinition(project.root, {
      ...options,
      classes: { connections: configsOf(plugins.connections), actions: configsOf(plugins.actions) },
    })
  let plugins = await loadPlugins(project.root)
  let loaded = await load(plugins)
  if (loaded.plugins.length > 0) {
    plugins = await loadPlugins(project.root, loaded.plugins)
    loaded = await load(plugins)
  }
  const { plugins: _, ...rest } = loaded
  return { project, ...rest, plugins }
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

function countErrors(diagnostics: readonly Diagnostic[]): string {
  const { length } = diagnostics.filter((one) => one.severity === 'error')
  return length === 1 ? '1 error' : `${length} errors`
}

function configsOf(classes: ReadonlyMap<string, { readonly config: object }>): ClassCatalog['connections'] {
  return Object.fromEntries([...classes].map(([name, { config }]) => [name, { config: config as JsonSchema }]))
}

export interface BuiltProject extends LoadedProject {
  /** Undefined if a diagnostic is an error. */
  readonly release?: BuiltRelease
  /** Whether `.waypost/types.d.ts` changed. */
  readonly typesWritten: boolean
}

/**
 * Loads a project, writes its types and builds its release. Returns all problems as diagnostics. If the definition has
 * errors, nothing is written or built, but the sources are still checked.
 */
export async function buildProject(project: Project, builder: Builder, variables?: Variables): Promise<BuiltProject> {
  const loaded = await loadProject(project, variables === undefined ? {} : { variables })
  if (loaded.definition === undefined) {
    const found = loaded.partial === undefined ? [] : await checkSources(project.root, loaded.partial)
    return { ...loaded, diagnostics: [...loaded.diagnostics, ...found], typesWritten: false }
  }
  const typesWritten = await writeProjectTypes(loaded, loaded.definition)
  const { release, diagnostics } = await builder.build(loaded.definition)
  return {
    ...loaded,
    typesWritten,
    diagnostics: [...loaded.diagnostics, ...diagnostics],
    ...(release === undefined ? {} : { release }),
  }
}

/** Writes the types of a project if they changed. */
export async function writeProjectTypes({ project, plugins }: LoadedProject, definition: Definition): Promise<boolean> {
  const names = ['System', ...Object.keys(definition.connections)]
  const tables = names.map((name) => [name, existsSync(path.join(project.root, 'migrations', name, 'tables.ts'))])
  const clientTypes = Object.entries(definition.connections).map(([name, use]) => [
    name,
    plugins.connections.get(use.class)?.clientType ?? 'unknown',
  ])
  const text = makeTypes(definition, {
    tables: Object.fromEntries(tables),
    clientTypes: Object.fromEntries(clientTypes),
  })
  return writeTypes(project.root, text)
}

/**
 * Returns the release of a project without errors.
 * @throws WP_PROJECT_BROKEN after reporting the diagnostics
 */
export function assertBuilt(built: BuiltProject, report: (diagnostics: readonly Diagnostic[]) => void): BuiltRelease {
  if (built.diagnostics.length > 0) report(built.diagnostics)
  if (built.release !== undefined && !hasErrors(built.diagnostics)) return built.release
  throw errors.WP_PROJECT_BROKEN({ count: countErrors(built.diagnostics) })
}
