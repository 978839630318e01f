import { fork, type ChildProcess } from 'node:child_process'
import { tmpdir } from 'node:os'
import { fileURLToPath } from 'node:url'
import type { TablesSnapshot } from '../../contract/index.ts'
import { makeBareEnvironment, readEnvironment, urlOfModule, WaypostError } from '../../kit/index.ts'
import { pluginErrors as errors, type PluginCatalog } from '../../plugin/index.ts'
import { artifactLoader } from '../../release/index.ts'
import type {
  DescribedJson,
  DescribeOrder,
  PluginAnswer,
  PluginProblem,
  PluginRequest,
  PluginSource,
} from './describe-child.ts'

/** A child process that runs plugin code, without Waypost's own variables. It does not keep this process alive. */
export interface PluginProcess {
  /**
   * Loads a plugin.
   * @throws WP_PLUGIN_LOAD, WP_PLUGIN_TIMEOUT, WP_PLUGIN_INVALID, WP_PLUGIN_VERSION, WP_PLUGIN_HOST
   */
  load(source: PluginSource): Promise<PluginCatalog>
  /**
   * Describes action classes.
   * @param sources the plugins of the orders; those that the process does not have are loaded again
   * @throws WP_PLUGIN_TIMEOUT, and the errors of `load`
   */
  describe(
    orders: readonly DescribeOrder[],
    { sources, tables }: { readonly sources: readonly PluginSource[]; readonly tables: Tables },
  ): Promise<{ readonly descriptions: readonly DescribedJson[]; readonly used: readonly string[] }>
  close(): void
}

type Tables = Readonly<Record<string, TablesSnapshot>>
type Content<Answer> = Answer extends unknown ? Omit<Answer, 'id'> : never
type Order = Content<PluginRequest>

export function openPluginProcess(timeoutMs = 30_000): PluginProcess {
  let child: ChildProcess | undefined
  /** Keys of the plugins that the child has loaded. */
  const loaded = new Set<string>()
  let last = 0

  /** @returns the response, or how the process ended without one */
  async function ask(order: Order): Promise<PluginAnswer | { readonly ended: string }> {
    const running = (child ??= startChild())
    const id = (last += 1)
    running.channel?.ref()
    const { promise, resolve } = Promise.withResolvers<PluginAnswer | { readonly ended: string }>()
    const onMessage = (answer: PluginAnswer) => void (answer.id === id && resolve(answer))
    const onExit = (code: number | null, signal: string | null) =>
      resolve({ ended: `it ended the process (${signal ?? `exit code ${code}`})` })
    const timer = setTimeout(() => resolve({ ended: 'timeout' }), timeoutMs)
    running.on('message', onMessage)
    running.on('exit', onExit)
    try {
      running.send({ id, ...order }, () => undefined)
      const answer = await promise
      if ('ended' in answer) close()
      return answer
    } finally {
      clearTimeout(timer)
      running.off('message', onMessage)
      running.off('exit', onExit)
      running.channel?.unref()
    }
  }

  function close(): void {
    child?.kill('SIGKILL')
    child = undefined
    loaded.clear()
  }

  async function load(source: PluginSource): Promise<PluginCatalog> {
    const name = source.source
    const answer = await ask({ loader: artifactLoader, load: source })
    if ('catalog' in answer) {
      loaded.add(source.key)
      return answer.catalog
    }
    if ('problem' in answer) throw errorOf(name, answer.problem)
    throw endedError(answer, { name, what: 'loading' })
  }

  function endedError(answer: object, { name, what }: { readonly name: string; readonly what: string }): Error {
    const ended = 'ended' in answer ? String(answer.ended) : 'timeout'
    return ended === 'timeout'
      ? errors.WP_PLUGIN_TIMEOUT({ name, what, seconds: timeoutMs / 1000 })
      : errors.WP_PLUGIN_LOAD({ name, reason: ended })
  }

  return {
    close,
    load,
    async describe(orders, { sources, tables }) {
      for (const source of sources) if (!loaded.has(source.key)) await load(source)
      const answer = await ask({ describe: orders, tables })
      if ('descriptions' in answer) return answer
      if ('problem' in answer) throw errorOf(sources[0]!.source, answer.problem)
      const name = sources.map(({ source }) => source).join('", "')
      const classes = [...new Set(orders.map((order) => order.class))].join(', ')
      throw endedError(answer, { name, what: `describing ${classes}` })
    },
  }
}

function startChild(): ChildProcess {
  const started = fork(fileURLToPath(urlOfModule('src/build/plugins/describe-child')), [], {
    cwd: tmpdir(),
    env: {
      ...makeBareEnvironment(),
      ...Object.fromEntries(Object.entries(readEnvironment()).filter(([name]) => !name.startsWith('WAYPOST_'))),
    },
    execArgv: [],
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    serialization: 'advanced',
  })
  started.unref()
  started.channel?.unref()
  return started
}

function errorOf(name: string, { code, message, hint }: PluginProblem): WaypostError {
  if (code === undefined || !code.startsWith('WP_PLUGIN_')) return errors.WP_PLUGIN_LOAD({ name, reason: message })
  return new WaypostError(code, { kind: 'user', status: 500, message, hint })
}
