import { once } from 'node:events'
import path from 'node:path'
import { watch } from 'chokidar'

export interface ProjectWatcher {
  /** Runs a function between two changes. */
  run(work: () => Promise<void>): Promise<void>
  /** Stops and waits for running work. */
  close(): Promise<void>
}

/** Saves that are handled together. */
export interface Change {
  /** Relative to the root, by name. */
  readonly files: readonly string[]
  /** Whether files were added, removed or moved, so that the meaning of others may have changed. */
  readonly isMove: boolean
}

export interface WatchOptions {
  /** Whether to watch a file that is neither code nor definition. */
  isUsed?(file: string): boolean
  /**
   * Called with each change, one at a time. Errors are passed to `onError`.
   * @param letGo calls the functions that `onBegin` returned, before this call ends
   */
  onChange(change: Change, release: () => void): Promise<void>
  onError(error: unknown): void
  /**
   * Called with each file of a change.
   * @returns a function that is called when the change was handled
   */
  onBegin(file: string): () => void
}

// Editors write a file in two or three operations within a few milliseconds.
const settleMs = 4
const ignoredFolders = new Set(['node_modules', '.waypost', '.git', 'coverage'])

/** Watches the files below a folder from the time it resolves. Simultaneous saves are one change. */
export async function watchProject(root: string, options: WatchOptions): Promise<ProjectWatcher> {
  let changed = new Set<string>()
  let isMove = false
  let onEnd: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const nameOf = (file: string) => path.relative(root, file).split(path.sep).join('/')
  const watcher = watch(root, { ignoreInitial: true, ignored: (file) => isIgnored(nameOf(file)) })
  watcher.on('all', (event, file) => {
    const name = nameOf(file)
    if (!event.endsWith('Dir') && !isProjectFile(name) && options.isUsed?.(name) !== true) return
    if (!changed.has(name)) onEnd.push(options.onBegin(name))
    changed.add(name)
    isMove ||= event !== 'change'
    clearTimeout(timer)
    timer = setTimeout(() => void run(workOff), settleMs)
  })
  watcher.on('error', (error) => options.onError(error))
  await once(watcher, 'ready')

  async function workOff(): Promise<void> {
    const change = { files: [...changed].toSorted(), isMove }
    const ends = onEnd
    changed = new Set()
    isMove = false
    onEnd = []
    const release = () => {
      for (const end of ends) end()
    }
    try {
      if (change.files.length > 0) await options.onChange(change, release)
    } catch (error) {
      options.onError(error)
    } finally {
      release()
    }
  }
  function run(work: () => Promise<void>): Promise<void> {
    running = running.then(() => work())
    return running
  }

  return {
    run,
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await running
      for (const end of onEnd) end()
    },
  }
}

/** A change may run migrations, which write `tables.ts` and `tables.json`. */
function isIgnored(name: string): boolean {
  return ignoredFolders.has(name.split('/')[0]!) || /^migrations\/[^/]+\/tables\.(ts|json)$/.test(name)
}

/** Whether a definition or a bundle may contain the file; false for editors' temporary files and logs. */
function isProjectFile(name: string): boolean {
  return name === '.env' || (/\.([cm]?[jt]sx?|ya?ml|json|css|txt)$/.test(name) && !/(^|\/)\.#/.test(name))
}
