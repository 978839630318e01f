import path from 'node:path'
import { parsePointer } from '../../schema/index.ts'
import type { EditedFile, Reference, Tree } from './source-tree.ts'
import { type Editing, rootFile, openFile } from './editing.ts'

/** Parses `file#/json/pointer`, relative to a file. */
export function parseReference(from: string, target: string): Omit<Reference, 'isInclude'> | undefined {
  const [name = '', fragment = ''] = target.split(/#(.*)/s)
  const keys = parsePointer(fragment)
  const file = name === '' ? from : path.posix.join(path.posix.dirname(from), name)
  return keys === undefined || file.startsWith('../') || !/\.(ya?ml|json)$/.test(file) ? undefined : { file, keys }
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
