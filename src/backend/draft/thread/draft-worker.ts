// A thread that parses, checks, compares and edits definitions, so that large ones do not block requests. It has no
// database and no variables: what it needs of them are data of its tasks, or answers of the main thread.
import { parentPort, workerData } from 'node:worker_threads'
import {
  openBaseBuilder,
  type Base,
  type BaseBuilder,
  type LoadedTexts,
  type PluginProcess,
} from '../../../build/index.ts'
import { makeDifferenceCache, makeSourceCache } from '../../../definition/index.ts'
import { clearBareEnvironment } from '../../../kit/index.ts'
import { parseManifest } from '../../../release/index.ts'
import { keepLast } from '../system/keep-last.ts'
import { draftTasks, type TaskName } from './draft-tasks.ts'
import { withRoot, type CodedTexts, type TaskContext } from './task-context.ts'
import { restoreError, serializeError, type SentError } from './thread-errors.ts'
import { VersionReceiver, type SentInput } from './versions.ts'

export interface ThreadData {
  /** Contains the installed plugins. */
  readonly folder: string
  /** The folder of a project, whose files the texts replace; undefined if the texts are all files. */
  readonly root: string | undefined
}

/** What the thread asks the main thread for. */
export interface MainCalls extends PluginProcess {
  /** Returns the text of the manifest of a release. */
  loadManifest(release: string): Promise<string>
  loadArtifacts: (release: string) => ReturnType<Base['loadArtifacts']>
}

export type MainCall = Exclude<keyof MainCalls, 'close'>

export type ToThread =
  | ({ readonly task: TaskName } & SentInput)
  | { readonly call: number; readonly result?: unknown; readonly failure?: SentError }

export type FromThread =
  | { readonly output: unknown }
  | { readonly failure: SentError }
  | { readonly call: number; readonly name: MainCall; readonly args: readonly unknown[] }
  | { readonly closePlugins: true }

clearBareEnvironment()
const { folder, root } = workerData as ThreadData
const keptLoads = 4
const received = new VersionReceiver()
const calls = new Map<number, PromiseWithResolvers<unknown>>()
let lastCall = 0

function post(message: FromThread): void {
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort!.postMessage(message)
}

function ask<Name extends MainCall>(name: Name, ...args: Parameters<MainCalls[Name]>): ReturnType<MainCalls[Name]> {
  const call = (lastCall += 1)
  const waiting = Promise.withResolvers<unknown>()
  calls.set(call, waiting)
  post({ call, name, args })
  return waiting.promise as ReturnType<MainCalls[Name]>
}

const plugins: PluginProcess = {
  load: (source) => ask('load', source),
  describe: (orders, options) => ask('describe', orders, options),
  close: () => post({ closePlugins: true }),
}

/** The builder for the code of the last release. */
let builder:
  | { readonly release: string | undefined; readonly base: Base | undefined; readonly opened: BaseBuilder }
  | undefined
const loaded = new Map<string, Promise<LoadedTexts>>()
const idsOfTexts = new WeakMap<object, number>()
let lastId = 0

async function openBuilder(release: string | undefined) {
  if (builder !== undefined && builder.release === release) return builder
  loaded.clear()
  builder?.opened.close()
  builder = undefined
  const base: Base | undefined =
    release === undefined
      ? undefined
      : {
          manifest: parseManifest(await ask('loadManifest', release)),
          loadArtifacts: () => ask('loadArtifacts', release),
        }
  const { sources, edited } = context.edited
  const cache = { ...makeSourceCache(), sources, edited }
  builder = { release, base, opened: openBaseBuilder({ base, folder, cache, process: plugins }) }
  return builder
}

const edited = makeSourceCache()
const context: TaskContext = {
  root,
  edited,
  compared: { ...makeDifferenceCache(), sources: edited },
  async load({ texts, release }: CodedTexts) {
    const { opened } = await openBuilder(release)
    const id = idsOfTexts.get(texts) ?? (lastId += 1)
    idsOfTexts.set(texts, id)
    return keepLast(loaded, String(id), {
      count: keptLoads,
      make: () => opened.load(withRoot(texts, 'routes: {}\n')),
    })
  },
  async link(draft) {
    const { opened, base } = await openBuilder(draft.release)
    const built = await opened.link(await context.load(draft))
    const own = built.artifacts.filter(({ hash }) => !Object.hasOwn(base?.manifest.artifacts ?? {}, hash))
    return { ...built, own, base: base?.manifest }
  },
}

async function run({ task, ...sent }: { readonly task: TaskName } & SentInput): Promise<FromThread> {
  try {
    const work = draftTasks[task] as (context: TaskContext, input: object) => unknown
    return { output: await work(context, received.receive(sent)) }
  } catch (error) {
    return { failure: serializeError(error) }
  }
}

parentPort!.on('message', async (message: ToThread) => {
  if ('task' in message) {
    post(await run(message))
    return
  }
  const waiting = calls.get(message.call)
  calls.delete(message.call)
  if (message.failure === undefined) waiting?.resolve(message.result)
  else waiting?.reject(restoreError(message.failure))
})
