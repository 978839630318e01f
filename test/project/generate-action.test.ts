import assert from 'node:assert/strict'
import { rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describe, test } from 'node:test'
import { listMissingActions, validateProject } from '../../src/project/index.ts'
import { longTest } from '../support/forms.ts'
import { openProject, assertValid } from './generated-project.ts'

describe('generate:action', () => {
  test('writes a missing class that a route names; --all lists them', async () => {
    await using project = await openProject({}, 'todo')
    for (const name of ['insert', 'delete']) await rm(path.join(project.folder, `src/todo/${name}.ts`))
    const listMissing = () => listMissingActions({ folder: project.folder, onDiagnostics: () => undefined })
    const missing = await listMissing()
    assert.deepEqual(
      missing.map(({ file }) => file),
      ['src/todo/delete.ts', 'src/todo/insert.ts'],
    )
    const generated = await project.action('./src/todo/insert.ts')
    assert.equal(generated.route, 'POST /todo')
    assert.match(
      await project.read('src/todo/insert.ts'),
      /class InsertTodo implements Action<'POST \/todo'> {\n.*{ body }/,
    )
    await project.action('src/todo/delete.ts')
    assert.deepEqual(await listMissing(), [])
    await assertValid(project)
  })

  // In CI, the class of a route is written in the same way.
  longTest('writes the class that a cronjob names, as the hint of validate suggests', async () => {
    await using project = await openProject({}, 'todo')
    const yaml = `${await project.read('waypost.yml')}cronjob:\n  tidy-up: { schedule: "0 4 * * *", action: src/tidy.ts }\n`
    await writeFile(path.join(project.folder, 'waypost.yml'), yaml)
    const [missing] = (await validateProject(project.folder)).diagnostics
    const command = /waypost generate:action (\S+)/.exec(missing?.hint ?? '')
    assert.ok(command, missing?.hint)
    const generated = await project.action(command[1]!)
    assert.deepEqual([generated.use, generated.cronjob, generated.route], ['cronjob tidy-up', 'tidy-up', undefined])
    assert.match(
      await project.read('src/tidy.ts'),
      /class TidyUp implements Action<'cronjob'> {\n.*\n {4}throw new Error\('cronjob tidy-up is not implemented yet'\)/,
    )
    await assertValid(project)
  })

  test('writes the class of a step for the first method that runs it, whichever methods it has', async () => {
    await using project = await openProject({}, 'todo')
    const yaml = await project.read('resources/routes/todo/entity.yml')
    const stepped = yaml.replace('methods:', 'steps: [{ todo: src/find-todo.ts }]\nmethods:')
    await writeFile(path.join(project.folder, 'resources/routes/todo/entity.yml'), stepped)
    const generated = await project.action('src/find-todo.ts')
    assert.deepEqual([generated.use, generated.route], ['step todo', undefined])
    const text = await project.read('src/find-todo.ts')
    assert.match(
      text,
      /import type { Context, Request, RouteStep } from 'waypost'\n\nexport default class Todo implements RouteStep {/,
    )
    assert.match(
      text,
      /async handle\({ params }: Request<'GET \/todo\/:todo_id'>, context: Context\): Promise<never> {/,
    )
    assert.match(text, /throw context\.problem\(501, 'step todo is not implemented yet'\)/)
    assert.deepEqual((await validateProject(project.folder)).diagnostics, [])
  })

  test('writes another one for a given route, and prints where to use it', async () => {
    await using project = await openProject({}, 'todo')
    const { answeredAt } = await project.action('src/todo/other.js', 'put  /todo/:todo_id')
    assert.equal(answeredAt, 'resources/routes/todo/entity.yml:11')
    assert.match(
      await project.read('src/todo/other.js'),
      /^export default class UpdateTodo {\n {2}async handle\({ params, body }, context\) {/,
    )
  })

  const refused: readonly { file: string; route?: string; says: RegExp; hint: RegExp }[] = [
    { file: 'src/todo/insert.ts', says: /^src\/todo\/insert.ts already exists$/, hint: /Edit it/ },
    {
      file: 'src/todo/insrt.ts',
      says: /^No route, step, listener or cronjob uses src\/todo\/insrt.ts$/,
      hint: /Did you mean src\/todo\/insert.ts\?/,
    },
    { file: 'src/x.ts', route: 'POST /tod', says: /^Unknown route 'POST \/tod'$/, hint: /'POST \/todo'/ },
    { file: '../x.ts', route: 'POST /todo', says: /is not a valid action file/, hint: /\.ts or \.js/ },
    { file: 'src/x.yml', route: 'POST /todo', says: /is not a valid action file/, hint: /\.ts or \.js/ },
    { file: 'src/x.d.ts', route: 'POST /todo', says: /is not a valid action file/, hint: /\.ts or \.js/ },
  ]
  for (const { file, route, says, hint } of refused) {
    test(`rejects ${file}${route === undefined ? '' : ` for ${route}`} and changes nothing`, async () => {
      await using project = await openProject({}, 'todo')
      const before = await project.files()
      await assert.rejects(project.action(file, route), (error: Error & { hint?: string }) => {
        assert.match(error.message, says)
        assert.match(error.hint ?? '', hint)
        return true
      })
      assert.deepEqual(await project.files(), before)
    })
  }

  test('requires the route when several name the file', async () => {
    const both = 'methods:\n  GET: { public: true, action: src/a.ts }\n  POST: { scopes: [], action: src/a.ts }\n'
    await using project = await openProject({ 'waypost.yml': 'routes:\n  /a: !include a.yml\n', 'a.yml': both })
    await assert.rejects(project.action('src/a.ts'), { message: 'GET /a and POST /a use src/a.ts' })
    await project.action('src/a.ts', 'POST /a')
    assert.deepEqual((await validateProject(project.folder)).diagnostics, [])
  })
})
