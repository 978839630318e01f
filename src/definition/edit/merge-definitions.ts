import { isSameValue } from '../../kit/index.ts'
import { makeSourceCache, type SourceCache, type Texts } from '../load-context.ts'
import { Include, isWritableMap, type Writable, type WritableMap } from '../write-yaml.ts'
import { editDefinition, type Edit, type EditedFiles } from './edit-definition.ts'
import { EditRefused } from './edit-refused.ts'
import { findKey, findValue } from './find-value.ts'
import { listIncluded, referencesOf } from './references.ts'
import { toOwnKeys } from '../route-keys.ts'
import { openEditing, openFile, pointerTo, rootFile, type Editing } from './editing.ts'
import { hasSameOrder, orderedKey } from './set-value.ts'

/** Two versions of the definition files, and the one that both are based on. */
export interface Versions<Version = Texts> {
  readonly base: Version
  readonly theirs: Version
  readonly mine: Version
}

type Side = 'mine' | 'theirs'

/** How conflicts are decided: one side for all, or a function for each. */
export type PreferredSide = Side | ((conflict: MergeConflict) => Side)

/** A place that both sides changed in different ways. */
export interface MergeConflict {
  /** JSON pointer of `waypost.yml`; undefined for a file that it does not include, such as a migration. */
  readonly at: string | undefined
  /** The file of mine, or of theirs if mine has removed the place. */
  readonly file: string
  /** Undefined for a whole file. */
  readonly line: number | undefined
  /** The values; texts of a whole file. Undefined if the version lacks it. */
  readonly values: Versions<unknown>
}

export interface Merged {
  /** The changes to make to the files of mine. */
  readonly files: EditedFiles
  readonly conflicts: readonly MergeConflict[]
}

/**
 * Applies what changed between base and theirs to mine. The definition is compared key by key, so both sides may divide
 * it into files differently. Where mine equals base, files become exactly theirs, with their comments.
 * @param cache files parsed before, from `makeSourceCache`
 * @throws WP_DEFINITION_EDIT_REFUSED if a file does not parse, or shares a value that must change
 */
export function mergeDefinitions(
  texts: Versions,
  prefer: PreferredSide = 'mine',
  cache: SourceCache = makeSourceCache(),
): Merged {
  const { theirs, mine } = { theirs: openVersion(texts.theirs, cache), mine: openVersion(texts.mine, cache) }
  const conflicts: MergeConflict[] = []
  const decide = (conflict: MergeConflict): Side => {
    conflicts.push(conflict)
    return typeof prefer === 'function' ? prefer(conflict) : prefer
  }
  const wanted = mergeValues(
    {
      base: readValue(openVersion(texts.base, cache)),
      theirs: readValue(theirs),
      mine: readValue(mine),
    },
    {
      keys: [],
      decide: (keys, values) => {
        const place = findKey(mine, keys) ?? findKey(theirs, keys)
        return decide({ at: pointerTo(keys), file: place?.file ?? rootFile, line: place?.line, values })
      },
    },
  )
  return { files: mergeTexts(texts, { wanted, decide, cache }), conflicts }
}

/** What to take of the changes between two versions. */
export interface TakenChanges {
  /** Keys of changed values of the definition. */
  readonly values: readonly (readonly string[])[]
  /** Changed files to take whole: the definition does not include them, or all of their changes are taken. */
  readonly files: ReadonlySet<string>
}

/**
 * Returns a version of the definition with some of the changes that lead to another version.
 * @throws WP_DEFINITION_EDIT_REFUSED if a file does not parse, or shares a value that must change
 */
export function takeChanges(before: Texts, after: Texts, { values, files }: TakenChanges): Texts {
  const cache = makeSourceCache()
  const next = readValue(openVersion(after, cache))
  const start = readValue(openVersion(before, cache))
  const wanted = values.reduce((value, keys) => takeValue(value, next, findOwnKeys(keys, [next, start])), start)
  // Relative to this base, `after` changed only the files to take.
  const base = new Map(after)
  for (const file of files) put(base, file, before.get(file))
  const taken = new Map(before)
  const merged = mergeTexts({ base, theirs: after, mine: before }, { wanted, decide: () => 'mine', cache })
  for (const [file, text] of merged) put(taken, file, text)
  return taken
}

/** Returns the keys of an entry in the first value that has it. */
function findOwnKeys(keys: readonly string[], values: readonly unknown[]): readonly string[] {
  const ways = values.map((value) => toOwnKeys(keys, (at) => keysIn(getAt(value, at))))
  return ways.find((own, index) => getAt(values[index], own) !== undefined) ?? ways[0]!
}

function keysIn(value: unknown): readonly string[] | undefined {
  return isMap(value) ? Object.keys(value) : undefined
}

/** Returns the value at keys of a plain value. */
export function getAt(value: unknown, keys: readonly string[]): unknown {
  return keys.reduce<unknown>((at, key) => (isMap(at) && Object.hasOwn(at, key) ? at[key] : undefined), value)
}

/** Replaces the value at keys, and removes maps that are empty then and that the other version lacks. */
function takeValue(value: unknown, other: unknown, [key, ...below]: readonly string[]): unknown {
  if (key === undefined) return other
  const map = isMap(value) ? value : {}
  const of = (one: unknown) => (isMap(one) && Object.hasOwn(one, key) ? one[key] : undefined)
  const { [key]: _, ...others } = map
  const next = takeValue(of(map), of(other), below) as Writable | undefined
  const taken =
    next === undefined ? others : Object.hasOwn(map, key) ? { ...map, [key]: next } : { ...others, [key]: next }
  return other === undefined && Object.keys(taken).length === 0 ? undefined : taken
}

/** Opens a version of the definition; one without `waypost.yml` is empty. */
export function openVersion(texts: Texts, cache: SourceCache): Editing {
  return openEditing(undefined, { texts: texts.has(rootFile) ? texts : new Map([...texts, [rootFile, '']]), cache })
}

/** Returns the whole definition. */
export function readValue(version: Editing): unknown {
  return findValue(version, []) ?? {}
}

interface MergingTexts {
  readonly wanted: unknown
  readonly cache: SourceCache
  decide(conflict: MergeConflict): Side
}

/** Makes the edits that lead from the files of mine to a merged value. */
function mergeTexts(texts: Versions, { wanted, cache, decide }: MergingTexts): EditedFiles {
  const open = (version: Texts) => openVersion(version, cache)
  const theirs = open(texts.theirs)
  const included = new Set([texts.base, texts.theirs, texts.mine].flatMap((one) => listIncluded(open(one)).files))
  const { whole, parts } = mergeFiles(texts, { included, decide })
  const changed = [...included].filter((file) => texts.mine.has(file) && texts.mine.get(file) !== texts.base.get(file))
  const start = reachesAll(open(whole), changed) ? whole : parts
  const editing = open(start)
  const edits = listEdits(readValue(editing), wanted, {
    keys: [],
    fileOf: (keys, value) => {
      const isThere = (file: string) => start.get(file) === texts.theirs.get(file)
      return isSame(findValue(theirs, keys), value, keys.at(-1)) ? findOwnFile(theirs, keys, isThere) : undefined
    },
  })
  const edited = new Map(start)
  for (const [file, text] of editDefinition(
    editing,
    edits.map((one) => ({ ...one, isExact: true })),
  ))
    put(edited, file, text)
  const reached = new Set(listIncluded(open(edited)).files)
  for (const file of included) if (!reached.has(file) && !texts.mine.has(file)) edited.delete(file)
  return listChanges(texts.mine, edited)
}

/** A place that theirs changed and mine does not have. */
export interface OverwrittenPlace extends Omit<MergeConflict, 'values'> {
  /** Whether `mine` changed it too. */
  readonly isConflict: boolean
}

/** Lists what theirs changed since base and mine would undo, key by key. */
export function listOverwritten(texts: Versions): readonly OverwrittenPlace[] {
  const cache = makeSourceCache()
  const open = (files: Texts) => openVersion(files, cache)
  const { base, theirs, mine } = { base: open(texts.base), theirs: open(texts.theirs), mine: open(texts.mine) }
  const found: OverwrittenPlace[] = []
  const compare = (values: Versions<unknown>, keys: readonly string[]): void => {
    const key = keys.at(-1)
    if (isSame(values.base, values.theirs, key) || isSame(values.theirs, values.mine, key)) return
    const maps = Object.values(values).filter(isMap)
    if (isMap(values.theirs) && isMap(values.mine)) {
      const of = (value: unknown, name: string) =>
        isMap(value) && Object.hasOwn(value, name) ? value[name] : undefined
      for (const name of new Set(maps.flatMap((map) => Object.keys(map)))) {
        const inner = { base: of(values.base, name), theirs: of(values.theirs, name), mine: of(values.mine, name) }
        compare(inner, [...keys, name])
      }
      return
    }
    const place = findKey(theirs, keys) ?? findKey(base, keys)
    const isConflict = !isSame(values.base, values.mine, key)
    found.push({ at: pointerTo(keys), file: place?.file ?? rootFile, line: place?.line, isConflict })
  }
  compare({ base: findValue(base, []), theirs: findValue(theirs, []), mine: findValue(mine, []) }, [])
  const included = new Set([base, theirs, mine].flatMap((one) => listIncluded(one).files))
  for (const file of new Set([...texts.base.keys(), ...texts.theirs.keys()])) {
    const [before, now, own] = [texts.base, texts.theirs, texts.mine].map((files) => files.get(file))
    if (now === before || now === own || included.has(file)) continue
    found.push({ at: undefined, file, line: undefined, isConflict: own !== before })
  }
  return found
}

function put(files: Map<string, string>, file: string, text: string | undefined): void {
  if (text === undefined) files.delete(file)
  else files.set(file, text)
}

interface MergingFiles {
  readonly included: ReadonlySet<string>
  decide(conflict: MergeConflict): Side
}

/**
 * Merges whole files.
 * @returns `whole` takes every file that mine did not change from theirs; `parts` only new ones of the definition
 */
function mergeFiles(
  { base, theirs, mine }: Versions,
  { included, decide }: MergingFiles,
): Record<'whole' | 'parts', Map<string, string>> {
  const [whole, parts] = [new Map(mine), new Map(mine)]
  for (const file of new Set([...base.keys(), ...theirs.keys(), ...mine.keys()])) {
    const values = { base: base.get(file), theirs: theirs.get(file), mine: mine.get(file) }
    if (values.theirs === values.mine || values.base === values.theirs) continue
    const isMineChanged = values.base !== values.mine
    if (isMineChanged && included.has(file)) continue
    if (isMineChanged && decide({ at: undefined, file, line: undefined, values }) === 'mine') continue
    put(whole, file, values.theirs)
    if (!included.has(file) || values.mine === undefined) put(parts, file, values.theirs)
  }
  return { whole, parts }
}

function listChanges(before: Texts, after: Texts): EditedFiles {
  const files = new Set([...before.keys(), ...after.keys()])
  const changed = [...files].filter((file) => before.get(file) !== after.get(file))
  return new Map(changed.map((file) => [file, after.get(file)]))
}

/** Whether all includes lead to files, and the given files are among them. */
function reachesAll(editing: Editing, files: readonly string[]): boolean {
  try {
    const { files: included, hasMissing } = listIncluded(editing)
    return !hasMissing && files.every((file) => included.includes(file))
  } catch (error) {
    if (error instanceof EditRefused) return false
    throw error
  }
}

interface Merging {
  readonly keys: readonly string[]
  decide(keys: readonly string[], values: Versions<unknown>): Side
}

/** Merges maps key by key. Lists and texts are taken whole. */
function mergeValues(values: Versions<unknown>, merging: Merging): unknown {
  const { base, theirs, mine } = values
  const key = merging.keys.at(-1)
  if (isSame(base, theirs, key) || isSame(theirs, mine, key)) return mine
  if (isSame(base, mine, key)) return theirs
  if (isMap(theirs) && isMap(mine)) return mergeMaps({ base: isMap(base) ? base : {}, theirs, mine }, merging)
  return merging.decide(merging.keys, values) === 'mine' ? mine : theirs
}

function mergeMaps({ base, theirs, mine }: Versions<WritableMap>, merging: Merging): WritableMap {
  const isMineOrdered = Object.keys(mine).join('\n') !== Object.keys(base).join('\n')
  const keys = isMineOrdered ? joinKeys(mine, theirs) : joinKeys(theirs, mine)
  const merged = keys.map((key) => {
    const [ofBase, ofTheirs, ofMine] = [base, theirs, mine].map((map) =>
      Object.hasOwn(map, key) ? map[key] : undefined,
    )
    const values = { base: ofBase, theirs: ofTheirs, mine: ofMine }
    return [key, mergeValues(values, { ...merging, keys: [...merging.keys, key] })] as const
  })
  return Object.fromEntries(merged.filter(([, value]) => value !== undefined)) as WritableMap
}

/** Returns the keys of a map, and those of another one behind the key that precedes them there. */
function joinKeys(map: WritableMap, other: WritableMap): readonly string[] {
  const added = new Map<string | undefined, string[]>()
  let previous: string | undefined
  for (const key of Object.keys(other)) {
    const list = added.get(previous)
    if (Object.hasOwn(map, key)) previous = key
    else if (list === undefined) added.set(previous, [key])
    else list.push(key)
  }
  const after = (key: string | undefined) => added.get(key) ?? []
  return [...after(undefined), ...Object.keys(map).flatMap((key) => [key, ...after(key)])]
}

interface Place {
  readonly keys: readonly string[]
  /** Returns the file that contains exactly a new entry. */
  fileOf(keys: readonly string[], value: unknown): Include | undefined
}

/** Returns the edits that lead from one value to another, as deep in the maps as possible. */
function listEdits(current: unknown, wanted: unknown, { keys, fileOf }: Place): readonly Edit[] {
  const key = keys.at(-1)
  if (isSame(current, wanted, key)) return []
  if (!isMap(current) || !isMap(wanted) || key === orderedKey) return [{ keys, value: wanted as Writable | undefined }]
  return [...new Set([...Object.keys(current), ...Object.keys(wanted)])].flatMap((name) => {
    const at = [...keys, name]
    if (!Object.hasOwn(wanted, name)) return [{ keys: at, value: undefined }]
    if (Object.hasOwn(current, name)) return listEdits(current[name], wanted[name], { keys: at, fileOf })
    return [{ keys: at, value: includeFiles(wanted[name]!, { keys: at, fileOf }) }]
  })
}

/** Replaces a new value, or the entries of a new section, by the files that contain exactly them. */
function includeFiles(value: Writable, { keys, fileOf }: Place): Writable {
  const file = fileOf(keys, value)
  if (file !== undefined || keys.length > 1 || !isMap(value)) return file ?? value
  const entries = Object.entries(value).map(([name, one]) => [name, fileOf([...keys, name], one) ?? one] as const)
  return Object.fromEntries(entries)
}

/** Returns the file that contains exactly an entry of theirs, if it and all that it includes are already there. */
function findOwnFile(
  theirs: Editing,
  keys: readonly string[],
  isThere: (file: string) => boolean,
): Include | undefined {
  const place = findKey(theirs, keys)
  const parent = place && openFile(theirs, place.file)
  const value = findValue(theirs, keys)
  const [first] = isMap(value) ? Object.keys(value) : []
  const file = first === undefined ? undefined : findKey(theirs, [...keys, first])?.file
  if (parent === undefined || file === undefined || file === place?.file) return undefined
  const isWhole = referencesOf(parent).some((one) => one.isInclude && one.file === file && one.keys.length === 0)
  return isWhole && listIncluded(theirs, file).files.every(isThere) ? new Include(file) : undefined
}

export function isMap(value: unknown): value is WritableMap {
  return isWritableMap(value as Writable)
}

/** Compares values as merging does: only the fields of schemas have an order. */
export function isSame(one: unknown, other: unknown, key: string | undefined): boolean {
  return isSameValue(one, other) && hasSameOrder(one, other, key)
}
