import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { testPlugin } from 'waypost/testing'
import plugin from '../src/index.ts'
import { weather } from '../src/weather.ts'

const service = createServer((request, response) => response.end(`{ "temperature": ${request.url!.length} }`))
const config = () => ({ url: `http://127.0.0.1:${(service.address() as AddressInfo).port}/` })
before(() => new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve)))
after(() => service.close())

await testPlugin(plugin, {
  module: import.meta.resolve('../src/index.ts'),
  connections: { 'my-plugin-weather': { config, down: (port) => ({ url: `http://127.0.0.1:${port}/` }) } },
  actions: { 'my-plugin-greet': { path: '/greet/:name' } },
})

test('the weather of a place', async () => {
  const { client } = await weather.open(config(), { fetch } as never)
  assert.equal(await client.temperature('Rome'), '/Rome'.length)
})
