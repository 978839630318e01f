import { joinWords } from '../kit/index.ts'
import { checkPattern } from './check-pattern.ts'
import { limitsOf } from '../schema/index.ts'
import {
  describeNode,
  entriesOf,
  inexactHint,
  inexactIntegers,
  isEmpty,
  itemsOf,
  sourceOf,
  textOf,
  textsOf,
  type Entry,
  type MapNode,
  type Node,
} from './node.ts'
import type { Report } from './report.ts'
import { formats, typeNames } from './schema-language.ts'
import type { Span } from './source.ts'

export interface Strictness {
  /** The types that enclosing schemas allow for the value. */
  readonly types: readonly string[] | undefined
  /** The schema, or one around it, is that of a condition. */
  readonly isCondition: boolean
  readonly isDraft07: boolean
  readonly report: Report
}

export interface CheckedTypes {
  /** The remaining types of the value. */
  readonly types: readonly string[] | undefined
  /** The types that the other keywords imply, because there is no `type`. */
  readonly implied: readonly string[] | undefined
}

/**
 * Applies the checks of Ajv's strict mode: keywords without effect, unknown formats, invalid patterns. Union types are
 * allowed, and a type that other keywords imply may be left out.
 */
export function checkStrict(node: MapNode, strictness: Strictness): CheckedTypes {
  const reportProblem = (at: Span, problem: string, hint?: string): void =>
    strictness.report.add({ code: 'WP_DEFINITION_SCHEMA_INVALID', at, parameters: { problem }, hint })
  const implied = impliedTypes(node, strictness)
  const types = implied ?? checkTypes(node, strictness, reportProblem)
  checkKeywords(node, types, { reportProblem, report: strictness.report })
  checkPairs(node, strictness.isDraft07, reportProblem)
  checkTuple(node, strictness.isDraft07, reportProblem)
  checkTexts(node, reportProblem, strictness.report)
  checkLimits(node, types, { reportProblem, report: strictness.report })
  checkValueTypes(node, types, { reportProblem, report: strictness.report })
  checkExactness(node, reportProblem)
  return { types, implied }
}

type ReportProblem = (at: Span, problem: string, hint?: string) => void

function checkTypes(
  node: MapNode,
  { types: around, report }: Strictness,
  reportProblem: ReportProblem,
): Strictness['types'] {
  const at = node.entries.get('type')?.value
  const single = textOf(at)
  const declared = (single === undefined ? textsOf(at) : [single]).filter((type) =>
    typeNames.some((name) => name === type),
  )
  // The intended type is unknown, so all are possible.
  if (at === undefined ? report.isUnclear(node) : declared.length === 0) return typeNames
  if (at === undefined) return around
  if (around === undefined) return declared
  const remaining = declared.filter((type) => isOneOf(type, around))
  const impossible = declared.find((type) => !remaining.includes(type))
  if (impossible !== undefined)
    reportProblem(at, `Type "${impossible}" is not possible: the enclosing schema has type "${around.join('" or "')}"`)
  return remaining
}

/**
 * Returns the types of the values that `enum` or `const` list, or else the type that all keywords apply to. A type that is
 * implied for a condition would change which values it is true for.
 */
function impliedTypes(
  node: MapNode,
  { types: around, isCondition, report }: Strictness,
): readonly string[] | undefined {
  if (around !== undefined || isCondition || node.entries.has('type') || report.isUnclear(node)) return undefined
  const listed = listedTypes(node)
  if (listed !== undefined) return listed
  const all = [...node.entries.values()].map(typesOfKeyword).filter((types) => types !== undefined)
  const common = [...new Set(all.flat())].filter((type) => all.every((types) => isOneOf(type, types)))
  return common.length === 1 ? common : undefined
}

function isOneOf(type: string, types: readonly string[]): boolean {
  return types.includes(type) || (type === 'integer' && types.includes('number'))
}

/** Returns undefined if there is a value with parts: other keywords describe those. */
function listedTypes({ entries }: MapNode): readonly string[] | undefined {
  const list = entries.get('enum')?.value
  const values = [...(entries.has('const') ? [entries.get('const')!.value] : []), ...itemsOf(list)]
  const types = new Set(values.map((value) => (value.kind === 'scalar' ? typeOfNode(value) : undefined)))
  return types.size === 0 || types.has(undefined) ? undefined : ([...types] as string[])
}

const [array, object] = [['array'], ['object']]

const keywordTypes: Readonly<Record<string, readonly string[]>> = {
  ...forType(['number'], ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']),
  ...forType(['string'], ['minLength', 'maxLength', 'pattern']),
  ...forType(['string', 'number'], ['format']),
  ...forType(array, ['items', 'prefixItems', 'additionalItems', 'unevaluatedItems', 'contains']),
  ...forType(array, ['minItems', 'maxItems', 'uniqueItems', 'minContains', 'maxContains']),
  ...forType(object, ['properties', 'patternProperties', 'additionalProperties', 'unevaluatedProperties']),
  ...forType(object, ['propertyNames', 'required', 'minProperties', 'maxProperties']),
  ...forType(object, ['dependencies', 'dependentRequired', 'dependentSchemas']),
}

const numericFormats: Readonly<Record<string, string>> = {
  int32: 'integer',
  int64: 'integer',
  float: 'number',
  double: 'number',
}

/** Returns the types that a keyword applies to; undefined if it applies to all. */
function typesOfKeyword({ key, value }: Entry): readonly string[] | undefined {
  if (!Object.hasOwn(keywordTypes, key) || (key === 'required' && value.kind !== 'list')) return undefined
  if (key === 'format') return [numericFormats[textOf(value) ?? ''] ?? 'string']
  return keywordTypes[key]
}

function forType(types: readonly string[], keywords: readonly string[]): Record<string, readonly string[]> {
  return Object.fromEntries(keywords.map((keyword) => [keyword, types]))
}

interface ProblemReporter {
  readonly reportProblem: ReportProblem
  readonly report: Report
}

/** Reports a missing or wrong type once for all keywords that it does not fit. */
function checkKeywords(node: MapNode, types: Strictness['types'], { reportProblem, report }: ProblemReporter): void {
  const wrong = [...node.entries.values()].filter((entry) => !isForType(entry, types))
  const [first] = wrong
  if (first === undefined) return
  report.markUnclear(node)
  const names = joinWords(wrong.map(({ key }) => `"${key}"`))
  const needed = keywordTypes[first.key]!
  const [needs, has] = wrong.length === 1 ? ['needs', 'has'] : ['need', 'have']
  if (types === undefined) {
    const possible = [...new Set(wrong.map((entry) => typesOfKeyword(entry)![0]))]
    const type = possible.length === 1 ? possible[0] : `[${possible.join(', ')}]`
    reportProblem(first.keySpan, `${names} ${needs} a "type"`, `Add type: ${type}`)
  } else {
    const hint = `${wrong.length === 1 ? 'It applies' : 'They apply'} to type ${needed.join(' or ')}`
    const isSame = wrong.every(({ key }) => keywordTypes[key] === needed)
    const problem = `${names} ${has} no effect on type "${types.join('" or "')}"`
    reportProblem(first.keySpan, problem, isSame ? hint : undefined)
  }
}

function isForType({ key, value }: Entry, types: Strictness['types']): boolean {
  const needed = Object.hasOwn(keywordTypes, key) ? keywordTypes[key]! : undefined
  if (needed === undefined || (key === 'required' && value.kind !== 'list')) return true
  return types?.some((type) => isOneOf(type, needed)) === true
}

function checkPairs({ entries }: MapNode, isDraft07: boolean, reportProblem: ReportProblem): void {
  const has = (key: string): boolean => entries.has(key)
  const reportWithout = (key: string, other: string): void => {
    const entry = entries.get(key)
    if (entry !== undefined) reportProblem(entry.keySpan, `"${key}" has no effect without "${other}"`)
  }
  if (!has('then') && !has('else')) reportWithout('if', 'then')
  if (!has('if')) for (const key of ['then', 'else']) reportWithout(key, 'if')
  if (!has('contains')) for (const key of ['minContains', 'maxContains']) reportWithout(key, 'contains')
  if (isDraft07 && entries.get('items')?.value.kind !== 'list') reportWithout('additionalItems', 'items: [...]')
  checkContains(entries, reportProblem)
}

function checkContains(entries: MapNode['entries'], reportProblem: ReportProblem): void {
  const at = entries.get('minContains')?.keySpan
  const minimum = numberOf(entries.get('minContains')?.value)
  const maximum = numberOf(entries.get('maxContains')?.value)
  if (at === undefined || minimum === undefined) return
  if (minimum === 0 && maximum === undefined) reportProblem(at, '"minContains: 0" disables "contains"')
  if (maximum !== undefined && minimum > maximum) reportProblem(at, '"minContains" is greater than "maxContains"')
}

/** Reports limits that no value is within, for each type that they apply to. */
function checkLimits(node: MapNode, types: Strictness['types'], { reportProblem, report }: ProblemReporter): void {
  if (report.isUnclear(node)) return
  const limits: Record<string, number> = {}
  for (const { key, value } of node.entries.values()) {
    const limit = /^(?:min|max|exclusiveM)/.test(key) ? numberOf(value) : undefined
    if (limit !== undefined) limits[key] = limit
  }
  if (Object.keys(limits).length < 2) return
  const isInteger = types?.includes('integer') === true && !types.includes('number')
  for (const type of ['string', 'array', 'object', isInteger ? 'integer' : 'number']) {
    const found = limitsOf(type, [limits])
    if (found === undefined) continue
    reportProblem(node.entries.get(found.keyword)!.keySpan, `No value is valid: ${found.reason}`)
    report.markUnclear(node)
  }
}

/** Reports values of another type than the schema. */
function checkValueTypes(node: MapNode, types: Strictness['types'], { reportProblem, report }: ProblemReporter): void {
  if (types === undefined || types.length === 0 || types === typeNames || report.isUnclear(node)) return
  const check = (keyword: string, value: Node): void => {
    const type = typeOfNode(value)
    if (type === undefined || isOneOf(type, types)) return
    const isNull = type === 'null'
    const hint = isNull ? `Write type: [${[...types, '"null"'].join(', ')}], or remove it` : undefined
    const problem = `${describeValue(value)} in "${keyword}" is not of type "${types.join('" or "')}"`
    reportProblem(value, problem, hint)
    report.markUnclear(node)
  }
  for (const keyword of ['default', 'const']) {
    const value = node.entries.get(keyword)?.value
    if (value !== undefined) check(keyword, value)
  }
  const list = node.entries.get('enum')?.value
  if (list?.kind === 'list') for (const item of list.items) check('enum', item)
}

/** Numbers in requests are refused if they would be rounded; those of the schema would be rounded without a message. */
function checkExactness(node: MapNode, reportProblem: ReportProblem): void {
  for (const keyword of ['default', 'const', 'enum']) {
    const value = node.entries.get(keyword)?.value
    for (const one of value === undefined ? [] : inexactIntegers(value)) {
      reportProblem(one, `${sourceOf(one)} in "${keyword}" is beyond 2^53, where integers are rounded`, inexactHint)
    }
  }
}

function typeOfNode(node: Node): string | undefined {
  if (node.kind !== 'scalar') return { map: 'object', list: 'array', broken: undefined }[node.kind]
  if (node.value === null) return 'null'
  if (typeof node.value === 'number') return Number.isInteger(node.value) ? 'integer' : 'number'
  return typeof node.value
}

function describeValue(node: Node): string {
  const text = isEmpty(node) ? 'null' : describeNode(node)
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function numberOf(node: Node | undefined): number | undefined {
  return node?.kind === 'scalar' && typeof node.value === 'number' ? node.value : undefined
}

/** A tuple without a fixed length is nearly always a mistake. */
function checkTuple({ entries }: MapNode, isDraft07: boolean, reportProblem: ReportProblem): void {
  const [keyword, rest] = isDraft07 ? ['items', 'additionalItems'] : ['prefixItems', 'items']
  const tuple = entries.get(keyword)
  if (tuple?.value.kind !== 'list') return
  const length = tuple.value.items.length
  const closed = entries.get(rest)?.value
  const isClosed = closed?.kind === 'scalar' && closed.value === false
  const fits = numberOf(entries.get('minItems')?.value) === length
  if (fits && (isClosed || numberOf(entries.get('maxItems')?.value) === length)) return
  reportProblem(
    tuple.keySpan,
    `A tuple of ${length} items must define its length`,
    `Add minItems: ${length} and ${rest}: false`,
  )
}

function checkTexts({ entries }: MapNode, reportProblem: ReportProblem, report: Report): void {
  const format = entries.get('format')?.value
  const name = textOf(format)
  if (format !== undefined && name !== undefined && !formats.includes(name)) {
    const suggestion = report.findNearest(name, formats)
    const hint =
      suggestion === undefined
        ? `Known formats: ${formats.slice(0, 18).join(', ')}, …`
        : `Did you mean "${suggestion}"?`
    reportProblem(format, `Unknown format "${name}"`, hint)
  }
  const pattern = entries.get('pattern')?.value
  const text = textOf(pattern)
  if (pattern !== undefined && text !== undefined) checkPatternAt(text, pattern, reportProblem)
  for (const { key, keySpan } of entriesOf(entries.get('patternProperties')?.value))
    checkPatternAt(key, keySpan, reportProblem)
}

function checkPatternAt(text: string, at: Span, reportProblem: ReportProblem): void {
  const problem = checkPattern(text)
  if (problem !== undefined) reportProblem(at, problem.message, problem.hint)
}
