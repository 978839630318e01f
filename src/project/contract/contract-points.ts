import { findPlaces, openEditing } from '../../definition/index.ts'
import type { JsonSchema } from '../../contract/index.ts'
import { formType, isJsonType, multipartType } from '../../kit/index.ts'
import type { Manifest, ManifestMethod } from '../../release/index.ts'
import type { RequestExchange } from '../../runtime/index.ts'
import { withoutFiles } from '../../schema/index.ts'

/** Kinds of points, in the order of a report. */
export const pointKinds = {
  method: 'Methods',
  status: 'Responses',
  error: 'Error responses',
  scope: 'Scopes',
  request: 'Properties of requests',
  response: 'Properties of responses',
  event: 'Events',
  listener: 'Listeners',
  cronjob: 'Cronjobs',
} as const
export type PointKind = keyof typeof pointKinds

/** Something that the definition promises and that a test can touch. */
export interface ContractPoint {
  /** Unique, and what people read: `POST /todo without body.content`. */
  readonly name: string
  readonly kind: PointKind
  /** The method that it belongs to: `POST /todo`; empty for events, listeners and cronjobs. */
  readonly method: string
  /** `FILE:LINE` of the definition. */
  readonly place: string
}

type Keys = readonly string[]

interface Candidate extends Omit<ContractPoint, 'place'> {
  /** The keys of entries of waypost.yml in which it may be written, the most likely ones first. */
  readonly keys: readonly Keys[]
  isTouched(exchange: RequestExchange): boolean
}

/** The points of a project, by which the requests of its tests are judged. */
export interface Contract {
  readonly points: readonly ContractPoint[]
  /** Returns the names of the points that an exchange touches. */
  judge(exchange: RequestExchange): readonly string[]
}

/** Lists what the definition of a project promises. Reads its files for the places. */
export function openContract(root: string, manifest: Manifest): Contract {
  const candidates = manifest.routes.flatMap(({ path, methods }) =>
    methods.flatMap((method) => listMethodPoints(manifest, path, method)),
  )
  const others = (['event', 'listener', 'cronjob'] as const).flatMap((kind) =>
    Object.keys(manifest[`${kind}s`] ?? {}).map((name) => ({
      name: `${kind} ${name}`,
      kind,
      method: '',
      keys: [[kind, name]],
    })),
  )
  const all = [...new Map([...candidates, ...others].map((one) => [one.name, one])).values()]
  const places = findPlaces(
    openEditing(root),
    all.map(({ keys }) => keys),
  )
  const byMethod = Map.groupBy(candidates, (one) => one.method)
  return {
    points: all.map(({ name, kind, method }, index) => ({ name, kind, method, place: places[index]! })),
    judge(exchange) {
      const own = byMethod.get(`${exchange.method} ${exchange.route}`) ?? []
      return own.filter((one) => one.isTouched(exchange)).map(({ name }) => name)
    },
  }
}

function listMethodPoints(manifest: Manifest, path: string, of: ManifestMethod): readonly Candidate[] {
  const method = `${of.method} ${path}`
  const home = ['routes', path, 'methods', of.method]
  const isAccepted = ({ status }: RequestExchange) => status < 400
  const point = (
    kind: PointKind,
    what: string,
    keys: readonly Keys[],
    isTouched: Candidate['isTouched'],
  ): Candidate => ({
    name: what === '' ? method : `${method} ${what}`,
    kind,
    method,
    keys: [...keys, home],
    isTouched,
  })
  const { responseTypes = {} } = of
  const statuses = [...new Set([...Object.keys(of.responses), ...Object.keys(responseTypes)])]
  const isOfStatus = (exchange: RequestExchange, status: string) => responseOf(exchange.status, statuses) === status
  const implied = listImplied(of).filter((status) => !statuses.includes(status))
  const properties = (schema: JsonSchema | undefined, keys: readonly Keys[], without: 'readOnly' | 'writeOnly') =>
    schema === undefined
      ? []
      : listProperties({ schemas: manifest.schemas, without }, { schema, keys, path: [], around: [] })
  const sent = (part: 'query' | 'body', schema: JsonSchema | undefined, keys: readonly Keys[]) =>
    properties(schema, keys, 'readOnly').flatMap((one) => {
      const name = `${part}.${nameOf(one)}`
      const touches = (isIn: boolean) => (exchange: RequestExchange) =>
        isAccepted(exchange) &&
        findParents(exchange[part], one.parents).some((parent) => Object.hasOwn(parent, one.name) === isIn)
      return [
        point('request', name, one.keys, touches(true)),
        ...(one.isRequired ? [] : [point('request', `without ${name}`, one.keys, touches(false))]),
      ]
    })
  return [
    point('method', '', [], () => true),
    ...[...statuses, ...implied].map((status) =>
      point(
        kindOf(status),
        status,
        [[...home, 'responses', status]],
        (exchange) => isOfStatus(exchange, status) || String(exchange.status) === status,
      ),
    ),
    ...listTypes(responseTypes).map(({ status, type }) =>
      point(
        kindOf(status),
        `${status} ${type}`,
        keysOf(home, status, ['content', type]),
        (exchange) => isOfStatus(exchange, status) && exchange.type === type,
      ),
    ),
    ...(of.public ? [] : of.scopes).map((scope) =>
      point(
        'scope',
        `with scope ${scope}`,
        [
          [...home, 'scopes'],
          ['routes', path, 'scopes'],
        ],
        (exchange) => isAccepted(exchange) && exchange.scopes.includes(scope),
      ),
    ),
    ...sent('query', of.query, [[...home, 'parameters']]),
    ...listBodies(of).flatMap(({ schema, keys }) => sent('body', schema, [[...home, ...keys, 'properties']])),
    ...successOf(statuses).flatMap((status) =>
      properties(of.responses[status], placesOfProperties(of, home, status), 'writeOnly').map((one) =>
        point(
          'response',
          `${status} ${nameOf(one)}`,
          one.keys,
          (exchange) =>
            isOfStatus(exchange, status) &&
            findParents(exchange.result, one.parents).some((parent) => Object.hasOwn(parent, one.name)),
        ),
      ),
    ),
  ]
}

function kindOf(status: string): PointKind {
  return /^[123]/.test(status) ? 'status' : 'error'
}

/** Returns where a part of a response may be written. */
function keysOf(home: Keys, status: string, inside: Keys): readonly Keys[] {
  return [
    [...home, 'responses', status, ...inside],
    [...home, 'response', ...inside],
  ]
}

/** Lists the media types of the statuses that have several. */
function listTypes(responseTypes: NonNullable<ManifestMethod['responseTypes']>) {
  return Object.entries(responseTypes).flatMap(([status, types]) => {
    const names = Object.keys(types)
    return names.length === 1 ? [] : names.map((type) => ({ status, type }))
  })
}

function successOf(statuses: readonly string[]): readonly string[] {
  return statuses.filter((status) => status.startsWith('2'))
}

/** Returns where the properties of a response may be written. */
function placesOfProperties({ responseTypes }: ManifestMethod, home: Keys, status: string): readonly Keys[] {
  const json = Object.keys(responseTypes?.[status] ?? {}).filter(isJsonType)
  const insides = [['properties'], ...json.map((type) => ['content', type, 'properties'])]
  return insides.flatMap((inside) => keysOf(home, status, inside))
}

/** Returns the statuses that a method may respond with undeclared. */
function listImplied(of: ManifestMethod): readonly string[] {
  const hasInput = of.params !== undefined || of.query !== undefined || listBodies(of).length > 0
  return [...(hasInput ? ['400'] : []), ...(of.public ? [] : ['401', ...(of.scopes.length > 0 ? ['403'] : [])])]
}

/** Returns the key of the response that a status belongs to: itself, `4XX` or `default`. */
function responseOf(status: number, declared: readonly string[]): string | undefined {
  return [String(status), `${Math.floor(status / 100)}XX`, 'default'].find((key) => declared.includes(key))
}

/** Stands for each item of an array in a path. */
const eachItem = Symbol('each item')
type Step = string | typeof eachItem

interface Property {
  readonly name: string
  readonly parents: readonly Step[]
  readonly isRequired: boolean
  readonly keys: readonly Keys[]
}

interface Walk {
  readonly schema: JsonSchema
  /** Where the properties of the schema may be written. */
  readonly keys: readonly Keys[]
  readonly path: readonly Step[]
  /** The named schemas around it, so that recursive ones end. */
  readonly around: readonly string[]
}

interface WalkOptions {
  readonly schemas: Manifest['schemas']
  /** Properties that a request or a response never has. */
  readonly without: 'readOnly' | 'writeOnly'
}

/** How deep named schemas are followed; they may refer to each other in many ways. */
const maxNamed = 4
const refPrefix = 'schema:///'

/** Lists the properties of a schema and of the objects and arrays inside. */
function listProperties(options: WalkOptions, { schema, keys, path, around }: Walk): readonly Property[] {
  if (typeof schema === 'boolean') return []
  const { $ref, properties = {}, required = [], items } = schema as SchemaParts
  const inner = (one: JsonSchema, more: Partial<Walk>) =>
    listProperties(options, { schema: one, keys, path, around, ...more })
  const target =
    typeof $ref === 'string' && $ref.startsWith(refPrefix)
      ? decodeURIComponent($ref.slice(refPrefix.length))
      : undefined
  const named =
    target === undefined || around.includes(target) || around.length >= maxNamed ? undefined : options.schemas[target]
  return [
    ...(named === undefined
      ? []
      : inner(named, { keys: [['schema', target!, 'properties']], around: [...around, target!] })),
    ...(['allOf', 'anyOf', 'oneOf'] as const).flatMap((word) =>
      ((schema as SchemaParts)[word] ?? []).flatMap((one, index) =>
        inner(one, { keys: keys.map((own) => [...own.slice(0, -1), word, String(index), 'properties']) }),
      ),
    ),
    ...(items === undefined
      ? []
      : inner(items, {
          keys: keys.map((own) => [...own.slice(0, -1), 'items', 'properties']),
          path: [...path, eachItem],
        })),
    ...Object.entries(properties).flatMap(([name, one]): readonly Property[] => {
      if (typeof one !== 'boolean' && (one as Record<string, unknown>)[options.without] === true) return []
      const own = keys.map((home) => [...home, name])
      return [
        { name, parents: path, isRequired: required.includes(name), keys: own },
        ...inner(one, { keys: own.map((home) => [...home, 'properties']), path: [...path, name] }),
      ]
    }),
  ]
}

interface SchemaParts {
  readonly $ref?: unknown
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly required?: readonly string[]
  readonly items?: JsonSchema
  readonly allOf?: readonly JsonSchema[]
  readonly anyOf?: readonly JsonSchema[]
  readonly oneOf?: readonly JsonSchema[]
}

function nameOf({ parents, name }: Property): string {
  return [...parents, name].reduce<string>(
    (text, step) => (typeof step === 'string' ? `${text}${text === '' ? '' : '.'}${step}` : `${text}[]`),
    '',
  )
}

/** Returns the objects at a path of a value. */
function findParents(value: unknown, path: readonly Step[]): readonly object[] {
  const [step, ...rest] = path
  if (step === eachItem) return Array.isArray(value) ? value.flatMap((item) => findParents(item, rest)) : []
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return []
  if (step === undefined) return [value]
  return Object.hasOwn(value, step) ? findParents((value as Readonly<Record<string, unknown>>)[step], rest) : []
}

/** Returns the schemas of the body: of JSON, or else of a form. */
function listBodies({ request, requestTypes }: ManifestMethod) {
  if (requestTypes === undefined) return request === undefined ? [] : [{ schema: request, keys: ['request'] }]
  const types = Object.entries(requestTypes)
  const [type, media] =
    types.find(([one]) => isJsonType(one)) ?? types.find(([one]) => one === multipartType || one === formType) ?? []
  const schema = media?.schema
  return type === undefined || schema === undefined
    ? []
    : [{ schema: withoutFiles(schema), keys: ['request', 'content', type] }]
}
