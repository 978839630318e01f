import { parseSettings, type DeclaredVariable } from '../../kit/index.ts'
import type { Manifest, ManifestEvent, ManifestPlugin, ManifestStatic, ManifestVariable } from '../manifest.ts'
import {
  breaking,
  changedCode,
  differingKeys,
  harmless,
  describeValueChange,
  type ChangeDetail,
  type ChangeKind,
} from './change.ts'
import { describeRate, isLowerRate, isSubset } from './compare-access.ts'
import { compareAction } from './compare-methods.ts'
import type { SchemaEffects } from './schema-effects.ts'

export interface EntriesContext {
  readonly before: Manifest
  readonly after: Manifest
  readonly effects: SchemaEffects
}

type Entries = Readonly<Record<string, unknown>>

/** Lists the entries of one kind and compares two entries with the same name. */
interface Comparer {
  list(manifest: Manifest): Entries
  /** Called with the name of an entry that changed. */
  compare(name: string, context: EntriesContext): readonly ChangeDetail[]
}

type ClassEntry = { readonly class: string; readonly config: object }

export const comparers: Readonly<Record<Exclude<ChangeKind, 'route'>, Comparer>> = {
  group: { list: ({ groups = {} }) => groups, compare: () => [harmless('description')] },
  static: {
    list: ({ static: folders = {} }) => folders,
    compare: (name, { before, after }) => compareStatic(before.static![name]!, after.static![name]!),
  },
  schema: {
    list: ({ schemas }) => schemas,
    compare: (name, { effects }) => effects.detailsOf(name),
  },
  scope: { list: ({ scopes }) => withoutOwn(scopes), compare: () => [harmless('description')] },
  event: { list: ({ events }) => events, compare: compareEvent },
  rate: {
    list: ({ rates }) => rates,
    compare(name, { before, after }) {
      const [was, is] = [before.rates[name]!, after.rates[name]!]
      const affects = usersOfRate(after, name)
      const isBreaking = isLowerRate(was, is) && affects.length > 0
      const text = `${describeRate(is)}, was ${describeRate(was)}`
      return [isBreaking ? { text, breaking: true, affects } : harmless(text)]
    },
  },
  listener: {
    list: ({ listeners = {} }) => listeners,
    compare(name, { before, after }) {
      const { action: old, ...was } = before.listeners![name]!
      const { action, ...is } = after.listeners![name]!
      const keys = differingKeys(was, is) as (keyof typeof is)[]
      return [
        ...keys.map((key) => harmless(describeValueChange(key, was[key], is[key]))),
        ...compareAction(old, action),
      ]
    },
  },
  cronjob: {
    list: ({ cronjobs }) => cronjobs,
    compare(name, { before, after }) {
      const { action: old, ...was } = before.cronjobs[name]!
      const { action, ...is } = after.cronjobs[name]!
      const keys = differingKeys(was, is) as (keyof typeof is)[]
      return [
        ...keys.map((key) => harmless(describeValueChange(key, was[key], is[key]))),
        ...compareAction(old, action),
      ]
    },
  },
  connection: {
    list: ({ connections }) => connections,
    compare: (name, { before, after }) => compareClasses(before.connections[name]!, after.connections[name]!),
  },
  plugin: {
    list: ({ plugins }) => Object.fromEntries(plugins.map((plugin) => [plugin.from, plugin])),
    compare(name, { before, after }) {
      const [was, is] = [before, after].map(({ plugins }) => plugins.find(({ from }) => from === name)!)
      return comparePlugins(was!, is!)
    },
  },
  setting: { list: ({ config }) => config, compare: compareSetting },
  variable: {
    list: ({ variables }) => variables,
    compare: (name, { before, after }) => compareVariables(before.variables[name]!, after.variables[name]!),
  },
  migration: {
    list: ({ migrations }) =>
      Object.fromEntries(migrations.map((one) => [`${one.connection}/${one.name}`, one.checksum])),
    compare: () => [harmless('code changed')],
  },
}

function compareStatic(
  { files: was, ...before }: ManifestStatic,
  { files: is, ...after }: ManifestStatic,
): readonly ChangeDetail[] {
  const keys = differingKeys(before, after) as (keyof typeof after)[]
  const counts = {
    added: Object.keys(is).filter((file) => !Object.hasOwn(was, file)).length,
    changed: Object.entries(is).filter(([file, hash]) => Object.hasOwn(was, file) && was[file] !== hash).length,
    removed: Object.keys(was).filter((file) => !Object.hasOwn(is, file)).length,
  }
  const listed = Object.entries(counts).filter(([, count]) => count > 0)
  return [
    ...keys.map((key) => harmless(describeValueChange(key, before[key], after[key]))),
    ...(listed.length === 0 ? [] : [harmless(`files: ${listed.map(([how, count]) => `${count} ${how}`).join(', ')}`)]),
  ]
}

export function describeStatic({ folder, files, fallback }: ManifestStatic): string {
  const count = Object.keys(files).length
  const rest = fallback === undefined ? '' : `, ${fallback} for other paths`
  return `public, ${count === 1 ? '1 file' : `${count} files`} of ${folder}${rest}`
}

function compareVariables(before: ManifestVariable, after: ManifestVariable): readonly ChangeDetail[] {
  const { declared: was } = before
  const { declared: is } = after
  const details: string[] = []
  if (was === undefined && is !== undefined) details.push(describeVariable(is))
  if (was !== undefined && is === undefined) details.push('no longer read by actions')
  if (was !== undefined && is !== undefined) {
    for (const key of differingKeys(was, is) as (keyof DeclaredVariable)[]) {
      if (key === 'description') details.push(key)
      else if (key === 'secret') details.push(is.secret ? 'now secret' : 'no longer secret')
      else details.push(describeValueChange(key, was[key], is[key]))
    }
  }
  if (before.optional !== after.optional) details.push(after.optional ? 'now has a default' : 'no longer has a default')
  return details.map(harmless)
}

function comparePlugins(before: ManifestPlugin, after: ManifestPlugin): readonly ChangeDetail[] {
  const details: ChangeDetail[] = []
  const [isOnHost, wasOnHost] = ['host' in after, 'host' in before]
  if (isOnHost !== wasOnHost) details.push(harmless(isOnHost ? 'now installed on servers' : 'now part of the release'))
  if (before.version !== after.version)
    details.push(harmless(`version ${after.version ?? 'unknown'}, was ${before.version ?? 'unknown'}`))
  else if ('artifact' in before && 'artifact' in after && before.artifact !== after.artifact)
    details.push(changedCode('code changed'))
  const keys = differingKeys(before.config, after.config)
  return keys.length === 0 ? details : [...details, harmless(`config: ${keys.join(', ')}`)]
}

/** Does not show the value, which each server has for itself. */
export function describeVariable({ type, default: fallback, secret }: DeclaredVariable): string {
  const value = fallback === undefined ? 'must be set' : `default ${JSON.stringify(fallback)}`
  return [`${type} for actions`, ...(secret ? ['secret'] : []), value].join(', ')
}

/** Config values are not shown, because they may be secret. */
function compareClasses(before: ClassEntry, after: ClassEntry): readonly ChangeDetail[] {
  const details = before.class === after.class ? [] : [harmless(`class ${after.class}, was ${before.class}`)]
  const keys = differingKeys(before.config, after.config)
  return keys.length === 0 ? details : [...details, harmless(`config: ${keys.join(', ')}`)]
}

function usersOfRate({ routes }: Manifest, name: string): readonly string[] {
  return routes.flatMap(({ path, methods }) =>
    methods.filter(({ rate }) => rate === name).map(({ method }) => `${method} ${path}`),
  )
}

/** Existing subscribers receive the new data, but only if they have one of the new scopes. */
function compareEvent(name: string, { before, after, effects }: EntriesContext): readonly ChangeDetail[] {
  const [was, is] = [before.events[name]!, after.events[name]!]
  const data = effects.compare({
    before: was.schema ?? true,
    after: is.schema ?? true,
    direction: 'response',
    user: `event ${name}`,
  })
  return [
    ...comparePrivate(was, is),
    ...compareSubscribers(was, is),
    ...data.map((detail) => ({ ...detail, text: `data: ${detail.text}` })),
    ...(was.description === is.description ? [] : [harmless('description')]),
  ]
}

function comparePrivate(was: ManifestEvent, is: ManifestEvent): readonly ChangeDetail[] {
  if (was.private === is.private) return []
  if (is.private === true) return [breaking('now private: its subscriptions no longer receive it')]
  return [harmless('no longer private: consumers may subscribe')]
}

function compareSubscribers({ scopes: was }: ManifestEvent, { scopes: is }: ManifestEvent): readonly ChangeDetail[] {
  const [old, now] = [was, is].map((scopes) => scopes?.toSorted().join(' or '))
  if (old === now) return []
  if (is === undefined) return [harmless('now open to all subscribers')]
  const text = `subscribers now need scope ${now}${old === undefined ? '' : `, was ${old}`}`
  return [{ text, breaking: was === undefined || !isSubset(was, is) }]
}

function compareSetting(name: string, { before, after }: EntriesContext): readonly ChangeDetail[] {
  return describeSettingChange(name, before.config, after.config)
}

/** Describes the value of a setting, or its default if one of the releases does not set it. */
export function describeSettingChange(name: string, before: Entries, after: Entries): readonly ChangeDetail[] {
  const show = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
  const [was, is] = [before[name], after[name]]
  const text = [was, is].map((value) => (value === undefined ? 'default' : show(value))).join(' → ')
  return [isTighter(name, before, after) ? breaking(text) : harmless(text)]
}

/**
 * Whether calls or deliveries that are accepted now would be rejected. Settings that use variables cannot be compared.
 */
function isTighter(name: string, before: Entries, after: Entries): boolean {
  const [was, is] = [before, after].map((config) => parseSettings(name in config ? { [name]: config[name] } : {}))
  if (was!.problems.length > 0 || is!.problems.length > 0) return false
  const [old, now] = [was!.settings, is!.settings]
  if (name === 'body_limit') return now.body_limit < old.body_limit
  if (name === 'registration') return old.registration && !now.registration
  if (name === 'delivery_allow') return old.delivery_allow.some((range) => !now.delivery_allow.includes(range))
  return name === 'cors' && old.cors.some((origin) => !now.cors.includes(origin))
}

/** Leaves out the scopes of Waypost itself, which a project may require but does not add. */
function withoutOwn(scopes: EntriesContext['after']['scopes']): typeof scopes {
  const isOwn = (name: string) => name === 'consumer' || name.startsWith('backend.')
  return Object.fromEntries(Object.entries(scopes).filter(([name]) => !isOwn(name)))
}
