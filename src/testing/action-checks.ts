import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { ActionClass, ActionPlan, TablesSnapshot } from '../contract/index.ts'
import type { ActionToDescribe } from '../definition/index.ts'
import { withDeadline } from '../kit/index.ts'
import { loadSample, prepare, type Check, type CheckContext } from './sample-project.ts'

/** A method of a route that uses an action class. */
export interface ActionSample {
  readonly config?: object
  /** `GET` by default. */
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  /** `/sample` by default. */
  readonly path?: string
  /** Other keys of the method in `waypost.yml`, for example `request` or `dispatch`. The method is public by default. */
  readonly declared?: object
  /** Other sections of `waypost.yml`, for example `schema` or `event`. */
  readonly project?: object
  /** By connection. */
  readonly tables?: Readonly<Record<string, TablesSnapshot>>
}

/** Lists the requirements for an action class, as used by one method. */
export function listActionChecks(context: CheckContext, name: string, sample: ActionSample): readonly Check[] {
  const { method = 'GET', path = '/sample' } = sample
  const of = `the action class ${name} for ${method} ${path}`
  const one = context.plugin.actions![name]!
  const describing = typeof one.describe === 'function'
  return [
    {
      name: `${of} has a description and a valid config schema, which the config matches`,
      run: async () => {
        assert.equal(typeof one.description, 'string', 'It needs a description')
        await loadSample(yamlOf(name, sample), { plugin: context.plugin })
      },
    },
    ...(describing
      ? [
          { name: `${of} is described by a pure function`, run: () => checkPurity(context, name, sample) },
          {
            name: `${of} is described with valid schemas and without problems`,
            run: async () => void (await build(context, name, sample)),
          },
        ]
      : []),
    { name: `${of} makes an action`, run: () => checkMake(context, name, sample) },
    ...(describing
      ? [{ name: `${of} rejects a plan of another format`, run: () => checkFormat(context, name, sample) }]
      : []),
  ]
}

function yamlOf(name: string, { config = {}, method = 'GET', path = '/sample', declared, project }: ActionSample) {
  const use = { public: true, ...declared, action: { class: name, config } }
  return { ...project, routes: { [path]: { methods: { [method]: use } } } }
}

/** Builds a project with the sample. @returns the plan */
async function build({ plugin }: CheckContext, name: string, sample: ActionSample): Promise<ActionPlan | undefined> {
  const one = plugin.actions![name]!
  const { definition } = await loadSample(yamlOf(name, sample), {
    plugin,
    describe: async (actions) => ({
      results: actions.map((action) => ({ description: toJson(describe(one, action, sample) ?? {}) })),
      tables: sample.tables ?? {},
    }),
  })
  const { action } = definition!.routes[0]!.methods[0]! as { readonly action: { readonly plan?: ActionPlan } }
  return action.plan === undefined ? undefined : (toJson(action.plan) as ActionPlan)
}

function describe(one: ActionClass, { config, use }: ActionToDescribe, { tables = {} }: ActionSample): unknown {
  return one.describe!(config, use, tables)
}

async function checkPurity({ plugin }: CheckContext, name: string, sample: ActionSample): Promise<void> {
  const one = plugin.actions![name]!
  let asked: ActionToDescribe | undefined
  await loadSample(yamlOf(name, sample), {
    plugin,
    describe: async (actions) => {
      asked = actions[0]
      return { results: actions.map(() => ({ description: {} })) }
    },
  })
  const call = () => {
    const input = structuredClone({ action: asked!, tables: sample.tables ?? {} })
    const result = describe(one, input.action, { tables: input.tables })
    assert.ok(!(result instanceof Promise), 'describe() must be synchronous')
    assert.deepEqual(input, { action: asked, tables: sample.tables ?? {} }, 'describe() must not change its input')
    return result
  }
  const first = call()
  const odd = findNonJson(first)
  assert.equal(odd, undefined, `describe() must return JSON, and its value at "${odd}" is not`)
  const json = toJson(first)
  await pause(5) // so that the time is another
  assert.deepEqual(toJson(call()), json, 'describe() must return the same result for the same input')
}

async function checkMake(context: CheckContext, name: string, sample: ActionSample): Promise<void> {
  const plan = context.plugin.actions![name]!.describe === undefined ? undefined : await build(context, name, sample)
  const made = await make(context, name, { sample, plan })
  assert.equal(typeof (made as { handle?: unknown } | undefined)?.handle, 'function', 'make() must return { handle }')
}

async function checkFormat(context: CheckContext, name: string, sample: ActionSample): Promise<void> {
  const plan = await build(context, name, sample)
  if (plan === undefined) return
  const later = make(context, name, { sample, plan: { ...plan, format: plan.format + 1000 } })
  await assert.rejects(later, () => true, 'make() must reject a plan with a format that it does not know')
}

async function make(
  { plugin, limits: { makeMs }, services }: CheckContext,
  name: string,
  { sample, plan }: { readonly sample: ActionSample; readonly plan: ActionPlan | undefined },
): Promise<unknown> {
  const one = plugin.actions![name]!
  const config = prepare(one.config, sample.config ?? {}, `the action class ${name}`)
  const { method = 'GET', path = '/sample', tables } = sample
  const databases = Object.fromEntries(['System', ...Object.keys(tables ?? {})].map((one) => [one, 'sqlite'] as const))
  const making = (async () => one.make({ config, plan, use: { method, path }, databases, host: services() }))()
  return withDeadline(making, makeMs, () => assert.fail(`make() did not finish within ${makeMs / 1000} s`))
}

function toJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value)) as unknown
}

/** Returns the path of a value that JSON would change. Properties that are undefined are left out. */
function findNonJson(value: unknown, at = ''): string | undefined {
  if (value === null || typeof value === 'string' || typeof value === 'boolean') return undefined
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : at
  if (typeof value !== 'object') return at
  const isPlain = Array.isArray(value) || [Object.prototype, null].includes(Object.getPrototypeOf(value) as null)
  if (!isPlain) return at
  const entries = Object.entries(value).filter(([, item]) => item !== undefined || Array.isArray(value))
  return entries.map(([key, item]) => findNonJson(item, `${at}/${key}`)).find((found) => found !== undefined)
}
