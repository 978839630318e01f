import { setImmediate as nextTurn } from 'node:timers/promises'
import { countHolders, type ScopeCount } from '../../auth/index.ts'
import type { JsonSchema } from '../../contract/index.ts'
import { hideSecrets, type InheritedKeys, type LocatedDefinition } from '../../definition/index.ts'
import type { Host } from '../../host/index.ts'
import { settingsTable, takeBreaks } from '../../kit/index.ts'
import { describePlugin, loadBuiltInPlugins, type PluginCatalog } from '../../plugin/index.ts'
import {
  findRelease,
  loadActiveId,
  loadManifest,
  releaseErrors as errors,
  type Manifest,
  type ManifestAction,
  type ManifestMethod,
} from '../../release/index.ts'
import { escapeStep } from '../../schema/index.ts'
import { loadDayTraffic, type Traffic } from '../statistics.ts'
import { locateRelease, type LocateDefinition } from './host-releases.ts'

/** Who may call a method. */
export interface DescribedAccess {
  readonly public: boolean
  /** One of them is enough; empty for any valid token. */
  readonly scopes: readonly string[]
  /** Active users and clients with one of the scopes; undefined if there are none to count, or too many to count them. */
  readonly holders: ScopeCount | undefined
}

/** The action of a method or cronjob: a file, a class of a plugin, or an entry of `action:`. */
export interface DescribedAction {
  /** The file, the entry of `action:`, or the class. */
  readonly name: string
  readonly kind: 'file' | 'named' | 'class'
  /** The class of a plugin. */
  readonly class: string | undefined
  /** Without secrets. */
  readonly config: Readonly<Record<string, unknown>> | undefined
  /** `file:line` of an entry of `action:`. */
  readonly source: string | undefined
}

export interface DescribedMethod extends DescribedAccess {
  readonly method: string
  readonly path: string
  readonly source: string | undefined
  readonly deprecated: string | true | undefined
  readonly action: DescribedAction
  /** What it gets from groups; undefined outside of them. */
  readonly inherited: InheritedKeys | undefined
  readonly of: ManifestMethod
  /** Undefined if it was not called in the last 24 hours. */
  readonly traffic: Traffic | undefined
}

export interface DescribedSetting {
  readonly name: string
  readonly description: string
  /** As in `config:`; undefined if the default applies. */
  readonly value: unknown
  readonly default: unknown
}

/** What a release contains, with where each part is defined. Sources are undefined if its files are not kept. */
export interface DescribedRelease {
  readonly id: string
  readonly isActive: boolean
  readonly manifest: Manifest
  readonly methods: readonly DescribedMethod[]
  readonly listeners: readonly { readonly name: string; readonly action: DescribedAction }[]
  readonly cronjobs: readonly { readonly name: string; readonly action: DescribedAction }[]
  readonly settings: readonly DescribedSetting[]
  /** Returns `file:line` of an entry: `sourceOf('schema', 'Todo')`. */
  sourceOf(section: string, name: string): string | undefined
}

/** A manifest of System: the release with this prefix of its id, or the active one. */
export interface FoundManifest {
  readonly id: string
  readonly isActive: boolean
  readonly manifest: Manifest
}

/**
 * Loads the manifest of a release.
 * @param beginning prefix of its id, or `active`
 * @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS
 */
export async function findManifest({ system }: Host, beginning: string): Promise<FoundManifest> {
  const active = await loadActiveId(system)
  const id = beginning === 'active' ? active : await findRelease(system, beginning)
  if (id === undefined) throw errors.WP_RELEASE_UNKNOWN({ id: 'active' })
  return { id, isActive: id === active, manifest: await loadManifest(system, id) }
}

/** Loads the manifest of the active release; undefined before the first deployment. */
export async function findActiveManifest({ system }: Host): Promise<FoundManifest | undefined> {
  const id = await loadActiveId(system)
  return id === undefined ? undefined : { id, isActive: true, manifest: await loadManifest(system, id) }
}

/** @throws WP_RELEASE_UNKNOWN, WP_RELEASE_AMBIGUOUS */
export async function describeRelease(
  host: Host,
  beginning: string,
  locate?: LocateDefinition,
): Promise<DescribedRelease> {
  const found = await findManifest(host, beginning)
  return describeManifest(host, found, await locateRelease(host.system, found.id, locate))
}

/** Describes the definition of a draft, which is not a release yet. Its `id` is empty. */
export function describeDraft(host: Host, manifest: Manifest, located: LocatedDefinition): Promise<DescribedRelease> {
  return describeManifest(host, { id: '', isActive: false, manifest }, located)
}

async function describeManifest(
  host: Host,
  { id, isActive, manifest }: FoundManifest,
  { places, actions, inherited }: LocatedDefinition,
): Promise<DescribedRelease> {
  const traffic = await loadDayTraffic(host.system)
  const holders = await countAllHolders(host, manifest)
  const { actions: classes } = await loadCatalog(manifest)
  const describeAction = (action: ManifestAction, pointer: string): DescribedAction => {
    const name = actions.get(pointer)
    const source = name === undefined ? undefined : places.get(`/action/${escapeStep(name)}`)
    if ('artifact' in action)
      return { name: name ?? action.file, kind: 'file', class: undefined, config: undefined, source }
    const config = hideSecrets(action.config, classes.get(action.class)?.config)
    return {
      name: name ?? action.class,
      kind: name === undefined ? 'class' : 'named',
      class: action.class,
      config,
      source,
    }
  }
  const methods: DescribedMethod[] = []
  const mayBreak = takeBreaks()
  for (const { path, deprecated, methods: own } of manifest.routes) {
    for (const of of own) {
      const pointer = `/routes/${escapeStep(path)}/methods/${of.method}`
      methods.push({
        method: of.method,
        path,
        deprecated,
        public: of.public,
        scopes: of.scopes,
        holders: of.public ? undefined : holders.get(keyOf(of.scopes)),
        source: places.get(pointer),
        inherited: inherited.get(pointer),
        action: describeAction(of.action, pointer),
        of,
        traffic: traffic.get(`${of.method} ${path}`),
      })
    }
    await mayBreak()
  }
  await nextTurn()
  const describeNamed = (section: string, uses: Readonly<Record<string, { readonly action: ManifestAction }>>) =>
    Object.entries(uses).map(([name, { action }]) => {
      return { name, action: describeAction(action, `/${section}/${escapeStep(name)}`) }
    })
  const listeners = describeNamed('listener', manifest.listeners ?? {})
  const cronjobs = describeNamed('cronjob', manifest.cronjobs)
  const settings = Object.entries(settingsTable).map(([name, row]) => ({
    name,
    description: row.description,
    value: manifest.config[name],
    default: row.default,
  }))
  return {
    id,
    isActive,
    manifest,
    methods,
    listeners,
    cronjobs,
    settings,
    sourceOf: (section, name) => places.get(`/${section}/${escapeStep(name)}`),
  }
}

/** Different lists of scopes that are counted: two statements each. */
const maxCounted = 100

function keyOf(scopes: readonly string[]): string {
  return scopes.toSorted().join(' ')
}

async function countAllHolders({ system }: Host, { routes }: Manifest): Promise<ReadonlyMap<string, ScopeCount>> {
  const lists = routes.flatMap(({ methods }) => methods.flatMap((one) => (one.public ? [] : [one.scopes])))
  const different = new Map(lists.filter((scopes) => scopes.length > 0).map((scopes) => [keyOf(scopes), scopes]))
  const counts = new Map<string, ScopeCount>()
  for (const [key, scopes] of [...different].slice(0, maxCounted)) counts.set(key, await countHolders(system, scopes))
  return counts
}

/** A plugin of a release, or one that ships with Waypost. */
export interface CatalogPlugin {
  readonly catalog: PluginCatalog
  /** As listed in `plugins:`; undefined for one that ships with Waypost. */
  readonly from: string | undefined
  readonly version: string | undefined
  /** Whether it is installed on each server instead of being part of the release. */
  readonly isHost: boolean
  /** Without secrets. */
  readonly config: Readonly<Record<string, unknown>>
}

type Classes<Kind extends 'connections' | 'actions' | 'steps'> = ReadonlyMap<
  string,
  NonNullable<PluginCatalog[Kind]>[string] & { readonly plugin: string }
>

/** The plugins and classes that a release may use, read from its manifest. Runs no code of the release. */
export interface Catalog {
  readonly plugins: readonly CatalogPlugin[]
  readonly connections: Classes<'connections'>
  readonly actions: Classes<'actions'>
  readonly steps: Classes<'steps'>
}

export async function loadCatalog(manifest: Pick<Manifest, 'plugins'> | undefined): Promise<Catalog> {
  const builtIn = (await loadBuiltInPlugins()).map(({ plugin }): CatalogPlugin => {
    return { catalog: describePlugin(plugin), from: undefined, version: undefined, isHost: false, config: {} }
  })
  const own = (manifest?.plugins ?? []).map(({ from, version, catalog, config, ...how }): CatalogPlugin => {
    return { catalog, from, version, isHost: 'host' in how, config: hideSecrets(config, catalog.config) }
  })
  const plugins = [...builtIn, ...own]
  const classes = <Kind extends 'connections' | 'actions' | 'steps'>(kind: Kind) =>
    new Map(
      plugins.flatMap(({ catalog }) =>
        Object.entries((catalog[kind] ?? {}) as Readonly<Record<string, object>>).map(
          ([name, one]) => [name, { ...one, plugin: catalog.name }] as const,
        ),
      ),
    ) as unknown as Classes<Kind>
  return { plugins, connections: classes('connections'), actions: classes('actions'), steps: classes('steps') }
}

/** Returns the names of the schemas that a value refers to. */
export function findReferences(value: unknown): readonly string[] {
  const found = (JSON.stringify(value) ?? '').matchAll(/"\$ref":"schema:\/\/\/([^"#]+)/g)
  return [...new Set([...found].map(([, name]) => decodeURIComponent(name!)))]
}

/** Returns the schemas of a method: its parameters, its body and its responses. */
export function schemasOf(method: ManifestMethod): readonly JsonSchema[] {
  const { params, query, request, requestTypes = {}, responses, responseTypes = {} } = method
  const listed = [requestTypes, ...Object.values(responseTypes)].flatMap((types) => Object.values(types))
  const all = [params, query, request, ...Object.values(responses), ...listed.map(({ schema }) => schema)]
  return [...new Set(all)].filter((schema) => schema !== undefined)
}

/** Returns the named schemas that a value refers to, at any depth. */
export function collectSchemas(start: unknown, named: Manifest['schemas']): Manifest['schemas'] {
  const found: [string, JsonSchema][] = []
  const add = (value: unknown) => {
    for (const name of findReferences(value)) {
      if (!Object.hasOwn(named, name) || found.some(([known]) => known === name)) continue
      found.push([name, named[name]!])
      add(named[name])
    }
  }
  add(start)
  return Object.fromEntries(found)
}
