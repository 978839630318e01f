import { fillPlaceholders } from '../kit/index.ts'
import { errors, type DefinitionCode } from './errors.ts'
import {
  describeNode,
  hintForCut,
  quote,
  textOf,
  type BrokenNode,
  type Entry,
  type ListNode,
  type MapNode,
  type Node,
  type ScalarNode,
} from './node.ts'
import type { Report } from './report.ts'
import type { Span } from './source.ts'

/** The subset of JSON Schema in which the language is written. */
export interface Shape {
  readonly title?: string
  readonly description?: string
  /** What the keys of a map name. */
  readonly names?: string
  readonly keyHint?: string
  /** Messages for unknown keys that users may know from other tools. */
  readonly keyHints?: Readonly<Record<string, string>>
  /** The hint for a wrong value if no better one is found. */
  readonly valueHint?: string
  /** Hints for wrong texts that match a pattern. */
  readonly valueHints?: Readonly<Record<string, string>>
  readonly $ref?: string
  readonly type?: string
  readonly anyOf?: readonly Shape[]
  readonly enum?: readonly unknown[]
  readonly const?: unknown
  readonly pattern?: string
  readonly minLength?: number
  readonly minimum?: number
  readonly maximum?: number
  readonly exclusiveMinimum?: number
  readonly items?: Shape
  readonly minItems?: number
  readonly uniqueItems?: boolean
  readonly properties?: Readonly<Record<string, Shape>>
  readonly patternProperties?: Readonly<Record<string, Shape>>
  readonly additionalProperties?: boolean | Shape
  readonly required?: readonly string[]
  readonly minProperties?: number
  readonly maxProperties?: number
}

export interface Checking {
  readonly report: Report
  /** The error code of all problems, instead of the specific one. */
  readonly code?: DefinitionCode
}

/** How messages name a value, and the span of its key. */
export interface Label {
  /** With quotes around names. */
  readonly name: string
  readonly at: Span
}

/** Compares a value with its expected structure, recursively as far as they match. */
export function checkStructure(
  node: Node,
  shape: Shape,
  { label, checking }: { label: Label; checking: Checking },
): void {
  if (node.kind === 'broken' || shape.$ref !== undefined) return
  if (node.included !== true) {
    compareStructure(node, shape, { label, checking })
    return
  }
  if (valid.get(node) === shape) return
  const before = checking.report.count()
  compareStructure(node, shape, { label, checking })
  if (checking.report.count() === before) valid.set(node, shape)
}

/** Files that were included without problems. Unchanged ones have the same nodes in the next run. */
const valid = new WeakMap<Node, Shape>()

function compareStructure(node: Exclude<Node, BrokenNode>, shape: Shape, { label, checking }: CheckContext): void {
  if (shape.anyOf !== undefined) {
    const branch = shape.anyOf.find((candidate) => hasType(node, candidate))
    if (branch === undefined) reportValue(node, shape, { label, checking })
    else
      compareStructure(node, branch.title === undefined ? { ...branch, ...titleOf(shape) } : branch, {
        label,
        checking,
      })
  } else if (!hasType(node, shape)) {
    reportValue(node, shape, { label, checking })
  } else if (node.kind === 'map') {
    checkMap(node, shape, { label, checking })
  } else if (node.kind === 'list') {
    checkList(node, shape, { label, checking })
  } else if (!fits(node, shape)) {
    reportValue(node, shape, { label, checking })
  }
}

interface CheckContext {
  readonly label: Label
  readonly checking: Checking
}

function titleOf({ title }: Shape): { title?: string } {
  return title === undefined ? {} : { title }
}

function hasType(node: Node, { type, enum: choices, const: only }: Shape): boolean {
  if (type === undefined && (choices !== undefined || only !== undefined)) return node.kind === 'scalar'
  if (type === undefined) return true
  if (node.kind === 'map') return type === 'object'
  if (node.kind === 'list') return type === 'array'
  if (node.kind === 'broken') return true
  if (type === 'integer') return Number.isInteger(node.value)
  return type === (node.value === null ? 'null' : typeof node.value)
}

function fits({ value }: Pick<ScalarNode, 'value'>, shape: Shape): boolean {
  if (shape.enum !== undefined) return shape.enum.includes(value)
  if (shape.const !== undefined) return shape.const === value
  if (typeof value === 'string') {
    return (
      value.length >= (shape.minLength ?? 0) && (shape.pattern === undefined || toRegExp(shape.pattern, '').test(value))
    )
  }
  if (typeof value !== 'number') return true
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity } = shape
  return value >= minimum && value <= maximum && value > exclusiveMinimum
}

function isText(value: string, { anyOf, ...shape }: Shape): boolean {
  return (anyOf ?? [shape]).some((one) => one.type === 'string' && fits({ value }, one))
}

function checkMap(node: MapNode, shape: Shape, { label, checking }: CheckContext): void {
  const owner = shape.title ?? label.name
  const suggestion = new Set<string | undefined>()
  /** The expected value of the last entry, if its value was reported. */
  let rejected: Shape | undefined
  for (const entry of node.entries.values()) {
    const work = { label: { name: `"${entry.key}"`, at: entry.keySpan }, checking }
    // The rest of a text that is wrong as a whole: quoting it would not help.
    if (entry.cut !== undefined && rejected !== undefined && !isText(entry.cut.text, rejected)) continue
    const value = shapeOf(entry.key, shape)
    const before = checking.report.count()
    if (value !== undefined) checkStructure(entry.value, value, work)
    else if (shape.names !== undefined) {
      reportName(entry.key, shape, work)
      checking.report.markUnclear(node)
    } else if (shape.additionalProperties === false) {
      suggestion.add(reportUnknownKey(entry, shape, { ...work, owner }))
      checking.report.markUnclear(node)
    }
    if (value !== undefined) rejected = checking.report.count() > before ? value : undefined
  }
  for (const key of shape.required ?? []) {
    if (node.entries.has(key) || suggestion.has(key)) continue
    emit(checking, { code: 'WP_DEFINITION_KEY_MISSING', at: label.at, parameters: { key, owner } })
  }
  const { minProperties = 0, maxProperties = Infinity } = shape
  if (node.entries.size < minProperties || node.entries.size > maxProperties)
    reportValue(node, shape, { label, checking })
}

function shapeOf(key: string, { properties, patternProperties = {} }: Shape): Shape | undefined {
  if (properties !== undefined && Object.hasOwn(properties, key)) return properties[key]
  return Object.entries(patternProperties).find(([pattern]) => toRegExp(pattern, 's').test(key))?.[1]
}

const regExps = new Map<string, RegExp>()

/** Compiles each pattern of the language once. */
function toRegExp(pattern: string, flags: '' | 's'): RegExp {
  const key = flags + pattern
  const known = regExps.get(key) ?? new RegExp(pattern, flags)
  regExps.set(key, known)
  return known
}

function checkList(node: ListNode, shape: Shape, { label, checking }: CheckContext): void {
  if (node.items.length < (shape.minItems ?? 0)) reportValue(node, shape, { label, checking })
  const seen = new Set<unknown>()
  for (const item of node.items) {
    if (shape.items !== undefined)
      checkStructure(item, shape.items, { label: { name: `Each item of ${label.name}`, at: item }, checking })
    if (shape.uniqueItems !== true || item.kind !== 'scalar') continue
    if (seen.has(item.value)) {
      const problem = `${describeNode(item)} is repeated in ${label.name}`
      emit(checking, {
        code: 'WP_DEFINITION_VALUE_INVALID',
        at: item,
        parameters: { problem },
        hint: 'Remove one of the two',
      })
    }
    seen.add(item.value)
  }
}

/** Reports an unknown key and returns the key that was probably meant. */
function reportUnknownKey(
  { key, cut }: Entry,
  shape: Shape,
  { label, checking, owner }: CheckContext & { owner: string },
) {
  if (cut?.isFirst === false) return undefined
  const keys = Object.keys(shape.properties ?? {})
  const suggestion = checking.report.findNearest(key, keys)
  const all = keys.length <= 13 ? `Valid keys: ${keys.join(', ')}` : undefined
  const known = Object.hasOwn(shape.keyHints ?? {}, key) ? shape.keyHints?.[key] : undefined
  const hint = hintForCut(cut) ?? known ?? (suggestion === undefined ? all : `Did you mean "${suggestion}"?`)
  emit(checking, { code: 'WP_DEFINITION_KEY_UNKNOWN', at: label.at, parameters: { key, owner }, hint })
  return cut === undefined ? suggestion : undefined
}

function reportName(name: string, { names = '', keyHint: hint }: Shape, { label, checking }: CheckContext): void {
  emit(checking, { code: 'WP_DEFINITION_NAME_INVALID', at: label.at, parameters: { name, owner: names }, hint })
}

const typeWords: Readonly<Record<string, string>> = {
  object: 'a map',
  array: 'a list',
  string: 'a string',
  integer: 'an integer',
  number: 'a number',
  boolean: 'true or false',
  null: 'empty',
}

function reportValue(node: Node, shape: Shape, { label, checking }: CheckContext): void {
  const choices = (shape.enum ?? (shape.const === undefined ? [] : [shape.const])).map((choice) =>
    JSON.stringify(choice),
  )
  const listed = choices.length > 0 ? choices.join(' or ') : undefined
  const expected = shape.title ?? listed ?? typeWords[shape.type ?? ''] ?? 'something else'
  const isChoice =
    shape.title !== undefined && shape.enum !== undefined && node.kind === 'scalar' && node.value !== null
  const problem = isChoice
    ? `${describeNode(node)} is not ${expected}`
    : `${label.name} must be ${expected}, not ${describeContent(node)}`
  const hint = findValueHint(node, shape) ?? hintFor(node, shape, checking.report) ?? shape.valueHint
  emit(checking, {
    code: 'WP_DEFINITION_VALUE_INVALID',
    at: node,
    parameters: { problem },
    hint,
  })
}

function findValueHint(node: Node, { valueHints = {} }: Shape): string | undefined {
  const text = textOf(node) ?? ''
  return Object.entries(valueHints).find(([pattern]) => toRegExp(pattern, '').test(text))?.[1]
}

function describeContent(node: Node): string {
  if (node.kind === 'map' && node.entries.size === 0) return 'an empty map'
  return node.kind === 'list' && node.items.length === 0 ? 'an empty list' : describeNode(node)
}

function hintFor(node: Node, shape: Shape, report: Report): string | undefined {
  if (node.kind !== 'scalar') return undefined
  const branches = shape.anyOf ?? [shape]
  const choices = branches.flatMap((branch) => branch.enum ?? [])
  if (node.value === null) return choices.includes('null') ? 'Quote it: "null"' : undefined
  if (choices.length > 0) return suggestChoice(String(node.value), choices.map(String), report)
  return suggestForm(node, shape.title ?? '', new Set(branches.map(({ type }) => type)))
}

function suggestChoice(text: string, choices: readonly string[], report: Report): string {
  const suggestion = report.findNearest(text, choices)
  return suggestion === undefined ? `Use one of ${choices.join(', ')}` : `Did you mean "${suggestion}"?`
}

/** Suggests how to write a scalar of another type. */
function suggestForm({ value }: ScalarNode, title: string, types: ReadonlySet<string | undefined>): string | undefined {
  const text = String(value)
  const isWord = types.has('boolean') && typeof value === 'string'
  if (isWord && /^(yes|on|true|y)$/i.test(text)) return 'Write true'
  if (isWord && /^(no|off|false|n)$/i.test(text)) return 'Write false'
  if (types.has('string') && typeof value !== 'string' && !title.includes('such as')) return `Quote it: "${text}"`
  if (typeof value !== 'string') return undefined
  if (types.has('object') && /\.(ya?ml|json)$/.test(text)) return `To include a file: !include ${text}`
  return types.has('array') ? `Write [${quote(text).slice(1, -1)}]` : undefined
}

interface Emitted {
  readonly code:
    | 'WP_DEFINITION_KEY_UNKNOWN'
    | 'WP_DEFINITION_KEY_MISSING'
    | 'WP_DEFINITION_NAME_INVALID'
    | 'WP_DEFINITION_VALUE_INVALID'
  readonly at: Span
  readonly parameters: Readonly<Record<string, string>>
  readonly hint?: string | undefined
}

function emit({ report, code }: Checking, emitted: Emitted): void {
  if (code === undefined) return report.add(emitted)
  const problem = fillPlaceholders(errors.table[emitted.code].message, emitted.parameters)
  report.add({ ...emitted, code, parameters: { problem } })
}
