// The child process of the check "loads without side effects". Runs the top-level code of a plugin and observes it.
import { syncBuiltinESMExports } from 'node:module'
import type { Plugin } from '../contract/index.ts'
import { messageOf, publicModules } from '../kit/index.ts'
import { describePlugin, shareWaypost } from '../plugin/index.ts'

export type LoadReport =
  | { readonly effects: readonly string[]; readonly catalog: string }
  | { readonly problem: string }

process.once('disconnect', () => process.exit())
process.once('message', async ({ module }: { readonly module: string }) => {
  try {
    process.send!(await load(module))
  } catch (error) {
    process.send!({ problem: `It throws: ${messageOf(error)}` })
  }
})

async function load(module: string): Promise<LoadReport> {
  shareWaypost()
  for (const url of publicModules.values()) if (!url.includes('/testing/')) await import(url)
  await import('node:http') // sets globals of undici
  const effects = new Set<string>()
  observe(effects)
  const before = { globals: new Set(Reflect.ownKeys(globalThis)), listeners: listenersOf(), folder: process.cwd() }
  const resources = process.getActiveResourcesInfo()
  const loaded = (await import(module)) as { readonly default?: unknown }
  for (let turn = 0; turn < 3; turn++) await new Promise((resolve) => setImmediate(resolve))
  for (const key of Reflect.ownKeys(globalThis))
    if (!before.globals.has(key)) effects.add(`sets the global ${String(key)}`)
  for (const name of listenersOf())
    if (!before.listeners.includes(name)) effects.add(`listens to "${name}" of the process`)
  if (process.cwd() !== before.folder) effects.add('changes the working folder')
  if (process.exitCode !== undefined) effects.add('sets the exit code')
  for (const name of findNew(process.getActiveResourcesInfo(), resources)) effects.add(`keeps open: ${name}`)
  return { effects: [...effects].sort(), catalog: JSON.stringify(describePlugin(loaded.default as Plugin)) }
}

function observe(effects: Set<string>): void {
  const note = (name: string | symbol) => {
    // Node reads variables while it loads modules.
    const reader = new Error().stack?.split('\n')[3] ?? ''
    if (typeof name === 'string' && !reader.includes('node:internal')) effects.add(`reads the variable ${name}`)
  }
  process.env = new Proxy(process.env, {
    get: (env, name) => (note(name), Reflect.get(env, name)),
    has: (env, name) => (note(name), Reflect.has(env, name)),
    ownKeys: (env) => (note('*'), Reflect.ownKeys(env)),
    getOwnPropertyDescriptor: (env, name) => (note(name), Reflect.getOwnPropertyDescriptor(env, name)),
    set: (env, name, value) => (effects.add(`sets the variable ${String(name)}`), Reflect.set(env, name, value)),
  })
  syncBuiltinESMExports()
  for (const name of ['setTimeout', 'setInterval', 'fetch'] as const) {
    const original = globalThis[name] as (...all: unknown[]) => unknown
    globalThis[name] = ((...all: unknown[]) => (effects.add(`calls ${name}`), original(...all))) as never
  }
  for (const name of ['stdout', 'stderr'] as const) {
    process[name].write = () => {
      effects.add(`writes to ${name}`)
      return true
    }
  }
}

function listenersOf(): readonly string[] {
  return process.eventNames().flatMap((name) => process.listeners(name as 'exit').map(() => String(name)))
}

/** Files that are being read belong to the module loader. */
function findNew(now: readonly string[], before: readonly string[]): readonly string[] {
  const left = [...before]
  return now.filter((name) => {
    const index = left.indexOf(name)
    if (index !== -1) left.splice(index, 1)
    return index === -1 && !/^(FS|CloseReq|Immediate|Timeout|PipeWrap|TTYWrap)/.test(name)
  })
}
