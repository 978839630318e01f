import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { test } from 'node:test'
import { startDev } from '../support/dev-session.ts'
import { writeFiles } from '../support/project-server.ts'
import { readTemplate } from '../support/template.ts'

test('dev prints a link that signs in to the backend once', { timeout: 600_000 }, async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'waypost-dev-backend-'))
  try {
    await writeFiles(folder, readTemplate('empty'))
    await using dev = await startDev(folder)
    const [, link = ''] = /Backend +(http:\S+)/.exec(dev.output()) ?? []
    const open = async () => {
      const answer = await fetch(link.replace('localhost', '127.0.0.1'), { redirect: 'manual' })
      assert.equal(answer.status, 303)
      assert.equal(answer.headers.get('location'), '/backend/ui/')
      return answer.headers.get('set-cookie')
    }
    assert.match((await open()) ?? '', /^waypost-session=/)
    assert.equal(await open(), null)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
})
