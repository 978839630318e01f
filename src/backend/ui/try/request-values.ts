// The values of the form of a request, and the request that they make.
import type { BodyType, BodyValues } from './body-values.ts'
import { resolveSchema, toSchema, type NamedSchemas, type Schema } from '../components/named-schemas.ts'
import { isEqual, isMap } from '../edit/values.ts'

/** A method that can be called. */
export interface CalledMethod {
  readonly method: string
  /** With `:name` for parameters. */
  readonly path: string
  readonly public: boolean
  readonly scopes: readonly string[]
  /** The schemas of the path parameters and of the query. */
  readonly params?: unknown
  readonly query?: unknown
  /** The schema of the headers that it reads. */
  readonly headers?: unknown
  /** The schemas that they refer to. */
  readonly schemas: NamedSchemas
  readonly hasBody: boolean
  /** Its media types, if `content` lists them. */
  readonly bodyTypes?: readonly BodyType[] | undefined
  /** An example of the body. */
  readonly example?: unknown
}

export interface Parameter {
  readonly name: string
  readonly schema: Schema
  readonly isRequired: boolean
}

/** What was typed into the form of a request. */
export interface RequestValues {
  /**
   * By `path NAME`, `query NAME` or `header NAME`; a list has one value in each line. Empty text is sent in the query, and
   * otherwise the same as none.
   */
  readonly parameters: Readonly<Record<string, string | undefined>>
  readonly body: string
  /** The example that the body began as. */
  readonly example: string
  /** Of a method that lists media types. */
  readonly sent?: BodyValues
}

export function parametersOf(schema: unknown, named: NamedSchemas): readonly Parameter[] {
  const own = resolveSchema(schema, named)
  const required = new Set((own['required'] ?? []) as readonly string[])
  return Object.entries(toSchema(own['properties'])).map(([name, value]) => {
    return { name, schema: resolveSchema(value, named), isRequired: required.has(name) }
  })
}

function hasType({ type }: Schema, name: string): boolean {
  return type === name || (Array.isArray(type) && type.includes(name))
}

export function isList(schema: Schema): boolean {
  return hasType(schema, 'array')
}

/** The values to choose from; undefined if any can be typed. */
export function optionsOf(schema: Schema): readonly string[] | undefined {
  if (schema['type'] === 'boolean') return ['true', 'false']
  return (schema['enum'] as readonly unknown[] | undefined)?.map(String)
}

/** Whether text without characters is a possible value. */
export function mayBeEmpty(schema: Schema): boolean {
  const { minLength = 0, format, enum: values, pattern } = schema
  return hasType(schema, 'string') && minLength === 0 && [format, values, pattern].every((one) => one === undefined)
}

/** Returns the names of variants of other parameters, such as `price.gte`: a list of rows has five for each number. */
export function findVariants(names: readonly string[]): ReadonlySet<string> {
  const all = new Set(names)
  return new Set(names.filter((name) => all.has(name.slice(0, Math.max(0, name.lastIndexOf('.'))))))
}

export function exampleBody({ example }: Pick<CalledMethod, 'example'>): string {
  return JSON.stringify(example ?? {}, null, 2)
}

/** The values before anything is typed. */
export function firstValues(method: Pick<CalledMethod, 'example'>): RequestValues {
  const example = exampleBody(method)
  return { parameters: {}, body: example, example }
}

/**
 * Returns the values for a method that may have changed since they were typed: its fields are those of the method, with
 * what was typed into those that it still has.
 */
export function keepTyped(method: CalledMethod, values: RequestValues): RequestValues {
  const { params, query, headers, schemas } = method
  const kinds = { path: params, query, header: headers }
  const kept = Object.entries(kinds).flatMap(([kind, schema]) =>
    parametersOf(schema, schemas).flatMap((parameter) => {
      const key = `${kind} ${parameter.name}`
      const value = values.parameters[key]
      return value !== undefined && canShow(parameter.schema, value) ? [[key, value] as const] : []
    }),
  )
  const example = exampleBody(method)
  return {
    parameters: Object.fromEntries(kept),
    body: followExample(values.body, { before: values.example, after: example }),
    example,
    ...(values.sent !== undefined && { sent: values.sent }),
  }
}

/** Returns the chosen media type, or the first one; undefined if the method does not list them. */
export function chosenType({ bodyTypes = [] }: CalledMethod, { sent }: RequestValues): BodyType | undefined {
  return bodyTypes.find(({ type }) => type === sent?.type) ?? bodyTypes[0]
}

/** Whether the field of a parameter can show a value: one that it does not show must not be sent. */
function canShow(schema: Schema, value: string): boolean {
  if (value === '') return mayBeEmpty(schema)
  const options = optionsOf(schema)
  return options === undefined ? isList(schema) || !value.includes('\n') : options.includes(value)
}

/**
 * Returns a body with the fields of another example. Keeps what was typed, which is what differs from the example before,
 * also if it is not JSON.
 */
export function followExample(
  typed: string,
  { before, after }: { readonly before: string; readonly after: string },
): string {
  if (before === after) return typed
  if (typed === before) return after
  try {
    const [value, from, to] = [typed, before, after].map((text) => JSON.parse(hideNumbers(text)) as unknown)
    return isMap(value) && isMap(to) ? showNumbers(JSON.stringify(follow(value, from, to), null, 2)) : typed
  } catch {
    return typed
  }
}

function follow(typed: unknown, before: unknown, after: unknown): unknown {
  if (!isMap(typed) || !isMap(after)) return isEqual(typed, before) ? after : typed
  const known = isMap(before) ? before : {}
  const has = (object: object, key: string) => Object.hasOwn(object, key)
  const own = (object: Readonly<Record<string, unknown>>, key: string) => (has(object, key) ? object[key] : undefined)
  const kept = Object.entries(typed).flatMap(([key, value]) => {
    if (has(after, key)) return [[key, follow(value, own(known, key), after[key])] as const]
    return has(known, key) ? [] : [[key, value] as const]
  })
  const added = Object.entries(after).filter(([key]) => !has(typed, key) && !has(known, key))
  return Object.fromEntries([...kept, ...added])
}

/** A character of no alphabet, before numbers that are kept as they were written: JavaScript would round large ones. */
const mark = '\u{F8FF}'

function hideNumbers(json: string): string {
  return json.replaceAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/g, (part) =>
    part.startsWith('"') ? part : `"${mark}${part}"`,
  )
}

function showNumbers(json: string): string {
  return json.replaceAll(new RegExp(`"${mark}(-?[\\d.eE+-]+)"`, 'g'), '$1')
}

/** Whether the value of a path parameter is a whole segment that every client would remove, so that it calls another path. */
export function hasDots(
  { path }: Pick<CalledMethod, 'path'>,
  { parameters }: Pick<RequestValues, 'parameters'>,
): boolean {
  return path.split('/').some((part) => {
    const value = parameters[`path ${part.slice(1)}`]
    return part.startsWith('*') ? value?.split('/').some(isDots) : part.startsWith(':') && isDots(value)
  })
}

export function isDots(value: string | undefined): boolean {
  return value === '.' || value === '..'
}

/** Writes the path of a request with its query. Path parameters that are missing or not possible stay as they are. */
export function writePath({ path: pattern, query, schemas }: CalledMethod, { parameters }: RequestValues): string {
  const path = pattern
    .split('/')
    .map((part) => {
      const filled = part.replaceAll(/[:*](\w+)/g, (whole, name: string) => {
        const value = parameters[`path ${name}`] ?? ''
        if (value === '') return whole
        return whole.startsWith('*') ? value.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(value)
      })
      return filled.split('/').some(isDots) ? part : filled
    })
    .join('/')
  const search = new URLSearchParams()
  for (const { name, schema } of parametersOf(query, schemas)) {
    const value = parameters[`query ${name}`]
    if (value === undefined) continue
    for (const one of isList(schema) ? value.replace(/\n$/, '').split('\n') : [value]) search.append(name, one)
  }
  const text = search.toString()
  return text === '' ? path : `${path}?${text}`
}

/** Returns the headers that were filled in. */
export function writeHeaders(
  { headers, schemas }: CalledMethod,
  { parameters }: RequestValues,
): readonly (readonly [string, string])[] {
  const filled = parametersOf(headers, schemas).map(({ name }) => [name, parameters[`header ${name}`] ?? ''] as const)
  return filled.filter(([, value]) => value !== '')
}
