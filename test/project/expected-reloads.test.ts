import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { after, test } from 'node:test'
import { makeExpectedReloads } from '../../src/project/expected-reloads.ts'

const folder = mkdtempSync(path.join(tmpdir(), 'waypost-expected-'))
after(() => rmSync(folder, { recursive: true }))
const file = 'waypost.yml'
const write = (text: string) => writeFileSync(path.join(folder, file), text)

test('a save is not reloaded by a load that began before it was written', async () => {
  write('a')
  const expected = makeExpectedReloads(folder)
  const save = expected.expect([{ file, before: 'a' }])
  const early = expected.listWritten()
  write('b')
  expected.note([file], early)
  assert.equal(expected.findOrigin([file]), 'backend', 'it is still expected')
  expected.note([file], expected.listWritten())
  assert.equal(await save.done, true)
  assert.equal(expected.findOrigin([file]), undefined)
})

test('a save that is reverted before its reload is reloaded with it', async () => {
  write('a')
  const expected = makeExpectedReloads(folder)
  const save = expected.expect([{ file, before: 'a' }])
  write('b')
  save.written()
  write('a')
  expected.note([file], expected.listWritten())
  assert.equal(await save.done, true)
})
