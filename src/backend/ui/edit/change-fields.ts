// Changes of the fields and alternatives of a JSON Schema. Schemas are never changed in place.
import { insertEntry } from './change-type.ts'
import {
  flattenRows,
  isNullSchema,
  parentOf,
  readRows,
  toKeywords,
  unionKeywordOf,
  type Keys,
  type Row,
} from './schema-rows.ts'
import { isMap, valueAt, withValueAt, type Json } from './values.ts'

function change(root: unknown, keys: Keys, next: (before: unknown) => unknown): unknown {
  return withValueAt(root, keys, next(valueAt(root, keys)))
}

/** Adds a field to the object of a row, by default as the last one. Returns the new schema and the name of the field. */
export function addField(
  root: unknown,
  object: Row,
  { index, name = 'field', field = { type: 'string' }, isRequired = false }: NewField = {},
): { readonly schema: unknown; readonly name: string } {
  const at = objectOf(object)
  const fields = toKeywords(valueAt(root, [...at, 'properties']))
  const free = freeName(name, fields)
  const next = change(root, at, (before) =>
    withRequired(
      placeProperties(toKeywords(before), insertEntry(fields, index ?? Object.keys(fields).length, [free, field])),
      free,
      isRequired,
    ),
  )
  return { schema: next, name: free }
}

export interface NewField {
  readonly index?: number | undefined
  readonly name?: string
  readonly field?: unknown
  readonly isRequired?: boolean
}

/** The keys of the object, inside of a list or beside null, whose fields a row contains. */
export function objectOf(row: Row): Keys {
  return [...row.at, ...row.types.at(-1)!.inner]
}

function freeName(name: string, taken: Json): string {
  let free = name
  for (let count = 2; Object.hasOwn(taken, free); count += 1) free = `${name}_${count}`
  return free
}

/** Sets the fields of an object. */
function placeProperties(object: Json, fields: Json): Json {
  if (Object.keys(fields).length > 0) return { ...object, properties: fields }
  const { properties: _none, ...rest } = object
  return rest
}

function withRequired(object: Json, name: string, isRequired: boolean): Json {
  const before = (Array.isArray(object['required']) ? object['required'] : []) as readonly string[]
  if (before.includes(name) === isRequired) return object
  if (!isRequired) {
    const names = before.filter((one) => one !== name)
    if (names.length > 0) return { ...object, required: names }
    const { required: _none, ...rest } = object
    return rest
  }
  const order = Object.keys(toKeywords(object['properties']))
  const later = before.findIndex((one) => order.indexOf(one) > order.indexOf(name))
  const names = before.toSpliced(later === -1 ? before.length : later, 0, name)
  if ('required' in object) return { ...object, required: names }
  const index = Object.keys(object).indexOf('properties')
  return insertEntry(object, index === -1 ? Object.keys(object).length : index, ['required', names])
}

/** Requires a field, or makes it optional. */
export function changeRequired(root: unknown, row: Row, isRequired: boolean): unknown {
  return change(root, row.at.slice(0, -2), (object) => withRequired(toKeywords(object), row.name, isRequired))
}

/** Renames a field; it stays at its place. Undefined if the object has another field with this name. */
export function renameField(root: unknown, row: Row, name: string): unknown {
  if (name === row.name) return root
  const at = row.at.slice(0, -2)
  const fields = toKeywords(valueAt(root, [...at, 'properties']))
  const listed = valueAt(root, [...at, 'required'])
  if (Object.hasOwn(fields, name) || (Array.isArray(listed) && listed.includes(name))) return undefined
  const rename = (one: unknown) => (one === row.name ? name : one)
  return change(root, at, (before) => {
    const object = toKeywords(before)
    const properties = Object.fromEntries(Object.entries(fields).map(([key, field]) => [rename(key), field]))
    const { required } = object
    return {
      ...object,
      ...(Array.isArray(required) ? { required: required.map(rename) } : {}),
      ...('properties' in object ? { properties } : {}),
    }
  })
}

/** Removes a field, an alternative, or the schema of other fields. */
export function removeRow(root: unknown, row: Row): unknown {
  if (row.role !== 'field') return withValueAt(root, row.at, undefined)
  return change(root, row.at.slice(0, -2), (before) => {
    const { [row.name]: _removed, ...fields } = toKeywords(toKeywords(before)['properties'])
    return placeProperties(withRequired(toKeywords(before), row.name, false), fields)
  })
}

/** Moves a field or an alternative by some places. Returns undefined if it is the first or last one already. */
export function moveRow(root: unknown, row: Row, by: number): unknown {
  const siblings = parentOf(readRows(root), row)?.children.filter(({ role }) => role === row.role) ?? []
  const other = siblings[siblings.findIndex(({ id }) => id === row.id) + by]
  if (other === undefined || row.role === 'root' || row.role === 'other') return undefined
  const around = row.at.slice(0, -1)
  const [from, to] = [row.at.at(-1)!, other.at.at(-1)!]
  return change(root, around, (before) => {
    if (Array.isArray(before)) return before.toSpliced(Number(from), 1).toSpliced(Number(to), 0, before[Number(from)])
    const entries = Object.entries(toKeywords(before))
    const [start, end] = [from, to].map((name) => entries.findIndex(([key]) => key === name))
    if (start === -1 || end === -1) return before // it is only required
    return Object.fromEntries(entries.toSpliced(start!, 1).toSpliced(end!, 0, entries[start!]!))
  })
}

/** Moves a field into the object before it. Undefined if there is none. */
export function indentField(root: unknown, row: Row): { readonly schema: unknown; readonly id: string } | undefined {
  const target = findIndentTarget(readRows(root), row)
  if (target === undefined) return undefined
  return moveInto(root, row, { target })
}

/** Returns the object before a field, which can take it. */
export function findIndentTarget(tree: Row, row: Row): Row | undefined {
  const fields = row.role === 'field' ? (parentOf(tree, row)?.children ?? []) : []
  const before = fields[fields.findIndex(({ id }) => id === row.id) - 1]
  return before?.types.at(-1)!.kind === 'object' ? before : undefined
}

/** Moves a field out of its object, behind it. Undefined if that is not inside of an object. */
export function outdentField(root: unknown, row: Row): { readonly schema: unknown; readonly id: string } | undefined {
  const tree = readRows(root)
  const around = row.role === 'field' ? parentOf(tree, row) : undefined
  const outer = around?.role === 'field' ? parentOf(tree, around) : undefined
  if (around === undefined || outer === undefined) return undefined
  const index = outer.children.findIndex(({ id }) => id === around.id) + 1
  return moveInto(root, row, { target: outer, index })
}

function moveInto(
  root: unknown,
  row: Row,
  { target, index }: { readonly target: Row; readonly index?: number },
): { readonly schema: unknown; readonly id: string } {
  const { schema: field, name, isRequired } = row
  const added = addField(removeRow(root, row), target, { index, name, field, isRequired })
  const place = [...objectOf(target), 'properties', added.name].join('/')
  const { id } = flattenRows(readRows(added.schema)).find(({ at }) => at.join('/') === place)!
  return { schema: added.schema, id }
}

// Alternatives of unions

/** Adds an alternative to the union of a row. */
export function addVariant(root: unknown, union: Row, variant: unknown): unknown {
  const at = objectOf(union)
  const keyword = unionKeywordOf(valueAt(root, at))!
  return change(root, [...at, keyword], (before) => {
    const variants = before as readonly unknown[]
    const end = variants.findIndex(isNullSchema)
    return variants.toSpliced(end === -1 ? variants.length : end, 0, variant)
  })
}

/** Gives each alternative of a union that is an object a required property with a fixed value of its own. */
export function addDiscriminator(root: unknown, union: Row, name: string): unknown {
  return union.children.reduce<unknown>((result, { at, types }, index) => {
    const [{ kind, inner }] = types as readonly [Row['types'][number]]
    if (kind !== 'object') return result
    return change(result, [...at, ...inner], (before) => {
      const object = toKeywords(before)
      const { [name]: old, ...others } = toKeywords(object['properties'])
      const value = isMap(old) && 'const' in old ? old['const'] : `option_${index + 1}`
      return withRequired({ ...object, properties: { [name]: { const: value }, ...others } }, name, true)
    })
  }, root)
}
