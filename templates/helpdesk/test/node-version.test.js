// This test is JavaScript, because older versions of Node do not find tests in TypeScript: they would pass without running any.
import assert from 'node:assert/strict'
import { test } from 'node:test'

test('Node is 24.11 or newer', () => {
  const [major, minor] = process.versions.node.split('.').map(Number)
  const isNewEnough = major > 24 || (major === 24 && minor >= 11)
  assert.ok(isNewEnough, `This project needs Node 24.11 or newer; this is Node ${process.versions.node}`)
})
