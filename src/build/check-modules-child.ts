// The child process of checkModules: loads the requested modules and reports the result of each. Runs project code.
import type { Artifact } from '../release/index.ts'

/** The request of the parent, sent once. */
export interface LoadRequest {
  /** URL of a module that exports an ArtifactLoader. */
  readonly loader: string
  readonly artifacts: readonly Artifact[]
  /** Hashes of the modules to load. */
  readonly modules: readonly string[]
}

export type Problem = 'no-class' | { readonly reason: string; readonly stack: string }

/** The child's messages: a module that it is about to load, then its result; or that the child failed. */
export type LoadReport =
  | { readonly loading: string }
  | { readonly loaded: string; readonly problem?: Problem }
  | { readonly failed: string }

/** The exports of the artifact loader, which this room may not import. */
export interface ArtifactLoader {
  registerArtifacts(artifacts: Iterable<Artifact>): void
  importArtifact(hash: string): Promise<unknown>
  resolveStack(stack: string): string
}

process.once('disconnect', () => process.exit())
process.on('message', async (request: LoadRequest) => {
  await loadAll(request).catch((error: unknown) => report({ failed: String(error) }))
  // Nothing that a module started may keep the process alive.
  process.exit()
})

async function loadAll({ loader: url, artifacts, modules }: LoadRequest): Promise<void> {
  const loader = (await import(url)) as ArtifactLoader
  loader.registerArtifacts(artifacts)
  for (const hash of modules) {
    await report({ loading: hash })
    const problem = await loadOne(loader, hash)
    await report(problem === undefined ? { loaded: hash } : { loaded: hash, problem })
  }
}

async function loadOne(loader: ArtifactLoader, hash: string): Promise<Problem | undefined> {
  try {
    const module = (await loader.importArtifact(hash)) as { readonly default?: unknown }
    return isActionClass(module.default) ? undefined : 'no-class'
  } catch (error) {
    const stack = error instanceof Error ? String(error.stack) : ''
    return { reason: reasonOf(error), stack: loader.resolveStack(stack) }
  }
}

function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message || error.name : String(error)
  return text.split('\n', 1)[0]!
}

function isActionClass(value: unknown): boolean {
  if (typeof value !== 'function' || typeof value.prototype !== 'object' || value.prototype === null) return false
  return typeof value.prototype.handle === 'function' || hasOwnHandle(value as new () => { handle?: unknown })
}

/** A property such as `handle = async () => …` only exists on an instance. */
function hasOwnHandle(Class: new () => { handle?: unknown }): boolean {
  try {
    return typeof new Class().handle === 'function'
  } catch {
    return false
  }
}

function report(message: LoadReport): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send!(message, (error: Error | null) => (error ? reject(error) : resolve()))
  })
}
