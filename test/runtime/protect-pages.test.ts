import assert from 'node:assert/strict'
import type { IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { makePageProtection } from '../../src/runtime/index.ts'

/** @returns whether a request for a route of the project reaches the API */
function isApi(
  { backendUrl, issuer = 'https://api.example.com' }: { backendUrl: string; issuer?: string },
  host: string,
) {
  const protect = makePageProtection({ backendUrl, issuer, isShared: () => false })
  return protect({ headers: { host }, url: '/order' } as IncomingMessage) === undefined
}

test('the host of the backend is recognised without case, with any port or none, and serves no routes', () => {
  for (const backendUrl of ['https://admin.example.com', 'https://admin.example.com:8443']) {
    for (const host of ['admin.example.com', 'Admin.Example.COM', 'admin.example.com:443', 'admin.example.com:8443'])
      assert.equal(isApi({ backendUrl }, host), false, `${backendUrl} ${host}`)
    for (const host of ['api.example.com', 'api.example.com:8443', '', 'a b', 'admin.example.com.evil.example'])
      assert.equal(isApi({ backendUrl }, host), true, `${backendUrl} ${host}`)
  }
})

test('a backend with the name of the API is recognised by its port', () => {
  const urls = { backendUrl: 'https://api.example.com:8443' }
  assert.equal(isApi(urls, 'API.example.com:8443'), false)
  assert.equal(isApi(urls, 'api.example.com'), true)
  const plain = { backendUrl: 'https://api.example.com', issuer: 'https://api.example.com:8443' }
  for (const host of ['api.example.com', 'api.example.com:443']) assert.equal(isApi(plain, host), false)
  assert.equal(isApi(plain, 'api.example.com:8443'), true)
})
