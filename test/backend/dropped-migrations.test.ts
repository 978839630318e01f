import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sha256 } from '../../src/kit/index.ts'
import { loadActiveId } from '../../src/release/index.ts'
import { chooseKinds } from '../support/forms.ts'
import { makeGreeting, openDeployers } from './deployers.ts'

const content = 'export default { async up() {}, async down() {} }\n'
const migration = { connection: 'System', name: '1-first', checksum: 'a'.repeat(64), artifact: sha256(content) }

for (const kind of chooseKinds('sqlite')) {
  test(`a release that lacks a migration that has run is rejected over HTTP, on ${kind}`, async () => {
    const world = await openDeployers(kind)
    try {
      const plain = makeGreeting('one')
      const manifest = {
        ...plain.manifest,
        migrations: [migration],
        artifacts: { ...plain.manifest.artifacts, [migration.artifact]: Buffer.byteLength(content) },
      }
      const artifacts = [...plain.artifacts, { hash: migration.artifact, content }]
      const send = async (line: string, body: object) => {
        const { status, body: answer } = await world.deploy(line, { protocol: 2, ...body })
        return { status, answer, code: String(answer.type).split('#')[1] }
      }
      assert.equal((await send('POST /backend/deploy/artifact', { artifacts })).status, 200)
      assert.equal((await send('POST /backend/deploy/migration', { manifest })).status, 200)
      assert.equal((await send('POST /backend/deploy', { manifest })).status, 200)
      const id = await loadActiveId(world.system)

      const survey = await world.plan('POST /backend/deploy/survey', { protocol: 2, manifest: plain.manifest })
      assert.deepEqual(survey.body.droppedMigrations, ['System/1-first'])
      for (const line of ['POST /backend/deploy', 'POST /backend/deploy/migration']) {
        const { status, code, answer } = await send(line, { manifest: plain.manifest })
        assert.deepEqual([status, code], [409, 'WP_RELEASE_MIGRATIONS_DROPPED'], line)
        assert.match(answer.detail, /System\/1-first/)
      }
      assert.equal(await loadActiveId(world.system), id)
    } finally {
      await world.close()
    }
  })
}
