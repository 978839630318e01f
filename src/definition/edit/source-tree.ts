import { isAlias, isMap, isPair, isScalar, isSeq, parseDocument, type Node, type Pair, type Scalar } from 'yaml'
import { findTooDeep } from '../check-depth.ts'
import { yamlOptions } from '../yaml-options.ts'

/**
 * The values of a file with the places of their text. Each `start` and `end` is relative to the `start` of the
 * enclosing tree, so that an edit leaves the trees of everything else as they are.
 */
export type Tree = MapTree | ListTree | ScalarTree | IncludeTree | AliasTree | UnknownTree

interface Base {
  readonly start: number
  /** The end of the content, without comments and spaces that follow. */
  readonly end: number
  readonly anchor?: string | undefined
}

export interface MapTree extends Base {
  readonly kind: 'map'
  readonly isFlow: boolean
  readonly entries: readonly EntryTree[]
}

export interface EntryTree {
  readonly key: string
  /** The start of the key. */
  readonly start: number
  /** The end of the key. */
  readonly end: number
  /** The place of the colon; undefined for a key without one, in `{ a, b }`. */
  readonly colon: number | undefined
  /** Why the entry cannot be edited. */
  readonly problem?: string | undefined
  readonly value: Tree
}

export interface ListTree extends Base {
  readonly kind: 'list'
  readonly isFlow: boolean
  readonly items: readonly ItemTree[]
}

export interface ItemTree {
  /** The start of the dash, or of the item itself between brackets. */
  readonly start: number
  readonly value: Tree
}

export interface ScalarTree extends Base {
  readonly kind: 'scalar'
  readonly value: string | number | boolean | null
  readonly style: Style
}

/** How a scalar is written; `none` for a missing value. */
export type Style = 'plain' | 'single' | 'double' | 'literal' | 'folded' | 'none'

export interface IncludeTree extends Base {
  readonly kind: 'include'
  /** As written: `FILE` or `FILE#/pointer`. */
  readonly target: string
}

export interface AliasTree extends Base {
  readonly kind: 'alias'
  readonly name: string
}

/** A value with an unknown tag. */
export interface UnknownTree extends Base {
  readonly kind: 'unknown'
}

/** Why a text has no tree. */
export interface TreeProblem {
  readonly problem: string
  readonly offset: number
}

/** A file as it is being edited. */
export class EditedFile {
  readonly file: string
  /** Without a byte order mark. */
  readonly text: string
  readonly hasMark: boolean
  readonly newline: string
  #tree: Tree | TreeProblem | undefined
  readonly #findTree: (() => Tree | undefined) | undefined
  /** The files that it includes or refers to, once they are known. */
  references?: readonly Reference[]

  constructor({ file, text, hasMark = false, newline, tree, findTree }: EditedText) {
    this.file = file
    this.text = text
    this.hasMark = hasMark
    this.newline = newline ?? (text.includes('\r\n') ? '\r\n' : '\n')
    this.#tree = tree
    this.#findTree = findTree
  }

  /** Parsed when it is needed first. */
  get tree(): Tree | TreeProblem {
    return (this.#tree ??= this.#findTree?.() ?? parseTree(this.file, this.text))
  }
}

interface EditedText {
  readonly file: string
  readonly text: string
  readonly hasMark?: boolean
  /** By default that of the text. */
  readonly newline?: string
  readonly tree?: Tree | TreeProblem | undefined
  /** Called when the tree is needed: it may have been parsed meanwhile. */
  readonly findTree?: () => Tree | undefined
}

/** An `!include`, or a `$ref` to a file. */
export interface Reference {
  readonly file: string
  readonly keys: readonly string[]
  readonly isInclude: boolean
}

const styles: Readonly<Record<string, Style>> = {
  PLAIN: 'plain',
  QUOTE_SINGLE: 'single',
  QUOTE_DOUBLE: 'double',
  BLOCK_LITERAL: 'literal',
  BLOCK_FOLDED: 'folded',
}

/** Parses YAML, or JSON according to the file name. */
export function parseTree(file: string, text: string): Tree | TreeProblem {
  const deep = findTooDeep(text)
  if (deep !== undefined) return { problem: 'Values are nested too deeply', offset: deep }
  if (file.endsWith('.json')) {
    try {
      JSON.parse(text)
    } catch (error) {
      const message = (error as Error).message
      return { problem: message, offset: Number(/at position (\d+)/.exec(message)?.[1] ?? 0) }
    }
  }
  const document = parseDocument(text, yamlOptions)
  const [error] = document.errors
  if (error !== undefined) return { problem: error.message, offset: error.pos[0] }
  return makeTree(document.contents, text)
}

/** Returns the tree of a parsed document. */
export function makeTree(contents: Node | null, text: string): Tree {
  if (contents === null || (isScalar(contents) && isMissing(contents))) {
    const end = text.length
    return { kind: 'scalar', value: null, style: 'none', start: end, end }
  }
  return make(contents, { text, base: 0 })
}

function isMissing({ value, source, tag, anchor }: Scalar): boolean {
  return value === null && !source && tag === undefined && anchor === undefined
}

/** The trees of maps and lists, which have only relative places: what has not changed is not converted again. */
const trees = new WeakMap<Node, MapTree | ListTree>()

function makeCollection(node: Node, making: Making, work: () => MapTree | ListTree): Tree {
  const start = node.range![0] - making.base
  const known = trees.get(node)
  if (known !== undefined) return { ...known, start, end: start + known.end - known.start }
  const made = work()
  trees.set(node, made)
  return made
}

interface Making {
  readonly text: string
  /** The absolute start of the enclosing tree. */
  readonly base: number
}

function make(node: Node, { text, base }: Making): Tree {
  const [from = 0, to = from] = node.range ?? []
  const start = from - base
  if (isAlias(node)) return { kind: 'alias', name: node.source, start, end: to - base }
  const anchor = (node as { anchor?: string }).anchor
  const shared = { start, ...(anchor === undefined ? {} : { anchor }) }
  if (isMap(node) && !hasUnknownTag(node))
    return makeCollection(node, { text, base }, () => {
      const isFlow = node.flow === true
      const entries = (node.items as Pair<Node, Node | null>[]).map((pair) => makeEntry(pair, { text, base: from }))
      const last = entries.at(-1)
      const end = isFlow || last === undefined ? to - base : start + endOfEntry(last)
      return { kind: 'map', isFlow, entries, end, ...shared }
    })
  if (isSeq(node) && !hasUnknownTag(node))
    return makeCollection(node, { text, base }, () => {
      const isFlow = node.flow === true
      const items = makeItems(node.items as Node[], { text, base: from, isFlow, end: to })
      const last = items.at(-1)
      const end = isFlow || last === undefined ? to - base : start + Math.max(last.start + 1, last.value.end)
      return { kind: 'list', isFlow, items, end, ...shared }
    })
  const isKnown = isScalar(node) && (node.tag === '!include' || !hasUnknownTag(node))
  if (!isKnown || isInfinite(node.value)) return { kind: 'unknown', end: to - base, ...shared }
  if (node.tag === '!include') return { kind: 'include', target: String(node.value), end: to - base, ...shared }
  const style = styles[node.type ?? 'PLAIN'] ?? 'plain'
  const end = style === 'literal' || style === 'folded' ? endOfBlockScalar(text, from, to) : to
  return { kind: 'scalar', value: plainOf(node), style, end: end - base, ...shared }
}

function isInfinite(value: unknown): boolean {
  return typeof value === 'number' && !Number.isFinite(value)
}

function plainOf({ value, source = '' }: Scalar): string | number | boolean | null {
  const isPlain = typeof value === 'number' || typeof value === 'boolean' || typeof value === 'string'
  return isPlain || value === null ? value : source
}

const standardTags = /^tag:yaml\.org,2002:(str|int|float|bool|null|map|seq)$/

function hasUnknownTag(node: Node): boolean {
  const { tag } = node as { tag?: string }
  return tag !== undefined && !standardTags.test(tag)
}

/** The blank lines at its end belong to a text only with `+`. */
function endOfBlockScalar(text: string, start: number, end: number): number {
  const header = /^[|>][-+0-9]*/.exec(text.slice(start, start + 10))?.[0] ?? ''
  if (header.includes('+')) return end
  return start + text.slice(start, end).trimEnd().length
}

function endOfEntry({ end, colon, value }: EntryTree): number {
  return Math.max(end, colon === undefined ? 0 : colon + 1, value.end)
}

function makeEntry({ key, value }: Pair<Node, Node | null>, { text, base }: Making): EntryTree {
  const [from = base, to = from] = key?.range ?? []
  const gap = /^\s*/.exec(text.slice(to, to + 1024))![0].length
  const hasColon = text[to + gap] === ':'
  const colon = hasColon ? to + gap - base : undefined
  const problem = findKeyProblem(key, text.slice(lineStartOf(text, from), from))
  const none = (hasColon ? to + gap + 1 : to) - base
  return {
    key: isScalar(key) ? nameOfKey(key) : '',
    start: from - base,
    end: to - base,
    colon,
    ...(problem === undefined ? {} : { problem }),
    value:
      !value || (isScalar(value) && isMissing(value))
        ? { kind: 'scalar', value: null, style: 'none', start: none, end: none }
        : make(value, { text, base }),
  }
}

function nameOfKey({ value, source }: Scalar): string {
  return typeof value === 'string' ? value : (source ?? String(value))
}

/** @param before the text before the key on its line */
function findKeyProblem(key: Node | undefined, before: string): string | undefined {
  if (isScalar(key) && key.type === 'PLAIN' && nameOfKey(key) === '<<') return 'it has a merge key (<<)'
  const isUsual = isScalar(key) && key.tag === undefined && key.anchor === undefined
  return isUsual && !/(^|[\s{,[])\?\s+$/.test(before) ? undefined : 'one of its keys is written in an unusual form'
}

function makeItems(
  nodes: readonly Node[],
  { text, base, isFlow, end }: Making & { isFlow: boolean; end: number },
): ItemTree[] {
  const items: ItemTree[] = []
  let at = base
  const column = base - lineStartOf(text, base)
  for (const node of nodes) {
    const start = isFlow
      ? skipBetween(text, at === base ? base + 1 : at)
      : at === base
        ? base
        : findDash(text, at, { column, end })
    const isNone = isPair(node) || !node || (isScalar(node) && isMissing(node))
    const none = start + 1 - base
    const value: Tree = isPair(node)
      ? {
          kind: 'unknown',
          start: start - base,
          end: (((node as Pair).value ?? (node as Pair).key) as Node).range![1] - base,
        }
      : isNone
        ? { kind: 'scalar', value: null, style: 'none', start: none, end: none }
        : make(node, { text, base })
    items.push({ start: start - base, value })
    at = base + Math.max(value.end, none)
  }
  return items
}

/** Returns the offset of the next dash in a column. */
function findDash(text: string, from: number, { column, end }: { column: number; end: number }): number {
  for (
    let line = text.indexOf('\n', Math.max(0, from - 1)) + 1;
    line > 0 && line < end;
    line = text.indexOf('\n', line) + 1
  ) {
    if (text[line + column] === '-' && text.slice(line, line + column).trim() === '') return line + column
  }
  return from
}

/** Skips spaces, line breaks, comments and commas. */
export function skipBetween(text: string, from: number): number {
  let at = from
  for (;;) {
    const char = text[at]
    if (char === '#' && /[\s,]/.test(text[at - 1] ?? ' ')) at = lineEndOf(text, at)
    else if (char !== undefined && /[\s,]/.test(char)) at += 1
    else return at
  }
}

/** Returns the end of the line that contains an offset, before its line break. */
export function lineEndOf(text: string, offset: number): number {
  const found = text.indexOf('\n', offset)
  if (found === -1) return text.length
  return text[found - 1] === '\r' && found > offset ? found - 1 : found
}

/** Returns the start of the line that contains an offset. */
export function lineStartOf(text: string, offset: number): number {
  return offset <= 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1
}

/** Whether two trees have the same values in the same order, however they are written. */
export function isSameTree(one: Tree, other: Tree): boolean {
  if (one === other) return true
  if (one.anchor !== other.anchor) return false
  if (one.kind === 'scalar') return other.kind === 'scalar' && one.value === other.value
  if (one.kind === 'include') return other.kind === 'include' && one.target === other.target
  if (one.kind === 'alias') return other.kind === 'alias' && one.name === other.name
  if (one.kind === 'map') return other.kind === 'map' && areSame(one.entries, other.entries, isSameEntry)
  if (one.kind === 'list') return other.kind === 'list' && areSame(one.items, other.items, isSameItem)
  return other.kind === 'unknown'
}

function areSame<One>(
  some: readonly One[],
  others: readonly One[],
  isSame: (one: One, other: One) => boolean,
): boolean {
  if (some === others) return true // the entries of a part that was not parsed again
  return some.length === others.length && some.every((one, index) => isSame(one, others[index]!))
}

function isSameItem(one: ItemTree, other: ItemTree): boolean {
  return isSameTree(one.value, other.value)
}

export function isSameEntry(one: EntryTree, other: EntryTree): boolean {
  return one === other || (one.key === other.key && one.problem === other.problem && isSameTree(one.value, other.value))
}
