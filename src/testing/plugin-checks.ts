import assert from 'node:assert/strict'
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { Plugin } from '../contract/index.ts'
import { makeBareEnvironment, readEnvironment, urlOfModule, variable, withDeadline } from '../kit/index.ts'
import { assertPlugin, describePlugin, withoutConfig } from '../plugin/index.ts'
import { listActionChecks, type ActionSample } from './action-checks.ts'
import { listConnectionChecks, type ConnectionSample } from './connection-checks.ts'
import { listStepChecks, type StepSample } from './step-checks.ts'
import type { LoadReport } from './load-plugin-child.ts'
import { loadSample, localPlugin, prepare, type Check, type CheckContext, type Limits } from './sample-project.ts'

export interface PluginTestOptions {
  /** The URL of the plugin's module, for example `import.meta.resolve('../src/index.ts')`. Loaded in a child process. */
  readonly module: string
  /** The plugin's config; `{}` by default. */
  readonly config?: object
  /** Samples of connections, by class. */
  readonly connections?: Readonly<Record<string, ConnectionSample>>
  /** Samples of actions, by class. A class without one is used by `GET /sample` with the config `{}`. */
  readonly actions?: Readonly<Record<string, ActionSample | readonly ActionSample[]>>
  /** Samples of route steps, by class. A class without one has the config `{}`. */
  readonly steps?: Readonly<Record<string, StepSample>>
}

const defaultLimits: Limits = { loadMs: 30_000, openMs: 5000, checkMs: 15_000, closeMs: 5000, makeMs: 10_000 }

/** Lists the requirements that a plugin must meet. */
export function listChecks(plugin: Plugin, options: PluginTestOptions, limits = defaultLimits): readonly Check[] {
  const shape = {
    name: 'is a plugin',
    run: async () => void assertPlugin(plugin, plugin?.name ?? 'the default export'),
  }
  if (!hasClasses(plugin)) return [shape]
  const services = () => ({
    config: prepare(plugin.config ?? withoutConfig, options.config ?? {}, 'the plugin'),
    log: { debug() {}, info() {}, warn() {}, error() {} },
    now: () => new Date(),
    fetch: (input: string | URL, init?: RequestInit) => fetch(input, { redirect: 'manual', ...init }),
  })
  const context: CheckContext = { plugin, limits, services }
  return [
    shape,
    { name: 'has a valid config schema, which the config matches', run: () => checkPluginConfig(plugin, options) },
    { name: 'loads without side effects', run: () => checkLoading(plugin, options, limits) },
    ...Object.keys(plugin.connections ?? {}).flatMap((name) =>
      listConnectionChecks(context, name, options.connections?.[name] ?? {}),
    ),
    ...Object.keys(plugin.actions ?? {}).flatMap((name) =>
      [options.actions?.[name] ?? {}].flat().flatMap((sample) => listActionChecks(context, name, sample)),
    ),
    ...Object.keys(plugin.steps ?? {}).flatMap((name) => listStepChecks(context, name, options.steps?.[name] ?? {})),
  ]
}

function hasClasses(plugin: Plugin): boolean {
  const isRecord = (value: unknown) => value === undefined || (typeof value === 'object' && value !== null)
  return isRecord(plugin) && plugin !== undefined && [plugin.connections, plugin.actions, plugin.steps].every(isRecord)
}

async function checkPluginConfig(plugin: Plugin, { config = {} }: PluginTestOptions): Promise<void> {
  await loadSample({ plugins: [{ name: localPlugin, config }] }, { plugin })
}

async function checkLoading(plugin: Plugin, { module }: PluginTestOptions, { loadMs }: Limits): Promise<void> {
  const report = await loadInChild(module, loadMs)
  if ('problem' in report) assert.fail(report.problem)
  assert.deepEqual(report.effects, [], 'The top-level code of the module and of what it imports has side effects')
  assert.equal(report.catalog, JSON.stringify(describePlugin(plugin)), 'Each load must return the same plugin')
}

async function loadInChild(module: string, loadMs: number): Promise<LoadReport> {
  const PATH = variable(readEnvironment(), 'PATH') ?? ''
  const child = fork(fileURLToPath(urlOfModule('src/testing/load-plugin-child')), [], {
    env: { ...makeBareEnvironment(), PATH },
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  const loading = new Promise<LoadReport>((resolve) => {
    child.once('message', resolve)
    child.once('exit', (code, signal) =>
      resolve({ problem: `It ended the process (${signal ?? `exit code ${code}`})` }),
    )
    child.send({ module })
  })
  try {
    return await withDeadline(loading, loadMs, () => ({ problem: `It did not load within ${loadMs / 1000} s` }))
  } finally {
    child.kill('SIGKILL')
  }
}
