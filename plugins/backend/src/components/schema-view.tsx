import { Link } from '@tanstack/react-router'
import { createContext, useContext, useState, type ReactNode } from 'react'
import { api } from '../strings/api.ts'
import { Json } from './copy.tsx'
import { referenceOf, resolveSchema, toSchema, type NamedSchemas, type Schema } from './named-schemas.ts'

const { schema: texts } = api

/** Whether named schemas are expanded where they are used. Otherwise, they are links to their pages. */
const InPlace = createContext(false)

interface SchemaViewProps {
  readonly schema: unknown
  /** The schemas that it may refer to, by name. */
  readonly named: NamedSchemas
  /** What it describes, for screen readers. */
  readonly label: string
  /** The name of the schema itself. */
  readonly name?: string
  /** Expands named schemas where they are used, instead of linking to their pages and showing the JSON. */
  readonly isInPlace?: boolean
}

/** A schema as people read it: its properties with their types and limits, and the JSON on demand. */
export function SchemaView({ schema, named, label, name, isInPlace = false }: SchemaViewProps) {
  const own = isInPlace ? resolveSchema(schema, named) : toSchema(schema)
  if (own['type'] === 'null') return <p className="soft">{texts.empty}</p>
  const root = name ?? (isInPlace ? referenceOf(toSchema(schema)) : undefined)
  const stack = root === undefined ? [] : [root]
  const isPlain = propertiesOf(own).length > 0 && own['$ref'] === undefined
  return (
    <InPlace value={isInPlace}>
      <div className="schema-view">
        {isPlain ? (
          <Parts schema={own} named={named} stack={stack} />
        ) : (
          <ul className="schema">
            <Line schema={own} named={named} stack={stack} />
          </ul>
        )}
        {isInPlace ? null : (
          <details>
            <summary>{texts.json}</summary>
            <Json value={schema} label={`${label}: ${texts.json}`} />
          </details>
        )}
      </div>
    </InPlace>
  )
}

const choiceKeywords = ['oneOf', 'anyOf', 'allOf'] as const

/** Whether the alternatives are types only, such as a string or null. */
function isSimple(schema: Schema, keyword: (typeof choiceKeywords)[number]): boolean {
  const choices = (schema[keyword] as readonly unknown[]).map(toSchema)
  return keyword !== 'allOf' && choices.every((one) => Object.keys(one).join() === 'type')
}

function propertiesOf(schema: Schema): readonly [string, unknown][] {
  return Object.entries((schema['properties'] as NamedSchemas | undefined) ?? {})
}

interface PartProps {
  readonly schema: Schema
  readonly named: NamedSchemas
  /** The names of the schemas around it, because schemas may contain themselves. */
  readonly stack: readonly string[]
}

interface LineProps extends PartProps {
  readonly name?: string
  readonly isRequired?: boolean
}

const maxDepth = 2

/** A property or a value: its name, type and limits on one line, its description and its parts below. */
function Line({ name, isRequired = false, ...given }: LineProps) {
  const isInPlace = useContext(InPlace)
  const schema = isInPlace ? resolveValue(given.schema, given.named) : given.schema
  const part = { ...given, schema }
  const limits = describeLimits(schema)
  const description = schema['description']
  return (
    <li>
      <p className="schema-line">
        {name === undefined ? null : <bdi className="mono schema-name">{name}</bdi>}
        <span className="schema-type">
          <Type schema={schema} />
        </span>
        {isRequired ? <span className="schema-required">{texts.required}</span> : null}
        {limits.length === 0 ? null : (
          <span className="soft" dir="auto">
            {limits.join(' · ')}
          </span>
        )}
      </p>
      {typeof description === 'string' ? (
        <p className="soft schema-text" dir="auto">
          {description}
        </p>
      ) : null}
      <Inner {...part} />
    </li>
  )
}

const maxNesting = 5

/** Resolves references to schemas without parts, such as a list of allowed texts: their names alone say nothing. */
function resolveValue(schema: Schema, named: NamedSchemas, depth = 0): Schema {
  const target = resolveSchema(schema, named)
  if (hasParts(target) || depth > maxNesting) return schema
  return 'items' in target ? { ...target, items: resolveValue(toSchema(target['items']), named, depth + 1) } : target
}

function hasParts(schema: Schema): boolean {
  const others = schema['additionalProperties']
  return (
    'properties' in schema ||
    (typeof others === 'object' && others !== null) ||
    choiceKeywords.some((keyword) => keyword in schema)
  )
}

/** What is inside a value: the parts of an object, of the items of a list, or of a named schema. */
function Inner({ schema, named, stack }: PartProps) {
  const items = schema['items']
  if (items !== undefined) return <Inner schema={toSchema(items)} named={named} stack={stack} />
  const name = referenceOf(schema)
  if (name === undefined) return <Parts schema={schema} named={named} stack={stack} />
  if (!Object.hasOwn(named, name)) return null
  if (stack.includes(name) || stack.length >= maxDepth) return <Later name={name} named={named} />
  return <Parts schema={toSchema(named[name])} named={named} stack={[...stack, name]} />
}

/** A schema that is shown on demand: it may contain itself. */
function Later({ name, named }: { readonly name: string; readonly named: NamedSchemas }) {
  const [isOpen, setOpen] = useState(false)
  const isInPlace = useContext(InPlace)
  if (!isInPlace) return null
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {texts.partsOf} <bdi>{name}</bdi>
      </summary>
      {isOpen ? <Parts schema={resolveSchema(named[name], named)} named={named} stack={[name]} /> : null}
    </details>
  )
}

function Parts({ schema, named, stack }: PartProps) {
  const required = new Set((schema['required'] ?? []) as readonly string[])
  const other = schema['additionalProperties']
  const hasOther = typeof other === 'object' && other !== null
  const properties = propertiesOf(schema)
  const choices = choiceKeywords.filter((keyword) => Array.isArray(schema[keyword]) && !isSimple(schema, keyword))
  if (properties.length === 0 && !hasOther && choices.length === 0) return null
  return (
    <ul className="schema">
      {properties.map(([key, value]) => (
        <Line
          key={key}
          name={key}
          isRequired={required.has(key)}
          schema={toSchema(value)}
          named={named}
          stack={stack}
        />
      ))}
      {hasOther ? <Line name={`(${texts.other})`} schema={toSchema(other)} named={named} stack={stack} /> : null}
      {choices.map((keyword) => (
        <li key={keyword}>
          <p className="soft">{texts[keyword]}</p>
          <ul className="schema">
            {(schema[keyword] as readonly unknown[]).map((choice, index) => (
              <Line key={index} schema={toSchema(choice)} named={named} stack={stack} />
            ))}
          </ul>
        </li>
      ))}
    </ul>
  )
}

/** The type in a few words, with links to named schemas. */
export function Type({ schema: given }: { readonly schema: unknown }): ReactNode {
  const schema = toSchema(given)
  const isInPlace = useContext(InPlace)
  const name = referenceOf(schema)
  if (name !== undefined && isInPlace) return <bdi>{name}</bdi>
  if (name !== undefined) {
    return (
      <Link to="/schemas/$name" params={{ name }}>
        <bdi>{name}</bdi>
      </Link>
    )
  }
  if (schema['items'] !== undefined) {
    return (
      <>
        {texts.list} <Type schema={schema['items']} />
      </>
    )
  }
  return <bdi>{describeType(schema)}</bdi>
}

/** The type in a few words. */
export function describeType(schema: Schema): string {
  if (Array.isArray(schema['enum'])) return (schema['enum'] as unknown[]).map(write).join(` ${texts.of} `)
  if ('const' in schema) return write(schema['const'])
  const { type } = schema
  if (typeof type === 'string') return type
  if (Array.isArray(type)) return type.join(` ${texts.of} `)
  if (propertiesOf(schema).length > 0) return 'object'
  if (Object.keys(toSchema(schema['not'])).length === 0 && 'not' in schema) return texts.never
  const choice = choiceKeywords.find((keyword) => Array.isArray(schema[keyword]))
  if (choice === undefined) return texts.any
  if (!isSimple(schema, choice)) return texts[choice].toLowerCase()
  return (schema[choice] as readonly unknown[]).map((one) => describeType(toSchema(one))).join(` ${texts.of} `)
}

function write(value: unknown): string {
  return JSON.stringify(value) ?? ''
}

/** The keywords that limit a value or explain it, each in a few words. */
export function describeLimits(schema: Schema): readonly string[] {
  const of = (keyword: string) => schema[keyword] as string | number | undefined
  const range = (low?: string | number, high?: string | number) => {
    if (low === undefined && high === undefined) return undefined
    if (high === undefined) return `≥ ${low}`
    return low === undefined ? `≤ ${high}` : low === high ? `${low}` : `${low}–${high}`
  }
  const lengths = range(of('minLength'), of('maxLength'))
  const items = range(of('minItems'), of('maxItems'))
  const above = of('exclusiveMinimum')
  const below = of('exclusiveMaximum')
  return [
    of('format'),
    lengths && texts.characters(lengths),
    items && texts.items(items),
    range(of('minimum'), of('maximum')),
    above === undefined ? undefined : `> ${above}`,
    below === undefined ? undefined : `< ${below}`,
    of('multipleOf') && texts.multiple(String(of('multipleOf'))),
    of('pattern') && texts.pattern(String(of('pattern'))),
    schema['uniqueItems'] === true ? texts.unique : undefined,
    schema['readOnly'] === true ? texts.readOnly : undefined,
    'default' in schema ? texts.default(write(schema['default'])) : undefined,
  ].filter((text): text is string => typeof text === 'string')
}
