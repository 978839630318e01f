import {
  importWithTimeout,
  isImported,
  registerArtifacts,
  type Artifact,
  type ClosedModules,
  type StoredRelease,
} from '../release/index.ts'
import type { Log } from '../contract/index.ts'
import type { Host } from './host.ts'

/** A release with its artifacts. */
export interface ReleaseToServe {
  readonly release: StoredRelease
  readonly artifacts: readonly Artifact[]
  /** After an abort, waits only a moment longer for code that is loading. */
  readonly signal?: AbortSignal | undefined
  /**
   * The files that were saved, for `dev`: if a save changes many actions, only the code of these is loaded at once, and that
   * of a few others. Node never frees modules, so a helper of 2,000 actions would soon fill the memory.
   */
  readonly saved?: ReadonlySet<string> | undefined
}

/** The default exports of action files, by artifact hash. */
export interface LoadedModules {
  readonly modules: ReadonlyMap<string, unknown>
  /** Loads the default export of an action that is not among them. */
  loadLate(hash: string, file: string): Promise<unknown>
}

/** If a save changes more actions, most are loaded on their first call. */
const maxAtOnce = 50
/** Of those, so many are loaded at once, because what breaks many of them is found then. */
const sampleSize = 3

/** A part of a manifest that names an action. */
interface ActionUse {
  readonly action: { readonly artifact: string; readonly file: string } | object
}

/**
 * Loads the default exports of action files. Each hash is evaluated once per process.
 * @throws WP_RUNTIME_IMPORT_WAITS, or the error of a file that cannot be loaded
 */
export async function loadModules(
  { imports }: Pick<Host, 'imports'>,
  { artifacts, saved, signal = imports?.signal }: ReleaseToServe,
  uses: Iterable<ActionUse>,
): Promise<LoadedModules> {
  const files = new Map(
    [...uses].flatMap(({ action }) => ('artifact' in action ? [[action.artifact, action.file]] : [])),
  )
  const modules = new Map<string, unknown>()
  const load = async (hash: string, file: string) =>
    ((await importWithTimeout(hash, file, { ...imports, signal })) as { default?: unknown }).default
  if (files.size === 0) return { modules, loadLate: load }
  registerArtifacts(artifacts)
  for (const [hash, file] of chooseFiles([...files], saved)) modules.set(hash, await load(hash, file))
  return { modules, loadLate: load }
}

type ActionFiles = readonly (readonly [hash: string, file: string])[]

function chooseFiles(files: ActionFiles, saved: ReadonlySet<string> | undefined): ActionFiles {
  if (saved === undefined) return files
  const added = files.filter(([hash]) => !isImported(hash))
  if (added.length <= maxAtOnce) return files
  const late = new Set(added.slice(sampleSize).filter(([, file]) => !saved.has(file)))
  return files.filter((one) => !late.has(one))
}

/** Logs what code that is no longer served has left open. */
export function logClosed({ left, errors }: ClosedModules, log: Log): void {
  for (const { kind, place, isEnded } of left) {
    if (isEnded) log.warn({ kind, place }, 'outdated code left something running; it was ended')
    else log.warn({ kind, place }, 'outdated code left something open')
  }
  for (const error of errors) log.warn({ err: error }, error.message)
}
