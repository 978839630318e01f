import { Select } from '@mantine/core'
import { describeType } from '../components/schema-words.ts'
import { changeType, type TypeChoice } from './change-type.ts'
import { useEditor } from './schema-context.ts'
import { formats } from './schema-limit.tsx'
import { toKeywords, type Kind, type Row, type TypePart } from './schema-rows.ts'
import { useChoices } from './choices.tsx'
import { isMap, valueAt, withValueAt } from './values.ts'
import { kindsTexts, ofTexts, schemaEditorTexts } from './schema-texts.ts'

const groupsTexts = {
  types: 'Types',
  formats: 'Text formats',
  schemas: 'Schemas',
} as const

const chosenKinds: readonly Kind[] = [
  'string',
  'integer',
  'number',
  'boolean',
  'object',
  'array',
  'union',
  'const',
  'any',
  'null',
]

/** The type of a row; after "list of" that of the items, and so on. */
export function TypeInputs({ row, title }: { readonly row: Row; readonly title: string }) {
  return (
    <>
      {row.types.map((part, index) => (
        <TypeInput key={index} row={row} part={part} title={index === 0 ? ofTexts.type(title) : ofTexts.items(title)} />
      ))}
    </>
  )
}

interface TypeInputProps {
  readonly row: Row
  readonly part: TypePart
  readonly title: string
}

function TypeInput({ row, part, title }: TypeInputProps) {
  const editor = useEditor()
  const own = valueAt(row.schema, part.outer)
  const core = valueAt(row.schema, part.inner)
  const value = valueOf(part, core)
  const isFirst = part.outer.length === 0
  const isPart = editor.hasFiles && row.at.length === 2 && row.types.indexOf(part) < 2
  const chosen = { value, schema: core, name: part.name }
  const choices = useChoices(
    () => listTypes(chosen, { names: Object.keys(editor.named), hasFiles: isPart }),
    [{ value, label: nameType(chosen) }],
  )
  return (
    <Select
      {...(isFirst ? { id: editor.idOf(row, 'type') } : {})}
      className={part.kind === 'array' ? 'field-select field-list' : 'field-select'}
      aria-label={title}
      value={value}
      {...choices}
      searchable
      nothingFoundMessage={schemaEditorTexts.noType}
      maxDropdownHeight="min(320px, var(--list-room, 320px))"
      comboboxProps={{ ...choices.comboboxProps, width: 240, position: 'bottom-start' }}
      withCheckIcon={false}
      rightSectionWidth={20}
      onFocus={(event) => event.currentTarget.select()}
      onChange={(next) => {
        if (next === null || next === value) return
        const changed = changeType(own, choiceOf(next))
        const schema = withValueAt(row.schema, part.outer, Object.keys(changed).length === 0 && !isFirst ? {} : changed)
        editor.change(withValueAt(editor.schema, row.at, schema))
        if (next === 'const') editor.toggle(row.id, true)
      }}
    />
  )
}

/** The value of a type in its list of choices: `string`, `string:date`, `reference:Todo`. */
function valueOf({ kind, name }: TypePart, schema: unknown): string {
  if (kind === 'reference') return `reference:${name}`
  const format = kind === 'string' ? toKeywords(schema)['format'] : undefined
  return typeof format === 'string' && formats.some((one) => one === format) ? `string:${format}` : kind
}

function choiceOf(value: string): TypeChoice {
  const [kind, rest] = value.split(/:(.*)/s) as [TypeChoice['kind'], string?]
  if (kind === 'reference') return { kind, name: rest! }
  return kind === 'string' && rest !== undefined ? { kind, format: rest } : { kind }
}

interface Chosen {
  readonly value: string
  readonly schema: unknown
  /** The name of the schema that is referred to. */
  readonly name: string | undefined
}

/** The label of the type that is chosen. */
function nameType({ value, schema, name }: Chosen): string {
  if (name !== undefined) return name
  const { kind, ...rest } = choiceOf(value)
  if ('format' in rest && rest.format !== undefined) return rest.format
  return kind === 'file' || chosenKinds.some((one) => one === kind)
    ? kindsTexts[kind as keyof typeof kindsTexts]
    : describeOther(schema)
}

function describeOther(schema: unknown): string {
  const reference = isMap(schema) ? schema['$ref'] : undefined
  return typeof reference === 'string' ? reference : describeType(toKeywords(schema))
}

interface Offered {
  readonly names: readonly string[]
  readonly hasFiles: boolean
}

function listTypes({ value, schema, name }: Chosen, { names, hasFiles }: Offered) {
  const isChosen = value === 'several' || value === 'other'
  const current = describeOther(schema)
  const unknown = name !== undefined && !names.includes(name) ? [name] : []
  const kinds: readonly Kind[] = hasFiles ? ['file', ...chosenKinds] : chosenKinds
  const types = kinds.map((one) => ({ value: one satisfies string, label: kindsTexts[one] }))
  return [
    { group: groupsTexts.types, items: isChosen ? [{ value, label: current }, ...types] : types },
    {
      group: groupsTexts.schemas,
      items: [...unknown, ...names].map((one) => ({ value: `reference:${one}`, label: one })),
    },
    { group: groupsTexts.formats, items: formats.map((one) => ({ value: `string:${one}`, label: one })) },
  ]
}
