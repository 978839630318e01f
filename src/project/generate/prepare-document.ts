import { STATUS_CODES } from 'node:http'

import { divideMedia } from './divide-media.ts'

type Value = Readonly<Record<string, unknown>>

/**
 * Rewrites an OpenAPI document with what the client generator supports: without tuples and ranges of statuses, and with
 * schemas that only have what is sent in their direction.
 */
export function prepareDocument(document: object): object {
  const {
    paths: described,
    components,
    ...rest
  } = withoutTuples(document) as Value & Record<'paths' | 'components', Value>
  const paths = divideMedia(described)
  const schemas = mapOf(components['schemas'])
  const sent = new Set<string>()
  for (const operation of operationsOf(paths)) collectReferences(operation['requestBody'], schemas, sent)
  const write = (value: unknown, isSent: boolean) =>
    omitProperties(value, { keyword: isSent ? 'readOnly' : 'writeOnly', schemas })
  return {
    ...rest,
    paths: mapValues(paths, (item) =>
      mapValues(mapOf(item), (operation) =>
        mapValues(mapOf(operation), (part, key) =>
          key === 'responses'
            ? write(mapValues(expandRanges(mapOf(part)), joinContents), false)
            : write(part, key === 'requestBody'),
        ),
      ),
    ),
    components: {
      ...mapValues(components, (part) => write(part, false)),
      schemas: mapValues(schemas, (schema, name) => write(schema, sent.has(name))),
    },
  }
}

/** Tuples become arrays of their item types. */
function withoutTuples(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(withoutTuples)
  const { prefixItems, ...rest } = value as { prefixItems?: unknown; items?: unknown }
  const tuple = Array.isArray(prefixItems)
    ? { ...rest, items: { anyOf: [...prefixItems, ...(rest.items === false ? [] : [rest.items ?? {}])] } }
    : value
  return Object.fromEntries(Object.entries(tuple).map(([key, inner]) => [key, withoutTuples(inner)]))
}

/** Replaces `4XX`, `5XX` and `default` with the statuses that have no response of their own. */
function expandRanges(responses: Value): Value {
  const { '4XX': client, '5XX': server, default: other, ...own } = responses
  const expanded = Object.keys(STATUS_CODES).flatMap((status) => {
    const range = status.startsWith('4') ? client : status.startsWith('5') ? server : undefined
    const response = range ?? (/^[45]/.test(status) ? other : undefined)
    return response === undefined ? [] : [[status, response] as const]
  })
  return { ...Object.fromEntries(expanded), ...own }
}

/** A status that the project declares and Waypost uses too has one of two bodies. The generator takes the first. */
function joinContents(response: unknown): unknown {
  const content = mapOf(mapOf(response)['content'])
  const { 'application/json': own, 'application/problem+json': problem } = content
  if (own === undefined || problem === undefined) return response
  const schemas = [own, problem].map((media) => mapOf(media)['schema'] ?? {})
  const isSame = JSON.stringify(schemas[0]) === JSON.stringify(schemas[1])
  const schema = isSame ? schemas[0] : { anyOf: schemas }
  return { ...mapOf(response), content: { 'application/json': { schema } } }
}

interface Omitting {
  readonly keyword: 'readOnly' | 'writeOnly'
  readonly schemas: Value
}

/** Removes properties that are not sent in this direction. */
function omitProperties(value: unknown, omitting: Omitting): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map((one) => omitProperties(one, omitting))
  // The generator would divide marked schemas again.
  const { readOnly: _, writeOnly: _other, ...rest } = value as Value
  return mapValues(rest, (inner, key) => {
    if (key !== 'properties') return omitProperties(inner, omitting)
    const kept = Object.entries(mapOf(inner)).filter(([, property]) => !isMarked(property, omitting))
    return Object.fromEntries(kept.map(([name, property]) => [name, omitProperties(property, omitting)]))
  })
}

function isMarked(schema: unknown, { keyword, schemas }: Omitting, hops = 0): boolean {
  const { $ref, allOf, [keyword]: mark } = mapOf(schema)
  if (mark === true) return true
  if (hops > maxHops) return false
  const parts = [...(Array.isArray(allOf) ? allOf : []), ...(typeof $ref === 'string' ? [schemas[nameOf($ref)]] : [])]
  return parts.some((part) => isMarked(part, { keyword, schemas }, hops + 1))
}

const maxHops = 50

function collectReferences(value: unknown, schemas: Value, found: Set<string>): void {
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    if (typeof next !== 'object' || next === null) continue
    for (const [key, inner] of Object.entries(next)) {
      const name = key === '$ref' && typeof inner === 'string' ? nameOf(inner) : undefined
      if (name === undefined) waiting.push(inner)
      else if (!found.has(name)) {
        found.add(name)
        waiting.push(schemas[name])
      }
    }
  }
}

function nameOf(reference: string): string {
  return reference.split('/').at(-1)!
}

function operationsOf(paths: Value): readonly Value[] {
  return Object.values(paths).flatMap((item) => Object.values(mapOf(item)).map(mapOf))
}

function mapOf(value: unknown): Value {
  return typeof value === 'object' && value !== null ? (value as Value) : {}
}

function mapValues(value: Value, change: (inner: unknown, key: string) => unknown): Value {
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, change(inner, key)]))
}
