import { Type, type TSchema } from 'typebox'
import { removedSettings, settingsTable, type SettingRow } from '../kit/index.ts'

function makeLanguage(): TSchema {
  const properties: Record<string, TSchema> = {}
  for (const [name, row] of Object.entries<SettingRow>(settingsTable)) {
    const shape = makeShape(row)
    const { label: title, group, description } = row
    properties[name] = Type.Optional({ ...shape, title, description, default: row.default, 'x-waypost-group': group })
  }
  for (const name of removedSettings) {
    properties[name] = Type.Optional(Type.Unknown({ description: 'No longer has an effect', deprecated: true }))
  }
  return Type.Object(properties, { title: 'config', additionalProperties: false })
}

const variable = Type.String({ pattern: '\\$\\{env\\.' })
const duration = Type.String({ pattern: '^([0-9]+(ms|[smhdw]))+$|\\$\\{env\\.' })

function makeShape(row: SettingRow): TSchema {
  switch (row.kind) {
    case 'duration':
      return duration
    case 'size':
      return Type.String({ pattern: '^[0-9]+(b|kb|mb|gb)$|\\$\\{env\\.' })
    case 'count':
      return Type.Union([Type.Integer({ minimum: row.minimum, maximum: row.maximum }), variable])
    case 'flag':
      return Type.Union([Type.Boolean(), variable])
    case 'text':
      return Type.String()
    case 'color':
      return Type.String({ format: 'color', pattern: '^(#[0-9a-fA-F]{6})?$|\\$\\{env\\.' })
    case 'choice':
      return Type.Union([Type.Enum([...row.choices]), variable])
    case 'list':
      return Type.Union([Type.Array(makeItem(row.of)), Type.String()])
    case 'durations':
    default:
      return Type.Object(
        Object.fromEntries(
          Object.entries(row.default).map(([name, one]) => [
            name,
            Type.Optional({ ...duration, title: row.labels[name]!, default: one }),
          ]),
        ),
        { additionalProperties: false },
      )
  }
}

function makeItem(of: 'scope' | 'duration' | 'range' | 'origin'): TSchema {
  if (of === 'duration') return duration
  return Type.String(of === 'scope' ? { 'x-waypost': 'scope' } : {})
}

/** The structure of `config:` for editors, generated from the table of settings. `parseSettings` checks the values. */
export const settingsLanguage: TSchema = makeLanguage()
