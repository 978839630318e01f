import { findResponseKey, formatSize, formType, isJsonType, multipartType, parseSettings } from '../../kit/index.ts'
import { isFilePart, listFileParts, withoutFiles, type FilePart } from '../../schema/index.ts'
import type { JsonSchema } from '../../contract/index.ts'
import type { ManifestMediaType, ManifestMethod } from '../manifest.ts'
import { breaking, harmless, type ChangeDetail } from './change.ts'
import { anyObject, isSuccess, label, nameMethod, type MethodEntry } from './method-entry.ts'
import type { SchemaEffects } from './schema-effects.ts'

type Types = Readonly<Record<string, ManifestMediaType>>

/** A body without a schema is any text. */
const anyBytes: JsonSchema = { type: 'string' }

/** How the schema of one media type is compared. */
type CompareSchemas = (type: string, was: ManifestMediaType, is: ManifestMediaType) => readonly ChangeDetail[]

export function compareRequests(
  before: MethodEntry,
  after: MethodEntry,
  effects: SchemaEffects,
): readonly ChangeDetail[] {
  const [was, is] = [before.method, after.method]
  // Without a schema, a call without a body is accepted.
  const isNew = !hasBody(was) && hasBody(is)
  const user = nameMethod(after)
  const compare: CompareSchemas = (type, { schema: old = anyBytes }, { schema: current = anyBytes }) => {
    if (type === multipartType) return compareMultipart(old, current, { effects, user })
    return effects.compare({ before: old, after: current, direction: 'request', isCoerced: type === formType, user })
  }
  const details = compareTypes(requestTypesOf(was), requestTypesOf(is), {
    compare,
    // What an action gets changes, but callers may send the same.
    removed: (type) => breaking(`${type} is no longer accepted`),
    added: (type) => harmless(`${type} is accepted too`),
  })
  return label('request', [...(isNew ? [breaking('a body is now required')] : []), ...details])
}

function hasBody({ request, requestTypes }: ManifestMethod): boolean {
  return request !== undefined || requestTypes !== undefined
}

function requestTypesOf({ method, request, requestTypes }: ManifestMethod): Types {
  if (requestTypes !== undefined) return requestTypes
  const takesBody = ['POST', 'PUT', 'PATCH'].includes(method)
  return { 'application/json': { schema: request ?? (takesBody ? anyObject : true) } }
}

interface TypesComparison {
  readonly compare: CompareSchemas
  readonly removed: (type: string) => ChangeDetail
  readonly added: (type: string) => ChangeDetail
}

function compareTypes(was: Types, is: Types, { compare, removed, added }: TypesComparison): readonly ChangeDetail[] {
  return [...new Set([...Object.keys(was), ...Object.keys(is)])].toSorted().flatMap((type) => {
    const [before, after] = [findType(was, type), findType(is, type)]
    if (after === undefined) return [removed(type)]
    if (before === undefined) return [added(type)]
    const details = compare(type, before, after)
    return isJsonType(type) ? details : label(type, details)
  })
}

function findType(types: Types, type: string): ManifestMediaType | undefined {
  return Object.hasOwn(types, type) ? types[type] : undefined
}

/** Compares the texts and JSON of the parts like parameters, and what is said about the files. */
function compareMultipart(
  before: JsonSchema,
  after: JsonSchema,
  { effects, user }: { readonly effects: SchemaEffects; readonly user: string },
): readonly ChangeDetail[] {
  const [was, is] = [before, after].map(withoutFiles) as [JsonSchema, JsonSchema]
  const details = effects.compare({ before: was, after: is, direction: 'request', isCoerced: true, user })
  const [old, now] = [before, after].map((one) => new Map(listFileParts(one).map((part) => [part.name, part])))
  const files = [...new Set([...old!.keys(), ...now!.keys()])].toSorted().flatMap((name) => {
    const [one, other] = [old!.get(name), now!.get(name)]
    if (one !== undefined && other !== undefined) return compareFiles(name, one, other)
    if (one !== undefined) return [breaking(`"${name}" is no longer a file`)]
    // Callers that send a text now send no file.
    return isDeclared(before, name) ? [breaking(`"${name}" is now a file`)] : [harmless(`the file "${name}" added`)]
  })
  return [...details, ...files]
}

function isDeclared(schema: JsonSchema, name: string): boolean {
  const properties = typeof schema === 'boolean' ? {} : ((schema['properties'] ?? {}) as Record<string, JsonSchema>)
  return Object.hasOwn(properties, name) && !isFilePart(properties[name]!)
}

function compareFiles(name: string, was: FilePart, is: FilePart): readonly ChangeDetail[] {
  const details: ChangeDetail[] = []
  const [before, after] = [was, is].map(({ maxItems }) => maxItems !== undefined)
  if (before !== after) {
    const text = `"${name}" is now ${after ? 'a list of files' : 'one file'}`
    details.push(after ? harmless(text) : breaking(text))
  }
  if (was.maxSize !== is.maxSize) {
    const text = `maxSize of "${name}" ${formatSize(is.maxSize)}, was ${formatSize(was.maxSize)}`
    details.push(is.maxSize < was.maxSize ? breaking(text) : harmless(text))
  }
  const show = (types: FilePart['types']) => types?.join(', ') ?? 'any'
  if (show(was.types) !== show(is.types)) {
    const isNarrower = is.types !== undefined && (was.types?.some((type) => !is.types!.includes(type)) ?? true)
    const text = `types of "${name}" ${show(is.types)}; before: ${show(was.types)}`
    details.push(isNarrower ? breaking(text) : harmless(text))
  }
  return details
}

export function compareResponses(
  before: MethodEntry,
  after: MethodEntry,
  effects: SchemaEffects,
): readonly ChangeDetail[] {
  const [was, is] = [before, after].map(({ method }) => responseTypesOf(method)) as [ByStatus, ByStatus]
  const statuses = [...new Set([...Object.keys(was), ...Object.keys(is)])].toSorted()
  const [first, now] = [was, is].map((responses) =>
    Object.keys(responses)
      .toSorted()
      .find((status) => status.startsWith('2')),
  )
  const compare: CompareSchemas = (_type, { schema: old = anyBytes }, { schema: current = anyBytes }) =>
    effects.compare({ before: old, after: current, direction: 'response', user: nameMethod(after) })
  const details = statuses.flatMap((status): readonly ChangeDetail[] => {
    // A range, such as 4XX, may describe what one of the two has no key for.
    const [old, current] = [findResponseKey(status, was), findResponseKey(status, is)]
    if (current === undefined) return [{ text: `response ${status}: removed`, breaking: isSuccess(status) }]
    if (old === undefined) return [harmless(`response ${status}: added`)]
    const types = compareTypes(was[old]!, is[current]!, {
      compare,
      removed: (type) => ({ text: `${type} is no longer sent`, breaking: isSuccess(status) }),
      added: (type) => harmless(`${type} added`),
    })
    return label(`response ${status}`, types)
  })
  // Actions send the lowest 2xx status by default. A class that describes both chooses between them.
  const isChosen = [first, now].every((status) => after.method.http?.responses?.[status ?? ''] !== undefined)
  const isOther = first !== now && first !== undefined && now !== undefined && Object.hasOwn(is, first) && !isChosen
  return isOther ? [...details, breaking(`response: returns ${now}, was ${first}`)] : details
}

type ByStatus = Readonly<Record<string, Types>>

function responseTypesOf({ responses, responseTypes }: ManifestMethod): ByStatus {
  const json = Object.entries(responses).map(([status, schema]) => [status, { 'application/json': { schema } }])
  return { ...(Object.fromEntries(json) as ByStatus), ...responseTypes }
}

/** Compares what a method says itself: a change of the setting is a change of the setting. */
export function compareBodyLimits(before: MethodEntry, after: MethodEntry): readonly ChangeDetail[] {
  if (before.method.bodyLimit === after.method.bodyLimit) return []
  const [was, is] = [bodyLimitOf(before), bodyLimitOf(after)]
  if (was === is) return []
  const show = (bytes: number | undefined) => (bytes === undefined ? 'that of config' : formatSize(bytes))
  const text = `body_limit ${show(is)}, was ${show(was)}`
  return [was === undefined || is === undefined || is < was ? breaking(text) : harmless(text)]
}

/** Returns undefined if the setting depends on variables. */
function bodyLimitOf({ method: { bodyLimit }, config }: MethodEntry): number | undefined {
  if (bodyLimit !== undefined) return bodyLimit
  const { settings, problems } = parseSettings('body_limit' in config ? { body_limit: config['body_limit'] } : {})
  return problems.length > 0 ? undefined : settings.body_limit
}
