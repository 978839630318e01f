import path from 'node:path'
import type { Location } from './definition.ts'
import { insertBelowKey, insertIntoEmpty, insertIntoJson, insertIntoMap, type NewEntry } from './insert-entry.ts'
import { loadRoot } from './load-definition.ts'
import { createLoadContext, makeSourceCache, includeSiteOf, type Texts } from './load-context.ts'
import { entriesOf, isEmpty, toValue, type Entry, type Node } from './node.ts'
import { openFolder } from './read-file.ts'
import { makeReport } from './report.ts'
import { Include, type Writable, type WritableMap } from './write-yaml.ts'

/** A project folder and its edited texts so far. Nothing is written to disk. */
export interface DefinitionEdit {
  readonly root: string
  readonly texts: Texts
}

/** The location of a map and the style of its entries. */
export interface MapLocation {
  readonly file: string
  /** The number of entries in separate files. */
  readonly included: number
  readonly inPlace: number
}

/** Finds the map at these keys of waypost.yml, also in included files; undefined if there is none. */
export function findMap(edit: DefinitionEdit, keys: readonly string[]): MapLocation | undefined {
  const { node } = findNode(edit, keys)
  if (node?.kind !== 'map') return undefined
  const entries = entriesOf(node)
  const included = entries.filter(({ value }) => value.included === true).length
  return { file: node.origin.source.file, included, inPlace: entries.length - included }
}

/** Returns the location of the key at these keys. */
export function findKey(edit: DefinitionEdit, keys: readonly string[]): Location | undefined {
  const { node, entry } = findNode(edit, keys)
  return node === undefined || entry === undefined ? undefined : includeSiteOf(entry.keySpan)
}

/** Returns the value at these keys as JSON. */
export function findValue(edit: DefinitionEdit, keys: readonly string[]): unknown {
  const { node } = findNode(edit, keys)
  return node === undefined ? undefined : toValue(node)
}

/**
 * Adds a value at keys of waypost.yml, in the file that contains the map. Creates missing keys. Comments, order and all
 * other text stay unchanged. Returns undefined if the value cannot be added there.
 */
export function addToDefinition(edit: DefinitionEdit, keys: readonly string[], value: Writable): Texts | undefined {
  let at: FoundNode = { node: loadNode(edit), entry: undefined }
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
  return insert(edit, at, { key, value: nested })
}

interface FoundNode {
  readonly node: Node | undefined
  /** The entry with its key; undefined for the root. */
  readonly entry: Entry | undefined
}

function findNode(edit: DefinitionEdit, keys: readonly string[]): FoundNode {
  const root: FoundNode = { node: loadNode(edit), entry: undefined }
  return keys.reduce(({ node }, key) => stepInto(node, key), root)
}

function stepInto(node: Node | undefined, key: string): FoundNode {
  const entry = node?.kind === 'map' ? node.entries.get(key) : undefined
  return { node: entry?.value, entry }
}

function loadNode({ root, texts }: DefinitionEdit): Node | undefined {
  const folder = openFolder(root)
  if (folder === undefined) return undefined
  return loadRoot(createLoadContext({ folder, report: makeReport(), cache: makeSourceCache(), texts }))
}

/** Whether the value is empty. */
function hasNoContent(node: Node): boolean {
  return isEmpty(node) || (node.kind === 'map' && node.entries.size === 0)
}

function insert(edit: DefinitionEdit, { node, entry }: FoundNode, { key, value }: NewEntry): Texts | undefined {
  if (node === undefined) return undefined
  const { file, text } = node.origin.source
  const added = { key, value: makeRelative(value, file) }
  const edited = file.endsWith('.json') ? insertJson(text, node, added) : insertYaml(text, { node, entry }, added)
  return edited === undefined ? undefined : new Map(edit.texts).set(file, edited)
}

function insertJson(text: string, node: Node, added: NewEntry): string | undefined {
  return node.kind === 'map' && !holdsInclude(added.value) ? insertIntoJson(text, node.start, added) : undefined
}

function insertYaml(text: string, { node, entry }: { node: Node; entry: Entry | undefined }, added: NewEntry) {
  if (!hasNoContent(node)) return insertIntoMap(text, node.start, added)
  // An included file is a whole file, like waypost.yml.
  const isFile = entry === undefined || node.included === true
  if (isFile && node.kind !== 'map') return insertIntoEmpty(text, added)
  const below = isFile
    ? undefined
    : insertBelowKey(text, { key: entry.keySpan.start, value: textOf(node, entry) }, added)
  return below ?? insertIntoMap(text, node.start, added)
}

/** Returns the span of a value's text; the position after its key if there is no text. */
function textOf({ start, end }: Node, { keySpan }: Entry): { readonly start: number; readonly end: number } {
  return start === keySpan.start ? { start: keySpan.end, end: keySpan.end } : { start, end }
}

function holdsInclude(value: Writable): boolean {
  if (value instanceof Include) return true
  return typeof value === 'object' && value !== null && Object.values(value).some(holdsInclude)
}

/** Makes the paths of included files relative to the including file. */
function makeRelative(value: Writable, from: string): Writable {
  if (value instanceof Include) return new Include(path.posix.relative(path.posix.dirname(from), value.file))
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  const entries = Object.entries(value as WritableMap).map(([key, item]) => [key, makeRelative(item, from)])
  return Object.fromEntries(entries) as WritableMap
}
