import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openGateway, watchPressure, watchStalls, type Generation } from '../../src/runtime/index.ts'
import { send } from '../support/send.ts'

const generation: Generation = {
  routes: undefined,
  call: () => Promise.reject(new Error('not used')),
  handle: (_request, response) => void response.end('answered'),
  close: async () => undefined,
}

test('under pressure requests get 503, health checks are answered', async () => {
  let isHigh = false
  const pressure = { isHigh: () => isHigh, delayMs: () => 0, stop: () => undefined }
  const gateway = await openGateway({ host: '127.0.0.1', port: 0, generation, pressure })
  try {
    assert.equal((await send(gateway.port, { path: '/todo' })).text, 'answered')
    isHigh = true
    const { status, headers, body } = await send(gateway.port, { path: '/todo' })
    assert.equal(status, 503)
    assert.equal(headers['retry-after'], '1')
    assert.equal(body.type, 'urn:waypost:errors#WP_RUNTIME_PRESSURE')
    assert.equal((await send(gateway.port, { path: '/health/live' })).text, 'answered')
    assert.equal((await send(gateway.port, { path: '/health/ready' })).text, 'answered')
    isHigh = false
    assert.equal((await send(gateway.port, { path: '/todo' })).text, 'answered')
  } finally {
    await gateway.close(0)
  }
})

test('a constantly late event loop is pressure; it ends when the loop is on time again', async () => {
  const changes: boolean[] = []
  const pressure = watchPressure({ delayMs: 40, onChange: (isHigh) => changes.push(isHigh) })
  try {
    while (!pressure.isHigh()) {
      const end = performance.now() + 120
      while (performance.now() < end); // work that cannot be interrupted
      await new Promise((resolve) => setImmediate(resolve))
    }
    assert.ok(pressure.delayMs() > 40)
    while (pressure.isHigh()) await new Promise((resolve) => setTimeout(resolve, 50))
    assert.deepEqual(changes.slice(0, 2), [true, false])
  } finally {
    pressure.stop()
  }
})

test('a stall is noticed by either clock, and counts until its backlog has been read', () => {
  const time = { now: 1_000_000, monotonic: 0 }
  const pass = (wall: number, monotonic = wall) => {
    time.now += wall
    time.monotonic += monotonic
  }
  const stalls = watchStalls({ now: () => time.now, monotonic: () => time.monotonic })
  try {
    pass(900)
    assert.equal(stalls.waitedMs(), 0)
    pass(1100) // a request may have arrived just after the check before
    assert.equal(stalls.waitedMs(), 1100)
    for (let beat = 0; beat < 6; beat++) {
      pass(500)
      stalls.waitedMs()
    }
    assert.equal(stalls.waitedMs(), 0)
    pass(20_000)
    assert.equal(stalls.waitedMs(), 20_000)
    pass(1000)
    assert.equal(stalls.waitedMs(), 20_000)
    pass(5000, 100) // the machine was suspended
    for (let beat = 0; beat < 6; beat++) {
      assert.equal(stalls.waitedMs(), 25_000)
      pass(500)
    }
    assert.equal(stalls.waitedMs(), 0)
    pass(-3_600_000, 500) // the clock was changed
    assert.equal(stalls.waitedMs(), 0)
  } finally {
    stalls.stop()
  }
})
