import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withSystemVariables } from '../../src/host/index.ts'
import { activateRelease } from '../../src/release/index.ts'
import { openAdmin, type AdminWorld } from './admin.ts'
import { makeGreeting } from './deployers.ts'
import { chooseKinds } from '../support/forms.ts'

for (const kind of chooseKinds('postgresql')) {
  describe(`variables in the admin API, ${kind}`, () => {
    let world: AdminWorld
    before(async () => {
      world = await openAdmin(kind)
      const { manifest, ...rest } = makeGreeting('hello')
      const variables = {
        ORDERS_URL: { optional: false },
        LIMIT: { optional: true, declared: { type: 'integer', description: 'Orders per page', default: 10 } },
      } as const
      const connections = { Orders: { class: 'http', config: { url: '${env.ORDERS_URL}' } } }
      await activateRelease(world.system, { ...rest, manifest: { ...manifest, variables, connections } }, { by: 'ann' })
    })
    after(() => world.close())

    const find = async (name: string) =>
      (await world.call('GET /variable')).body.entry.find((one: { name: string }) => one.name === name)

    test('are listed, set, replaced and removed; no answer contains a value', async () => {
      assert.deepEqual(await find('ORDERS_URL'), {
        name: 'ORDERS_URL',
        description: null,
        type: null,
        set: [],
        set_on: [],
        uses: ['connection Orders'],
        required: true,
        missing: true,
        needed: false,
        changed: null,
      })
      const texts: string[] = []
      for (const value of ['https://first-hidden', 'https://second-hidden']) {
        const answer = await world.call('PUT /variable/ORDERS_URL', { json: { value } })
        assert.deepEqual([answer.status, answer.body.set, answer.body.needed], [200, ['System'], true], answer.text)
        assert.equal((await withSystemVariables(world.host)).variables['ORDERS_URL'], value)
        texts.push(answer.text)
      }
      const listed = await world.call('GET /variable')
      const { missing, changed } = await find('ORDERS_URL')
      assert.deepEqual([missing, changed.by], [false, 'root'])
      const refused = await world.call('DELETE /variable/ORDERS_URL')
      assert.equal(refused.status, 409)
      assert.match(refused.text, /urn:waypost:errors#WP_SERVER_VARIABLE_NEEDED/)
      assert.equal((await world.call('DELETE /variable/ORDERS_URL?force=true')).status, 204)
      assert.equal((await world.call('DELETE /variable/ORDERS_URL?force=true')).status, 404)
      const { description, type, required } = await find('LIMIT')
      assert.deepEqual([description, type, required], ['Orders per page', 'integer', false])
      const audit = await world.call('GET /audit?action=variable')
      assert.deepEqual(
        audit.body.entry.map(({ action }: { action: string }) => action),
        ['variable.unset', 'variable.set', 'variable.set'],
      )
      for (const text of [...texts, listed.text, audit.text]) assert.doesNotMatch(text, /hidden/)
    })

    test('are changed only with backend.deploy', async () => {
      const others = await world.as('backend.read', 'backend.operate', 'backend.write', 'backend.admin')
      assert.equal((await others('PUT /variable/A', { json: { value: 'x' } })).status, 403)
      assert.equal((await others('DELETE /variable/A')).status, 403)
      assert.equal((await others('GET /variable')).status, 200)
      const blind = await world.as('backend.deploy')
      assert.equal((await blind('PUT /variable/A', { json: { value: 'x' } })).status, 200)
      assert.equal((await blind('GET /variable')).status, 403)
      assert.equal((await blind('DELETE /variable/A')).status, 204)
    })

    test('problems name the field', async () => {
      for (const [name, value, code, path] of [
        ['a-b', 'x', 'WP_SERVER_VARIABLE_NAME', 'params/name'],
        ['WAYPOST_SECRET', 'x', 'WP_SERVER_VARIABLE_RESERVED', 'params/name'],
        ['A', '', 'WP_SERVER_VARIABLE_VALUE', 'body/value'],
        ['A', 'ä'.repeat(40_000), 'WP_SERVER_VARIABLE_VALUE', 'body/value'],
        ['A', 'x'.repeat(70_000), 'WP_RUNTIME_REQUEST_INVALID', 'body/value'],
      ] as const) {
        const { status, body, text } = await world.call(`PUT /variable/${name}`, { json: { value } })
        assert.equal(status, 400)
        assert.equal(body.type, `urn:waypost:errors#${code}`)
        assert.equal(body.errors[0].path, path)
        assert.ok(!text.includes('xxxx'))
      }
    })
  })
}
