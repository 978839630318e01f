import { escapeStep } from '../../schema/index.ts'
import { makeSourceCache, type SourceCache, type Texts } from '../load-context.ts'
import { openFolder, readProjectFile, type ProjectFolder } from '../read-file.ts'
import { toFullPath } from '../route-keys.ts'
import { EditRefused } from './edit-refused.ts'
import { EditedFile, makeTree, type Tree } from './source-tree.ts'

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

export function positionAt(text: string, offset: number): { readonly line: number; readonly column: number } {
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

/** Returns keys as a JSON pointer. A route in a group is named by its full path. */
export function pointerTo(keys: readonly string[]): string {
  return toFullPath(keys)
    .map((key) => `/${escapeStep(key)}`)
    .join('')
}
