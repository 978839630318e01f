import type { JsonSchema } from '../contract/index.ts'
import { parseConflict, type Conflict, type WaypostError } from '../kit/index.ts'
import type { NamedSchemas } from '../schema/index.ts'
import type { SchemaProblem } from './compile-schema.ts'
import { errors } from './errors.ts'
import { collectProperties } from './openapi/collect-properties.ts'

/** An action violated a database constraint and did not catch the error. Callers get 409. */
export class UncaughtConflict extends Error {
  readonly status = 409
  readonly known: WaypostError
  readonly problems: readonly SchemaProblem[]

  constructor(known: WaypostError, problems: readonly SchemaProblem[], cause: unknown) {
    super(known.message, { cause })
    this.known = known
    this.problems = problems
  }
}

type RequestPart = readonly [schema: JsonSchema | undefined, value: unknown]

/** The parts of a request in which the conflicting field may be. */
export interface ConflictParts {
  readonly method: string
  readonly schemas: NamedSchemas
  /** The schema and the value of each part. */
  readonly parts: Readonly<Record<'body' | 'path' | 'query', RequestPart>>
}

interface PlacedParts extends Pick<ConflictParts, 'schemas'> {
  readonly parts: Readonly<Record<string, RequestPart>>
}

/** By this, `sql-table` says which of several rows in the body violates a constraint: the steps to it. */
const rowPlace = Symbol.for('waypost.row-place')

/** Replaces the body by the row in it that an error is about. */
function moveToRow({ parts, schemas }: ConflictParts, thrown: unknown): PlacedParts {
  const place = (thrown as { readonly [rowPlace]?: readonly (string | number)[] })[rowPlace]
  if (place === undefined) return { parts, schemas }
  const { body, ...others } = parts
  let schema = body[0]
  let value = body[1]
  for (const step of place) {
    schema = schema === undefined ? undefined : stepInto(schema, step, schemas)
    value = (value as Readonly<Record<string | number, unknown>> | undefined)?.[step]
  }
  return { parts: { [['body', ...place].join('/')]: [schema, value], ...others }, schemas }
}

/** Returns the schema of a property, or of the items of an array. */
function stepInto(schema: JsonSchema, step: string | number, schemas: NamedSchemas): JsonSchema | undefined {
  if (typeof step === 'string') return collectProperties({ schema, name: '' }, schemas).get(step)?.parts[0]?.schema
  if (typeof schema === 'boolean') return undefined
  const alternatives = [schema, ...((schema['anyOf'] ?? []) as readonly JsonSchema[])]
  const list = alternatives.find((one) => typeof one === 'object' && one['items'] !== undefined)
  return (list as { readonly items: JsonSchema } | undefined)?.items
}

/**
 * Converts an error of an action to a conflict, if a constraint of the project's own tables was violated. Only fields
 * that callers know are named.
 */
export function findConflict(thrown: unknown, request: ConflictParts): UncaughtConflict | undefined {
  const conflict = parseConflict(thrown)
  if (conflict === undefined || conflict.table?.startsWith('waypost_') === true) return undefined
  const isDeleting = request.method === 'DELETE'
  const { reason, message } = describe(conflict, isDeleting)
  const problems = findFields(conflict, moveToRow(request, thrown)).map((path) => ({ path, message }))
  return new UncaughtConflict(errors.WP_RUNTIME_CONFLICT({ reason }), problems, thrown)
}

function describe({ kind, columns }: Conflict, isDeleting: boolean): { reason: string; message: string } {
  const several = columns.length > 1 ? ' in this combination' : ''
  return {
    unique: { reason: 'A value that must be unique is already taken', message: `is already taken${several}` },
    'foreign key': isDeleting
      ? { reason: 'Other data still refers to it', message: 'is still referred to' }
      : {
          reason: 'A resource that the request refers to does not exist',
          message: 'refers to something that does not exist',
        },
    check: { reason: 'A value is not allowed', message: 'is not allowed' },
    'not null': { reason: 'A required value is missing', message: 'is required' },
  }[kind]
}

/**
 * Finds the conflicting fields in the request, in the order of its parts. Columns that are not fields of the request
 * are left out.
 */
function findFields({ columns, constraint }: Conflict, { parts, schemas }: PlacedParts): string[] {
  const wanted = new Set(columns.map(toSnake))
  const paddedConstraint = columns.length === 0 && constraint !== undefined ? `_${toSnake(constraint)}_` : ''
  const seen = new Set<string>()
  return Object.entries(parts).flatMap(([part, [schema, value]]) => {
    const declared = schema === undefined ? [] : collectProperties({ schema, name: '' }, schemas).keys()
    const sent = typeof value === 'object' && value !== null && !Array.isArray(value) ? Object.keys(value) : []
    return [...new Set([...declared, ...sent])].flatMap((name) => {
      const key = toSnake(name)
      if (key === '' || seen.has(key) || !(wanted.has(key) || paddedConstraint.includes(`_${key}_`))) return []
      seen.add(key)
      return [`${part}/${name}`]
    })
  })
}

/** Converts `authorId`, `author-id` and `author_id` to the same name. */
function toSnake(name: string): string {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, '_')
    .replaceAll(/^_|_$/g, '')
}
