import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before } from 'node:test'
import { testPlugin } from 'waypost/testing'
import plugin from '../src/index.ts'

let service: Server
before(async () => {
  service = createServer((_, response) => response.end('{}'))
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve))
})
after(() => service.close())

const urlOf = (port: number) => ({ url: `http://127.0.0.1:${port}/`, network: 'private', timeout: '1s' })
const project = {
  connection: { Service: { class: 'http', config: urlOf(1) } },
  event: { order_paid: { schema: { type: 'object' } } },
}

await testPlugin(plugin, {
  module: import.meta.resolve('../src/index.ts'),
  connections: { http: { config: () => urlOf((service.address() as AddressInfo).port), down: urlOf } },
  actions: {
    respond: [{ config: { body: { ok: true } } }, { config: { status: 204 }, method: 'DELETE' }],
    dispatch: { config: { event: 'order_paid' }, method: 'POST', project },
    proxy: { config: { connection: 'Service', path: '/items/:id' }, path: '/items/:id', project },
  },
})
