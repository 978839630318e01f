import { isMap, type Json } from '../edit/values.ts'

/** A setting, or one of several values of a setting, such as `keep.messages`. */
export interface SettingField {
  /** Its key in `config`. */
  readonly name: string
  readonly keys: readonly string[]
  readonly label: string
  readonly description: string
  readonly schema: Json
}

export interface SettingGroup {
  readonly name: string
  readonly fields: readonly SettingField[]
}

/** Groups the settings that have an effect, as their JSON Schema says. */
export function groupSettings(schema: unknown): readonly SettingGroup[] {
  const fields = Object.entries(propertiesOf(schema)).flatMap(([name, given]) => {
    const one = simplify(given)
    const group = one['x-waypost-group']
    if (typeof group !== 'string') return []
    const inner = Object.entries(propertiesOf(one))
    if (inner.length === 0) return [{ group, field: makeField([name], one, textOf(one['description'])) }]
    return inner.map(([key, part]) => ({ group, field: makeField([name, key], simplify(part), '') }))
  })
  const groups = Map.groupBy(fields, ({ group }) => group)
  return [...groups].map(([name, all]) => ({ name, fields: all.map(({ field }) => field) }))
}

/** Leaves the settings whose name, label, description or group contains every word of a search. */
export function findSettings(groups: readonly SettingGroup[], search: string): readonly SettingGroup[] {
  const words = search.toLowerCase().split(/\s+/).filter(Boolean)
  return groups
    .map((group) => ({
      ...group,
      fields: group.fields.filter(({ name, label, description }) => {
        const text = `${name} ${label} ${description} ${group.name}`.toLowerCase()
        return words.every((word) => text.includes(word))
      }),
    }))
    .filter(({ fields }) => fields.length > 0)
}

function makeField(keys: readonly string[], schema: Json, description: string): SettingField {
  const name = keys.join('.')
  return { name, keys, label: textOf(schema['title']) || name, description, schema }
}

/** A map or a list may be included from a file, and a list be written with commas: both are texts, which forms leave out. */
function simplify(schema: unknown): Json {
  if (!isMap(schema)) return {}
  const choices = Array.isArray(schema['anyOf']) ? (schema['anyOf'] as readonly unknown[]).filter(isMap) : []
  const whole = choices.find(({ type }) => type === 'object' || type === 'array')
  return whole === undefined ? schema : { ...schema, anyOf: undefined, ...whole }
}

function propertiesOf(schema: unknown): Json {
  const { properties } = simplify(schema)
  return isMap(properties) ? properties : {}
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
