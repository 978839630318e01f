import assert from 'node:assert/strict'
import { SourceMap } from 'node:module'
import { test } from 'node:test'
import { makeProject } from '../support/project.ts'
import { send } from '../support/send.ts'

interface Script {
  readonly scriptId: string
  readonly url: string
  readonly sourceMapURL: string
}

/** What speaks the protocol of debuggers at an address. */
async function attach(address: string) {
  const socket = new WebSocket(address)
  await new Promise((resolve) => socket.addEventListener('open', resolve, { once: true }))
  const waiting = new Map<number, (result: never) => void>()
  const scripts: Script[] = []
  const { promise: paused, resolve: pause } = Promise.withResolvers<{ callFrames: { functionName: string }[] }>()
  socket.addEventListener('message', ({ data }) => {
    const { id, result, method, params } = JSON.parse(String(data))
    if (id !== undefined) waiting.get(id)?.(result as never)
    if (method === 'Debugger.scriptParsed') scripts.push(params)
    if (method === 'Debugger.paused') pause(params)
  })
  const call = (method: string, params: object = {}) =>
    new Promise((resolve) => {
      const id = waiting.size + 1
      waiting.set(id, resolve)
      socket.send(JSON.stringify({ id, method, params }))
    })
  // A debugger that goes lets the process go on.
  const close = async () => {
    socket.close()
    await new Promise((resolve) => socket.addEventListener('close', resolve, { once: true }))
  }
  return { scripts, paused, call, [Symbol.asyncDispose]: close }
}

/** Where a line of a source stands in the script that was made from it. */
function findLine(script: Script, line: number): { lineNumber: number; columnNumber: number } | undefined {
  const map = new SourceMap(JSON.parse(Buffer.from(script.sourceMapURL.split(',')[1]!, 'base64').toString()))
  for (let lineNumber = 0; lineNumber < 5; lineNumber++) {
    for (let columnNumber = 0; columnNumber < 1000; columnNumber++) {
      const entry = map.findEntry(lineNumber, columnNumber)
      if ('originalLine' in entry && entry.originalLine === line && entry.originalSource.endsWith('src/todo/entity.ts'))
        return { lineNumber, columnNumber }
    }
  }
  return undefined
}

test('dev --inspect allows a debugger to stop at a line of an action in TypeScript', async () => {
  const project = await makeProject()
  const lines = (await project.read('src/todo/entity.ts')).split('\n')
  const dev = project.start('dev --port 0 --inspect=0')
  try {
    const [, port] = await dev.waitFor(/API {7}http:\/\/localhost:(\d+)/)
    const [, address] = await dev.waitFor(/Inspect {3}(ws:\/\/127\.0\.0\.1:\d+\/\S+)/)
    await dev.waitFor(/Ready in/)
    await using debugging = await attach(address!)
    const { scripts, paused, call } = debugging
    await call('Debugger.enable')
    const script = scripts.find(
      ({ url, sourceMapURL }) =>
        url.startsWith('waypost:') &&
        Buffer.from(sourceMapURL.split(',')[1] ?? '', 'base64')
          .toString()
          .includes('src/todo/entity.ts'),
    )
    assert.ok(script !== undefined, 'the script names its source')
    const place = findLine(
      script,
      lines.findIndex((line) => line.includes('.selectAll()')),
    )
    assert.ok(place !== undefined, 'the line of the source has a place in the script')
    await call('Debugger.setBreakpoint', { location: { scriptId: script.scriptId, ...place } })
    const answer = send(Number(port), { path: '/todo/7' })
    assert.equal((await paused).callFrames[0]?.functionName, 'handle')
    await call('Debugger.resume')
    assert.equal((await answer).status, 404)
  } finally {
    await dev.stop()
    await project.remove()
  }
})
