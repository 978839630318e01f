import { checkDefinitionValue, type ClassCatalog, type Definition, type Method } from '../../definition/index.ts'
import { withoutConfig } from '../../plugin/index.ts'
import { listActions, listStaticFiles, type Manifest, type ManifestMethod } from '../../release/index.ts'
import { describeManifest } from './describe-manifest.ts'
import { releaseLimits } from './limits.ts'
import { manifestShape } from './manifest-shape.ts'
import { isStorable } from '../../kit/index.ts'

/** A problem that no manifest has that was built from a valid project. */
export interface ManifestProblem {
  /** A JSON pointer into the manifest, or into its equivalent in the language of `waypost.yml`. */
  readonly path: string
  readonly message: string
}

export type CheckedManifest = { readonly manifest: Manifest } | { readonly problems: readonly ManifestProblem[] }

/**
 * Checks a manifest from an untrusted client: its form, its consistency, and everything that `validate` checks in a
 * project. Runs no code and reads no files.
 * @param classes those that ship with Waypost; the manifest contains the others
 */
export async function checkManifest(document: unknown, classes: ClassCatalog): Promise<CheckedManifest> {
  const implausible = findImplausible(document)
  if (implausible !== undefined) return { problems: [{ path: '', message: implausible }] }
  const shapeProblem = await findShapeProblem(document)
  if (shapeProblem !== undefined) return { problems: [shapeProblem] }
  const manifest = document as Manifest
  const contradictions = [
    ...findDuplicates(manifest),
    ...findMissingArtifacts(manifest),
    ...findInvalidMigrations(manifest),
    ...findInconsistentPaths(manifest),
    ...findLargeConfigs(manifest),
  ]
  if (contradictions.length > 0) return { problems: contradictions }
  const files = listActions(manifest).flatMap((action) => ('file' in action ? [action.file] : []))
  const catalog = addPlugins(classes, manifest)
  if ('problem' in catalog) return { problems: [catalog.problem] }
  const { definition, problems } = await checkDefinitionValue(describeManifest(manifest), { files, classes: catalog })
  if (problems.length > 0) return { problems: problems.map(({ pointer: path, message }) => ({ path, message })) }
  const differences = findDifferences(manifest, definition)
  return differences.length > 0 ? { problems: differences } : { manifest }
}

/** The classes of Waypost and of the plugins of a manifest. */
function addPlugins(
  { connections, actions, steps = {} }: ClassCatalog,
  { plugins }: Manifest,
): ClassCatalog | { readonly problem: ManifestProblem } {
  const all = [
    connections,
    actions,
    steps,
    ...plugins.flatMap(({ catalog }) => [catalog.connections, catalog.actions, catalog.steps ?? {}]),
  ]
  const [twice] = duplicatesOf(all.flatMap((classes) => Object.keys(classes)))
  if (twice !== undefined) return { problem: { path: '/plugins', message: `provides the class "${twice}" twice` } }
  return {
    connections: Object.assign({ ...connections }, ...plugins.map(({ catalog }) => catalog.connections)),
    actions: Object.assign({ ...actions }, ...plugins.map(({ catalog }) => catalog.actions)),
    steps: Object.assign({ ...steps }, ...plugins.map(({ catalog }) => catalog.steps)),
    plugins: Object.fromEntries(
      plugins.map(({ from, catalog }) => [from, { config: catalog.config ?? withoutConfig }]),
    ),
  }
}

let shape: Promise<{ Check(value: unknown): boolean; Errors(value: unknown): Iterable<object> }> | undefined

/** Compiled for the first manifest, because most servers never receive one. */
async function findShapeProblem(document: unknown): Promise<ManifestProblem | undefined> {
  shape ??= import('typebox/compile').then(({ Compile }) => Compile(manifestShape))
  const { Check, Errors } = await shape.then((compiled) => ({
    Check: (value: unknown) => compiled.Check(value),
    Errors: (value: unknown) => compiled.Errors(value),
  }))
  if (Check(document)) return undefined
  const [first] = Errors(document) as Iterable<{ instancePath?: string; message?: string }>
  return { path: first?.instancePath ?? '', message: first?.message ?? 'is not a manifest' }
}

/** Finds duplicates: routes are a list, in which each path, and each of its methods, must occur once. */
function findDuplicates({ routes }: Manifest): ManifestProblem[] {
  const paths = routes.map(({ path }) => path)
  return [
    ...duplicatesOf(paths).map((path) => ({ path: '/routes', message: `has ${path} twice` })),
    ...routes.flatMap(({ path, methods }) =>
      duplicatesOf(methods.map(({ method }) => method)).map((method) => ({
        path: '/routes',
        message: `has ${method} ${path} twice`,
      })),
    ),
  ]
}

function duplicatesOf(names: readonly string[]): string[] {
  const seen = new Set<string>()
  return names.filter((name) => seen.size === seen.add(name).size)
}

function findMissingArtifacts(manifest: Manifest): ManifestProblem[] {
  const named = [
    ...listActions(manifest).flatMap((action) => ('artifact' in action ? [action.artifact] : [])),
    ...listStaticFiles(manifest),
    ...manifest.migrations.map(({ artifact }) => artifact),
    ...manifest.plugins.flatMap((plugin) => ('artifact' in plugin ? [plugin.artifact] : [])),
  ]
  const missing = [...new Set(named)].filter((hash) => !Object.hasOwn(manifest.artifacts, hash))
  const bytes = Object.values(manifest.artifacts).reduce((sum, size) => sum + size, 0)
  const isLarge = bytes > releaseLimits.releaseBytes
  return [
    ...missing.map((hash) => ({ path: '/artifacts', message: `refers to ${hash}, which it does not contain` })),
    ...(isLarge ? [{ path: '/artifacts', message: `has more than ${releaseLimits.releaseBytes} bytes in total` }] : []),
  ]
}

function findInvalidMigrations({ migrations, connections }: Manifest): ManifestProblem[] {
  const withoutConnection = migrations.filter(
    ({ connection }) => connection !== 'System' && !Object.hasOwn(connections, connection),
  )
  return [
    ...withoutConnection.map(({ connection }) => ({
      path: '/migrations',
      message: `has a migration of an unknown connection "${connection}"`,
    })),
    ...duplicatesOf(migrations.map(({ connection, name }) => `${connection}/${name}`)).map((name) => ({
      path: '/migrations',
      message: `has ${name} twice`,
    })),
  ]
}

/** Finds paths whose methods have different path parameters. */
function findInconsistentPaths({ routes }: Manifest): ManifestProblem[] {
  return routes.flatMap(({ path, methods }) => {
    const texts = new Set(methods.map(({ params }) => JSON.stringify(params)))
    return texts.size < 2 ? [] : [{ path: '/routes', message: `has conflicting parameters in the path ${path}` }]
  })
}

const maxConfigValues = 20_000

/**
 * Limits what the thread copies to the main thread, which cannot do anything else meanwhile. Schemas and actions are
 * only sent as text.
 */
function findLargeConfigs({ connections, plugins }: Manifest): ManifestProblem[] {
  return Object.entries({ connections, plugins })
    .filter(([, part]) => hasMoreValues(part, maxConfigValues))
    .map(([name]) => ({ path: `/${name}`, message: `has more than ${maxConfigValues} values` }))
}

function hasMoreValues(document: unknown, limit: number): boolean {
  const pending = [document]
  for (let count = 1; pending.length > 0; count++) {
    if (count > limit) return true
    const value = pending.pop()
    if (typeof value === 'object' && value !== null) for (const item of Object.values(value)) pending.push(item)
  }
  return false
}

/**
 * Finds differences between a manifest and the one that would be built from its definition. A schema in another form,
 * such as another dialect, would not be served as it was checked.
 */
function findDifferences(manifest: Manifest, definition: Definition): ManifestProblem[] {
  const problems: ManifestProblem[] = []
  const compare = (path: string, given: unknown, made: unknown): void => {
    if (JSON.stringify(given) !== JSON.stringify(made))
      problems.push({ path, message: 'was not generated by waypost deploy' })
  }
  for (const [name, schema] of Object.entries(manifest.schemas)) {
    compare(`/schemas/${name}`, schema, definition.schemas[name])
  }
  for (const [name, { schema }] of Object.entries(manifest.events)) {
    compare(`/events/${name}`, schema, definition.events[name]?.schema)
  }
  for (const [index, route] of manifest.routes.entries()) {
    for (const [place, method] of route.methods.entries()) {
      compare(`/routes/${route.path}/${method.method}`, ...schemasOf(method, definition.routes[index]?.methods[place]))
    }
  }
  compare('/variables', sortedKeys(manifest.variables), sortedKeys(definition.variables))
  const unlisted = Object.keys(definition.scopes).filter((scope) => !Object.hasOwn(manifest.scopes, scope))
  return [...problems, ...unlisted.map((scope) => ({ path: '/scopes', message: `does not list "${scope}"` }))]
}

function schemasOf(given: ManifestMethod, made: Method | undefined): readonly [unknown, unknown] {
  type Schemas = Pick<ManifestMethod, 'params' | 'query' | 'request' | 'requestTypes' | 'responses' | 'responseTypes'>
  const pick = (one: Schemas | undefined) =>
    one && [
      one.params,
      one.query,
      one.request,
      sortedKeys(one.requestTypes ?? {}),
      sortedKeys(one.responses),
      sortedKeys(one.responseTypes ?? {}),
    ]
  return [pick(given), pick(made)]
}

function sortedKeys(record: Readonly<Record<string, unknown>>): unknown {
  return Object.entries(record).toSorted(([a], [b]) => (a < b ? -1 : 1))
}

const maxDepth = 120
const maxValues = 1_000_000

/**
 * Finds what no definition can contain: too many levels or values, or text that cannot be stored unchanged. Must run
 * before any recursive code.
 */
export function findImplausible(document: unknown): string | undefined {
  const pending: { readonly value: unknown; readonly depth: number }[] = [{ value: document, depth: 0 }]
  let count = 0
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth } = next
    count += 1
    if (count > maxValues) return `has more than ${maxValues} values`
    if (typeof value === 'string' && !isStorable(value))
      return 'has a string that contains a NUL character or an unpaired surrogate'
    if (typeof value !== 'object' || value === null) continue
    if (depth === maxDepth) return `is nested more than ${maxDepth} levels deep`
    for (const [key, item] of Object.entries(value)) {
      if (!isStorable(key)) return 'has a name that contains a NUL character or an unpaired surrogate'
      pending.push({ value: item, depth: depth + 1 })
    }
  }
  return undefined
}
