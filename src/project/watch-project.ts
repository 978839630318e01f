import { once } from 'node:events'
import path from 'node:path'
import { watch } from 'chokidar'

export interface Watching {
  /** Runs something between two changes. */
  run(work: () => Promise<void>): Promise<void>
  /** Stops, and waits for what is under way. */
  close(): Promise<void>
}

/** Saves that came together. */
export interface Change {
  /** Relative to the root, in order of name. */
  readonly files: readonly string[]
  /** Files came, went, or were moved: others may mean something else now. */
  readonly isMove: boolean
}

export interface WatchOptions {
  /** Whether a file matters that is neither code nor definition. */
  isUsed?(file: string): boolean
  /**
   * Called with what changed; never twice at once. What it throws goes to `onError`.
   * @param letGo calls the ends that `onBegin` gave earlier than when this is over
   */
  onChange(change: Change, letGo: () => void): Promise<void>
  onError(error: unknown): void
  /** Called with each file of changes that come together. @returns what is called when they were worked off */
  onBegin(file: string): () => void
}

// Editors write a file in two or three steps, which are over within a few milliseconds.
const settleMs = 4
const ignoredFolders = new Set(['node_modules', '.waypost', '.git', 'coverage'])

/** Follows the files below a folder, from when it resolves; saves that come together are one change. */
export async function watchProject(root: string, options: WatchOptions): Promise<Watching> {
  let changed = new Set<string>()
  let isMove = false
  let onEnd: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const nameOf = (file: string) => path.relative(root, file).split(path.sep).join('/')
  const watcher = watch(root, { ignoreInitial: true, ignored: (file) => isIgnored(nameOf(file)) })
  watcher.on('all', (event, file) => {
    const name = nameOf(file)
    if (!event.endsWith('Dir') && !isOfProject(name) && options.isUsed?.(name) !== true) return
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
    const letGo = () => {
      for (const end of ends) end()
    }
    try {
      if (change.files.length > 0) await options.onChange(change, letGo)
    } catch (error) {
      options.onError(error)
    } finally {
      letGo()
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

/** `tables.ts` is written by the migrations that a change runs. */
function isIgnored(name: string): boolean {
  return ignoredFolders.has(name.split('/')[0]!) || /^migrations\/[^/]+\/tables\.ts$/.test(name)
}

/** What a definition or a bundle can hold; not the scratch files of editors, nor a log of whoever watches this. */
function isOfProject(name: string): boolean {
  return name === '.env' || (/\.([cm]?[jt]sx?|ya?ml|json|css|txt)$/.test(name) && !/(^|\/)\.#/.test(name))
}
