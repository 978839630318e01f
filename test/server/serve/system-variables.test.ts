// Variables in System that change while servers run.
import assert from 'node:assert/strict'
import { afterEach, beforeEach, describe, test } from 'node:test'
import { listServers } from '../../../src/host/index.ts'
import { setHostVariable, unsetHostVariable } from '../../../src/operate/index.ts'
import { executeHostCronjobs, executeHostEvents } from '../../../src/jobs/index.ts'
import { openLine } from '../../support/line.ts'
import { actionFile, type Files } from '../../support/project-server.ts'
import { send } from '../../support/send.ts'
import { asCommand } from '../../support/server.ts'
import { until } from '../../support/until.ts'
import { openServeSiteOn, type LoggedServer, type ServeSite } from './site.ts'
import { chooseKinds, longTest } from '../../support/forms.ts'

const yml = (more = '') => `
plugins: [./boxes.ts]
env:
  GREETING: { default: hello }
  COUNT: { type: integer, default: 1 }
connection:
  Red: { class: box, config: { label: "\${env.RED:-red}" } }
  Blue: { class: box, config: { label: blue } }
routes:
  /env: { methods: { GET: { public: true, action: src/env.ts } } }
cronjob: { report: { schedule: "0 4 1 1 *", action: src/report.ts } }
${more}`

/** A plugin whose connections record when they open and close. The label `broken` does not open. */
const boxes = `import { definePlugin } from 'waypost'
export default definePlugin({
  name: 'boxes',
  connections: { box: {
    description: 'A box', config: { type: 'object', properties: { label: { type: 'string', maxLength: 10 } } },
    async open({ label }, { name }) {
      if (label === 'broken') throw new Error('the box is broken')
      globalThis.boxEvents.push('open ' + label)
      return { client: { label }, async check() {}, async close() { globalThis.boxEvents.push('close ' + label) } }
    },
  } },
})
`
const files = (more = ''): Files => ({
  'package.json': '{ "type": "module" }',
  'waypost.yml': yml(more),
  'boxes.ts': boxes,
  'src/env.ts': actionFile(
    `return { greeting: context.env.GREETING, count: context.env.COUNT, red: context.connection('Red').label, blue: context.connection('Blue').label }`,
  ),
  'src/report.ts': actionFile('globalThis.boxEvents.push(`report ${context.env.GREETING}`)'),
})

for (const kind of chooseKinds('sqlite')) {
  describe(`a variable in System, ${kind}`, () => {
    let site: ServeSite
    let events: string[]
    const closers: (() => PromiseLike<unknown>)[] = []
    beforeEach(async () => {
      site = await openServeSiteOn(kind)
      closers.push(() => site[Symbol.asyncDispose]())
      events = []
      Object.assign(globalThis, { boxEvents: events })
    })
    afterEach(async () => {
      for (const close of closers.splice(0).toReversed()) await close()
    })

    const set = (name: string, value: string) => setHostVariable(asCommand(site.host), { name, value })
    const unset = (name: string) => unsetHostVariable(asCommand(site.host), { name, isForced: true })
    const ask = async ({ port }: LoggedServer) => (await send(port, { path: '/env' })).body
    const shows = (server: LoggedServer, wanted: object) =>
      until(JSON.stringify(wanted), async () => {
        const body = await ask(server)
        return body !== undefined && Object.entries(wanted).every(([key, value]) => body[key] === value)
      })
    const row = async () => (await listServers(site.host))[0]!
    const generations = ({ logs }: LoggedServer) => logs.filter(({ msg }) => msg === 'release activated').length

    test('starts the release that waited for it', async () => {
      await site.deploy(files(`config: { title: "\${env.TITLE}" }`))
      const server = await site.start({ retryMs: 60_000 })
      assert.equal((await send(server.port, { path: '/env' })).status, 503)
      assert.match((await row()).error!, /requires variables that are not set: TITLE/)
      await set('TITLE', 'Boxes')
      await shows(server, { greeting: 'hello' })
      assert.equal(server.terms().settings.title, 'Boxes')
      await until('its row', async () => (await row()).state === 'serving' && (await row()).error === null)
    })

    test('reaches the actions and connections that use it, and reopens nothing else', async () => {
      await site.deploy(files())
      const server = await site.start()
      await shows(server, { greeting: 'hello', count: 1, red: 'red', blue: 'blue' })
      assert.deepEqual(events.toSorted(), ['open blue', 'open red'])
      await set('GREETING', 'good day')
      await shows(server, { greeting: 'good day' })
      assert.equal(events.length, 2, 'no connection uses it')
      await set('RED', 'crimson')
      await shows(server, { greeting: 'good day', red: 'crimson' })
      await until('the old connection closes', () => events.length === 4)
      assert.deepEqual(events.slice(2), ['open crimson', 'close red'])
      await unset('RED')
      await unset('GREETING')
      await shows(server, { greeting: 'hello', red: 'red' })
      await until('the old connection closes', () => events.length === 6)
      assert.deepEqual(events.slice(4), ['open red', 'close crimson'])

      const before = generations(server)
      await set('UNUSED', 'x')
      await set('COUNT', '2')
      await shows(server, { count: 2 })
      assert.equal(generations(server), before + 1, 'what no part uses builds nothing')
    })

    test('is overridden by the environment of a server; two servers apply each change', async () => {
      await site.deploy(files())
      await set('GREETING', 'from System')
      const [one, two] = [await site.start(), await site.start({}, { RED: 'own' })]
      for (const server of [one, two]) await shows(server, { greeting: 'from System' })
      await set('RED', 'crimson')
      await set('GREETING', 'again')
      await shows(one, { greeting: 'again', red: 'crimson' })
      await shows(two, { greeting: 'again', red: 'own' })
    })

    // In CI, store/feed.test.ts has the order of changes.
    longTest('that changes often ends with its last value', async () => {
      await site.deploy(files())
      const server = await site.start()
      for (let n = 2; n <= 8; n++) await set('COUNT', String(n))
      await shows(server, { count: 8 })
      await set('COUNT', '9')
      await set('COUNT', '8')
      await set('GREETING', 'end')
      await shows(server, { count: 8, greeting: 'end' })
    })

    test('runs the hooks of the plugins that depend on it; the hosts of others use the new generation', async () => {
      const plugin = (name: string) => `import { definePlugin } from 'waypost'
export default definePlugin({
  name: '${name}',
  config: { type: 'object', properties: { word: { type: 'string' } } },
  routes(app, host) {
    app.get('/${name}', { config: { public: true } }, async () => host.call('GET /env', {}))
  },
  hooks: {
    'generation:ready'(host) { globalThis.boxEvents.push('ready ${name} ' + host.config.word); globalThis.hostOf${name} = host },
    'generation:closed'() { globalThis.boxEvents.push('closed ${name}') },
  },
})
`
      const own = files()
      const plugins = 'plugins: [./boxes.ts, { name: ./one.ts, config: { word: "${env.WORD:-a}" } }, ./two.ts]'
      await site.deploy({
        ...own,
        'waypost.yml': own['waypost.yml']!.replace('plugins: [./boxes.ts]', plugins),
        'one.ts': plugin('one'),
        'two.ts': plugin('two'),
      })
      const server = await site.start()
      const hooks = () => events.filter((one) => /^(ready|closed)/.test(one)).toSorted()
      await until('the hooks', () => hooks().length === 2)
      events.length = 0
      await set('GREETING', 'good day')
      await shows(server, { greeting: 'good day' })
      await set('WORD', 'b')
      await until('the hooks of one', () => hooks().length === 2)
      assert.deepEqual(hooks(), ['closed one', 'ready one b'])
      const { hostOftwo } = globalThis as unknown as {
        hostOftwo: { call(name: string, input: object): Promise<unknown> }
      }
      assert.partialDeepStrictEqual(JSON.parse(JSON.stringify(await hostOftwo.call('GET /env', {}))), {
        body: { greeting: 'good day' },
      })
      assert.equal((await send(server.port, { path: '/two' })).status, 200)
      await set('RED', 'crimson')
      await until('all hooks', () => hooks().length === 6)
      assert.deepEqual(hooks(), [
        'closed one',
        'closed one',
        'closed two',
        'ready one b',
        'ready one b',
        'ready two undefined',
      ])
    })

    test('with an invalid value keeps the previous generation, and is reported until it is corrected', async () => {
      await site.deploy(files(`config: { body_limit: "\${env.LIMIT:-1mb}" }`))
      const server = await site.start()
      await shows(server, { count: 1 })
      for (const [name, value, message] of [
        ['COUNT', 'many', /The variable "COUNT" of the release \w+ must be an integer, not "many"/],
        ['LIMIT', 'much', /^LIMIT: The setting body_limit of the release \w+ is not valid/],
        ['RED', 'far too long', /^RED: The config of the connection "Red" does not match the class "box"/],
        ['RED', 'broken', /"Red" cannot be used with the changed value of RED: the box is broken/],
      ] as const) {
        await set(name, value)
        await until(`the report of ${value}`, async () => message.test((await row()).error ?? ''))
        const { state, release, wanted } = await row()
        assert.deepEqual([state, release], ['failed', wanted])
        assert.deepEqual(await ask(server), { greeting: 'hello', count: 1, red: 'red', blue: 'blue' })
        assert.match(await server.measure(), /^waypost_release_behind 1$/m)
        const line = server.logs.findLast(({ level }) => level === 50)
        assert.equal(line?.msg, 'changed variables failed; still serving with their previous values')
        await unset(name)
        await until('its row', async () => (await row()).state === 'serving')
        assert.match(await server.measure(), /^waypost_release_behind 0$/m)
      }
      assert.deepEqual(
        events.filter((one) => one.endsWith('red')),
        ['open red'],
        'it stays open',
      )
    })

    // In CI, a value that is invalid is kept out in the same way, above.
    longTest(
      'that is removed although it is needed keeps the previous generation; a new server does not serve',
      async () => {
        await site.deploy(files(`config: { title: "\${env.TITLE}" }`))
        await set('TITLE', 'Boxes')
        const server = await site.start()
        await shows(server, { count: 1 })
        await unset('TITLE')
        await until('the report', async () => (await row()).state === 'failed')
        assert.match((await row()).error!, /requires variables that are not set: TITLE/)
        assert.equal(server.terms().settings.title, 'Boxes')
        const late = await site.start()
        assert.equal((await send(late.port, { path: '/env' })).status, 503)
        await set('TITLE', 'Boxes again')
        for (const one of [server, late]) await until('both', () => one.terms().settings.title === 'Boxes again')
      },
    )

    test('reaches workers, which keep their settings if a value is invalid', async () => {
      await site.deploy(files(`config: { delivery_concurrency: "\${env.PARALLEL}" }`))
      await assert.rejects(executeHostEvents(site.host), { code: 'WP_SERVER_VARIABLE' })
      await set('PARALLEL', '3')
      await executeHostEvents(site.host)
      const stop = new AbortController()
      const reports: string[] = []
      const onError = (error: unknown) => void reports.push((error as Error).message)
      const working = executeHostEvents(site.host, { watch: true, signal: stop.signal, onError })
      const workers = site.host.system.db.selectFrom('waypost_worker').select('id')
      await until('the worker has its first settings', async () => (await workers.execute()).length > 0)
      await set('PARALLEL', 'few')
      await until('the report', () => reports.length > 0)
      assert.match(reports[0]!, /The setting delivery_concurrency of the release \w+ is not valid/)
      await set('PARALLEL', '4')
      await set('PARALLEL', 'many')
      await until('another report', () => reports.length > 1)
      stop.abort()
      await working
      assert.equal(reports.length, 2, 'each invalid value is reported once')
    })

    // In CI, store/feed.test.ts has such changes.
    longTest('that changes while the database is unreachable is applied afterwards', async (t) => {
      if (kind === 'sqlite') return t.skip('a file is always reachable')
      await site.deploy(files())
      const url = site.variables['WAYPOST_SYSTEM_URL']!
      const line = await openLine(url)
      closers.push(() => line.close())
      const server = await site.start({}, { WAYPOST_SYSTEM_URL: line.through(url) })
      await shows(server, { greeting: 'hello' })
      await line.cut()
      await set('GREETING', 'back again')
      assert.equal((await ask(server))?.greeting, 'hello')
      await line.mend()
      await shows(server, { greeting: 'back again' })
    })

    test('reaches cronjobs that a command runs', async () => {
      await site.deploy(files())
      await set('GREETING', 'good night')
      const { reports } = await executeHostCronjobs(site.host, { name: 'report' })
      assert.equal(reports[0]?.outcome, 'done')
      assert.ok(events.includes('report good night'))
    })
  })
}
