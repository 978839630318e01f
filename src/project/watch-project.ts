import { once } from 'node:events'
import { statSync } from 'node:fs'
import path from 'node:path'
import { watch } from 'chokidar'

export interface ProjectWatcher {
  /** Runs a function between two changes. */
  run(work: () => Promise<void>): Promise<void>
  /** Returns the saves since the change that is being handled, which are then handled with it. */
  takeChange(): Change
  /** Calls the functions that `onBegin` returned, before the end of the change that is being handled. */
  release(): void
  /** Returns a text that differs if a watched file has changed. */
  readState(): string
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
  /** Called with each change, one at a time. Errors are passed to `onError`. */
  onChange(change: Change): Promise<void>
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
  /** Of the change that is being handled. */
  let ends: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const nameOf = (file: string) => path.relative(root, file).split(path.sep).join('/')
  const watcher = watch(root, { ignoreInitial: true, ignored: (file) => isIgnored(nameOf(file)) })
  const isWatched = (name: string) => isProjectFile(name) || options.isUsed?.(name) === true
  watcher.on('all', (event, file) => {
    const name = nameOf(file)
    if (!event.endsWith('Dir') && !isWatched(name)) return
    if (!changed.has(name)) onEnd.push(options.onBegin(name))
    changed.add(name)
    isMove ||= event !== 'change'
    clearTimeout(timer)
    timer = setTimeout(() => void run(workOff), settleMs)
  })
  watcher.on('error', (error) => options.onError(error))
  await once(watcher, 'ready')

  function takeChange(): Change {
    const change = { files: [...changed].toSorted(), isMove }
    ends.push(...onEnd)
    changed = new Set()
    isMove = false
    onEnd = []
    return change
  }
  async function workOff(): Promise<void> {
    const change = takeChange()
    try {
      if (change.files.length > 0) await options.onChange(change)
    } catch (error) {
      options.onError(error)
    }
  }
  function release(): void {
    for (const end of ends) end()
    ends = []
  }
  function readState(): string {
    const stamps: string[] = []
    for (const [folder, names] of Object.entries(watcher.getWatched())) {
      const prefix = nameOf(path.join(folder, '_')).slice(0, -1)
      for (const name of names) if (isWatched(prefix + name)) stamps.push(prefix + name, stampOf(`${folder}/${name}`))
    }
    return stamps.join('\n')
  }
  function run(work: () => Promise<void>): Promise<void> {
    running = running.then(() => work()).finally(release)
    return running
  }

  return {
    run,
    takeChange,
    release,
    readState,
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await running
      for (const end of onEnd) end()
    },
  }
}

function stampOf(file: string): string {
  try {
    const { ino, size, ctimeMs } = statSync(file)
    return `${ino} ${size} ${ctimeMs}`
  } catch {
    return 'missing'
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
