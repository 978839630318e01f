import assert from 'node:assert/strict'
import { rm } from 'node:fs/promises'
import path from 'node:path'
import { test } from 'node:test'
import { makeProject } from '../support/project.ts'
import { longTest } from '../support/forms.ts'

// In CI, draft/plans.test.ts writes and serves one in dev.
longTest(
  'a route that is generated while dev runs is served immediately, and reports that it is not implemented',
  async () => {
    const project = await makeProject()
    const dev = project.start('dev --port 0 --no-deliver')
    try {
      const [, port] = await dev.waitFor(/API +http:\/\/localhost:(\d+)/)
      const post = async (headers: Record<string, string> = {}) => {
        const body = JSON.stringify({ name: 'Pens' })
        const type = { 'content-type': 'application/json' }
        const response = await fetch(`http://localhost:${port}/order`, {
          method: 'POST',
          body,
          headers: { ...type, ...headers },
        })
        return { status: response.status, detail: ((await response.json()) as { detail?: string }).detail }
      }
      assert.equal((await post()).status, 404)

      const said = await project.ok('generate:route POST /order --scopes order')
      assert.equal(
        said,
        `  Wrote  resources/routes/order.yml, src/order/insert.ts, schemas Order and Order-Input in
         resources/schema.yml
  Added  /order to waypost.yml:5
  dev already serves it: POST http://localhost:${port}/order
  POST /order returns 501 until you implement src/order/insert.ts.
`,
      )
      assert.equal((await post()).status, 401)
      const token = (await project.ok('token:issue --user dev --scopes order')).trim()
      assert.deepEqual(await post({ authorization: `Bearer ${token}` }), {
        status: 501,
        detail: 'POST /order is not implemented yet',
      })
      assert.doesNotMatch(dev.stdout(), /error/, 'dev met no state in between that was wrong')
      await project.ok('validate --types --strict')

      const refused = await project.run('generate:route POST /order --scopes order')
      assert.deepEqual([refused.code, refused.stdout], [1, ''])
      assert.match(
        refused.stderr,
        /POST \/order already exists at resources\/routes\/order\.yml:3\n {2}Its action is src\/order\/insert\.ts\./,
      )
      assert.equal((await project.run('generate:route TRACE /order')).code, 2)
      assert.equal((await project.run('generate:route')).code, 2)
      assert.equal((await project.run('generate:route GET /bill --public --scopes bill')).code, 2)

      await rm(path.join(project.folder, 'src/todo/insert.ts'))
      assert.equal(
        await project.ok('generate:action src/todo/insert.ts'),
        `  Wrote  src/todo/insert.ts for POST /todo
  dev already serves it: POST http://localhost:${port}/todo
  POST /todo returns 501 until you implement it.
`,
      )
      for (const name of ['insert', 'delete']) await rm(path.join(project.folder, `src/todo/${name}.ts`))
      const all = await project.ok('generate:action --all')
      assert.match(
        all,
        /^ {2}Wrote {2}src\/todo\/delete\.ts for DELETE .*[^]*^ {2}Wrote {2}src\/todo\/insert\.ts for POST /m,
      )
      assert.equal(await project.ok('generate:action --all'), '  Nothing to do: all action files exist.\n')
      assert.equal((await project.run('generate:action --all src/a.ts')).code, 2)
      assert.equal((await project.run('generate:action')).code, 2)
      const { action, written } = JSON.parse(await project.ok('generate:route GET /order --public --dry-run --json'))
      assert.deepEqual([action, written], ['src/order/collection.ts', false])
      await project.ok('validate --types')
      await dev.stop()
      assert.doesNotMatch(await project.ok('generate:route GET /order --public'), /dev already serves/)
    } finally {
      await dev.stop()
      await project.remove()
    }
  },
)

test('doctor prints a line for each check with its hint, and exits 1 when one fails', async () => {
  const project = await makeProject()
  try {
    const fresh = await project.run('doctor')
    assert.equal(fresh.code, 1)
    assert.match(
      fresh.stdout,
      /^ {2}ok {4}Node \d.*\n {2}ok {4}Project todo, 2 routes, valid\n {2}FAIL {2}There is no System/,
    )
    await project.ok('migrate')
    const migrated = await project.ok('doctor')
    assert.match(
      migrated,
      / {2}ok {4}System \.waypost\/system\.db, migrated\n {2}ok {4}1 migration of the project applied/,
    )
    assert.match(migrated, / {2}warn {2}No release is active.*\n {8}Create one: waypost deploy\n/)
    await project.ok('deploy --yes')
    const { ok, checks } = JSON.parse(await project.ok('doctor --json'))
    assert.equal(ok, true)
    assert.match(checks.at(-1).command, /^\* \* \* \* \* cd .* event:execute --watch --time-limit 55s$/)
    await project.ok('event:execute')
    assert.match(await project.ok('doctor'), / {2}ok {4}event:execute last ran \d+ s ago, no deliveries waiting\n/)
  } finally {
    await project.remove()
  }
})
