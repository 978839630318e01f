import { Link } from '@tanstack/react-router'
import { createContext, useContext, useState, type ReactNode } from 'react'
import { Markdown } from '../markdown/markdown.tsx'
import { Json } from './copy.tsx'
import { referenceOf, resolveSchema, toSchema, type NamedSchemas, type Schema } from './named-schemas.ts'
import { schemaTexts as texts } from './schema-texts.ts'
import {
  choiceKeywords,
  describeLimits,
  describeType,
  describeTypes,
  findOtherRules,
  findTag,
  isSimple,
  mergeAllOf,
  propertiesOf,
  splitNull,
  writeValues,
  type ChoiceKeyword,
} from './schema-words.ts'

/** How the parts of a schema are shown. */
interface Manner {
  /** Whether named schemas are expanded where they are used. Otherwise, they are links to their pages. */
  readonly isInPlace: boolean
  /** What the value is, if that is known. */
  readonly use?: 'request' | 'response' | undefined
}

const SchemaManner = createContext<Manner>({ isInPlace: false })

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
  /** Leaves out what callers must not send, or what they never get. */
  readonly use?: 'request' | 'response'
}

/** A schema as people read it: its properties with their types and limits, and the JSON on demand. */
export function SchemaView({ schema, named, label, name, isInPlace = false, use }: SchemaViewProps) {
  const own = isInPlace ? mergeAllOf(resolveSchema(schema, named), named) : toSchema(schema)
  if (own['type'] === 'null') return <p className="soft">{texts.empty}</p>
  const root = name ?? (isInPlace ? referenceOf(toSchema(schema)) : undefined)
  const stack = root === undefined ? [] : [root]
  const isPlain = propertiesOf(own).length > 0 && own['$ref'] === undefined
  return (
    <SchemaManner value={{ isInPlace, use }}>
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
    </SchemaManner>
  )
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
  /** What tells an alternative from the others. */
  readonly tag?: string | undefined
}

const maxDepth = 2

/** A property or a value: its name, type and limits on one line, its description and its parts below. */
function Line({ name, isRequired = false, tag, ...given }: LineProps) {
  const { isInPlace } = useContext(SchemaManner)
  const [own, isNullable] = splitNull(given.schema)
  const schema = isInPlace ? resolveValue(own, given.named) : own
  const part = { ...given, schema }
  const items = isInPlace ? itemsOf(schema, given.named) : {}
  const limits = [...describeLimits(schema), ...describeLimits(items).map(texts.each)]
  const { description, title, examples, deprecated } = schema
  return (
    <li>
      <p className="schema-line">
        {name === undefined ? null : (
          <bdi translate="no" className={`mono schema-name${deprecated === true ? ' schema-old' : ''}`}>
            {name}
          </bdi>
        )}
        {name === undefined && typeof title === 'string' ? (
          <bdi translate="no" className="strong">
            {title}
          </bdi>
        ) : null}
        {tag === undefined ? null : (
          <code translate="no" dir="auto">
            {tag}
          </code>
        )}
        <span className="schema-type">
          <Type schema={schema} />
          {isNullable ? ` ${texts.of} null` : null}
        </span>
        {isRequired ? <span className="schema-required">{texts.required}</span> : null}
        {deprecated === true ? <span className="schema-required">{texts.deprecated}</span> : null}
        {limits.length === 0 ? null : (
          <span className="soft" dir="auto">
            {limits.join(' · ')}
          </span>
        )}
      </p>
      {typeof description === 'string' ? <Markdown text={description} className="soft schema-text" /> : null}
      {isInPlace ? <Values label={texts.values} values={schema['enum'] ?? items['enum']} /> : null}
      {isInPlace && !hasParts(schema) && referenceOf(schema) === undefined && schema['enum'] === undefined ? (
        <Values label={texts.example} values={examples} max={maxExamples} />
      ) : null}
      <Inner {...part} />
    </li>
  )
}

const maxExamples = 3
const maxValues = 12

interface ValuesProps {
  readonly label: string
  readonly values: unknown
  readonly max?: number
}

/** The values that are allowed, or examples. */
function Values({ label, values, max = maxValues }: ValuesProps) {
  if (!Array.isArray(values) || values.length === 0) return null
  const all = writeValues(values)
  const list = (some: readonly string[]) =>
    some.map((value, index) => (
      <li key={index}>
        <code translate="no" dir="auto">
          {value}
        </code>
      </li>
    ))
  return (
    <div className="schema-values">
      <span className="soft">{label}</span>
      <ul>{list(all.slice(0, max))}</ul>
      {all.length > max && max === maxValues ? (
        <details>
          <summary>{texts.moreValues(all.length - max)}</summary>
          <ul>{list(all.slice(max))}</ul>
        </details>
      ) : null}
    </div>
  )
}

const maxNesting = 5

/** Resolves references to schemas without parts, such as a list of allowed texts: their names alone say nothing. */
function resolveValue(schema: Schema, named: NamedSchemas, depth = 0): Schema {
  const target = resolveSchema(schema, named)
  if (hasParts(target) || depth > maxNesting) return schema
  return 'items' in target ? { ...target, items: resolveValue(toSchema(target['items']), named, depth + 1) } : target
}

/** The schema of the items of a list, if they have no parts. */
function itemsOf(schema: Schema, named: NamedSchemas): Schema {
  const items = resolveSchema(schema['items'], named)
  return hasParts(items) || 'items' in items ? {} : items
}

function hasParts(schema: Schema): boolean {
  const others = schema['additionalProperties']
  return (
    'properties' in schema ||
    'patternProperties' in schema ||
    'prefixItems' in schema ||
    (typeof others === 'object' && others !== null) ||
    choiceKeywords.some((keyword) => keyword in schema)
  )
}

/** What is inside a value: the parts of an object, of the items of a list, or of a named schema. */
function Inner({ schema, named, stack }: PartProps) {
  const { isInPlace } = useContext(SchemaManner)
  const items = schema['items']
  if (items !== undefined && !('prefixItems' in schema))
    return <Inner schema={splitNull(toSchema(items))[0]} named={named} stack={stack} />
  const name = referenceOf(schema)
  if (name === undefined) return <Parts schema={schema} named={named} stack={stack} />
  if (!Object.hasOwn(named, name)) return null
  if (stack.includes(name) || stack.length >= maxDepth) return <Later name={name} named={named} />
  const target = isInPlace ? resolveSchema(schema, named) : toSchema(named[name])
  return <Parts schema={target} named={named} stack={[...stack, name]} />
}

/** A schema that is shown on demand: it may contain itself. */
function Later({ name, named }: { readonly name: string; readonly named: NamedSchemas }) {
  const [isOpen, setOpen] = useState(false)
  const { isInPlace } = useContext(SchemaManner)
  if (!isInPlace) return null
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {texts.partsOf} <bdi translate="no">{name}</bdi>
      </summary>
      {isOpen ? <Parts schema={resolveSchema(named[name], named)} named={named} stack={[name]} /> : null}
    </details>
  )
}

function Parts({ schema: given, named, stack }: PartProps) {
  const { isInPlace, use } = useContext(SchemaManner)
  const schema = isInPlace ? mergeAllOf(given, named) : given
  const required = new Set((schema['required'] ?? []) as readonly string[])
  const hidden = use === 'request' ? 'readOnly' : use === 'response' ? 'writeOnly' : undefined
  const isShown = ([, value]: readonly [string, unknown]) =>
    hidden === undefined || resolveSchema(value, named)[hidden] !== true
  const choices = choiceKeywords.filter((keyword) => Array.isArray(schema[keyword]) && !isSimple(schema, keyword))
  const rules = isInPlace ? findOtherRules(schema) : {}
  const lines = [
    ...propertiesOf(schema)
      .filter(isShown)
      .map(([name, value]) => ({ name, value, isRequired: required.has(name) })),
    ...listOther(schema),
  ]
  const isClosed = isInPlace && use === 'request' && schema['additionalProperties'] === false && lines.length > 0
  if (lines.length + choices.length + Object.keys(rules).length === 0) return null
  return (
    <ul className="schema">
      {lines.map(({ name, value, isRequired }) => (
        <Line key={name} name={name} isRequired={isRequired} schema={toSchema(value)} named={named} stack={stack} />
      ))}
      {choices.map((keyword) => (
        <Choices key={keyword} keyword={keyword} schema={schema} named={named} stack={stack} />
      ))}
      {isClosed ? <li className="soft schema-note">{texts.closed}</li> : null}
      {Object.keys(rules).length === 0 ? null : (
        <li>
          <details>
            <summary>{texts.rules}</summary>
            <Json value={rules} label={texts.rules} />
          </details>
        </li>
      )}
    </ul>
  )
}

/** What else a value may contain: entries of a tuple, properties by a pattern, and other properties. */
function listOther(schema: Schema) {
  const { prefixItems, patternProperties, additionalProperties: other, items } = schema
  const entry = (name: string, value: unknown) => ({ name, value, isRequired: false })
  return [
    ...(Array.isArray(prefixItems) ? prefixItems.map((one, index) => entry(`[${index}]`, one)) : []),
    ...(Array.isArray(prefixItems) && toSchema(items) === items ? [entry(`[…]`, items)] : []),
    ...Object.entries(toSchema(patternProperties)).map(([pattern, one]) => entry(`/${pattern}/`, one)),
    ...(typeof other === 'object' && other !== null ? [entry(`(${texts.other})`, other)] : []),
  ]
}

interface ChoicesProps extends PartProps {
  readonly keyword: ChoiceKeyword
}

/** Alternatives, each with what tells it from the others. */
function Choices({ keyword, schema, named, stack }: ChoicesProps) {
  const choices = (schema[keyword] as readonly unknown[]).map(toSchema)
  const tags = keyword === 'allOf' ? undefined : findTag(choices, named)
  return (
    <li>
      <p className="soft">{texts[keyword]}</p>
      <ul className="schema">
        {choices.map((choice, index) => (
          <Line key={index} schema={choice} named={named} stack={stack} tag={tags?.[index]} />
        ))}
      </ul>
    </li>
  )
}

/** The type in a few words, with links to named schemas. */
export function Type({ schema: given }: { readonly schema: unknown }): ReactNode {
  const schema = toSchema(given)
  const { isInPlace } = useContext(SchemaManner)
  const name = referenceOf(schema)
  if (name !== undefined && isInPlace) return <bdi translate="no">{name}</bdi>
  if (name !== undefined) {
    return (
      <Link to="/schemas/$name" params={{ name }}>
        <bdi translate="no">{name}</bdi>
      </Link>
    )
  }
  if (schema['items'] !== undefined && !('prefixItems' in schema)) {
    return (
      <>
        {texts.list} <Type schema={schema['items']} />
      </>
    )
  }
  if (isInPlace && Array.isArray(schema['enum'])) return <bdi>{describeTypes(schema['enum'])}</bdi>
  return <bdi>{describeType(schema)}</bdi>
}
