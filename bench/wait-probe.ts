// Asks a server for `GET /health/live` every 5 ms, and reports the longest wait since the last report.
import { Agent, get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { parentPort, workerData } from 'node:worker_threads'

const { port } = workerData as { readonly port: number }
const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let longest = 0
let began = performance.now()

parentPort!.on('message', () => {
  // A request without its response counts as well.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread, no window
  parentPort!.postMessage(Math.max(longest, performance.now() - began))
  longest = 0
})

for (;;) {
  began = performance.now()
  await new Promise<void>((resolve, reject) => {
    get({ agent, port, host: '127.0.0.1', path: '/health/live' }, (response) => {
      response.resume().on('end', resolve)
    }).on('error', reject)
  })
  longest = Math.max(longest, performance.now() - began)
  await pause(5)
  began = performance.now()
}
