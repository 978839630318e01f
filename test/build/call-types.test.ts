import assert from 'node:assert/strict'
import { test } from 'node:test'
import { makeTypes } from '../../src/build/index.ts'
import { compile } from './compile.ts'
import { todoDefinition, todoFiles } from './todo.ts'
import { system } from './types-of.ts'

test('a call of another method has the types of its parameters, its body and its result', async () => {
  const source = `import type { Action, Context, Request } from 'waypost'
async function count(context: Context): Promise<number> {
  const { entry } = await context.call('GET /todo')
  return entry.length
}
export class Calls implements Action<'GET /todo/:todo_id'> {
  async handle({ params }: Request<'GET /todo/:todo_id'>, context: Context<'GET /todo/:todo_id'>) {
    await count(context)
    const todo = await context.call('GET /todo/:todo_id', { params, headers: { 'if-none-match': '"1"' } })
    const text: string = todo.content
    await context.call('POST /todo', { body: { title: 'Copy', content: text } })
    // @ts-expect-error the path has a parameter
    await context.call('GET /todo/:todo_id')
    // @ts-expect-error the body has no such property
    await context.call('POST /todo', { body: { title: 'Copy', contents: text } })
    // @ts-expect-error there is no such method
    await context.call('GET /nothing')
    return todo
  }
}
export class Tidy implements Action<'cronjob'> {
  async handle(_request: Request<'cronjob'>, context: Context<'cronjob'>) {
    await context.call('GET /todo', { as: 'b36c6c2e-5a0f-4b6b-9b6e-000000000000', query: {} })
    await count(context)
  }
}
`
  const types = makeTypes(todoDefinition, system)
  assert.deepEqual(await compile({ ...todoFiles, 'src/calls.ts': source, '.waypost/types.d.ts': types }), [])
})

test('what a step of a plugin returns has the type that its class names', async () => {
  const [method] = todoDefinition.routes[0]!.methods
  const use = (name: string) => ({ class: name, config: {}, at: method!.at })
  const steps = [
    { name: 'tenant', action: use('tenant') },
    { name: 'other', action: use('other') },
  ]
  const routes = [{ ...todoDefinition.routes[0]!, path: '/mine', methods: [{ ...method!, steps }] }]
  const definition = { ...todoDefinition, routes: [...todoDefinition.routes, ...routes] }
  const types = makeTypes(definition, { ...system, stateTypes: { tenant: '{ readonly id: string }' } })
  assert.match(
    types,
    /state: \{ tenant: \{ readonly id: string \}; other: unknown \}|tenant: \{ readonly id: string \}/,
  )
  assert.match(types, /other: unknown/)
})
