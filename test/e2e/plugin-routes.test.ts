import assert from 'node:assert/strict'
import { test } from 'node:test'
import { startDev } from '../support/dev-session.ts'
import { makeProject, openProject } from '../support/project.ts'

const plugin = `import { definePlugin } from 'waypost'

export default definePlugin({
  name: 'shelf',
  config: { type: 'object', required: ['prefix'], properties: { prefix: { type: 'string' } } },
  async routes(app, host) {
    const { prefix } = host.config as { prefix: string }
    app.get(prefix + '/book', { config: { scopes: ['shelf', 'todo'] } }, async () => host.connection('System') && {})
    app.register(async (own) => {
      own.route({ method: ['PUT', 'DELETE'], url: prefix + '/book/:id', config: { scopes: [] }, handler: async () => ({}) })
    })
    app.get('/open', { config: { public: true } }, async () => ({}))
  },
})
`
const broken = `import { definePlugin } from 'waypost'

export default definePlugin({
  name: 'hasty',
  async routes(app, host) {
    host.connection('System')
  },
})
`

test('commands list the routes and scopes of plugins, and name plugins whose routes they cannot list', async () => {
  const project = await makeProject({
    WAYPOST_SYSTEM_URL: 'sqlite:live.db',
    WAYPOST_SECRET: 'the-secret-of-this-test-that-no-one-may-read',
    WAYPOST_BASE_URL: 'https://api.example.com',
  })
  try {
    await project.write('shelf.ts', plugin)
    await project.write('hasty.ts', broken)
    await project.edit(
      'waypost.yml',
      'routes:\n',
      'plugins:\n  - { name: ./shelf.ts, config: { prefix: "${env.PREFIX}" } }\n  - ./hasty.ts\nroutes:\n',
    )
    const env = { PREFIX: '/shelf' }
    const table = await project.run('routes', { env })
    assert.equal(table.code, 0, table.stderr)
    const rows = table.stdout.split('\n').map((line) => line.split(/ {2,}/))
    const found = rows.filter(([, , , action = '']) => action.startsWith('plugin'))
    const [, , , , source] = found[0]!
    assert.match(source!, /^waypost\.yml:\d+$/)
    assert.deepEqual(found, [
      ['GET', '/open', 'public', 'plugin shelf', source],
      ['GET', '/shelf/book', 'shelf or todo', 'plugin shelf', source],
      ['PUT', '/shelf/book/:id', 'any token', 'plugin shelf', source],
      ['DELETE', '/shelf/book/:id', 'any token', 'plugin shelf', source],
    ])
    assert.match(table.stderr, /Some routes are not listed\. .*"hasty".*only available on a server/)

    const unset = await project.run('routes --json')
    assert.equal(unset.code, 0, unset.stderr)
    assert.match(unset.stderr, /Some routes are not listed\. .*"shelf".*PREFIX/)
    const { routes } = JSON.parse(unset.stdout) as { routes: { plugin?: string }[] }
    assert.ok(routes.length > 0 && routes.every((route) => route.plugin === undefined))

    await project.write('hasty.ts', broken.replace("host.connection('System')", ''))
    await project.ok('migrate', { env })
    await project.ok('deploy --migrate --yes --wait 0s', { env })
    const { scopes } = JSON.parse(await project.ok('scope:list --json', { env })) as {
      scopes: { name: string; routes: number; plugins: readonly string[] }[]
    }
    const of = (name: string) => scopes.find((scope) => scope.name === name)
    assert.deepEqual([of('shelf')?.routes, of('shelf')?.plugins], [1, ['shelf']])
    assert.deepEqual(of('todo')?.plugins, ['shelf'])
    const list = await project.ok('scope:list', { env })
    assert.match(list, /PLUGINS/)
    const added = await project.run('user:add ann --scopes shelf,shelv --password-stdin', {
      env,
      input: 'a-long-password\n',
    })
    assert.equal(added.code, 0, added.stderr)
    assert.match(added.stderr, /the active release does not use shelv:/)

    await project.write('.env', 'PREFIX=/shelf\n')
    await using dev = await startDev(project.folder)
    const local = openProject(project.folder, {}, async () => undefined)
    const users = JSON.parse(await local.ok('user:list --json')) as { users: { scopes: readonly string[] }[] }
    assert.ok(dev.port > 0 && users.users.some((user) => user.scopes.includes('shelf')))
  } finally {
    await project.remove()
  }
})
