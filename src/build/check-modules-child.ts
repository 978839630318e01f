// The child process of checkModules: loads what it is told and says of each module what happened. Runs project code.
import type { Artifact } from '../release/index.ts'

/** What the parent sends, once. */
export interface LoadRequest {
  /** URL of a module that exports an ArtifactLoader. */
  readonly loader: string
  readonly artifacts: readonly Artifact[]
  /** Hashes of the modules to load. */
  readonly modules: readonly string[]
}

export type Problem = 'no-class' | { readonly reason: string; readonly stack: string }

/** What the child answers: a module that is about to be loaded, and then what came of it; or that it cannot work at all. */
export type LoadReport =
  | { readonly loading: string }
  | { readonly loaded: string; readonly problem?: Problem }
  | { readonly failed: string }

/** The face of the runtime's loader, which this room may not import. */
export interface ArtifactLoader {
  registerArtifacts(artifacts: Iterable<Artifact>): void
  importArtifact(hash: string): Promise<unknown>
  resolveStack(stack: string): string
}

process.once('disconnect', () => process.exit())
process.on('message', async (request: LoadRequest) => {
  await loadAll(request).catch((error: unknown) => report({ failed: String(error) }))
  // Whatever a module started must not keep the process.
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

/** `handle = async () => …` is there only once the class was instantiated. */
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
