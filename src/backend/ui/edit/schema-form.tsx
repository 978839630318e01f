import { SegmentedControl } from '@mantine/core'
import { useState, type ReactNode } from 'react'
import { ConfigField, ConfigText, contextOf } from './config-field.tsx'
import {
  choicesOf,
  describeChoice,
  emptyOf,
  isKindOf,
  isVariable,
  namesOf,
  textOf,
  toSchema,
  typeOf,
} from './config-schema.ts'
import type { DraftEdit } from './draft-edit.ts'
import { describeValue, JsonField, ListField, LooseText, type FieldProps } from './fields.tsx'
import { AddButton, Legend, NewKey, RemoveButton } from './form-group.tsx'
import { NamesPicker, useNames } from './pickers.tsx'
import { useFlaws } from './use-flaws.ts'
import { isMap, pointerOf, type Json } from './values.ts'
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

/** A config with more keys shows only those that are required or set. What is inside of it may have more. */
const [maxOptional, maxInner] = [5, 8]

function Properties(part: PartProps) {
  const { edit, at, schema, root } = part
  const value = edit.get(at)
  const own = isMap(value) ? value : {}
  const properties = Object.entries((schema['properties'] ?? {}) as Json).filter(
    ([key, inner]) => toSchema(inner)['deprecated'] !== true || Object.hasOwn(own, key),
  )
  const required = new Set((schema['required'] ?? []) as readonly string[])
  const isMain = ([key]: readonly [string, unknown]) =>
    required.has(key) || Object.hasOwn(own, key) || properties.length <= (at === root ? maxOptional : maxInner)
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
    if (String(edit.get(at)).includes('${env.')) return <ConfigText field={field} schema={{}} variables="everywhere" />
    return <Node {...node} schema={{ ...schema, anyOf: undefined, ...plain[0] }} />
  }
  if (choices !== undefined) return <Alternatives {...node} choices={choices} />
  const isNamed = Array.isArray(schema['enum']) || namesOf(schema) !== undefined
  const type = isNamed ? undefined : typeOf(schema)
  if (type === 'array') return <List {...node} field={field} />
  if (type === 'object') return <ObjectNode {...node} field={field} />
  return <ConfigField field={field} schema={schema} root={root} variables={variables} />
}

function List({ field, ...node }: NodeProps & { readonly field: FieldProps }) {
  const { edit, at, schema, label, root } = node
  const items = toSchema(schema['items'])
  const kind = namesOf(items)
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

function ObjectNode({ field, ...node }: NodeProps & { readonly field: FieldProps }) {
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

/** A map of names to values. Values that are no texts are written as JSON. */
function Entries({ edit, at, schema, label, root, variables }: NodeProps) {
  const value = edit.get(at)
  const entries = Object.entries(isMap(value) ? value : {})
  const names = toSchema(schema['propertyNames'])
  const kind = namesOf(names)
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
