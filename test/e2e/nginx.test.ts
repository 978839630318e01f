// The nginx block of docs/operations.md in front of `dev`.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { get, type IncomingMessage } from 'node:http'
import { createServer, type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { checkout } from '../support/cli.ts'
import { makeProject } from '../support/project.ts'
import { send } from '../support/send.ts'
import { until } from '../support/until.ts'

const nginx = ['/usr/sbin/nginx', '/usr/local/bin/nginx'].find((file) => existsSync(file))
const host = 'api.example.com'

const stream = `export default class Ticks {
  async *handle() {}
}
`.replace(
  'async *handle() {}',
  `async handle(_request: any, context: any) {
    async function* ticks() {
      yield 'data: first\\n\\n'
      await new Promise((resolve) => context.signal.addEventListener('abort', resolve))
    }
    return context.respond(200, ticks(), { 'content-type': 'text/event-stream' })
  }`,
)

test(
  'the documented nginx block works in front of dev',
  { skip: nginx === undefined && 'nginx is not installed' },
  async () => {
    const port = await findPort()
    const baseUrl = `http://${host}:${port}`
    const project = await makeProject({ WAYPOST_BASE_URL: baseUrl })
    await project.edit(
      'waypost.yml',
      'routes:\n',
      'routes:\n  /ticks: { methods: { GET: { public: true, action: src/ticks.ts } } }\n',
    )
    await project.write('src/ticks.ts', stream)
    const dev = project.start(`dev --port 0 --allow-host ${host}`)
    const upstream = Number((await dev.waitFor(/API {7}http:\/\/\S+:(\d+)/))[1])
    const folder = await mkdtemp(path.join(tmpdir(), 'waypost-nginx-'))
    const proxy = await startNginx(folder, { port, upstream })
    try {
      const ask = (target: string, more: object = {}) =>
        send(port, { path: target, headers: { host: `${host}:${port}` }, ...more })
      await until('nginx answers', async () => (await ask('/health/live').catch(() => undefined))?.status === 200)
      assert.equal((await ask('/todo')).status, 200)
      const metadata = await ask('/.well-known/oauth-authorization-server')
      assert.deepEqual(
        [metadata.body.issuer, metadata.body.token_endpoint],
        [baseUrl, `${baseUrl}/authorization/token`],
      )
      // The locations with settings of their own, too: without the host of the request they would be 421.
      for (const target of ['/backend/deploy/server', '/backend/draft', '/docs', '/openapi.json']) {
        const { status, text } = await ask(target)
        assert.ok(status < 500 && status !== 421, `${target} ${status} ${text}`)
      }
      const page = await ask('/backend')
      assert.ok([200, 302, 303, 308].includes(page.status), `${page.status}`)
      if (page.status >= 300) assert.doesNotMatch(page.headers.location ?? '', new RegExp(`:${upstream}|waypost`))
      assert.equal((await ask('/metrics')).status, 404)
      // Events arrive when they are sent, not when a buffer is full.
      const events = get({ host: '127.0.0.1', port, path: '/ticks', headers: { host: `${host}:${port}` } })
      const [response] = (await once(events, 'response')) as [IncomingMessage]
      const [first] = (await once(response, 'data')) as [Buffer]
      assert.equal(first.toString(), 'data: first\n\n')
      events.destroy()
    } finally {
      proxy.kill()
      await once(proxy, 'exit')
      await dev.stop()
      await project.remove()
      await rm(folder, { recursive: true, force: true })
    }
  },
)

async function startNginx(folder: string, { port, upstream }: { readonly port: number; readonly upstream: number }) {
  const page = readFileSync(path.join(checkout, 'docs/operations.md'), 'utf8')
  const block = /```nginx\n(upstream waypost[^]*?)```/
    .exec(page)![1]!
    .replace(/ {2}server 10\.0\.0\.11.*\n {2}server 10\.0\.0\.12.*\n/, `  server 127.0.0.1:${upstream} max_fails=0;\n`)
    .replace('listen 443 ssl;', `listen 127.0.0.1:${port};`)
  assert.ok(block.includes(String(upstream)) && block.includes(String(port)), block)
  const temp = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((one) => `${one}_temp_path ${folder}/${one};`)
  const text = `daemon off;\nmaster_process off;\npid ${folder}/nginx.pid;\nerror_log stderr;\nevents {}\nhttp {\naccess_log off;\n${temp.join('\n')}\n${block}}\n`
  await writeFile(path.join(folder, 'nginx.conf'), text)
  return spawn(nginx!, ['-p', folder, '-c', path.join(folder, 'nginx.conf')], {
    stdio: ['ignore', 'ignore', 'inherit'],
  })
}

async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}
