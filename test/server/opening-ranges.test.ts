import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { openProjectServer } from '../support/project-server.ts'

const plugin = `
export default {
  name: 'site',
  requires: '*',
  connections: {
    site: {
      description: '',
      config: {},
      clientType: '{}',
      open: async (config, { fetch }) => {
        const check = async () => { await fetch(config.url) }
        await check()
        return { client: {}, check, close: async () => {} }
      },
    },
  },
}
`
const files = (url: string, allow: string) => ({
  'package.json': '{ "type": "module" }',
  'node_modules/site/package.json': '{ "name": "site", "version": "1.0.0", "type": "module", "exports": "./index.js" }',
  'node_modules/site/index.js': plugin,
  'src/a.ts': 'export default class { handle() { return {} } }\n',
  'waypost.yml': `plugins: [site]
config: { delivery_allow: [${allow}] }
connection: { Site: { class: site, config: { url: '${url}' } } }
routes:
  /a: { methods: { GET: { public: true, action: src/a.ts } } }
`,
})

test('a connection is opened and checked with the ranges that its own release allows', async () => {
  const site = createServer((_request, response) => void response.setHeader('connection', 'close').end('here')).listen(
    0,
    '127.0.0.1',
  )
  await once(site, 'listening')
  const url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`
  try {
    await using server = await openProjectServer({
      files: files(url, '127.0.0.0/8'),
      identity: { isDevelopment: false },
    })
    assert.deepEqual(
      server.logs.filter(({ level }) => Number(level) >= 40),
      [],
    )
    await server.deploy(files(url, ''))
    await server.deploy(files(`${url}?changed`, ''))
    const warnings = server.logs.filter(({ level }) => Number(level) >= 40).map((line) => JSON.stringify(line))
    assert.ok(warnings.length > 0, 'a range that no release allows is closed')
    assert.match(warnings.join('\n'), /fetch failed: The host \\"127\.0\.0\.1\\" is not on the public internet/)
  } finally {
    site.close()
  }
})
