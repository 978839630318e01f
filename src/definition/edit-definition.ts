import path from 'node:path'
import type { Location } from './definition.ts'
import { insertBelowKey, insertIntoEmpty, insertIntoJson, insertIntoMap, type NewEntry } from './insert-entry.ts'
import { loadRoot } from './load-definition.ts'
import { makeLoading, makeSourceCache, siteOf, type Texts } from './loading.ts'
import { entriesOf, isEmpty, toValue, type Entry, type Node } from './node.ts'
import { openFolder } from './read-file.ts'
import { makeReport } from './report.ts'
import { Include, type Writable, type WritableMap } from './write-yaml.ts'

/** A project's folder, and what an edit made of its files so far: nothing is written. */
export interface Editing {
  readonly root: string
  readonly texts: Texts
}

/** Where a map of the definition stands, and how people write into it. */
export interface MapPlace {
  readonly file: string
  /** How many of its entries stand in files of their own. */
  readonly included: number
  readonly inPlace: number
}

/** Finds the map below these keys of waypost.yml, wherever it is included from; undefined if there is none. */
export function findMap(editing: Editing, keys: readonly string[]): MapPlace | undefined {
  const { node } = reach(editing, keys)
  if (node?.kind !== 'map') return undefined
  const entries = entriesOf(node)
  const included = entries.filter(({ value }) => value.included === true).length
  return { file: node.origin.source.file, included, inPlace: entries.length - included }
}

/** Where the key stands that these keys lead to. */
export function findKey(editing: Editing, keys: readonly string[]): Location | undefined {
  const { node, entry } = reach(editing, keys)
  return node === undefined || entry === undefined ? undefined : siteOf(entry.keySpan)
}

/** The value that these keys lead to, as JSON. */
export function findValue(editing: Editing, keys: readonly string[]): unknown {
  const { node } = reach(editing, keys)
  return node === undefined ? undefined : toValue(node)
}

/**
 * Adds a value below keys of waypost.yml, in the file in which their map stands; keys that are missing are made. Comments,
 * order and everything else that is written stay as they are. Undefined if it cannot be written there.
 */
export function addToDefinition(editing: Editing, keys: readonly string[], value: Writable): Texts | undefined {
  let at: Reached = { node: loadNode(editing), entry: undefined }
  let depth = 0
  while (depth < keys.length - 1) {
    const next = stepInto(at.node, keys[depth]!)
    if (next.node === undefined) break
    at = next
    depth++
  }
  const [key, ...below] = keys.slice(depth)
  if (key === undefined || stepInto(at.node, key).node !== undefined) return undefined
  const nested = below.reduceRight<Writable>((inner, name) => ({ [name]: inner }), value)
  return insert(editing, at, { key, value: nested })
}

interface Reached {
  readonly node: Node | undefined
  /** Its key; undefined for the root. */
  readonly entry: Entry | undefined
}

function reach(editing: Editing, keys: readonly string[]): Reached {
  const root: Reached = { node: loadNode(editing), entry: undefined }
  return keys.reduce(({ node }, key) => stepInto(node, key), root)
}

function stepInto(node: Node | undefined, key: string): Reached {
  const entry = node?.kind === 'map' ? node.entries.get(key) : undefined
  return { node: entry?.value, entry }
}

function loadNode({ root, texts }: Editing): Node | undefined {
  const folder = openFolder(root)
  if (folder === undefined) return undefined
  return loadRoot(makeLoading({ folder, report: makeReport(), cache: makeSourceCache(), texts }))
}

/** Whether a key stands there that has nothing below it yet. */
function isBare(node: Node): boolean {
  return isEmpty(node) || (node.kind === 'map' && node.entries.size === 0)
}

function insert(editing: Editing, { node, entry }: Reached, { key, value }: NewEntry): Texts | undefined {
  if (node === undefined) return undefined
  const { file, text } = node.origin.source
  const added = { key, value: makeRelative(value, file) }
  const edited = file.endsWith('.json') ? insertJson(text, node, added) : insertYaml(text, { node, entry }, added)
  return edited === undefined ? undefined : new Map(editing.texts).set(file, edited)
}

function insertJson(text: string, node: Node, added: NewEntry): string | undefined {
  return node.kind === 'map' && !holdsInclude(added.value) ? insertIntoJson(text, node.start, added) : undefined
}

function insertYaml(text: string, { node, entry }: { node: Node; entry: Entry | undefined }, added: NewEntry) {
  if (!isBare(node)) return insertIntoMap(text, node.start, added)
  // What is included is a file of its own, as waypost.yml is.
  const isFile = entry === undefined || node.included === true
  if (isFile && node.kind !== 'map') return insertIntoEmpty(text, added)
  const below = isFile
    ? undefined
    : insertBelowKey(text, { key: entry.keySpan.start, value: textOf(node, entry) }, added)
  return below ?? insertIntoMap(text, node.start, added)
}

/** The place of a value's text, behind its key where nothing is written. */
function textOf({ start, end }: Node, { keySpan }: Entry): { readonly start: number; readonly end: number } {
  return start === keySpan.start ? { start: keySpan.end, end: keySpan.end } : { start, end }
}

function holdsInclude(value: Writable): boolean {
  if (value instanceof Include) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInclude)
}

/** What is included is named as seen from the including file. */
function makeRelative(value: Writable, from: string): Writable {
  if (value instanceof Include) return new Include(path.posix.relative(path.posix.dirname(from), value.file))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value as WritableMap).map(([key, item]) => [key, makeRelative(item, from)])
  return Object.fromEntries(entries) as WritableMap
}
