import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  type Node as YamlNode,
  type Pair,
  type Scalar,
  type YAMLMap,
} from 'yaml'
import { hasReferences } from '../kit/index.ts'
import { findTagBefore, openTarget, parseTarget, spanOfInclude, type LocatedNode } from './include.ts'
import { maxRepeated, maxValues, includeSiteOf, type LoadContext } from './load-context.ts'
import type { BrokenNode, CutText, Entry, MapNode, Node } from './node.ts'
import type { Origin, Span } from './source.ts'
import { maxDepth } from './check-yaml.ts'

export interface ComposeContext {
  readonly loading: LoadContext
  readonly origin: Origin
  /** The nodes that contain this value. Meeting one of them again is a cycle. */
  readonly path: Set<YamlNode>
  /** Whether an alias leads to this value. */
  readonly isRepeated?: boolean
}

/** Converts the parser's result to nodes, with includes and aliases replaced by their targets. */
export function compose(node: YamlNode | null | undefined, context: ComposeContext): Node {
  const { origin, loading } = context
  if (node === null || node === undefined) return { kind: 'scalar', value: null, origin, start: 0, end: 0 }
  const span = spanOf(node, origin)
  if (!spendBudget(context, span)) return makeBroken(span)
  if (isScalar(node)) return node.tag === '!include' ? composeInclude(node, context) : composeScalar(node, context)
  if (isAlias(node)) return composeAlias(node.source, node, context)
  if (context.path.size >= maxDepth) {
    loading.report.add({ code: 'WP_DEFINITION_TOO_DEEP', at: span, parameters: { limit: maxDepth } })
    return makeBroken(span)
  }
  if (!reportTag(node, context)) return makeBroken(span)
  return descend(node, context, () => {
    if (isMap(node)) return composeMap(node, context)
    const items = isSeq(node) ? node.items : []
    return {
      kind: 'list',
      ...span,
      items: items.map((item) => compose(isPair(item) ? null : (item as YamlNode), context)),
    }
  })
}

function descend(node: YamlNode, { path }: ComposeContext, work: () => Node): Node {
  path.add(node)
  try {
    return work()
  } finally {
    path.delete(node)
  }
}

function spendBudget({ loading: { budget, report }, isRepeated = false }: ComposeContext, at: Span): boolean {
  budget.remaining -= 1
  if (isRepeated) budget.repeated -= 1
  if (budget.remaining === -1) report.add({ code: 'WP_DEFINITION_TOO_LARGE', at, parameters: { limit: maxValues } })
  if (isRepeated && budget.repeated === -1)
    report.add({ code: 'WP_DEFINITION_ALIASES', at, parameters: { limit: maxRepeated } })
  return budget.remaining >= 0 && budget.repeated >= 0
}

function spanOf(node: YamlNode, origin: Origin): Span {
  const [start = 0, end = start] = node.range ?? []
  return { origin, start, end }
}

function textOf({ value, source = '' }: Scalar): string {
  return typeof value === 'string' ? value : source
}

function makeBroken(span: Span): BrokenNode {
  return { kind: 'broken', ...span }
}

function composeScalar(node: Scalar, context: ComposeContext): Node {
  const { loading, origin } = context
  const at = spanOf(node, origin)
  if (!reportTag(node, context)) return makeBroken(at)
  const { value } = node
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const problem = `"${node.source ?? value}" is not a number that JSON can represent`
    loading.report.add({ code: 'WP_DEFINITION_VALUE_INVALID', at, parameters: { problem } })
    return makeBroken(at)
  }
  const plain = typeof value === 'number' || typeof value === 'boolean' || value === null ? value : textOf(node)
  const scalar = { kind: 'scalar', value: plain, ...at } as const
  if (typeof plain === 'string' && hasReferences(plain)) loading.references.push({ node: scalar, text: plain, at })
  return scalar
}

const standardTags = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/

function reportTag(node: YamlNode, { loading, origin }: ComposeContext): boolean {
  if (node.tag === undefined || standardTags.test(node.tag)) return true
  const [start = 0] = node.range ?? []
  const tag = node.tag.startsWith('tag:yaml.org,2002:') ? `!!${node.tag.slice(18)}` : node.tag
  const found = findTagBefore(origin, tag, start)
  const at = { origin, start: found, end: found === start ? start + 1 : found + tag.length }
  if (tag === '!include') {
    const parameters = { target: isMap(node) ? '{…}' : '[…]' }
    loading.report.add({ code: 'WP_DEFINITION_INCLUDE_INVALID', at, parameters })
  } else {
    const hint = loading.report.findNearest(tag, ['!include']) === undefined ? undefined : 'Did you mean "!include"?'
    loading.report.add({ code: 'WP_DEFINITION_TAG_UNKNOWN', at, parameters: { tag }, hint })
  }
  return false
}

function composeAlias(name: string, node: YamlNode, context: ComposeContext): Node {
  const { aliases } = context.origin.source
  const target = isAlias(node) ? aliases.get(node) : undefined
  if (target !== undefined && context.path.has(target)) return reportCycle(node, context)
  if (target !== undefined) return compose(target, { ...context, isRepeated: true })
  const at = spanOf(node, context.origin)
  context.loading.report.add({ code: 'WP_DEFINITION_ALIAS_UNKNOWN', at, parameters: { name } })
  return makeBroken(at)
}

function composeInclude(node: Scalar, context: ComposeContext): Node {
  const { loading, origin, path } = context
  const at = spanOfInclude(node, origin)
  if (path.has(node)) return reportCycle(node, context)
  const target = parseTarget(loading, String(node.value), at)
  const located = target === undefined ? undefined : openTarget(loading, target, at)
  if (located === undefined) return makeBroken(at)
  if (located.node === node || (located.node !== null && path.has(located.node))) return reportCycle(node, context)
  return located.node === located.origin.source.content && located.node !== null
    ? composeFile(node, located, context)
    : composeLocated(node, located, context)
}

function composeLocated(node: Scalar, { node: to, origin }: LocatedNode, context: ComposeContext): Node {
  const { loading } = context
  loading.includes.count += 1
  const composed = descend(node, context, () => compose(to, { ...context, origin }))
  const included = { ...composed, included: true }
  if (loading.report.isUnclear(composed)) loading.report.markUnclear(included)
  return included
}

/** Includes a whole file. An unchanged file has the same nodes as in the last run. */
function composeFile(node: Scalar, located: LocatedNode, context: ComposeContext): Node {
  const { loading, path, isRepeated = false } = context
  const { budget, cache, composed, includes, references, report } = loading
  const { source, includedAt } = located.origin
  const key = JSON.stringify([source.file, includedAt, path.size])
  const known = cache.composed.get(key)
  const repeated = isRepeated ? known?.values : known?.repeated
  if (known?.source === source && known.values <= budget.remaining && repeated! <= budget.repeated) {
    budget.remaining -= known.values
    budget.repeated -= repeated!
    includes.count += 1
    references.push(...known.references)
    composed.set(key, known)
    return known.node
  }
  const before = { ...budget, problems: report.count(), includes: includes.count, references: references.length }
  const included = composeLocated(node, located, context)
  if (report.count() === before.problems && includes.count === before.includes + 1 && !isRepeated) {
    const spent = { values: before.remaining - budget.remaining, repeated: before.repeated - budget.repeated }
    composed.set(key, { source, node: included, references: references.slice(before.references), ...spent })
  }
  return included
}

function reportCycle(node: YamlNode, { loading, origin }: ComposeContext): Node {
  const at = isScalar(node) ? spanOfInclude(node, origin) : spanOf(node, origin)
  const { file, text } = origin.source
  const chain = [...origin.includedAt.map((site) => site.file).toReversed(), file]
  const again = isScalar(node) ? String(node.value) : text.slice(at.start, Math.min(at.end, at.start + 40))
  const hint = `${chain.join(' → ')} → ${again}`
  loading.report.add({ code: 'WP_DEFINITION_INCLUDE_CYCLE', at, parameters: { target: again, chain: '' }, hint })
  return makeBroken(at)
}

type YamlPair = Pair<YamlNode, YamlNode | null>

function composeMap(map: YAMLMap, context: ComposeContext): MapNode {
  const span = spanOf(map, context.origin)
  const entries = new Map<string, Entry>()
  const merged: Node[] = []
  const cuts = map.flow === true ? findCutTexts(map.items as YamlPair[], context.origin) : undefined
  let isDouble = false
  for (const pair of map.items as YamlPair[]) {
    const keySpan = isScalar(pair.key) ? spanOf(pair.key, context.origin) : { ...span, end: span.start + 1 }
    if (!isScalar(pair.key) || (pair.key.value === null && !pair.key.source)) {
      context.loading.report.add({ code: 'WP_DEFINITION_KEY_INVALID', at: keySpan })
      continue
    }
    const key = typeof pair.key.value === 'string' ? pair.key.value : (pair.key.source ?? String(pair.key.value))
    const value = composeValue(pair, keySpan, context)
    if (key === '<<' && pair.key.type === 'PLAIN') merged.push(value)
    else if (entries.has(key)) {
      isDouble = true
      reportDuplicate(entries.get(key)!, keySpan, context)
    } else {
      const cut = cuts?.get(pair)
      entries.set(key, { key, keySpan, value, ...(cut === undefined ? {} : { cut }) })
    }
    if (hasReferences(key)) context.loading.references.push({ text: key, at: keySpan })
  }
  for (const node of merged.flatMap((value) => (value.kind === 'list' ? value.items : [value]))) merge(entries, node)
  const node = { kind: 'map', ...span, entries } as const
  if (isDouble) context.loading.report.markUnclear(node)
  return node
}

/** In `{ description: Red, green or blue }` the second key has no value: it is the rest of the text. */
function findCutTexts(pairs: readonly YamlPair[], { source }: Origin): ReadonlyMap<YamlPair, CutText> {
  const cuts = new Map<YamlPair, CutText>()
  for (let index = 0; index < pairs.length; index += 1) {
    const { value } = pairs[index]!
    if (!isScalar(value) || value.type !== 'PLAIN' || value.source === '') continue
    const rest: YamlPair[] = []
    while (isRest(pairs[index + 1])) rest.push(pairs[(index += 1)]!)
    if (rest.length === 0) continue
    const text = source.text.slice(value.range?.[0], rest.at(-1)?.key.range?.[1]).replaceAll(/\s+/g, ' ')
    for (const [part, pair] of rest.entries()) cuts.set(pair, { text, isFirst: part === 0 })
  }
  return cuts
}

function isRest(pair: YamlPair | undefined): boolean {
  return pair?.value === null && isScalar(pair.key) && pair.key.type === 'PLAIN'
}

/** A missing value has no text, so the span of its key is used. */
function composeValue({ value }: YamlPair, keySpan: Span, context: ComposeContext): Node {
  if (!value || (isScalar(value) && value.value === null && value.source === '')) {
    return { kind: 'scalar', value: null, ...keySpan }
  }
  return compose(value, context)
}

function merge(entries: Map<string, Entry>, node: Node): void {
  if (node.kind !== 'map') return
  for (const entry of node.entries.values()) {
    if (!entries.has(entry.key)) entries.set(entry.key, entry)
  }
}

function reportDuplicate(first: Entry, at: Span, { loading }: ComposeContext): void {
  const { file, line } = includeSiteOf(first.keySpan)
  loading.report.add({
    code: 'WP_DEFINITION_KEY_DUPLICATE',
    at,
    parameters: { key: first.key, first: `${file}:${line}` },
  })
}
