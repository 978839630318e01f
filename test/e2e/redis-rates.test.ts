// Three servers on one System and one Redis count the requests of a caller together.
import assert from 'node:assert/strict'
import { mkdir, readFile, symlink } from 'node:fs/promises'
import path from 'node:path'
import { after, before, describe, it } from 'node:test'
import { makeProject, type TestProject } from '../support/project.ts'
import { startPostgres } from '../support/postgres.ts'
import { lacksRedis, startRedis, type TestRedis } from '../support/redis.ts'
import { send, type Answer } from '../support/send.ts'
import { until } from '../support/until.ts'
import { baseUrl, makeHost, secret, startServe, type Serving } from './serving.ts'

const plugin = path.resolve(import.meta.dirname, '../../plugins/redis')
const additions = `
plugins: ["@waypost/plugin-redis"]
connection:
  Cache: { class: redis, config: { url: "\${env.REDIS_URL}", timeout: 300ms } }
rate:
  ten: { limit: 10, window: 10m, connection: Cache }
  more: { limit: 1000000, window: 10m, connection: Cache }
`
const routes = `  /ten: { methods: { GET: { public: true, rate: ten, action: src/cached.ts } } }
  /more: { methods: { GET: { public: true, rate: more, action: src/ok.ts } } }
`
const documentedRoute = '  /ten: { methods: { GET: { public: true, rate: gentle, action: src/cached.ts } } }\n'
const cached = `import type { Action, Context } from 'waypost'

export default class Cached implements Action<'GET /ten'> {
  async handle(_request: unknown, context: Context) {
    return { passed: await context.connection('Cache').incr('passed') }
  }
}
`
const ok = `export default class Ok {
  handle() {
    return {}
  }
}
`

async function linkPlugin({ folder }: TestProject): Promise<void> {
  await mkdir(path.join(folder, 'node_modules/@waypost'))
  await symlink(plugin, path.join(folder, 'node_modules/@waypost/plugin-redis'))
}

async function addToYaml(to: TestProject, routesToAdd: string, sections: string): Promise<void> {
  const yaml = await to.read('waypost.yml')
  await to.write('waypost.yml', yaml.replace(/^routes:\n/m, (line) => line + routesToAdd) + sections)
}

const failed = /counting requests across servers failed/g
const works = /counting requests across servers works again/g

describe('a rate with a connection to Redis', { skip: lacksRedis }, () => {
  const closers: (() => Promise<unknown>)[] = []
  let redis: TestRedis
  let servers: readonly Serving[]
  let project: TestProject
  before(async () => {
    redis = await startRedis()
    closers.push(() => redis.stop())
    const postgres = await startPostgres()
    closers.push(() => postgres.stop())
    const env = {
      WAYPOST_SYSTEM_URL: await postgres.createSystem(),
      WAYPOST_SECRET: secret,
      WAYPOST_BASE_URL: baseUrl,
      REDIS_URL: redis.url,
      HOST: '127.0.0.1',
    }
    project = await makeProject(env)
    closers.push(project.remove)
    await linkPlugin(project)
    await addToYaml(project, routes, additions)
    await project.write('src/cached.ts', cached)
    await project.write('src/ok.ts', ok)
    await project.ok('validate --types')
    await project.ok('deploy --migrate --yes')
    servers = await Promise.all(
      [1, 2, 3].map(async () => {
        const host = await makeHost(env)
        closers.push(host.remove)
        const serving = await startServe(host)
        closers.push(() => serving.stop())
        return serving
      }),
    )
  })
  after(async () => {
    for (const close of closers.toReversed()) await close()
  })

  it('is configured, and the client used, as docs/redis.md shows', async () => {
    const page = await readFile(path.join(import.meta.dirname, '../../docs/redis.md'), 'utf8')
    const blocks = (language: string) =>
      [...page.matchAll(/^```(\w+)\n(.*?)^```/gms)].flatMap(([, name, text]) => (name === language ? [text!] : []))
    const documented = await makeProject({ REDIS_URL: redis.url })
    try {
      await linkPlugin(documented)
      await addToYaml(documented, documentedRoute, blocks('yaml').join(''))
      await documented.write(
        'src/cached.ts',
        cached.replace(/ {4}return .*\n/, () => blocks('ts').join('') + 'return {}\n'),
      )
      assert.equal(blocks('yaml').length, 2)
      assert.doesNotMatch(await documented.ok('validate --types'), /warning/)
    } finally {
      await documented.remove()
    }
  })

  it('lets exactly as many requests pass as its limit says, over all servers', async () => {
    const count = (pattern: RegExp) =>
      servers.flatMap(({ stdout, stderr }) => (stdout() + stderr()).match(pattern) ?? []).length
    let answers: Answer[] = []
    let passed: Answer[] = []
    while (passed.length !== 10) {
      await until('every server counts with Redis', async () => {
        await Promise.all(servers.map(({ port }) => send(port, { path: '/more' })))
        return count(failed) === count(works)
      })
      const failures = count(failed)
      await redis.forget()
      answers = await Promise.all(
        Array.from({ length: 60 }, (_, index) => send(servers[index % 3]!.port, { path: '/ten' })),
      )
      passed = answers.filter(({ status }) => status === 200)
      // On a busy machine, Redis may be slow. Then a server counts alone and reports it.
      if (passed.length !== 10) await until('Redis was slow', () => count(failed) > failures)
    }
    assert.deepEqual(
      passed.map(({ body }) => body.passed as number).toSorted((a, b) => a - b),
      [1, 2, 3, 4, 5, 6, 7, 8, 9, 10],
    )
    assert.deepEqual(
      passed.map(({ headers }) => Number(headers['x-ratelimit-remaining'])).toSorted((a, b) => a - b),
      [0, 1, 2, 3, 4, 5, 6, 7, 8, 9],
    )
    for (const { status, headers } of answers.filter((one) => !passed.includes(one))) {
      assert.equal(status, 429)
      assert.ok(Number(headers['retry-after']) > 500 && Number(headers['retry-after']) <= 600)
    }
  })

  for (const [title, breakIt, mendIt] of [
    ['hangs', () => redis.freeze(), () => redis.thaw()],
    ['ends', () => redis.kill(), () => redis.restart()],
  ] as const)
    it(`is counted by each server while Redis ${title}, with one warning, and one line when it is back`, async () => {
      const [serving] = servers as [Serving]
      const count = (pattern: RegExp) => (serving.stdout() + serving.stderr()).match(pattern)?.length ?? 0
      const [failures, returns] = [count(failed), count(works)]
      const remaining = async () => {
        const { status, headers } = await send(serving.port, { path: '/more' })
        assert.equal(status, 200)
        return Number(headers['x-ratelimit-remaining'])
      }
      const first = await remaining()
      await breakIt()
      const [second, third, fourth] = [await remaining(), await remaining(), await remaining()]
      assert.ok(first > second && second > third && third > fourth)
      await until('the warning is printed', () => count(failed) > failures) // output arrives later than responses
      assert.deepEqual([count(failed), count(works)], [failures + 1, returns])
      await mendIt()
      await until('Redis counts again', async () => {
        await remaining()
        return count(works) > returns
      })
      assert.deepEqual([count(failed), count(works)], [failures + 1, returns + 1])
    })
})
