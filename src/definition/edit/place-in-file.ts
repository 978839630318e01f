import { existsSync } from 'node:fs'
import path from 'node:path'
import { Include, isWritableMap, writeYaml, type Writable, type WritableMap } from '../write-yaml.ts'
import type { EditorSchemaFile } from '../editor-schema.ts'
import { toFullPath } from '../route-keys.ts'
import { follow, walk } from './walk.ts'
import { linksOf, openFile, rootFile, type Editing } from './editing.ts'
import { EditedFile } from './source-tree.ts'
import { makeRelative } from './verify-change.ts'

/** How the entries of a map at keys of `waypost.yml` are stored. */
export interface MapHabit {
  /** The file that contains the map. */
  readonly file: string
  /** The number of entries in files of their own. */
  readonly included: number
  readonly inPlace: number
}

/** Returns how the entries of a map are stored, also in included files; undefined if there is no map. */
export function findHabit(editing: Editing, keys: readonly string[]): MapHabit | undefined {
  const { cursor, depth, keys: own } = walk(editing, keys)
  const at = depth === own.length ? follow(editing, cursor) : undefined
  const tree = at === undefined ? undefined : linksOf(editing, at).at(-1)!.tree
  if (at === undefined || tree?.kind !== 'map') return undefined
  const included = tree.entries.filter(({ value }) => value.kind === 'include').length
  return { file: at.file, included, inPlace: tree.entries.length - included }
}

/** Whether the project, or a group of it, defines its routes in one file instead of a file for each. */
export function isAllInOne(editing: Editing, keys: readonly string[] = ['routes']): boolean {
  const routes = findHabit(editing, keys)
  return (
    routes !== undefined && (routes.file.endsWith('.json') || (routes.inPlace > 0 && routes.inPlace >= routes.included))
  )
}

const schemaFile = 'resources/schema.yml'

/** Returns the file for a new route, if each route of the project or of its group has its own. */
function chooseRouteFile(editing: Editing, keys: readonly string[], preferred?: string): string | undefined {
  if (isAllInOne(editing, keys.slice(0, -1))) return undefined
  const route = toFullPath(keys)[1]!
  const candidates = [...(preferred === undefined ? [] : [preferred]), ...nameRouteFiles(route)]
  const free = candidates.find((file) => !isTaken(editing, file))
  if (free !== undefined) return free
  for (let count = 2; ; count += 1) {
    const file = candidates.at(-1)!.replace(/\.yml$/, `-${count}.yml`)
    if (!isTaken(editing, file)) return file
  }
}

/** Returns the file for all schemas, if the project has none yet and is not a single file. */
function chooseSchemaFile(editing: Editing): string | undefined {
  return isAllInOne(editing) || isTaken(editing, schemaFile) ? undefined : schemaFile
}

function isTaken(editing: Editing, file: string): boolean {
  const { root } = editing
  return openFile(editing, file) !== undefined || (root !== undefined && existsSync(path.join(root, file)))
}

/** Returns the files that fit a route, the best one first: `resources/routes/order/item/entity.yml`. */
function nameRouteFiles(route: string): readonly string[] {
  const segments = route.split('/').filter((segment) => segment !== '')
  const fixed = segments.filter((segment) => !/^[:*]/.test(segment))
  const isEntity = /^[:*]/.test(segments.at(-1) ?? '')
  const folders = [...new Set([fixed, segments].map(folderOf))]
  return folders.map((folder) => `resources/routes/${folder}${isEntity ? '/entity' : ''}.yml`)
}

/** Returns path segments as a folder: `order/item`; `root` if they have no usable character. */
export function folderOf(segments: readonly string[]): string {
  const names = segments.map((segment) => segment.replaceAll(/[^A-Za-z0-9._-]+/g, '-').replaceAll(/^[-.]+|[-.]+$/g, ''))
  return names.filter((name) => name !== '').join('/') || 'root'
}

/** Moves new routes to files of their own, and the first schemas to a file for all, where the project does so. */
export function placeInFile(
  work: Editing,
  {
    keys,
    value,
    file,
  }: { readonly keys: readonly string[]; readonly value: Writable; readonly file?: string | undefined },
): Writable {
  const [section, route, ...below] = toFullPath(keys)
  if (!isWritableMap(value) || Object.keys(value).length === 0 || below.length > 0) return value
  if (Object.hasOwn(value, 'routes')) return value // a group
  if (section === 'routes' && route === undefined) {
    const entries = Object.entries(value).map(([key, one]) => [
      key,
      placeInFile(work, { keys: [section, key], value: one }),
    ])
    return Object.fromEntries(entries) as WritableMap
  }
  if (section === 'routes')
    return writeNewFile(work, { file: chooseRouteFile(work, keys, file), value, schema: 'waypost-route.schema.json' })
  if (section !== 'schema' || route !== undefined) return value
  return writeNewFile(work, { file: chooseSchemaFile(work), value, schema: 'waypost-schemas.schema.json' })
}

interface NewFile {
  /** Undefined if the value gets no file of its own. */
  readonly file: string | undefined
  readonly value: WritableMap
  /** The schema for editors. */
  readonly schema: EditorSchemaFile
}

function writeNewFile(work: Editing, { file, value, schema }: NewFile): Writable {
  if (file === undefined) return value
  const text = writeSchemaComment(work, file, schema) + writeYaml(makeRelative(value, file) as WritableMap)
  work.files.set(file, new EditedFile({ file, text }))
  return new Include(file)
}

/** Returns the comment that names the schema for editors, like that of `waypost.yml`; empty if that has none. */
function writeSchemaComment(work: Editing, file: string, schema: EditorSchemaFile): string {
  const { text = '' } = openFile(work, rootFile) ?? {}
  const found = /^#\s*yaml-language-server\s*:\s*\$schema=(\S*\/)?waypost\.schema\.json\s*$/m.exec(text)
  if (found === null) return ''
  const [, folder = './'] = found
  const isRelative = !/^([a-z]+:)?\//i.test(folder)
  const above = path.posix.relative(path.posix.dirname(file), folder)
  return `# yaml-language-server: $schema=${isRelative ? path.posix.join(above, schema) : folder + schema}\n`
}
