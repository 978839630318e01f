import { ColorField } from './color-field.tsx'
import { namesOf, numberOf, typeOf } from './config-schema.ts'
import type { DraftEdit } from './draft-edit.ts'
import {
  describeValue,
  JsonField,
  NumberField,
  SelectField,
  SwitchField,
  TextField,
  type FieldProps,
} from './fields.tsx'
import { NamePicker, VariableMenu } from './pickers.tsx'
import { isMap, type Json } from './values.ts'
import { fieldTexts as texts } from './field-texts.ts'

interface ConfigTextProps {
  readonly field: FieldProps
  readonly schema: Json
  readonly variables: 'everywhere' | 'annotated'
}

/** A text, which can refer to a variable where the schema allows it. */
export function ConfigText({ field, schema, variables }: ConfigTextProps) {
  const mayVary = variables === 'everywhere' || schema['variable'] === true
  const isSecret = schema['writeOnly'] === true
  return (
    <TextField
      {...field}
      {...(mayVary
        ? {
            rightSection: (
              <VariableMenu
                isSecret={isSecret}
                at={field.at}
                typed={field.edit.get(field.at)}
                onChoose={(reference) => field.edit.set(field.at, reference)}
              />
            ),
          }
        : {})}
    />
  )
}

interface ConfigFieldProps extends ConfigTextProps {
  /** The pointer of the whole config, for names that depend on others, such as columns. */
  readonly root: string
}

/** The field of one value of a config, which has no fields inside of it. What it cannot show is edited as JSON. */
export function ConfigField({ field, schema, root, variables }: ConfigFieldProps) {
  if (Array.isArray(schema['enum']))
    return <SelectField {...field} {...fallbackText(schema)} options={schema['enum'].map(describeValue)} />
  const kind = namesOf(schema)
  if (kind !== undefined) return <NamePicker {...field} kind={kind} {...contextOf(field.edit, field.at, root)} />
  switch (typeOf(schema)) {
    case 'boolean':
      return <SwitchField {...field} />
    case 'integer':
    case 'number':
      return <NumberField {...field} minimum={numberOf(schema['minimum'])} maximum={numberOf(schema['maximum'])} />
    case 'string':
      if (schema['format'] === 'color') return <ColorField {...field} />
      return <ConfigText field={field} schema={schema} variables={variables} />
    default:
      return <JsonField {...field} />
  }
}

function fallbackText(schema: Json): object {
  return schema['default'] === undefined ? {} : { fallback: texts.default(describeValue(schema['default'])) }
}

/** The table and connection that names at a pointer belong to: those of the same map or the next outer one. */
export function contextOf(edit: DraftEdit, at: string, root: string) {
  const find = (key: string): string | undefined => {
    for (let outer = at; outer.length > root.length;) {
      outer = outer.slice(0, outer.lastIndexOf('/'))
      const value = edit.get(outer)
      if (isMap(value) && typeof value[key] === 'string') return value[key]
    }
    return undefined
  }
  const connection = find('connection')
  return {
    ...(connection === undefined ? {} : { connection }),
    table: find('table'),
    from: find('from') || undefined,
    by: find('by'),
  }
}
