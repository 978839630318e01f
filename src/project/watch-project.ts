import { existsSync, realpathSync, statSync } from 'node:fs'
import path from 'node:path'
import { watch, type FSWatcher } from 'chokidar'
import { messageOf } from '../kit/index.ts'

export interface ProjectWatcher {
  /** Runs a function between two changes. */
  run(work: () => Promise<void>): Promise<void>
  /** Returns the saves since the change that is being handled, which are then handled with it. */
  takeChange(): Change
  /** Calls the functions that `onBegin` returned, before the end of the change that is being handled. */
  release(): void
  /** Returns a text that differs if a watched file has changed. */
  readState(): string
  /** Also watches these files, relative to the root, if they are outside of it. */
  follow(files: ReadonlySet<string>): void
  /** Stops and waits for running work. */
  close(): Promise<void>
}

/** Saves that are handled together. */
export interface Change {
  /** Relative to the root, by name; empty if saves may have been missed, so that all files must be read. */
  readonly files: readonly string[]
  /** Whether files were added, removed or moved, so that the meaning of others may have changed. */
  readonly isMove: boolean
}

export interface WatchOptions {
  /** Files outside of the root that are watched, relative to it. */
  readonly outside: ReadonlySet<string>
  /** Whether to watch a file that is neither code nor definition. */
  isUsed?(file: string): boolean
  /** Called with each change, one at a time. Errors are passed to `onError`. */
  onChange(change: Change): Promise<void>
  onError(error: unknown): void
  /** Called with a sentence about files whose changes are not seen, or are seen late. */
  onWarning(message: string): void
  /**
   * Called with each file of a change.
   * @returns a function that is called when the change was handled
   */
  onBegin(file: string): () => void
}

// Editors write a file in two or three operations within a few milliseconds.
const settleMs = 4
/** How often files are looked at if the system does not report their changes. */
const pollMs = 500
/** ENOSPC: no more watches; EMFILE: no more instances or descriptors. */
const watcherLimits = new Set(['ENOSPC', 'EMFILE'])
const ignoredFolders = new Set(['node_modules', '.waypost', '.git', 'coverage'])

/** Watches the files below a folder from the time it resolves. Simultaneous saves are one change. */
export async function watchProject(root: string, options: WatchOptions): Promise<ProjectWatcher> {
  const saves = new Saves()
  let timer: NodeJS.Timeout | undefined
  let running: Promise<void> = Promise.resolve()

  const outside = new OutsideFiles(root)
  const nameOf = (file: string) => outside.nameOf(file)
  const isMark = (name: string) => installMarks.some((mark) => name.endsWith(mark))
  const isWatched = (name: string) => isProjectFile(name) || isMark(name) || options.isUsed?.(name) === true
  const watcher = watchFolder([root, ...outside.add(findMarks(root)), ...outside.add(options.outside)], {
    isIgnored: (file) => (outside.isOutside(file) ? !outside.has(file) : isIgnored(nameOf(file))),
    onEvent: (event, file) => {
      const name = nameOf(file)
      if (outside.isOutside(file) ? event.endsWith('Dir') : !event.endsWith('Dir') && !isWatched(name)) return
      saves.add(name, event !== 'change' || isMark(name), () => options.onBegin(name))
      clearTimeout(timer)
      timer = setTimeout(() => void run(workOff), settleMs)
    },
    onUnreadable: (found) => {
      const names = found.map(nameOf).toSorted().join(', ')
      options.onWarning(`Changes are not detected in files and folders that this user may not read: ${names}`)
    },
    onMissed: () => void run(() => notify({ files: [], isMove: true })),
    onWarning: options.onWarning,
  })
  await watcher.ready

  async function workOff(): Promise<void> {
    const change = saves.take()
    if (change.files.length > 0) await notify(change)
  }
  async function notify(change: Change): Promise<void> {
    try {
      await options.onChange(change)
    } catch (error) {
      options.onError(error)
    }
  }
  function run(work: () => Promise<void>): Promise<void> {
    running = running.then(() => work()).finally(() => saves.release())
    return running
  }

  return {
    run,
    takeChange: () => saves.take(),
    release: () => saves.release(),
    follow: (files) => watcher.add(outside.add(files)),
    readState() {
      const stamps: string[] = []
      for (const [folder, names] of Object.entries(watcher.getWatched())) {
        const prefix = nameOf(path.join(folder, '_')).slice(0, -1)
        for (const name of names) if (isWatched(prefix + name)) stamps.push(prefix + name, stampOf(`${folder}/${name}`))
      }
      return stamps.join('\n')
    },
    async close() {
      clearTimeout(timer)
      await watcher.close()
      await running
      saves.take()
      saves.release()
    },
  }
}

interface FolderEvents {
  isIgnored(file: string): boolean
  onEvent(event: string, file: string): void
  /** Called with what was found together. */
  onUnreadable(files: readonly string[]): void
  /** Called if saves may have been missed. */
  onMissed(): void
  onWarning(message: string): void
}

/** Watches a folder whatever happens: errors are warnings, and if the system watches no more files, they are polled. */
function watchFolder(roots: readonly string[], events: FolderEvents) {
  const all = [...roots]
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>()
  let isReady = false
  void ready.then(() => (isReady = true))
  const unreadable = new Set<string>()
  let reported = 0
  let reporting: NodeJS.Timeout | undefined
  let current = open({ usePolling: false })

  function open({ usePolling }: { readonly usePolling: boolean }): FSWatcher {
    const pace = { backend: 'polling', interval: pollMs, binaryInterval: pollMs } as const
    const options = { ignoreInitial: true, ignored: events.isIgnored, ...(usePolling ? pace : {}) }
    const watcher = watch([...all], options)
    watcher.on('all', events.onEvent)
    watcher.once('ready', becomeReady)
    watcher.on('error', (error) => {
      const { code = '', path: file } = error as NodeJS.ErrnoException
      if ((code === 'EACCES' || code === 'EPERM') && file !== undefined) addUnreadable(file)
      else if (watcher !== current) return
      else if (watcherLimits.has(code) && !usePolling) poll(code)
      else events.onWarning(`Cannot watch files: ${messageOf(error)}`)
    })
    return watcher
  }
  function addUnreadable(file: string): void {
    unreadable.add(file)
    clearTimeout(reporting)
    reporting = setTimeout(() => {
      const found = [...unreadable].slice(reported)
      reported = unreadable.size
      if (found.length > 0) events.onUnreadable(found)
    }, settleMs)
  }
  function poll(code: string): void {
    const hasMissed = isReady
    void current.close()
    current = open({ usePolling: true })
    if (hasMissed) current.once('ready', events.onMissed)
    const delay = `${pollMs / 1000} s`
    events.onWarning(
      `The system cannot watch more files for this user (${code}), so saves are detected only within ${delay}. ` +
        'On Linux, raise fs.inotify.max_user_watches and fs.inotify.max_user_instances.',
    )
  }

  return {
    ready,
    getWatched: () => current.getWatched(),
    add(folders: readonly string[]) {
      all.push(...folders)
      if (folders.length > 0) current.add([...folders])
    },
    async close() {
      clearTimeout(reporting)
      await current.close()
    },
  }
}

/** The files that npm, pnpm and Yarn write when they have installed packages. */
const installMarks = ['node_modules/.package-lock.json', 'node_modules/.modules.yaml', 'node_modules/.yarn-state.yml']

/** Returns those of the root, and of the folders above it: packages of a workspace may be installed there. */
function findMarks(root: string): ReadonlySet<string> {
  const marks: string[] = []
  for (let up = ''; ; up += '../') {
    marks.push(...installMarks.map((mark) => up + mark).filter((mark) => existsSync(path.join(root, mark))))
    const folder = path.resolve(root, up)
    if (folder === path.dirname(folder)) return new Set(marks)
  }
}

/** Files outside of a root, such as those of linked packages. Their folders are watched, because editors replace files. */
class OutsideFiles {
  readonly #root: string
  readonly #realRoot: string
  readonly #below: string
  /** Files and their folders. */
  readonly #known = new Set<string>()

  constructor(root: string) {
    this.#root = root
    this.#realRoot = realpathSync(root)
    this.#below = path.resolve(root) + path.sep
  }

  /** @returns the folders that are new */
  add(names: ReadonlySet<string>): string[] {
    const files = [...names].filter((name) => name.startsWith('../')).map((name) => path.resolve(this.#realRoot, name))
    const folders = new Set(files.map((file) => path.dirname(file)).filter((folder) => !this.#known.has(folder)))
    for (const file of [...files, ...folders]) this.#known.add(file)
    return [...folders]
  }

  has(file: string): boolean {
    return this.#known.has(file)
  }

  isOutside(file: string): boolean {
    return !this.#isBelow(file) && path.relative(this.#root, file).startsWith('..')
  }

  /** Quick, since the watcher asks for each file of a folder in which one has changed. */
  #isBelow(file: string): boolean {
    return file.startsWith(this.#below) && !file.includes(`${path.sep}..`)
  }

  nameOf(file: string): string {
    if (this.#isBelow(file)) return file.slice(this.#below.length).replaceAll(path.sep, '/')
    const from = this.isOutside(file) ? this.#realRoot : this.#root
    return path.relative(from, file).split(path.sep).join('/')
  }
}

/** Saves that are not handled yet. */
class Saves {
  #files = new Map<string, () => void>()
  #isMove = false
  #taken: (() => void)[] = []

  /** @param begin called if the file is not waiting yet */
  add(file: string, isMove: boolean, begin: () => () => void): void {
    if (!this.#files.has(file)) this.#files.set(file, begin())
    this.#isMove ||= isMove
  }

  take(): Change {
    const change = { files: [...this.#files.keys()].toSorted(), isMove: this.#isMove }
    this.#taken.push(...this.#files.values())
    this.#files = new Map()
    this.#isMove = false
    return change
  }

  /** Calls what `begin` returned for the files that were taken. */
  release(): void {
    for (const end of this.#taken.splice(0)) end()
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

/** Migrations write `tables.ts` together with `tables.json`, whose changes are reported. */
function isIgnored(name: string): boolean {
  if (name === 'node_modules' || installMarks.includes(name)) return false
  return ignoredFolders.has(name.split('/')[0]!) || /^migrations\/[^/]+\/tables\.ts$/.test(name)
}

/** Whether a change of a file is reported. */
export function isWatchedFile(name: string): boolean {
  return isProjectFile(name) && !isIgnored(name)
}

/** Whether a definition or a bundle may contain the file; false for editors' temporary files and logs. */
function isProjectFile(name: string): boolean {
  return name === '.env' || (/\.([cm]?[jt]sx?|ya?ml|json|css|txt)$/.test(name) && !/(^|\/)\.#/.test(name))
}
