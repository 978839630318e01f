import {
  EditRefused,
  listDifferences,
  mergeDefinitions,
  takeChanges,
  type Difference,
  type DifferenceCache,
  type EditedFiles,
  type MergeConflict,
  type Texts,
} from '../../../definition/index.ts'
import { pointerOf } from '../values.ts'

/** A change of a draft, which can be published or discarded without the others. */
export interface ListedChange {
  /** A JSON pointer of `waypost.yml`, such as `/event/todo_created`; the path of a file for changes outside of entries. */
  readonly name: string
  /** The JSON pointer; undefined for a file. */
  readonly at: string | undefined
  /** The file that contains it. */
  readonly file: string
  readonly status: 'added' | 'changed' | 'removed'
  /** All files that it changes. */
  readonly files: readonly string[]
}

/**
 * Lists the changes between the files of a release and those of a draft. While a file cannot be parsed, each changed file
 * is one change.
 */
export function listDraftChanges(base: Texts, draft: Texts, cache?: DifferenceCache): readonly ListedChange[] {
  return listWithKeys(base, draft, cache).map(({ keys, ...change }) => nameChange(keys, change))
}

function nameChange(keys: readonly string[] | undefined, change: Omit<Difference, 'keys'>): ListedChange {
  const at = keys && pointerOf(keys)
  return { name: at ?? change.file, at, ...change }
}

function listWithKeys(base: Texts, draft: Texts, cache?: DifferenceCache): readonly Difference[] {
  try {
    return listDifferences(base, draft, cache)
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error
    return listDifferentFiles(base, draft)
  }
}

/** Lists the changes without parsing a file: each changed file is one change. */
export function listFileChanges(base: Texts, draft: Texts): readonly ListedChange[] {
  return listDifferentFiles(base, draft).map(({ keys, ...change }) => nameChange(keys, change))
}

function listDifferentFiles(base: Texts, draft: Texts): readonly Difference[] {
  return listChangedFiles(base, draft).map((file) => {
    const status = !base.has(file) ? 'added' : draft.has(file) ? 'changed' : 'removed'
    return { keys: undefined, file, status, files: [file] }
  })
}

function listChangedFiles(one: Texts, other: Texts): readonly string[] {
  const files = [...new Set([...one.keys(), ...other.keys()])]
  return files.filter((file) => one.get(file) !== other.get(file)).toSorted()
}

/** Returns the names of changes that other changes are within, contain, or whose file these change. */
export function listTouched(names: readonly string[], edited: readonly ListedChange[]): readonly string[] {
  const own = new Set(edited.map(({ name }) => name))
  const outer = new Set(edited.flatMap(({ name, files }) => [...listOuter(name), ...files]))
  return names.filter((name) => outer.has(name) || listOuter(name).some((one) => own.has(one)))
}

/** Returns a name and the names that it is within. */
function listOuter(name: string): readonly string[] {
  const steps = name.split('/')
  return steps.map((_, index) => steps.slice(0, index + 1).join('/'))
}

/**
 * Returns the files of a release with some changes of a draft. Files whose changes are all taken become those of the
 * draft, with their comments.
 * @param names of `listDraftChanges`; others are ignored
 * @throws WP_DEFINITION_EDIT_REFUSED if a value that must change is shared
 */
export function selectChanges(
  { base, draft }: { readonly base: Texts; readonly draft: Texts },
  names: Iterable<string>,
): Texts {
  const chosen = new Set(names)
  const all = listWithKeys(base, draft)
  const isTaken = ({ keys, file }: Difference) => chosen.has(keys === undefined ? file : pointerOf(keys))
  const [taken, left] = [all.filter(isTaken), all.filter((one) => !isTaken(one))]
  if (left.length === 0) return draft
  if (taken.length === 0) return base
  const kept = new Set(left.flatMap(({ files }) => files))
  const files = new Set(taken.flatMap((one) => one.files).filter((file) => !kept.has(file)))
  const values = taken.flatMap(({ keys }) => (keys === undefined ? [] : [keys]))
  try {
    return takeChanges(base, draft, { values, files })
  } catch (error) {
    if (!(error instanceof EditRefused) || values.length > 0) throw error
    return new Map(
      [...new Set([...base.keys(), ...draft.keys()])].flatMap((file) => {
        const text = (files.has(file) ? draft : base).get(file)
        return text === undefined ? [] : [[file, text] as const]
      }),
    )
  }
}

export type RebaseSide = 'mine' | 'theirs'

/** A place that the draft and the new base changed differently. */
export interface RebaseConflict {
  readonly name: string
  readonly at: string | undefined
  readonly file: string
  /** Values; texts of a whole file. Undefined where it does not exist. */
  readonly base: unknown
  readonly theirs: unknown
  readonly mine: unknown
}

export interface RebaseVersions {
  readonly oldBase: Texts
  readonly newBase: Texts
  readonly draft: Texts
}

export interface Rebased {
  /** The files of the draft on the new base. */
  readonly texts: Texts
  /** All conflicts, also the decided ones. */
  readonly conflicts: readonly RebaseConflict[]
}

/**
 * Makes the changes of a draft on another base, key by key.
 * @param sides what to take for each conflict, by its name; by default the draft's
 */
export function rebase(versions: RebaseVersions, sides: Readonly<Record<string, RebaseSide>> = {}): Rebased {
  const { oldBase: base, newBase: theirs, draft: mine } = versions
  const conflicts: RebaseConflict[] = []
  try {
    const merged = mergeDefinitions({ base, theirs, mine }, ({ at, file, values }: MergeConflict) => {
      const name = at ?? file
      conflicts.push({ name, at, file, ...values })
      return chooseSide(sides, name)
    })
    return { texts: withFiles(mine, merged.files), conflicts }
  } catch (error) {
    if (!(error instanceof EditRefused)) throw error
    return rebaseFiles(versions, sides)
  }
}

function chooseSide(sides: Readonly<Record<string, RebaseSide>>, name: string): RebaseSide {
  return Object.hasOwn(sides, name) ? sides[name]! : 'mine'
}

/** Like `rebase`, without parsing a file: each is taken whole. */
export function rebaseFiles(
  { oldBase, newBase, draft }: RebaseVersions,
  sides: Readonly<Record<string, RebaseSide>> = {},
): Rebased {
  const conflicts: RebaseConflict[] = []
  const files = new Map<string, string | undefined>()
  for (const file of listChangedFiles(oldBase, newBase)) {
    const values = { base: oldBase.get(file), theirs: newBase.get(file), mine: draft.get(file) }
    if (values.mine === values.theirs) continue
    const isConflict = values.mine !== values.base
    if (isConflict) conflicts.push({ name: file, at: undefined, file, ...values })
    if (!isConflict || chooseSide(sides, file) === 'theirs') files.set(file, values.theirs)
  }
  return { texts: withFiles(draft, files), conflicts }
}

function withFiles(texts: Texts, files: EditedFiles): Texts {
  const after = new Map(texts)
  for (const [file, text] of files) {
    if (text === undefined) after.delete(file)
    else after.set(file, text)
  }
  return after
}
