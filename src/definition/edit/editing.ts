import path from 'node:path'
import { escapeStep, parsePointer } from '../../schema/index.ts'
import type { Location } from '../definition.ts'
import { makeSourceCache, maxRepeated, type SourceCache, type Texts } from '../load-context.ts'
import { openFolder, readProjectFile, type ProjectFolder } from '../read-file.ts'
import { EditRefused } from './edit-refused.ts'
import { EditedFile, makeTree, type EntryTree, type Reference, type Tree } from './source-tree.ts'

/**
 * The definition files of a project at one moment, parsed when they are needed. A file is read once. Nothing is written.
 * To edit further, open the new texts with the same cache: unchanged files are not parsed again.
 */
export interface Editing {
  /** Undefined if `texts` are all files. */
  readonly root: string | undefined
  /** Texts that replace files on disk. */
  readonly texts: Texts
  readonly cache: SourceCache
  /** Files that were read; undefined for one that is missing. */
  readonly files: Map<string, EditedFile | undefined>
}

/**
 * Opens the definition of a project for reading and editing.
 * @param root the folder of the project; undefined if `texts` are all files
 * @param options `texts` replace files on disk; `cache`, from `makeSourceCache`, keeps parsed files between edits
 */
export function openEditing(
  root: string | undefined,
  { texts = new Map(), cache = makeSourceCache() }: { readonly texts?: Texts; readonly cache?: SourceCache } = {},
): Editing {
  return { root, texts, cache, files: new Map() }
}

export const rootFile = 'waypost.yml'

/** Returns a file; undefined if it is missing. */
export function openFile(editing: Editing, file: string): EditedFile | undefined {
  if (editing.files.has(file)) return editing.files.get(file)
  const text = readText(editing, file)
  const opened = text === undefined ? undefined : parseFile(editing.cache, file, text)
  editing.files.set(file, opened)
  return opened
}

function readText({ root, texts }: Editing, file: string): string | undefined {
  const given = texts.get(file)
  if (given !== undefined) return given
  const folder: ProjectFolder | undefined = root === undefined ? undefined : openFolder(root)
  const found = folder === undefined ? undefined : readProjectFile(folder, file, { keepsMark: true })
  return found !== undefined && 'text' in found ? found.text : undefined
}

/**
 * The texts of a file that are kept parsed: what the changes are relative to, those before and after an edit, and one more,
 * because the first of these may be used last.
 */
const keptTexts = 4

/** Parses a text, unless the cache has it. */
export function parseFile(cache: SourceCache, file: string, whole: string): EditedFile {
  const kept = cache.edited.get(file) ?? []
  const hasMark = whole.startsWith('\u{FEFF}')
  const text = hasMark ? whole.slice(1) : whole
  const known = kept.find((one) => one.text === text && one.hasMark === hasMark)
  if (known !== undefined) return keepFile(cache, known)
  const findTree = () => {
    const source = cache.sources.get(file)
    const isParsed = source?.text === text && source.content !== undefined
    return isParsed ? makeTree(source.content, text) : undefined
  }
  return keepFile(cache, new EditedFile({ file, text, hasMark, findTree }))
}

/** Makes a parsed text the newest one of the cache. */
export function keepFile(cache: SourceCache, parsed: EditedFile): EditedFile {
  const others = (cache.edited.get(parsed.file) ?? []).filter((one) => one !== parsed)
  cache.edited.set(parsed.file, [parsed, ...others].slice(0, keptTexts))
  return parsed
}

/** A value in a file: the index of the entry or item at each level. */
export interface Cursor {
  readonly file: string
  readonly steps: readonly number[]
}

/** A tree on the way to a value, with its absolute start. */
export interface Link {
  readonly tree: Tree
  readonly start: number
}

/**
 * Returns the trees from the root of the file to the value of a cursor.
 * @throws WP_DEFINITION_EDIT_REFUSED if the file is missing or does not parse
 */
export function linksOf(editing: Editing, { file, steps }: Cursor): readonly Link[] {
  const links: Link[] = [{ tree: treeOf(editing, file), start: 0 }]
  links[0] = { ...links[0]!, start: links[0]!.tree.start }
  for (const step of steps) {
    const { tree, start } = links.at(-1)!
    const child = childrenOf(tree)[step]!.value
    links.push({ tree: child, start: start + child.start })
  }
  return links
}

function treeAt(editing: Editing, cursor: Cursor): Tree {
  return linksOf(editing, cursor).at(-1)!.tree
}

/** @throws WP_DEFINITION_EDIT_REFUSED */
export function treeOf(editing: Editing, file: string): Tree {
  const opened = openFile(editing, file)
  if (opened === undefined)
    throw new EditRefused({ file, line: 1, reason: 'the file does not exist or cannot be read' })
  const { tree } = opened
  if ('problem' in tree) throw refuseAt(opened, tree.offset, `the file cannot be parsed: ${tree.problem}`)
  return tree
}

/** Returns the refusal of an edit at an offset of a file. */
export function refuseAt({ file, text }: EditedFile, offset: number, reason: string): EditRefused {
  return new EditRefused({ file, line: positionAt(text, offset).line, reason })
}

/** Returns the refusal of an edit at a value. */
export function refuse(editing: Editing, cursor: Cursor, reason: string): EditRefused {
  return refuseAt(openFile(editing, cursor.file)!, linksOf(editing, cursor).at(-1)!.start, reason)
}

function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
  let line = 1
  let start = 0
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', end + 1)) {
    line += 1
    start = end + 1
  }
  return { line, column: offset - start + 1 }
}

interface Child {
  readonly start: number
  readonly value: Tree
}

export function childrenOf(tree: Tree): readonly Child[] {
  return tree.kind === 'map' ? tree.entries : tree.kind === 'list' ? tree.items : []
}

/** Returns keys as a JSON pointer. */
export function pointerTo(keys: readonly string[]): string {
  return keys.map((key) => `/${escapeStep(key)}`).join('')
}

/** What was passed on the way to a value. */
export interface Crossing {
  readonly kind: 'include' | 'alias' | 'merge'
  /** The place of the include, alias or merge key. */
  readonly from: Cursor
}

/** The longest existing part of the way to keys. */
export interface Walk {
  readonly cursor: Cursor
  /** The number of keys on the way. */
  readonly depth: number
  readonly crossings: readonly Crossing[]
}

/** Includes and aliases in a row. More is a cycle. */
const maxHops = 100

/** Follows keys through includes and aliases, as far as they exist. The last value is not followed. */
export function walk(editing: Editing, keys: readonly string[]): Walk {
  let cursor: Cursor = { file: rootFile, steps: [] }
  const crossings: Crossing[] = []
  for (const [depth, key] of keys.entries()) {
    const passed: Crossing[] = []
    const child = findChild(editing, follow(editing, cursor, passed), { key, passed })
    if (child === undefined) return { cursor, depth, crossings }
    crossings.push(...passed)
    cursor = child
  }
  return { cursor, depth: keys.length, crossings }
}

/** Replaces includes and aliases by their targets. Undefined if a target does not exist. */
export function follow(editing: Editing, from: Cursor, passed: Crossing[] = []): Cursor | undefined {
  let at: Cursor | undefined = from
  for (let hops = 0; at !== undefined && hops < maxHops; hops += 1) {
    const { tree } = linksOf(editing, at).at(-1)!
    if (tree.kind === 'alias') {
      passed.push({ kind: 'alias', from: at })
      at = findAnchor(editing, at)
    } else if (tree.kind === 'include') {
      passed.push({ kind: 'include', from: at })
      at = openInclude(editing, at.file, { target: tree.target, passed })
    } else {
      return at
    }
  }
  return undefined
}

function openInclude(
  editing: Editing,
  from: string,
  { target, passed }: { readonly target: string; readonly passed: Crossing[] },
): Cursor | undefined {
  const reference = parseReference(from, target)
  if (reference === undefined || passed.length > maxHops) return undefined
  let at: Cursor | undefined = { file: reference.file, steps: [] }
  if (openFile(editing, at.file) === undefined) return undefined
  for (const key of reference.keys) {
    at = findChild(editing, follow(editing, at, passed), { key, passed })
    if (at === undefined) return undefined
  }
  return at
}

/** Parses `file#/json/pointer`, relative to a file. */
function parseReference(from: string, target: string): Omit<Reference, 'isInclude'> | undefined {
  const [name = '', fragment = ''] = target.split(/#(.*)/s)
  const keys = parsePointer(fragment)
  const file = name === '' ? from : path.posix.join(path.posix.dirname(from), name)
  return keys === undefined || file.startsWith('../') || !/\.(ya?ml|json)$/.test(file) ? undefined : { file, keys }
}

function findChild(
  editing: Editing,
  at: Cursor | undefined,
  { key, passed }: { readonly key: string; readonly passed: Crossing[] },
): Cursor | undefined {
  if (at === undefined) return undefined
  const { tree } = linksOf(editing, at).at(-1)!
  const index = indexOf(tree, key)
  if (index !== -1) return { file: at.file, steps: [...at.steps, index] }
  if (tree.kind !== 'map') return undefined
  for (const [place, { key: name, problem }] of tree.entries.entries()) {
    if (name !== '<<' || problem === undefined) continue
    const from = { file: at.file, steps: [...at.steps, place] }
    passed.push({ kind: 'merge', from })
    for (const merged of listMerged(editing, from)) {
      const found = passed.length > maxHops ? undefined : findChild(editing, merged, { key, passed })
      if (found !== undefined) return found
    }
  }
  return undefined
}

/** A merge key takes a map or a list of maps. */
function listMerged(editing: Editing, from: Cursor): readonly Cursor[] {
  const at = follow(editing, from)
  const tree = at === undefined ? undefined : linksOf(editing, at).at(-1)!.tree
  if (at === undefined || tree?.kind !== 'list') return at === undefined ? [] : [at]
  return tree.items.flatMap((_, index) => follow(editing, { file: at.file, steps: [...at.steps, index] }) ?? [])
}

/** Shorter maps are searched. */
const maxSearched = 16

/** The indexes of the entries of long maps. */
const indexes = new WeakMap<readonly EntryTree[], ReadonlyMap<string, number>>()

/** Returns the index of an entry or item; -1 if there is none. */
export function indexOf(tree: Tree, key: string): number {
  if (tree.kind === 'map') return indexOfEntry(tree.entries, key)
  const index = tree.kind === 'list' && /^(0|[1-9]\d{0,8})$/.test(key) ? Number(key) : -1
  return tree.kind === 'list' && index < tree.items.length ? index : -1
}

function indexOfEntry(entries: readonly EntryTree[], key: string): number {
  if (entries.length <= maxSearched) return entries.findIndex((entry) => entry.key === key && !isMerge(entry))
  const known = indexes.get(entries)
  if (known !== undefined) return known.get(key) ?? -1
  const made = new Map<string, number>()
  for (const [index, entry] of entries.entries())
    if (!isMerge(entry) && !made.has(entry.key)) made.set(entry.key, index)
  indexes.set(entries, made)
  return made.get(key) ?? -1
}

export function isMerge({ key, problem }: EntryTree): boolean {
  return key === '<<' && problem !== undefined
}

/** The targets of the aliases of a file, by the tree of its root. */
const targets = new WeakMap<Tree, ReadonlyMap<Tree, readonly number[]>>()

/** Finds the value of an alias: the last one before it with the anchor. */
function findAnchor(editing: Editing, alias: Cursor): Cursor | undefined {
  const root = treeOf(editing, alias.file)
  const found = targets.get(root) ?? listTargets(root)
  targets.set(root, found)
  const steps = found.get(linksOf(editing, alias).at(-1)!.tree)
  return steps === undefined ? undefined : { file: alias.file, steps }
}

function listTargets(root: Tree): ReadonlyMap<Tree, readonly number[]> {
  const found = new Map<Tree, readonly number[]>()
  const anchors = new Map<string, readonly number[]>()
  const steps: number[] = []
  const visit = (tree: Tree): void => {
    if (tree.anchor !== undefined) anchors.set(tree.anchor, [...steps])
    const target = tree.kind === 'alias' ? anchors.get(tree.name) : undefined
    if (target !== undefined) found.set(tree, target)
    for (const [index, { value }] of childrenOf(tree).entries()) {
      steps.push(index)
      visit(value)
      steps.pop()
    }
  }
  visit(root)
  return found
}

const maxValues = 1_000_000

/**
 * Returns a value as JSON. Includes, aliases and merge keys are resolved; what cannot be read is null.
 * @throws WP_DEFINITION_EDIT_REFUSED if aliases repeat more values than a definition may have
 */
export function toPlain(editing: Editing, cursor: Cursor): unknown {
  let remaining = maxValues
  let repeated = maxRepeated
  /** The number of aliases that lead to a value. */
  let aliases = 0
  const convert = (given: Cursor, tree: Tree, depth: number): unknown => {
    remaining -= 1
    if (aliases > 0 && (repeated -= 1) < 0)
      throw refuse(editing, given, `aliases and merge keys repeat more than ${maxRepeated} values`)
    if (remaining < 0 || depth > maxHops) return null
    if (tree.kind === 'scalar') return tree.value
    if (tree.kind !== 'alias' && tree.kind !== 'include') return expand(given, tree, depth)
    const at = follow(editing, given)
    if (at === undefined) return null
    return tree.kind === 'alias'
      ? repeat(() => expand(at, treeAt(editing, at), depth))
      : expand(at, treeAt(editing, at), depth)
  }
  const repeat = (work: () => unknown): unknown => {
    aliases += 1
    const value = work()
    aliases -= 1
    return value
  }
  const expand = (at: Cursor, tree: Tree, depth: number): unknown => {
    if (tree.kind === 'scalar') return tree.value
    const child = (index: number): Cursor => ({ file: at.file, steps: [...at.steps, index] })
    if (tree.kind === 'list') return tree.items.map(({ value }, index) => convert(child(index), value, depth + 1))
    if (tree.kind !== 'map') return null
    const entries = new Map<string, unknown>()
    for (const [index, entry] of tree.entries.entries())
      if (!isMerge(entry) && !entries.has(entry.key))
        entries.set(entry.key, convert(child(index), entry.value, depth + 1))
    for (const [index, entry] of tree.entries.entries()) {
      if (!isMerge(entry)) continue
      for (const from of listMerged(editing, child(index))) {
        const merged = repeat(() => convert(from, treeAt(editing, from), depth + 1))
        if (typeof merged !== 'object' || merged === null || Array.isArray(merged)) continue
        for (const [key, value] of Object.entries(merged)) if (!entries.has(key)) entries.set(key, value)
      }
    }
    return Object.fromEntries(entries)
  }
  return convert(cursor, treeAt(editing, cursor), 0)
}

/** Returns the value at keys of `waypost.yml` as JSON, through includes; undefined if there is none. */
export function findValue(editing: Editing, keys: readonly string[]): unknown {
  const found = walkSafely(editing, keys)
  return found === undefined ? undefined : toPlain(editing, found)
}

/** The place of an entry, and its exact text. */
export interface FoundEntry extends Location {
  /** The key and its value, without the indentation of the first line. */
  readonly text: string
}

/** Returns the place of an entry or item. */
export function placeOf(editing: Editing, { file, steps }: Cursor): Location {
  const links = linksOf(editing, { file, steps })
  const parent = links.at(-2)
  const start = parent === undefined ? 0 : parent.start + childrenOf(parent.tree)[steps.at(-1)!]!.start
  return { file, ...positionAt(openFile(editing, file)!.text, start) }
}

/** Returns the place and the text of the key at keys of `waypost.yml`; undefined if there is none. */
export function findKey(editing: Editing, keys: readonly string[]): FoundEntry | undefined {
  const cursor = keys.length === 0 ? undefined : walkSafely(editing, keys)
  if (cursor === undefined) return undefined
  const { file, text } = openFile(editing, cursor.file)!
  const { tree, start } = linksOf(editing, { file, steps: cursor.steps.slice(0, -1) }).at(-1)!
  const child = childrenOf(tree)[cursor.steps.at(-1)!]!
  const from = start + child.start
  return { file, ...positionAt(text, from), text: text.slice(from, Math.max(start + child.value.end, from + 1)) }
}

/**
 * Returns the file with the value at keys of `waypost.yml`, and all files that the entry consists of; undefined if there
 * is none.
 */
export function findFilesAt(
  editing: Editing,
  keys: readonly string[],
): { readonly file: string; readonly files: readonly string[] } | undefined {
  const cursor = walkSafely(editing, keys)
  if (cursor === undefined) return undefined
  const file = follow(editing, cursor)?.file ?? cursor.file
  const files = new Set([cursor.file, file])
  const visit = (from: string, tree: Tree): void => {
    for (const { value } of childrenOf(tree)) visit(from, value)
    const included = tree.kind === 'include' ? parseReference(from, tree.target)?.file : undefined
    if (included !== undefined) for (const one of listIncluded(editing, included).files) files.add(one)
  }
  visit(cursor.file, linksOf(editing, cursor).at(-1)!.tree)
  return { file, files: [...files] }
}

/** Lists a file and those that it includes. */
export function listIncluded(
  editing: Editing,
  from = rootFile,
): { readonly files: readonly string[]; readonly hasMissing: boolean } {
  const files = new Set([from])
  let hasMissing = false
  for (const file of files) {
    const opened = openFile(editing, file)
    hasMissing ||= opened === undefined
    if (opened === undefined) continue
    for (const reference of referencesOf(opened)) if (reference.isInclude) files.add(reference.file)
  }
  return { files: [...files], hasMissing }
}

/** Undefined also if a file on the way does not parse. */
function walkSafely(editing: Editing, keys: readonly string[]): Cursor | undefined {
  try {
    const { cursor, depth } = walk(editing, keys)
    return depth === keys.length ? cursor : undefined
  } catch (error) {
    if (error instanceof EditRefused) return undefined
    throw error
  }
}

/** Returns the files that a file includes or refers to. */
export function referencesOf(opened: EditedFile): readonly Reference[] {
  return (opened.references ??= listReferences(opened))
}

/** Whether a file includes others or refers to them. */
export function hasReferences({ text }: EditedFile): boolean {
  return /!include|\$ref/.test(text)
}

function listReferences(opened: EditedFile): readonly Reference[] {
  if (!hasReferences(opened)) return []
  const { file, text, tree } = opened
  const found: Reference[] = []
  const add = (target: string, isInclude: boolean): void => {
    const reference = parseReference(file, target)
    if (reference !== undefined) found.push({ ...reference, isInclude })
  }
  if ('problem' in tree) {
    for (const [, tag, one = ''] of text.matchAll(/(!include|\$ref["']?:)\s+["']?([^\s"',}\]]+)/g))
      add(one, tag === '!include')
    return found
  }
  const visit = (at: Tree): void => {
    if (at.kind === 'include') add(at.target, true)
    if (at.kind === 'list') for (const { value } of at.items) visit(value)
    if (at.kind !== 'map') return
    for (const { key, value } of at.entries) {
      if (key === '$ref' && value.kind === 'scalar' && /\.(ya?ml|json)(#|$)/.test(String(value.value)))
        add(String(value.value), false)
      else visit(value)
    }
  }
  visit(tree)
  return found
}

/** Lists the files that `waypost.yml` includes or refers to, and itself. */
export function listReachedFiles(editing: Editing): readonly string[] {
  return listReached(editing).map(({ file }) => file)
}

/** Returns all definition files that `waypost.yml` reaches, which are read for it. */
export function listReached(editing: Editing): readonly EditedFile[] {
  const reached = new Map<string, EditedFile>()
  const queue = [rootFile]
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    const opened = reached.has(file) ? undefined : openFile(editing, file)
    if (opened === undefined) continue
    reached.set(file, opened)
    for (const reference of referencesOf(opened)) queue.push(reference.file)
  }
  return [...reached.values()]
}
