import { once } from 'node:events'
import path from 'node:path'
import { watch } from 'chokidar'

export interface Watching {
  /** Works off what changed so far at once, even if that is nothing. */
  flush(): Promise<void>
  /** Stops, and waits for what is under way. */
  close(): Promise<void>
}

export interface WatchOptions {
  /** Called with the files that changed, relative to the root; never twice at once. Must not throw. */
  onChange(files: readonly string[]): Promise<void>
  onError(error: unknown): void
  /** Called with the first of changes that come together. @returns what is called when they were worked off */
  onBegin(file: string): () => void
}

// Editors write a file in two or three steps, which are over within a few milliseconds.
const settleMs = 4
const ignoredFolders = new Set(['node_modules', '.waypost', '.git', 'coverage'])

/** Follows the files below a folder, from when it resolves; saves that come together are one change. */
export async function watchProject(root: string, options: WatchOptions): Promise<Watching> {
  const changed = new Set<string>()
  let onEnd: (() => void)[] = []
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const nameOf = (file: string) => path.relative(root, file).split(path.sep).join('/')
  const watcher = watch(root, { ignoreInitial: true, ignored: (file) => isIgnored(nameOf(file)) })
  watcher.on('all', (_event, file) => {
    const name = nameOf(file)
    if (!changed.has(name)) onEnd.push(options.onBegin(name))
    changed.add(name)
    clearTimeout(timer)
    timer = setTimeout(() => void work(), settleMs)
  })
  watcher.on('error', (error) => options.onError(error))
  await once(watcher, 'ready')

  function work(isAsked = false): Promise<void> {
    running = running.then(async () => {
      const files = [...changed].toSorted()
      const ends = onEnd
      changed.clear()
      onEnd = []
      if (isAsked || files.length > 0) await options.onChange(files)
      for (const end of ends) end()
    })
    return running
  }

  return {
    flush: () => work(true),
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await running
      for (const end of onEnd) end()
    },
  }
}

/** `tables.ts` is written by the migrations that a change runs, a log perhaps by whoever watches this. */
function isIgnored(name: string): boolean {
  return (
    ignoredFolders.has(name.split('/')[0]!) || /^migrations\/[^/]+\/tables\.ts$/.test(name) || name.endsWith('.log')
  )
}
