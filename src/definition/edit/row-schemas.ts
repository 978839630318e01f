import type { ClassCatalog } from '../class-catalog.ts'
import { placeOf } from './find-value.ts'
import { pointerTo, type Cursor, type Editing } from './editing.ts'
import { childrenAt, findUses, match, stepInto, type At } from './rename.ts'

/** What contains the schema. */
export type RowPart = 'request' | 'patch' | 'response' | 'parameters' | 'event'

/** A schema that can describe rows of a table: of a method that uses the table, or of an event that only they dispatch. */
export interface RowSchema {
  readonly at: At
  readonly part: RowPart
  /** The named schema that contains it. */
  readonly of: string | undefined
}

export interface RowSchemas {
  readonly schemas: readonly RowSchema[]
  /** Why a named schema cannot change with the table: the place of something else that uses it. */
  readonly shared: ReadonlyMap<string, string>
}

/** Returns the schemas of methods and of the events that only they dispatch, requests first. */
export function collectRowSchemas(work: Editing, methods: readonly At[], classes: ClassCatalog): RowSchemas {
  const schemas: RowSchema[] = []
  const visited = new Set<string>()
  const named = new Set<string>()
  const addName = (name: string, cursor: Cursor, part: RowPart): void => {
    visited.add(placeText(cursor))
    const target = match(work, 'schema/*').find(({ keys }) => keys[1] === name)
    if (named.has(name) || target === undefined) return
    named.add(name)
    visit(target, part, name)
  }
  const visit = (at: At | undefined, part: RowPart, of?: string): void => {
    if (at === undefined) return
    if (at.tree.kind === 'scalar') return addName(String(at.tree.value), at.cursor, part)
    const content = stepInto(work, at, 'content')
    if (content !== undefined && of === undefined) {
      for (const one of content.tree.kind === 'map' ? childrenAt(work, content) : []) visit(one, part)
      return
    }
    const reference = stepInto(work, at, '$ref')
    if (reference?.tree.kind === 'scalar') {
      const [, name] = /^schema:\/\/\/([^#/]+)$/.exec(String(reference.tree.value)) ?? []
      if (name !== undefined) addName(name, reference.cursor, part)
    }
    schemas.push({ at, part, of })
    for (const key of ['allOf', 'anyOf', 'oneOf'])
      for (const one of itemsAt(work, stepInto(work, at, key))) visit(one, part, of)
    // Lists of rows: an array, or `entry` of a list response.
    visit(stepInto(work, at, 'items'), part, of)
    visit(stepThrough(work, at, ['properties', 'entry', 'items']), part, of)
  }
  for (const method of methods)
    visit(stepInto(work, method, 'request'), method.keys.at(-1) === 'PATCH' ? 'patch' : 'request')
  for (const method of methods) {
    visit(stepInto(work, method, 'response'), 'response')
    const responses = stepInto(work, method, 'responses')
    for (const one of responses === undefined ? [] : childrenAt(work, responses)) visit(one, 'response')
    visit(stepInto(work, method, 'parameters'), 'parameters')
  }
  for (const event of findOwnEvents(work, methods)) visit(stepInto(work, event, 'schema'), 'event')
  const shared = new Map(
    [...named].flatMap((name) => {
      const other = findUses(work, { kind: 'schema', name, to: name, classes }).find(
        ({ cursor }) => !visited.has(placeText(cursor)),
      )
      if (other === undefined) return []
      const { file, line } = placeOf(work, other.cursor)
      return [[name, `the schema "${name}" is also used at ${file}:${line}`] as const]
    }),
  )
  return { schemas, shared }
}

export function placeText({ file, steps }: Cursor): string {
  return `${file} ${steps.join('.')}`
}

export function itemsAt(work: Editing, at: At | undefined): readonly At[] {
  return at?.tree.kind === 'list' ? childrenAt(work, at) : []
}

function stepThrough(work: Editing, from: At, keys: readonly string[]): At | undefined {
  return keys.reduce<At | undefined>((at, key) => at && stepInto(work, at, key), from)
}

/** Returns the events that only these methods dispatch. */
function findOwnEvents(work: Editing, methods: readonly At[]): readonly At[] {
  const own = new Set(methods.map(({ keys }) => pointerTo(keys)))
  const dispatched = ['routes/*/methods/*/dispatch', 'routes/*/methods/*/dispatch/event'].flatMap((pattern) =>
    match(work, pattern),
  )
  return match(work, 'event/*').filter(({ keys: [, name] }) => {
    const by = dispatched.filter(({ tree }) => tree.kind === 'scalar' && tree.value === name)
    return by.length > 0 && by.every(({ keys }) => own.has(pointerTo(keys.slice(0, keys.lastIndexOf('dispatch')))))
  })
}

/** Whether a method has one of the actions. */
export function isOwned(work: Editing, method: At, owners: ReadonlySet<string>): boolean {
  const action = stepInto(work, method, 'action')
  const name = action?.tree.kind === 'scalar' ? ['action', String(action.tree.value)] : action?.keys
  return name !== undefined && owners.has(pointerTo(name))
}
