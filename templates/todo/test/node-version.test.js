// In JavaScript, so that an older Node runs it: it finds no test in TypeScript, and would pass without running any.
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('Node is 24.11 or newer', () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isNewEnough = major > 24 || (major === 24 && minor >= 11)
  assert.ok(isNewEnough, `This project needs Node 24.11 or newer; this is Node ${process.versions.node}`)
})
