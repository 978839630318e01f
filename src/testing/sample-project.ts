import assert from 'node:assert/strict'
import { tmpdir } from 'node:os'
import type { Plugin, PluginServices } from '../contract/index.ts'
import { loadDefinition, type LoadedDefinition, type LoadOptions } from '../definition/index.ts'
import { describePlugin, makeConfigPreparer, withoutConfig } from '../plugin/index.ts'

/** One requirement of the contract. */
export interface Check {
  readonly name: string
  /** Why it cannot be checked. */
  readonly skip?: string
  /** @throws if the plugin does not meet it */
  run(): Promise<void>
}

/** Time limits in milliseconds. */
export interface Limits {
  readonly loadMs: number
  readonly openMs: number
  readonly checkMs: number
  readonly closeMs: number
  readonly makeMs: number
}

/** What the checks of classes share. */
export interface CheckContext {
  readonly plugin: Plugin
  readonly limits: Limits
  /** What classes get as `host`. @throws if the plugin's config is not valid */
  services(): PluginServices
}

/** Returns a valid config with defaults. */
export function prepare(schema: object, config: object, of: string): Readonly<Record<string, unknown>> {
  const prepared = makeConfigPreparer({})(schema, { ...config })
  if ('config' in prepared) return prepared.config
  const problem = 'problem' in prepared ? prepared.problem : `it refers to ${prepared.missing.join(', ')}`
  throw new Error(`The config of ${of} that was given to testPlugin is not valid: ${problem}`)
}

/** The plugin in a sample project. */
export const localPlugin = './plugin.js'

/** Builds a sample project like `waypost validate`. @throws AssertionError with the first problem */
export async function loadSample(
  yaml: object,
  { plugin, describe }: { readonly plugin: Plugin; readonly describe?: LoadOptions['describe'] },
): Promise<LoadedDefinition> {
  const { connections, actions, steps = {} } = describePlugin(plugin)
  const classes = {
    connections,
    actions: { ...actions, sample: { config: {} } },
    steps,
    plugins: { [localPlugin]: { config: (plugin.config ?? withoutConfig) as never } },
  }
  const texts = new Map([['waypost.yml', JSON.stringify({ routes: {}, ...yaml })]])
  const loaded = await loadDefinition(tmpdir(), { classes, texts, ...(describe && { describe }) })
  const problem = loaded.diagnostics.find(({ severity }) => severity === 'error')
  if (problem !== undefined) assert.fail(`${problem.message}${problem.hint === undefined ? '' : `. ${problem.hint}`}`)
  return loaded
}
