import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { withSystemVariables, type Host } from '../../src/host/index.ts'
import {
  listHostAudit,
  listHostVariables,
  setHostVariable,
  unsetHostVariable,
  type ActingHost,
} from '../../src/operate/index.ts'
import { activateRelease } from '../../src/release/index.ts'
import { makeSecrets, resealAll } from '../../src/store/index.ts'
import { makeRelease } from '../release/system.ts'
import { defaultKinds } from '../support/forms.ts'
import { asCommand, startTestServer, type TestServer } from '../support/server.ts'

const value = 'postgresql://hidden:hidden@db/orders'

for (const kind of defaultKinds) {
  describe(`variables in System, ${kind}`, () => {
    let server: TestServer
    let host: ActingHost
    before(async () => {
      server = await startTestServer({ kind, variables: { FROM_HOST: 'here', BOTH: 'here', EMPTY: '' } })
      host = asCommand(server.host)
      const { manifest, artifacts } = makeRelease('Orders')
      const release = {
        artifacts,
        manifest: {
          ...manifest,
          config: { title: '${env.TITLE:-Orders}' },
          connections: { Orders: { class: 'postgresql', config: { url: '${env.ORDERS_URL}' } } },
          variables: {
            TITLE: { optional: true },
            ORDERS_URL: { optional: false },
            FROM_HOST: { optional: false },
            LIMIT: { optional: true, declared: { type: 'integer', description: 'Orders per page', default: 10 } },
          },
        },
      } as const
      await activateRelease(host.system, release, { by: 'tester' })
    })
    after(() => server.close())

    const set = (name: string, text: string) => setHostVariable(host, { name, value: text })
    const unset = (name: string, isForced = false) => unsetHostVariable(host, { name, isForced })
    const rows = () => host.system.db.selectFrom('waypost_variable').selectAll().orderBy('id').execute()
    const find = async (name: string) => (await listHostVariables(host)).find((one) => one.name === name)
    const readValue = async (name: string) => (await withSystemVariables(host)).variables[name]

    test('are stored encrypted, bound to their name, and audited without values', async () => {
      await set('ORDERS_URL', value)
      const [row] = await rows()
      assert.match(row!.value, /^v1\./)
      assert.equal(await readValue('ORDERS_URL'), value)
      await set('ORDERS_URL', `${value}2`)
      assert.equal(await readValue('ORDERS_URL'), `${value}2`)
      const [replaced] = await rows()
      assert.notEqual(replaced!.revision, row!.revision)
      assert.equal(replaced!.changed_by, 'tester')

      await host.system.db
        .insertInto('waypost_variable')
        .values({ ...replaced!, id: 'TITLE' })
        .execute()
      await assert.rejects(readValue('TITLE'), { code: 'WP_STORE_SEALED' })
      await unset('TITLE')
      const { entry } = await listHostAudit(host, { action: 'variable', limit: 10 })
      assert.deepEqual(
        entry.map(({ action, subject, before: was, after: is }) => [action, subject?.name, was, is]),
        [
          ['variable.unset', 'TITLE', null, null],
          ['variable.set', 'ORDERS_URL', null, null],
          ['variable.set', 'ORDERS_URL', null, null],
        ],
      )
      assert.doesNotMatch(JSON.stringify([entry, await rows(), await listHostVariables(host)]), /hidden/)
    })

    test('are not required because their names are those of properties of objects', async () => {
      for (const name of ['constructor', '__proto__']) {
        await set(name, 'x')
        assert.equal((await find(name))?.isRequired, false, name)
        await unset(name)
      }
    })

    test('are listed with where they are set and what uses them', async () => {
      await set('BOTH', 'there')
      const listed = await listHostVariables(host)
      assert.deepEqual(
        listed.map(({ name, set: where, uses, isRequired, isMissing }) => [name, where, uses, isRequired, isMissing]),
        [
          ['BOTH', ['environment', 'System'], [], false, false],
          ['FROM_HOST', ['environment'], [], true, false],
          ['LIMIT', [], ['actions'], false, false],
          ['ORDERS_URL', ['System'], ['connection Orders'], true, false],
          ['TITLE', [], ['setting title'], false, false],
        ],
      )
      assert.equal(await readValue('BOTH'), 'here', 'the environment takes precedence')
      await set('EMPTY', 'there')
      assert.equal(await readValue('EMPTY'), 'there', 'an empty variable counts as missing')
      const { description, type, changed } = (await find('LIMIT'))!
      assert.deepEqual([description, type, changed], ['Orders per page', 'integer', undefined])
      await unset('BOTH')
      await unset('EMPTY')
    })

    test('are not removed while the active release requires them, unless forced', async () => {
      await assert.rejects(unset('ORDERS_URL'), {
        code: 'WP_SERVER_VARIABLE_NEEDED',
        message: 'The active release requires ORDERS_URL (connection Orders), which is not set on every server',
      })
      const left = await unset('ORDERS_URL', true)
      assert.deepEqual([left.set, left.isMissing], [[], true])
      assert.equal((await find('ORDERS_URL'))!.isMissing, true)
      await assert.rejects(unset('ORDERS_URL', true), { code: 'WP_SERVER_VARIABLE_UNSET', status: 404 })
      await assert.rejects(unset('FROM_HOST', true), { code: 'WP_SERVER_VARIABLE_UNSET' })
    })

    test('have bounded names and values; a value in the place of the name is not shown', async () => {
      for (const name of ['', '1ST', 'a-b', 'ä', 'a'.repeat(129), 'A B'])
        await assert.rejects(set(name, 'x'), { code: 'WP_SERVER_VARIABLE_NAME', status: 400 })
      for (const call of [set('TOKEN=hidden', 'x'), unset('TOKEN=hidden')])
        await assert.rejects(
          call,
          (error: Error) => /"TOKEN"|TOKEN$/.test(error.message) && !/hidden/.test(error.message),
        )
      for (const name of ['WAYPOST_SECRET', 'PORT', 'OPS_HOST', 'LOG_LEVEL', 'OTEL_SERVICE_NAME'])
        await assert.rejects(set(name, 'x'), { code: 'WP_SERVER_VARIABLE_RESERVED' })
      await assert.rejects(set('LONG', ''), { message: 'The value of LONG is empty' })
      await assert.rejects(set('LONG', 'ä'.repeat(32_769)), { message: 'The value of LONG has more than 65,536 bytes' })
      const long = 'ä'.repeat(32_768)
      await set('LONG', long)
      assert.equal(await readValue('LONG'), long)
      await set('LONG', 'line 1\nline 2\n')
      assert.equal(await readValue('LONG'), 'line 1\nline 2\n')
      assert.deepEqual(
        (await rows()).map(({ id }) => id),
        ['LONG'],
      )
    })

    test('are re-encrypted with a new secret, and need a secret only if a needed one is only in System', async () => {
      const fresh = 'another secret for tests that is long enough'
      const both = `${fresh},${host.variables['WAYPOST_SECRET']}`
      const counts = await host.system.transaction((trx) => resealAll(host.system, { trx, secrets: makeSecrets(both) }))
      assert.equal(counts.waypost_variable, 1)
      const changing: Host = { ...host, variables: { ...host.variables, WAYPOST_SECRET: both } }
      assert.equal((await withSystemVariables(changing)).variables['LONG'], 'line 1\nline 2\n')
      await assert.rejects(readValue('LONG'), { code: 'WP_STORE_SEALED' })
      const without: Host = { ...host, variables: { ...host.variables, WAYPOST_SECRET: undefined } }
      await assert.rejects(withSystemVariables(without, ['LONG']), { code: 'WP_SERVER_SECRET_MISSING' })
      assert.equal((await withSystemVariables(without, ['FROM_HOST', 'OTHER'])).variables['LONG'], undefined)
    })
  })
}
