import { ActionIcon, Button, SegmentedControl } from '@mantine/core'
import { Plus, X } from 'lucide-react'
import { useEffect, useMemo, useState, type ReactNode } from 'react'
import type { checkValue } from './check-value.ts'
import { ColorField } from './color-field.tsx'
import {
  choicesOf,
  describeChoice,
  emptyOf,
  isKindOf,
  isVariable,
  numberOf,
  textOf,
  toSchema,
  typeOf,
} from './config-schema.ts'
import type { DraftEdit } from './draft-edit.ts'
import {
  describeValue,
  JsonField,
  ListField,
  LooseText,
  NumberField,
  SelectField,
  SwitchField,
  TextField,
} from './fields.tsx'
import { NamePicker, NamesPicker, useNames, VariableMenu, type NameKind } from './pickers.tsx'
import { isEqual, isMap, pointerOf, type Json } from './values.ts'
import { fieldTexts as texts } from './field-texts.ts'

interface SchemaFormProps {
  readonly edit: DraftEdit
  /** The JSON pointer of the config. */
  readonly at: string
  /** The JSON Schema of the config; its top level is an object. */
  readonly schema: unknown
  /** Where `${env.NAME}` is allowed: everywhere, as in connections, or where the schema says so. */
  readonly variables?: 'everywhere' | 'annotated'
}

/**
 * The form of a config, from its JSON Schema: objects, lists, alternatives, enums, and names of the definition by
 * `x-waypost`. What it cannot show is edited as JSON. Keys that the schema does not describe are kept.
 */
export function SchemaForm({ edit, at, schema, variables = 'annotated' }: SchemaFormProps) {
  const errorOf = useFlaws(edit, at, schema)
  return <Properties edit={{ ...edit, errorOf }} at={at} schema={toSchema(schema)} root={at} variables={variables} />
}

interface SchemaFieldProps extends Pick<SchemaFormProps, 'edit' | 'at' | 'schema'> {
  readonly label: string
  readonly description: ReactNode
}

/** The field of one value of a config, with a label and a description of its own. */
export function SchemaField({ edit, at, schema, label, description }: SchemaFieldProps) {
  const node = {
    edit,
    at,
    schema: toSchema(schema),
    label,
    text: description,
    root: at,
    variables: 'annotated',
  } as const
  return <Node {...node} />
}

/** Checks changed values while they are typed. What the server said comes first. */
export function useFlaws(edit: DraftEdit, at: string, schema: unknown): DraftEdit['errorOf'] {
  const [check, setCheck] = useState<typeof checkValue>()
  useEffect(() => {
    void import('./check-value.ts').then((loaded) => setCheck(() => loaded.checkValue))
  }, [])
  const value = edit.get(at)
  const flaws = useMemo(() => check?.(schema, value) ?? [], [check, schema, value])
  return (pointer) => {
    const refused = edit.errorOf(pointer)
    const own = edit.get(pointer)
    const isDone = own === undefined || isEqual(own, edit.before(pointer)) || describeValue(own).includes('${env.')
    if (refused !== undefined || isDone) return refused
    return flaws.find((one) => at + one.at === pointer)?.message
  }
}

interface PartProps {
  readonly edit: DraftEdit
  readonly at: string
  readonly schema: Json
  /** The pointer of the whole config, for names that depend on others, such as columns. */
  readonly root: string
  readonly variables: 'everywhere' | 'annotated'
}

interface NodeProps extends PartProps {
  readonly label: string
  readonly isRequired?: boolean
  /** Whether the label is only for screen readers. */
  readonly isBare?: boolean
  /** What the field is for; by default the description of the schema. */
  readonly text?: ReactNode
}

const maxOptional = 5

function Properties(part: PartProps) {
  const { edit, at, schema } = part
  const value = edit.get(at)
  const own = isMap(value) ? value : {}
  const properties = Object.entries((schema['properties'] ?? {}) as Json).filter(
    ([key, inner]) => toSchema(inner)['deprecated'] !== true || Object.hasOwn(own, key),
  )
  const required = new Set((schema['required'] ?? []) as readonly string[])
  const isMain = ([key]: readonly [string, unknown]) =>
    required.has(key) || Object.hasOwn(own, key) || properties.length <= maxOptional
  // Decided once, so that fields do not move while they are edited.
  const [main] = useState(() => {
    const first = properties.filter(isMain)
    return new Set((first.length === 0 ? properties : first).map(([key]) => key))
  })
  const unknown = Object.keys(own).filter((key) => !properties.some(([name]) => name === key))
  const isOpen = schema['additionalProperties'] !== false || unknown.length > 0
  const render = ([key, inner]: readonly [string, unknown]) => (
    <Node
      {...part}
      key={key}
      at={at + pointerOf(key)}
      schema={toSchema(inner)}
      label={key}
      isRequired={required.has(key)}
      isBare={false}
    />
  )
  const others = properties.filter(([key]) => !main.has(key))
  return (
    <div className="stack">
      {properties.filter(([key]) => main.has(key)).map(render)}
      {isOpen && unknown.length > 0 ? (
        <JsonField
          edit={withOthers(edit, at, unknown)}
          at={`${at}/ `}
          label={texts.other}
          description={texts.otherHint}
        />
      ) : null}
      {others.length === 0 ? null : (
        <details className="more-fields">
          <summary>
            <span className="strong">{texts.optional}</span>{' '}
            <span className="soft">{describeKeys(others.map(([key]) => key))}</span>
          </summary>
          <div className="stack">{others.map(render)}</div>
        </details>
      )}
    </div>
  )
}

const maxListed = 8

function describeKeys(keys: readonly string[]): string {
  return keys.slice(0, maxListed).join(', ') + (keys.length > maxListed ? texts.moreKeys(keys.length - maxListed) : '')
}

/** An edit that has the named keys of a map as one value. */
function withOthers(edit: DraftEdit, at: string, keys: readonly string[]): DraftEdit {
  const read = (value: unknown) =>
    isMap(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => keys.includes(key))) : undefined
  return {
    ...edit,
    get: () => read(edit.get(at)),
    before: () => read(edit.before(at)),
    set(_at, next) {
      const value = edit.get(at)
      const rest = isMap(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key))) : {}
      edit.set(at, { ...rest, ...(isMap(next) ? next : {}) })
    },
  }
}

function Node(node: NodeProps): ReactNode {
  const { edit, at, schema, label, isRequired = false, root, variables } = node
  const description = node.text ?? textOf(schema['description'])
  const field = {
    edit,
    at,
    label,
    isRequired,
    isBare: node.isBare === true,
    ...(description === undefined ? {} : { description }),
    ...(schema['default'] === undefined ? {} : { fallback: schema['default'] }),
  }
  const choices = choicesOf(schema)
  const plain = choices?.filter((one) => !isVariable(one))
  if (plain?.length === 1 && choices?.length !== 1) {
    // The other alternatives are texts with a variable.
    if (String(edit.get(at)).includes('${env.')) return <Text field={field} schema={{}} variables="everywhere" />
    return <Node {...node} schema={{ ...schema, anyOf: undefined, ...plain[0] }} />
  }
  if (choices !== undefined) return <Alternatives {...node} choices={choices} />
  if (Array.isArray(schema['enum']))
    return <SelectField {...field} {...fallbackText(schema)} options={schema['enum'].map(describeValue)} />
  const kind = schema['x-waypost'] as NameKind | undefined
  if (kind !== undefined) return <NamePicker {...field} kind={kind} {...contextOf(edit, at, root)} />
  switch (typeOf(schema)) {
    case 'boolean':
      return <SwitchField {...field} />
    case 'integer':
    case 'number':
      return <NumberField {...field} minimum={numberOf(schema['minimum'])} maximum={numberOf(schema['maximum'])} />
    case 'string':
      if (schema['format'] === 'color') return <ColorField {...field} />
      return <Text field={field} schema={schema} variables={variables} />
    case 'array':
      return <List {...node} field={field} />
    case 'object':
      return <ObjectNode {...node} field={field} />
    default:
      return <JsonField {...field} />
  }
}

type Field = Parameters<typeof TextField>[0]

function fallbackText(schema: Json): object {
  return schema['default'] === undefined ? {} : { fallback: texts.default(describeValue(schema['default'])) }
}

interface TextProps {
  readonly field: Field
  readonly schema: Json
  readonly variables: 'everywhere' | 'annotated'
}

function Text({ field, schema, variables }: TextProps) {
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

/** The table and connection that names at a pointer belong to: those of the same map or the next outer one. */
function contextOf(edit: DraftEdit, at: string, root: string) {
  const find = (key: string): string | undefined => {
    for (let outer = at; outer.length > root.length;) {
      outer = outer.slice(0, outer.lastIndexOf('/'))
      const value = edit.get(outer)
      if (isMap(value) && typeof value[key] === 'string') return value[key]
    }
    return undefined
  }
  const connection = find('connection')
  return { ...(connection === undefined ? {} : { connection }), table: find('table') }
}

function List({ field, ...node }: NodeProps & { readonly field: Field }) {
  const { edit, at, schema, label, root } = node
  const items = toSchema(schema['items'])
  const kind = items['x-waypost'] as NameKind | undefined
  if (kind !== undefined) return <NamesPicker {...field} kind={kind} {...contextOf(edit, at, root)} />
  if (typeOf(items) === 'string')
    return (
      <ListField {...field} {...(Array.isArray(items['enum']) ? { options: items['enum'].map(describeValue) } : {})} />
    )
  const value = edit.get(at)
  const list = Array.isArray(value) ? value : []
  return (
    <fieldset className="form-group" data-at={at}>
      <Legend field={field} />
      {list.map((_, index) => (
        <div key={index} className="form-item">
          <Node {...node} at={`${at}/${index}`} schema={items} label={texts.item(index)} isRequired isBare={false} />
          <RemoveButton label={texts.item(index)} onClick={() => edit.set(`${at}/${index}`, undefined)} />
        </div>
      ))}
      <AddButton label={label} onClick={() => edit.set(at, [...list, emptyOf(items)])} />
    </fieldset>
  )
}

function ObjectNode({ field, ...node }: NodeProps & { readonly field: Field }) {
  const { edit, at, schema, isRequired = false, label } = node
  const value = edit.get(at)
  if (value === undefined && !isRequired) {
    return (
      <fieldset className="form-group" data-at={at}>
        <Legend field={field} />
        <AddButton label={label} onClick={() => edit.set(at, emptyOf(schema))} />
      </fieldset>
    )
  }
  const isClosed = Object.keys(schema['properties'] ?? {}).length > 0
  return (
    <fieldset className="form-group" data-at={at} aria-label={node.isBare === true ? label : undefined}>
      <Legend field={field}>
        {isRequired ? null : <RemoveButton label={label} onClick={() => edit.set(at, undefined)} />}
      </Legend>
      {isClosed ? <Properties {...node} /> : <Entries {...node} />}
    </fieldset>
  )
}

function Legend({ field, children }: { readonly field: Field; readonly children?: ReactNode }) {
  const error = field.edit.errorOf(field.at)
  return (
    <>
      {field.isBare === true ? null : (
        <legend>
          <span dir="auto">{field.label}</span>
          {field.isRequired === true ? (
            <span aria-hidden className="form-required">
              *
            </span>
          ) : null}
          {children}
        </legend>
      )}
      {field.description === undefined ? null : <p className="soft form-text">{field.description}</p>}
      {error === undefined ? null : <p className="picker-error">{error}</p>}
    </>
  )
}

/** A map of names to values. Values that are no texts are written as JSON. */
function Entries({ edit, at, schema, label, root, variables }: NodeProps) {
  const value = edit.get(at)
  const entries = Object.entries(isMap(value) ? value : {})
  const names = toSchema(schema['propertyNames'])
  const kind = names['x-waypost'] as NameKind | undefined
  const inner = isMap(schema['additionalProperties']) ? schema['additionalProperties'] : undefined
  const [added, setAdded] = useState<string>()
  const known = useNames(kind ?? 'scope', contextOf(edit, at, root))
  const free = kind === undefined ? [] : known.filter((one) => !entries.some(([key]) => key === one))
  return (
    <>
      {entries.map(([key]) => (
        <div key={key} className="form-item">
          {inner === undefined && typeof edit.get(at + pointerOf(key)) === 'object' ? (
            <JsonField edit={edit} at={at + pointerOf(key)} label={key} />
          ) : inner === undefined ? (
            <LooseText edit={edit} at={at + pointerOf(key)} label={key} />
          ) : (
            <Node
              edit={edit}
              at={at + pointerOf(key)}
              schema={inner}
              label={key}
              isRequired
              root={root}
              variables={variables}
            />
          )}
          <RemoveButton label={key} onClick={() => edit.set(at + pointerOf(key), undefined)} />
        </div>
      ))}
      <NewKey
        label={label}
        options={free}
        value={added ?? ''}
        onChange={setAdded}
        onAdd={(key) => {
          edit.set(at, { ...(isMap(value) ? value : {}), [key]: inner === undefined ? '' : emptyOf(inner) })
          setAdded(undefined)
        }}
      />
    </>
  )
}

interface NewKeyProps {
  readonly label: string
  readonly options: readonly string[]
  readonly value: string
  onChange(value: string): void
  onAdd(key: string): void
}

function NewKey({ label, options, value, onChange, onAdd }: NewKeyProps) {
  const list = `keys-${label}`
  return (
    <div className="form-item">
      <div className="mantine-TextInput-root grow">
        <input
          className="plain-input mono"
          aria-label={`${texts.key}: ${label}`}
          placeholder={texts.key}
          list={list}
          value={value}
          onChange={(event) => onChange(event.currentTarget.value)}
        />
        <datalist id={list}>
          {options.map((one) => (
            <option key={one} value={one} />
          ))}
        </datalist>
      </div>
      <Button variant="default" disabled={value === ''} aria-label={texts.addTo(label)} onClick={() => onAdd(value)}>
        {texts.add}
      </Button>
    </div>
  )
}

interface AlternativesProps extends NodeProps {
  readonly choices: readonly Json[]
}

/** One of several kinds of values, such as "all" or a list. */
function Alternatives({ choices, ...node }: AlternativesProps) {
  const { edit, at, schema, label, isRequired = false } = node
  const value = edit.get(at)
  const fits = value === undefined ? (isRequired ? 0 : -1) : choices.findIndex((one) => isKindOf(value, one))
  const [chosen, setChosen] = useState(fits)
  const current =
    value !== undefined && fits >= 0 && !(chosen >= 0 && isKindOf(value, choices[chosen]!)) ? fits : chosen
  const names = choices.map((one, index) => describeChoice(one, choices.slice(0, index)))
  const choice = choices[current]
  const description = node.text ?? textOf(schema['description'])
  const choose = (index: number) => {
    setChosen(index)
    const next = choices[index]
    edit.set(at, next === undefined ? undefined : (next['const'] ?? emptyOf(next)))
  }
  const field = { edit, at, label, isRequired, ...(description === undefined ? {} : { description }) }
  return (
    <fieldset className="form-group form-choice" data-at={at}>
      <Legend field={field} />
      <SegmentedControl
        size="xs"
        aria-label={texts.kind(label)}
        value={String(current)}
        data={[
          ...(isRequired ? [] : [{ value: '-1', label: texts.unset }]),
          ...names.map((name, index) => ({ value: String(index), label: name })),
        ]}
        onChange={(index) => choose(Number(index))}
      />
      {choice === undefined || 'const' in choice ? null : (
        <Node
          {...node}
          text={undefined}
          schema={{ ...choice, description: undefined }}
          label={label}
          isRequired
          isBare
        />
      )}
    </fieldset>
  )
}

function RemoveButton({ label, onClick }: { readonly label: string; onClick(): void }) {
  return (
    <ActionIcon size={24} aria-label={texts.remove(label)} onClick={onClick}>
      <X size={14} aria-hidden />
    </ActionIcon>
  )
}

function AddButton({ label, onClick }: { readonly label: string; onClick(): void }) {
  return (
    <Button
      variant="default"
      className="align-start"
      leftSection={<Plus size={14} aria-hidden />}
      aria-label={texts.addTo(label)}
      onClick={onClick}
    >
      {texts.add}
    </Button>
  )
}
